import SQLite

/// The tables that a database really has.
package struct DatabaseTables: Sendable, Equatable {
  /// A column as SQLite describes it.
  package struct Column: Sendable, Equatable {
    /// What it is called.
    package var name: String
    /// The type as it was declared, which binds SQLite to nothing; empty where none was.
    package var type: String
    /// Whether it is the primary key, or a part of it.
    package var isPrimaryKey: Bool

    package init(
      name: String, type: String, isPrimaryKey: Bool
    ) {
      (self.name, self.type, self.isPrimaryKey) = (name, type, isPrimaryKey)
    }
  }

  package private(set) var tables: [String: [Column]] = [:]
  /// Index name to its table.
  package private(set) var indexes: [String: String] = [:]
  package private(set) var triggers: [String: String] = [:]
  /// CREATE statement of every table, index and trigger, by name.
  package private(set) var sql: [String: String] = [:]

  /// Asks a database for everything in its main schema.
  package init(_ connection: Connection) throws {
    for row in try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_master") {
      guard row.count == 4, let type = row[0].text, let name = row[1].text,
        let table = row[2].text
      else { continue }
      sql[name] = row[3].text
      switch type {
      case "index": indexes[name] = table
      case "trigger": triggers[name] = table
      case "table":
        // A virtual table whose module is missing cannot be asked; it holds no objects.
        let info = (try? connection.rows("PRAGMA table_info(\(quoted(name)))")) ?? []
        tables[name] = info.compactMap { column in
          guard column.count >= 6, let name = column[1].text else { return nil }
          return Column(
            name: name, type: column[2].text ?? "", isPrimaryKey: column[5].integer != 0)
        }
      default: break
      }
    }
  }

  /// Whether there is a table of that name, in that case of letters.
  package func contains(_ table: String) -> Bool { tables[table] != nil }

  /// The names of a table's columns; none where there is no such table.
  package func columns(of table: String) -> Set<String> {
    Set((tables[table] ?? []).map(\.name))
  }
}

/// A column that a deferred lightweight migration has still to drop.
///
/// With NSPersistentStoreDeferredLightweightMigrationOptionKey Core Data renames the column of a property that is
/// gone to `_DEFERRED_<32 hex digits>__<COLUMN>`, where dropping it would copy the table, and notes that in the
/// metadata. The store is current for every other purpose (migration-2 §6).
public struct DeferredColumn: Sendable, Equatable {
  /// The table.
  public var table: String
  /// What the column is called now.
  public var name: String
  /// What it was called before.
  public var formerName: String

  /// - Returns: `nil` for a column that is not such a one.
  package init?(_ name: String, of table: String) {
    let prefix = "_DEFERRED_"
    let rest = name.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isHexDigit }
    let former = rest.dropFirst(digits.count)
    guard name.hasPrefix(prefix), digits.count == 32, former.hasPrefix("__"), former.count > 2
    else { return nil }
    (self.table, self.name, formerName) = (table, name, String(former.dropFirst(2)))
  }

  /// Whether a column is one that is to be dropped.
  package static func isName(_ name: String) -> Bool { DeferredColumn(name, of: "") != nil }
}
