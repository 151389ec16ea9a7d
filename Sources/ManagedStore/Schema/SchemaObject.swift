import SQLite

/// A row of sqlite_master.
package struct SchemaObject: Sendable, Equatable {
  /// `table`, `index`, `trigger` or `view`.
  package var type: String
  /// What it is called; SQLite's own names begin with `sqlite_`.
  package var name: String
  /// The CREATE statement; `nil` for an index that SQLite makes itself.
  package var sql: String?

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
  /// Names of the virtual tables.
  package var virtual: Set<String> {
    Set(
      tables.keys.filter {
        sql[$0]?.prefix(20).uppercased().hasPrefix("CREATE VIRTUAL TABLE") == true
      })
  }
}
