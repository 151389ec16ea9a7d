import ManagedStore
import SQLite
import Salvage

/// What the check of a result's file found to be as planned, while it read the rows: page for page as they
/// stood in the source, where no statement has written to them, or row by row.
///
/// The result is `main` on the connection, the source is attached as `src`.
struct KnownRows {
  /// A column as the text of its table has it.
  private struct Column: Equatable {
    var name: String
    var type: String
    var filling: String?
  }

  let connection: Connection
  let questions: RowQuestions
  /// What was found, of a file in which nothing is wrong.
  let answers: [String: SourceComparison.Answer]

  /// How many rows were compared one by one, all of them as planned, and in which columns; `nil` where that
  /// is not known.
  ///
  /// - Parameter place: of the rows among all that are planned.
  func compared(at place: Int) -> (rows: Int, columns: Set<String>)? {
    guard let asked = questions.asked[place], case .rows(let counts) = answers[asked.table],
      counts.indices.contains(asked.index)
    else { return nil }
    return (counts[asked.index], asked.columns)
  }

  /// The columns of rows that hold what is planned, because they come from the column in the same place
  /// of the table of that name, whose pages are all the same; `nil` where that is not so.
  func columns(of row: RowProgram) throws -> Set<String>? {
    guard row.source == .objects(of: row.table), isSame(row.table) else { return nil }
    let before = try columns(of: row.table, in: "src")
    let after = try columns(of: row.table, in: "main")
    guard before.first?.name == "Z_PK", after.first?.name == "Z_PK" else { return nil }
    var kept: Set<String> = []
    for (former, column) in zip(before, after)
    where former.type.uppercased() == column.type.uppercased() && former.filling == column.filling {
      if row.value(of: column.name)?.plainColumn == former.name,
        questions.isStored(column.name, row)
      {
        kept.insert(column.name)
      }
    }
    return kept
  }

  /// Whether a join table holds what it must.
  func isWhole(_ join: JoinProgram) -> Bool {
    questions.joins.contains(join.table) && isSame(join.table)
  }

  /// Whether all pages of a table's rows are the source's.
  func isSame(_ table: String) -> Bool { answers[table] == .pages }

  private func columns(of table: String, in schema: String) throws -> [Column] {
    try connection.rows("PRAGMA \(schema).table_xinfo(\(quoted(table)))").compactMap { row in
      guard row.count >= 7, row[6].integer == 0, let name = row[1].text else { return nil }
      return Column(name: name, type: row[2].text ?? "", filling: row[4].text)
    }
  }
}
