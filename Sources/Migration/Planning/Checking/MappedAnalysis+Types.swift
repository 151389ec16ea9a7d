import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// Values that an attribute cannot hold: computed bytes where text or a number belongs, and the
  /// other way round, and copied numbers that do not fit the new type. The run refuses them too, but
  /// only when all is done.
  func typeRules(_ row: DestinationRows) -> [DestinationRule] {
    computedColumns(of: row) + copiedColumns(of: row)
  }

  /// Columns whose values an expression gives, with what is true of a row `e` with a wrong one.
  ///
  /// Numbers and text become one another in a column; bytes become nothing else.
  private func computedColumns(of row: DestinationRows) -> [DestinationRule] {
    guard let entityMapping = step.mapping.mapping(named: row.mapping) else { return [] }
    let isChild = entityMapping.destination != row.entity
    return row.columns.compactMap { column in
      guard let attribute = schemas.destination.attribute(of: column.name, in: row),
        isChild || entityMapping.attribute(named: attribute.name)?.expression != nil
      else { return nil }
      let type = "typeof(e.\(quoted(column.name)))"
      switch attribute.type {
      case .uuid, .binary, .transformable:
        return .type(of: attribute, in: row.entity, wrong: "\(type) NOT IN ('blob', 'null')")
      case .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string,
        .uri:
        return .type(of: attribute, in: row.entity, wrong: "\(type) = 'blob'")
      default: return nil
      }
    }
  }

  /// Columns whose numbers are copied from one of another type.
  private func copiedColumns(of row: DestinationRows) -> [DestinationRule] {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else { return [] }
    return row.columns.compactMap { column in
      guard let attribute = schemas.destination.attribute(of: column.name, in: row),
        let former = entityMapping.attribute(named: attribute.name)?.source,
        let before = step.source.storedAttribute(named: former, of: from),
        let change = TypeChange(from: before.type, to: attribute.type),
        let misfit = change.misfit("e.\(quoted(column.name))")
      else { return nil }
      return DestinationRule(
        entity: row.entity, property: attribute.name, conditions: [misfit],
        message: change.complaint,
        hint:
          "Keep the type \(before.type.name), or compute a value that fits, such as by round(…).")
    }
  }
}
