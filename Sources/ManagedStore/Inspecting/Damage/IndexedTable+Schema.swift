import SQLite
import Salvage

extension IndexedTable {
  /// What a database's schema says about a table.
  ///
  /// - Parameter schema: the database on the connection.
  /// - Returns: `nil` where an index is over more than columns, leaves rows out, or compares texts in a
  ///   way that is not SQLite's own; for a table without pages, too.
  package init?(_ name: String, in connection: Connection, of schema: String = "main") throws {
    func root(_ type: String, _ name: String) throws -> Int? {
      try connection.value(
        "SELECT rootpage FROM \(schema).sqlite_master WHERE type = ? AND name = ?",
        [.text(type), .text(name)])?.integer.flatMap { $0 > 0 ? Int($0) : nil }
    }
    guard let own = try root("table", name) else { return nil }
    var filled: Set<Int> = []
    var names: [String] = []
    var keys: [(column: Int, type: String)] = []
    for row in try connection.rows("PRAGMA \(schema).table_xinfo(\(quoted(name)))") {
      // A column that is computed has no place of its own in a row.
      guard row.count >= 7, let column = row[0].integer, row[6].integer == 0 else { return nil }
      names.append(row[1].text ?? "")
      if let text = row[4].text, text.lowercased() != "null" { filled.insert(Int(column)) }
      if row[5].integer != 0 { keys.append((Int(column), row[2].text?.uppercased() ?? "")) }
    }
    let isUnicode16 = try connection.value("PRAGMA \(schema).encoding")?.text != "UTF-8"
    let list = try connection.rows("PRAGMA \(schema).index_list(\(quoted(name)))")
    let isKept = list.contains { $0.count >= 5 && $0[3].text == "pk" }
    let alias = !isKept && keys.count == 1 && keys[0].type == "INTEGER" ? keys[0].column : nil
    var indexes: [Index] = []
    for row in list {
      guard row.count >= 5, let index = row[1].text, row[4].integer == 0,
        let root = try root("index", index)
      else { return nil }
      var columns: [Column] = []
      for part in try connection.rows("PRAGMA \(schema).index_xinfo(\(quoted(index)))") {
        guard part.count >= 6, let column = part[1].integer, column >= -1 else { return nil }
        // What follows the columns is the row's key.
        guard part[5].integer == 1 else { continue }
        guard let collation = Collation(named: part[4].text),
          collation == .binary || !isUnicode16
        else { return nil }
        columns.append(
          Column(
            place: column < 0 || Int(column) == alias ? nil : Int(column), collation: collation,
            isDescending: part[3].integer == 1))
      }
      indexes.append(
        Index(name: index, root: root, columns: columns, isUnique: row[2].integer == 1))
    }
    self.init(
      root: own, indexes: indexes, filled: filled, columns: names, key: alias)
  }
}

extension IndexedTable.Collation {
  fileprivate init?(named name: String?) {
    switch name?.uppercased() {
    case "BINARY", nil: self = .binary
    case "NOCASE": self = .noCase
    case "RTRIM": self = .rtrim
    default: return nil
    }
  }
}
