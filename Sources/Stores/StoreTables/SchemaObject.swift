import ManagedModel
import SQLite

/// A row of sqlite_master.
package struct SchemaObject: Sendable, Equatable {
  /// `table`, `index`, `trigger` or `view`.
  package var type: String
  /// What it is called; SQLite's own names begin with `sqlite_`.
  package var name: String
  /// The CREATE statement; `nil` for an index that SQLite makes itself.
  package var sql: String?

  package init(
    type: String, name: String, sql: String? = nil
  ) {
    (self.type, self.name, self.sql) = (type, name, sql)
  }

  /// Everything in a database, by name.
  ///
  /// - Parameter schema: `main`, or what another file is attached as.
  package static func all(
    in schema: String, _ connection: Connection
  ) throws -> [String: SchemaObject] {
    var objects: [String: SchemaObject] = [:]
    for row in try connection.rows("SELECT type, name, sql FROM \(schema).sqlite_master") {
      guard row.count == 3, let type = row[0].text, let name = row[1].text else { continue }
      objects[name] = SchemaObject(type: type, name: name, sql: row[2].text)
    }
    return objects
  }

  /// Whether SQLite keeps it for itself, such as its statistics.
  package var isSQLites: Bool { name.lowercased().hasPrefix("sqlite_") }

  /// Whether its rows stand in the tree of its primary key, and have no keys of their own.
  package var isWithoutRowID: Bool {
    type == "table"
      && sql?.uppercased().split(whereSeparator: \.isWhitespace).suffix(2)
        .map { $0.filter { $0 != ")" && $0 != ";" } } == ["WITHOUT", "ROWID"]
  }

  /// Whether it is a table of history or of CloudKit mirroring.
  package var isCoreDatas: Bool {
    name == "ACHANGE" || name.hasPrefix("ATRANSACTION") || name.hasPrefix("ANSCK")
  }

  /// Whether it is one of the tables that a virtual table keeps its own content in.
  package func isShadow(of virtual: Set<String>) -> Bool {
    type == "table" && virtual.contains { name.hasPrefix($0 + "_") }
  }
}

extension DatabaseTables {
  /// A table as a row of sqlite_master.
  package func object(ofTable name: String) -> SchemaObject {
    SchemaObject(type: "table", name: name, sql: sql[name])
  }

  /// Names of the virtual tables.
  package var virtual: Set<String> {
    Set(
      tables.keys.filter {
        sql[$0]?.prefix(20).uppercased().hasPrefix("CREATE VIRTUAL TABLE") == true
      })
  }
}

extension StoreSchema {
  /// Makes what a fresh store has besides tables: indexes, R-trees of the rows that are there, and
  /// triggers. Where this SQLite has no R-trees, those are left out with their triggers.
  ///
  /// - Parameters:
  ///   - fills: whether derived attributes of rows without a value are computed, too.
  ///   - leavesOutBroken: whether an index whose uniqueness constraint objects break is left out; else it is an error.
  /// - Returns: the names of indexes that were left out.
  @discardableResult
  package func makeIndexes(
    on connection: Connection, fills: Bool = false, leavesOutBroken: Bool = false
  ) throws -> [String] {
    var broken: [String] = []
    for index in indexStatements() {
      do { try connection.execute(index.sql) } catch let error as SQLiteError
        where leavesOutBroken && error.isConstraint
      {
        broken.append(index.name)
      }
    }
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
    return broken
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
