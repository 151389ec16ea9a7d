import ManagedStore
import SQLite
import Salvage

/// Tells which tables of a result stand in it page for page as they stood in the source: no statement
/// has written to them, and what their columns held they hold.
///
/// The result is `main` on the connection, the source is attached as `src`.
final class UntouchedRows {
  /// A column as the text of its table has it.
  private struct Column: Equatable {
    var name: String
    var type: String
    var filling: String?
  }

  private let connection: Connection
  private var comparison: TreeComparison
  private var known: [String: Bool] = [:]

  /// - Parameters:
  ///   - source: path of the source, where all of it is in its main file.
  ///   - result: path of the result, which nobody writes to any more.
  init?(
    source: String?, result: String?, on connection: Connection,
    isCancelled: @escaping () -> Bool
  ) {
    guard let source, let result, let one = try? DatabaseImage(readBySQLiteAt: source),
      let other = try? DatabaseImage(readBySQLiteAt: result)
    else { return nil }
    self.connection = connection
    comparison = TreeComparison(one, other, isCancelled: isCancelled)
  }

  /// The columns of rows that hold what is planned, because they come from the column in the same place
  /// of the table of that name, whose pages are all the same; `nil` where that is not so.
  func columns(of row: DestinationRows) throws -> Set<String>? {
    guard row.from == "src.\(quoted(row.table)) s", try isSame(row.table) else { return nil }
    let before = try columns(of: row.table, in: "src")
    let after = try columns(of: row.table, in: "main")
    guard before.first?.name == "Z_PK", after.first?.name == "Z_PK" else { return nil }
    var kept: Set<String> = []
    for (former, column) in zip(before, after)
    where former.type.uppercased() == column.type.uppercased() && former.filling == column.filling {
      let planned = row.columns.first { $0.name == column.name }
      if planned?.sql == "s.\(quoted(former.name))" || planned?.sql == "s.\(former.name)" {
        kept.insert(column.name)
      }
    }
    return kept
  }

  /// Whether all pages of a table's rows are the source's.
  func isSame(_ table: String) throws -> Bool {
    if let known = known[table] { return known }
    let roots = try ["src", "main"].map { schema in
      try connection.value(
        "SELECT rootpage FROM \(schema).sqlite_master WHERE type = 'table' AND name = ?",
        [.text(table)])?.integer ?? 0
    }
    let isSame = try comparison.isSame(Int(roots[0]), Int(roots[1]))
    known[table] = isSame
    return isSame
  }

  private func columns(of table: String, in schema: String) throws -> [Column] {
    try connection.rows("PRAGMA \(schema).table_xinfo(\(quoted(table)))").compactMap { row in
      guard row.count >= 7, row[6].integer == 0, let name = row[1].text else { return nil }
      return Column(name: name, type: row[2].text ?? "", filling: row[4].text)
    }
  }
}
