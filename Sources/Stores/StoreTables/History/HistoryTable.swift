/// A table of persistent history, as Core Data makes it: by the number that its rows have as Z_ENT.
///
/// Their columns are always the same, but for the tombstones (store-format-2 §7: 63 and 64 stores).
package enum HistoryTable: Int64, CaseIterable, Sendable {
  case change = 16001
  case transaction = 16002
  case string = 16003

  /// The number behind the last.
  package static let end: Int64 = 16004

  /// What the table is called.
  package var name: String {
    switch self {
    case .change: "ACHANGE"
    case .transaction: "ATRANSACTION"
    case .string: "ATRANSACTIONSTRING"
    }
  }

  /// What the entity is called in Z_PRIMARYKEY.
  package var entity: String {
    switch self {
    case .change: "CHANGE"
    case .transaction: "TRANSACTION"
    case .string: "TRANSACTIONSTRING"
    }
  }

  /// The columns of ``transaction`` that hold keys of ``string``.
  private static let textKeys = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]

  /// The columns that hold keys of other rows of history, as far as a store has them.
  ///
  /// - Parameter name: the prefix of tables, such as `main.`.
  package static func keys(in database: DatabaseTables, as name: String = "") -> [KeyColumn] {
    let all =
      [(Self.change, "ZTRANSACTIONID", Self.transaction)]
      + textKeys.map { (.transaction, $0, .string) }
    return all.compactMap { table, column, other in
      guard database.columns(of: table.name).isSuperset(of: [column, "Z_PK"]),
        database.columns(of: other.name).contains("Z_PK")
      else { return nil }
      return KeyColumn(table: table.name, column: column, destination: other.name, in: name)
    }
  }

  /// The CREATE statements of the table and its indexes; `nil` where rows of that length are of no form of it
  /// that is known.
  ///
  /// - Parameters:
  ///   - length: how many values its longest row has.
  ///   - tombstones: how many tombstone columns the model asks for.
  package func statements(
    length: Int, tombstones: Int
  ) -> (table: String, indexes: [(String, String)])? {
    var columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    var indexes: [(String, String)] = []
    func index(_ column: String) {
      let index = "\(name)_\(column)_INDEX"
      indexes.append((index, "CREATE INDEX \(index) ON \(name) (\(column))"))
    }
    switch self {
    case .change:
      columns += ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { $0 + " INTEGER" }
      columns += ["ZCOLUMNS BLOB"]
      guard length >= columns.count else { return nil }
      let kept = max(tombstones, length - columns.count)
      guard kept <= Tombstones.limit else { return nil }
      columns += (0..<kept).map { Tombstones.column($0) + " BLOB" }
      index("ZTRANSACTIONID")
    case .transaction:
      let keys = Self.textKeys
      let texts = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]
      let short = columns.count + 1 + texts.count + 1
      // Version 851 had the texts alone.
      guard length == short || length == short + keys.count else { return nil }
      if length > short {
        columns += keys.map { $0 + " INTEGER" }
        keys.forEach(index)
      }
      columns += ["ZTIMESTAMP FLOAT"] + texts.map { $0 + " VARCHAR" } + ["ZQUERYGEN BLOB"]
      for (index, column) in [("Author", "ZAUTHOR"), ("Timestamp", "ZTIMESTAMP")] {
        let index = "Z_TRANSACTION_Transaction\(index)Index"
        indexes.append((index, "CREATE INDEX \(index) ON \(name) (\(column) COLLATE BINARY ASC)"))
      }
    case .string:
      columns += ["ZNAME VARCHAR"]
      guard length == columns.count else { return nil }
      let index = "Z_TRANSACTIONSTRING_UNIQUE_NAME"
      indexes.append(
        (index, "CREATE UNIQUE INDEX \(index) ON \(name) (ZNAME COLLATE BINARY ASC)"))
    }
    return ("CREATE TABLE \(name) ( \(columns.joined(separator: ", ")) )", indexes)
  }
}
