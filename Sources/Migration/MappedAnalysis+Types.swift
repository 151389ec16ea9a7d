import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// Values that an attribute cannot hold: computed bytes where text or a number belongs, and the
  /// other way round, and copied numbers that do not fit the new type. The run refuses them too, but
  /// only when all is done.
  func typeChecks(_ row: DestinationRows) throws -> [DataCheck] {
    let computed = computedColumns(of: row) + copiedColumns(of: row)
    guard !computed.isEmpty else { return [] }
    let sums = computed.map { "sum(\($0.wrong))" }.joined(separator: ", ")
    let counts = try connection.rows("SELECT \(sums) FROM (\(row.selectAll)) e").first ?? []
    var checks: [DataCheck] = []
    for (column, count) in zip(computed, counts) {
      guard let count = count.integer, count > 0 else { continue }
      let first = try connection.rows(
        "SELECT e.Z_PK FROM (\(row.selectAll)) e WHERE \(column.wrong) ORDER BY e.Z_PK LIMIT 5")
      checks.append(
        DataCheck(
          code: 134110, entity: row.entity, property: column.attribute.name, rows: Int(count),
          first: first.compactMap {
            $0.first?.integer.map { ObjectID(entity: row.entity, key: $0) }
          },
          message: column.message, hint: column.hint))
    }
    return checks
  }

  /// Columns whose values an expression gives, with what is true of a row `e` with a wrong one.
  ///
  /// Numbers and text become one another in a column; bytes become nothing else.
  private func computedColumns(of row: DestinationRows) -> [TypedColumn] {
    guard let table = schemas.destination.table(of: row.entity),
      let entityMapping = step.mapping.mapping(named: row.mapping)
    else { return [] }
    let isChild = entityMapping.destination != row.entity
    return row.columns.compactMap { column in
      guard
        case .attribute(let declarer, let name)? = table.columns.first(where: {
          $0.name == column.name
        })?.content, step.destination.isKind(row.entity, of: declarer),
        let attribute = step.destination.storedAttribute(named: name, of: row.entity),
        isChild
          || entityMapping.attribute(named: name)?.expression != nil
      else { return nil }
      let type = "typeof(e.\(quoted(column.name)))"
      switch attribute.type {
      case .uuid, .binary, .transformable:
        return TypedColumn(attribute, "\(type) NOT IN ('blob', 'null')")
      case .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string,
        .uri:
        return TypedColumn(attribute, "\(type) = 'blob'")
      default: return nil
      }
    }
  }

  /// Columns whose numbers are copied from one of another type.
  private func copiedColumns(of row: DestinationRows) -> [TypedColumn] {
    guard let table = schemas.destination.table(of: row.entity),
      let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else { return [] }
    return row.columns.compactMap { column in
      guard
        case .attribute(let declarer, let name)? = table.columns.first(where: {
          $0.name == column.name
        })?.content, step.destination.isKind(row.entity, of: declarer),
        let attribute = step.destination.storedAttribute(named: name, of: row.entity),
        let former = entityMapping.attribute(named: name)?.source,
        let before = step.source.storedAttribute(named: former, of: from),
        let change = TypeChange(from: before.type, to: attribute.type),
        let misfit = change.misfit("e.\(quoted(column.name))")
      else { return nil }
      return TypedColumn(
        attribute, "(\(misfit))", change.complaint,
        hint:
          "Keep the type \(before.type.name), or compute a value that fits, such as by round(…).")
    }
  }
}

/// A column, and what is true of a row `e` that holds a value of another type there.
private struct TypedColumn {
  let attribute: Attribute
  let wrong: String
  let message: String
  let hint: String

  init(
    _ attribute: Attribute, _ wrong: String, _ message: String? = nil,
    hint: String = "Let the expression give a value of that type."
  ) {
    self.attribute = attribute
    self.wrong = wrong
    self.message = message ?? "values that are no \(attribute.type.name)"
    self.hint = hint
  }
}
