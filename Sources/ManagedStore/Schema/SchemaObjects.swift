import ManagedModel
import SQLite

extension StoreSchema {
  /// Makes what a fresh store has besides tables: indexes, R-trees of the rows that are there, and
  /// triggers. Where this SQLite has no R-trees, those are left out with their triggers.
  ///
  /// - Parameter fills: whether derived attributes of rows without a value are computed, too.
  func makeIndexes(on connection: Connection, fills: Bool = false) throws {
    for index in indexStatements() { try connection.execute(index.sql) }
    if fills, model.entities.contains(where: { $0.attributes.contains(where: \.isDerived) }) {
      try StoreFunctions.define(on: connection)
      // Counting the objects of an owner needs the indexes.
      try fillDerivedAttributes(on: connection)
    }
    let trees = connection.hasRTrees ? rtreeIndexes : []
    for tree in trees {
      try connection.execute(tree.sql)
      try connection.execute(tree.fill)
    }
    let triggers = triggerGroups.flatMap(\.statements) + trees.flatMap(\.triggers)
    for trigger in triggers { try connection.execute(trigger.sql) }
  }

  /// Computes the derived attributes of rows that have no value for them.
  private func fillDerivedAttributes(on connection: Connection) throws {
    for entity in model.entitiesInStoreOrder {
      guard let table = table(of: entity.name) else { continue }
      let numbers = model.subtree(of: entity.name).compactMap { self.numbers[$0] }
      for attribute in entity.attributes {
        guard
          let column = table.column(.attribute(entity: entity.name, name: attribute.name)),
          let value = derivedExpression(for: attribute, of: entity.name)
        else { continue }
        try connection.execute(
          """
          UPDATE main.\(quoted(table.name)) AS s SET \(quoted(column.name)) = \(value.sql)
          WHERE s.\(quoted(column.name)) IS NULL
          AND s.Z_ENT IN (\(numbers.list))
          """)
      }
    }
  }
}
