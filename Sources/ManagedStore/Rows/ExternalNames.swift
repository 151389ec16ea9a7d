import SQLite
import Salvage

/// A value that a row keeps in a file of its own.
struct ExternalName: Equatable {
  /// The row's key.
  var key: Int64
  /// The column, in the order in which they were asked for.
  var column: Int
  /// The file's name.
  var name: String
}

extension Store {
  /// Begins to read which rows of a table name files, from the file's pages.
  ///
  /// - Returns: `nil` where SQLite is to be asked: somebody may write to the file, or what a row holds in
  ///   these columns is not determined by the row alone.
  func externalScan(of table: String, _ columns: [String]) throws -> MarkScan? {
    guard connection.isImmutable, mended == nil,
      let root = try connection.value(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)])?
        .integer.flatMap({ Int(exactly: $0) }), root > 1
    else { return nil }
    var places: [String: Int] = [:]
    var keys: [[Value]] = []
    for row in try connection.rows("PRAGMA main.table_xinfo(\(quoted(table)))") {
      // A column that is computed has no place of its own in a row.
      guard row.count >= 7, let place = row[0].integer, row[6].integer == 0, let name = row[1].text
      else { return nil }
      if row[5].integer != 0 { keys.append(row) }
      // Rows from before the column came have its default.
      if row[4].text.map({ $0.lowercased() == "null" }) ?? true { places[name] = Int(place) }
    }
    let isKept = try connection.rows("PRAGMA main.index_list(\(quoted(table)))").contains {
      $0.count >= 4 && $0[3].text == "pk"
    }
    guard keys.count == 1, keys[0][1].text == "Z_PK", keys[0][2].text?.uppercased() == "INTEGER",
      !isKept
    else { return nil }
    let told = columns.compactMap { places[$0] }
    guard told.count == columns.count, zip(told, told.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return nil
    }
    let marked = MarkedColumns(
      root: root, places: told, mark: MarkedBytes.fileMark, most: MarkedBytes.mostOfName)
    return MarkScan(marked, in: connection.path)
  }

  /// What a scan found, in the order of keys; `nil` where it did not say.
  func externalNames(
    of table: String, _ columns: [String], told scan: MarkScan?
  ) throws -> [ExternalName]? {
    guard mended == nil, let found = scan?.found(isCancelled: { connection.shouldStop }) else {
      return nil
    }
    var asking: [Int: Statement] = [:]
    return try found.compactMap { found in
      var bytes = found.bytes
      if bytes == nil {
        let column = quoted(columns[found.column])
        let statement =
          try asking[found.column]
          ?? connection.prepare(
            """
            SELECT \(MarkedBytes.reference(column)) FROM \(quoted(table))
            WHERE Z_PK = ? AND \(MarkedBytes.isFile(column))
            """)
        asking[found.column] = statement
        try statement.bind([.integer(found.key)])
        if try statement.step() { bytes = statement.bytes(at: 0) }
      }
      guard let bytes, case .file(let name) = MarkedBytes(bytes) else { return nil }
      return ExternalName(key: found.key, column: found.column, name: name)
    }
  }

  /// The same, by SQLite: a column after the other.
  ///
  /// - Parameter condition: which rows are looked at; `nil` for all.
  func askedExternalNames(
    of table: String, _ columns: [String], where condition: String? = nil
  ) throws -> [ExternalName] {
    var names: [ExternalName] = []
    for (index, column) in columns.enumerated() {
      let conditions = [condition, MarkedBytes.isFile(quoted(column))].compactMap { $0 }
      let statement = try connection.prepare(
        """
        SELECT \(MarkedBytes.reference(quoted(column))), Z_PK FROM \(quoted(table))
        WHERE \(conditions.joined(separator: " AND "))
        """)
      while try statement.step() {
        guard case .file(let name) = MarkedBytes(statement.bytes(at: 0)) else { continue }
        names.append(ExternalName(key: statement.integer(at: 1), column: index, name: name))
      }
    }
    return names
  }
}
