import ManagedModel
import StoreTables

extension Store {
  /// The columns of derived attributes that a table has in the file.
  package func derivedColumns(of table: StoreSchema.Table) -> [DerivedColumn] {
    let there = database.columns(of: table.name)
    return table.columns.compactMap { column in
      guard case .attribute(let entity, let name) = column.content, there.contains(column.name),
        let attribute = model.storedAttribute(named: name, of: entity),
        let value = schema.derivedExpression(for: attribute, of: entity)
      else { return nil }
      return DerivedColumn(
        table: table.name, column: column.name, entity: entity, attribute: name,
        numbers: model.subtree(of: entity).compactMap { schema.numbers[$0] }, sql: value.sql)
    }
  }
}
