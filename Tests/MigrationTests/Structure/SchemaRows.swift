import ManagedStore
import SQLite

@testable import Migration

/// What sqlite_master of a store says, for comparing stores in tests.
struct SchemaRows {
  /// `type name` to the statement; empty for SQLite's own indexes.
  let texts: [String: String]

  init(_ store: Store) throws {
    var texts: [String: String] = [:]
    for row in try store.connection.rows("SELECT type, name, sql FROM sqlite_master") {
      guard row.count == 3 else { continue }
      texts["\(row[0].text ?? "") \(row[1].text ?? "")"] = row[2].text ?? ""
    }
    self.texts = texts
  }

  /// What is not the same in both, or only in one.
  func differences(from other: SchemaRows) -> Set<String> {
    Set(texts.keys).union(other.texts.keys).filter { texts[$0] != other.texts[$0] }
  }

  /// `type name` of what was made by a statement.
  var names: Set<String> { Set(texts.filter { !$0.value.isEmpty }.keys) }
}

extension Store {
  /// Every table of Core Data's with its columns and their types.
  var tablesByName: [String: Set<String>] {
    database.tables.filter { $0.key.hasPrefix("Z") }.mapValues { columns in
      Set(columns.map { "\($0.name) \($0.type)" })
    }
  }
}
