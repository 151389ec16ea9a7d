import ManagedModel
import ManagedStore
import SQLite

extension EntityMapping {
  /// Runs what computes the mapping's values: an error that they cause names the mapping.
  ///
  /// - Parameter property: the property whose value it is, asked only after an error.
  func evaluating<T>(property: () -> String? = { nil }, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SQLiteError where error.isEvaluation {
      throw CoreDataError(
        .refused, code: .migration,
        "in the mapping “\(name)”: an expression fails: \(error.message)",
        entity: destination ?? source, property: property(),
        hint: "Guard it, such as by CASE WHEN json_valid(x) THEN … END. The store is as it was.")
    }
  }
}

extension MappingModel {
  /// Runs what computes the values of a mapping's rows; an error that they cause names the mapping,
  /// the entity and the property.
  func evaluating<T>(
    _ row: RowProgram, _ schema: StoreSchema, on connection: Connection, _ body: () throws -> T
  ) throws -> T {
    guard var entityMapping = mapping(named: row.mapping) else { return try body() }
    // Objects that hang on others are of another entity than their mapping.
    entityMapping.destination = row.entity
    return try entityMapping.evaluating(
      property: { row.failingColumn(on: connection).flatMap { schema.property(of: $0, in: row) } },
      body)
  }
}

extension RowProgram {
  /// Computes every value that can fail; `nil` where none can.
  var evaluation: String? { evaluation(of: columns.filter(\.value.isComputed)) }

  /// The first column whose values cannot be computed.
  func failingColumn(on connection: Connection) -> String? {
    columns.first { column in
      do {
        if let sql = evaluation(of: [column]) { _ = try connection.value(sql) }
        return false
      } catch {
        return (error as? SQLiteError)?.isEvaluation ?? false
      }
    }?.name
  }

  private func evaluation(of columns: [ColumnProgram]) -> String? {
    let counts = columns.compactMap { $0.value.sql.map { "count(\($0))" } }
    guard !counts.isEmpty else { return nil }
    return "SELECT \(counts.joined(separator: ", ")) FROM \(from)\(conditions.filter)"
  }
}

extension StoreSchema {
  func content(of column: String, in row: RowProgram) -> Content? {
    table(named: row.table)?.columns.first { $0.name == column }?.content
  }

  func property(of column: String, in row: RowProgram) -> String? {
    switch content(of: column, in: row) {
    case .attribute(_, let name), .toOne(_, let name), .toOneEntity(_, let name),
      .toOneOrder(_, let name), .owner(_, let name), .ownerOrder(_, let name):
      name
    case nil: nil
    }
  }

  /// The attribute that a column of a row keeps, where it is one of the row's entity.
  func attribute(of column: String, in row: RowProgram) -> Attribute? {
    guard case .attribute(let declarer, let name)? = content(of: column, in: row),
      model.isKind(row.entity, of: declarer)
    else { return nil }
    return model.storedAttribute(named: name, of: row.entity)
  }
}

extension ValueExpression {
  /// The expression as SQL; an error names the mapping and the property that it is in.
  func compiled(
    in scope: ExpressionScope, mapping: String, property: String?, attribute: Attribute? = nil
  ) throws -> CompiledExpression {
    do {
      switch form {
      case .sql(let text): return try scope.compile(recipe: text, for: attribute)
      case .expression(let expression):
        if let attribute { return try scope.compile(expression, for: attribute) }
        return try scope.compile(expression)
      case .predicate(let format): return try scope.compile(predicate: format)
      }
    } catch var error as CoreDataError {
      error.message = "in the mapping “\(mapping)”: \(error.message)"
      if error.entity == nil { error.entity = scope.entity }
      if error.property == nil { error.property = property }
      throw error
    }
  }
}
