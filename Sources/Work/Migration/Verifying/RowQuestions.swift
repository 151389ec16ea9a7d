import ManagedStore
import SQLite
import Salvage

/// What the check of a result is asked to compare with the source, since it reads each row anyway.
///
/// The result is `main` on the connection, the source is attached as `src`.
struct RowQuestions {
  /// Rows of a table that are asked for together, and the columns that are compared so.
  struct Asked {
    var table: String
    var index: Int
    var columns: Set<String>
  }

  private(set) var comparison: SourceComparison
  /// By the place of the rows among all that are planned.
  private(set) var asked: [Int: Asked] = [:]
  /// Join tables that take all rows of a table of the source, as they are there.
  private(set) var joins: Set<String> = []

  /// Whether what is stored in a column shows all of its value.
  let isStored: (_ column: String, _ row: RowProgram) -> Bool

  private let connection: Connection
  private let rows: [RowProgram]

  /// - Parameters:
  ///   - tables: names of the result's tables.
  ///   - contents: all that is planned.
  ///   - source: path of the source, all of it in its main file.
  ///   - isStored: whether a column is compared by what is stored in it; SQLite compares the others.
  init(
    _ tables: [String], holding contents: MigratedContents, from source: String,
    on connection: Connection,
    comparing isStored: @escaping (_ column: String, _ row: RowProgram) -> Bool = { _, _ in
      true
    }
  ) throws {
    self.isStored = isStored
    self.connection = connection
    rows = contents.rows
    comparison = SourceComparison(path: source, tables: [:])
    let roots = try ["src", "main"].map { schema in
      try connection.rows(
        "SELECT name, rootpage FROM \(schema).sqlite_master WHERE type = 'table' AND rootpage > 0"
      ).reduce(into: [String: Int]()) { roots, row in
        if let name = row.first?.text, let root = row.last?.integer { roots[name] = Int(root) }
      }
    }
    let isOneEncoding =
      try connection.value("PRAGMA main.encoding") == connection.value("PRAGMA src.encoding")
    let places = Dictionary(grouping: rows.indices) { rows[$0].table }
    let links = Dictionary(first: contents.joins.map { ($0.table, $0) })
    for name in tables {
      guard let root = roots[1][name] else { continue }
      if let join = links[name] {
        guard join.isWhole, let former = join.former?.table, let first = roots[0][former.name],
          try keepsPlaces(join, former)
        else { continue }
        joins.insert(name)
        comparison.tables[name] = SourceComparison.Table(roots: (first, root), rows: nil)
        continue
      }
      let planned = places[name] ?? []
      let question = isOneEncoding ? try question(name, planned, roots[0]) : nil
      guard question != nil || roots[0][name] != nil else { continue }
      comparison.tables[name] = SourceComparison.Table(
        roots: (roots[0][name] ?? 0, root), rows: question)
    }
  }

  /// Whether a join table has its columns where the former one has those that they were.
  private func keepsPlaces(
    _ join: JoinProgram, _ former: StoreSchema.JoinTable
  ) throws -> Bool {
    func columns(_ schema: String, _ table: String) throws -> [String] {
      try connection.rows("PRAGMA \(schema).table_xinfo(\(quoted(table)))").compactMap {
        $0.count >= 7 && $0[6].integer == 0 ? $0[1].text : nil
      }
    }
    let (old, new) = try (columns("src", former.name), columns("main", join.table))
    return old.count == new.count && new.count == join.columns.count
      && [former.first, former.second].map { old.firstIndex(of: $0) }
        == join.columns.map { new.firstIndex(of: $0) }
  }

  /// What all rows of a table must be, where they come from one table with their keys.
  private mutating func question(
    _ name: String, _ planned: [Int], _ roots: [String: Int]
  ) throws -> RowComparison.Question? {
    guard let first = planned.first, case .objects(let former) = rows[first].source,
      planned.allSatisfy({ rows[$0].source == rows[first].source && keepsKeys(rows[$0]) }),
      let root = roots[former],
      let source = try IndexedTable(former, in: connection, of: "src"),
      let result = try IndexedTable(name, in: connection),
      Self.key(of: source) == "Z_PK", Self.key(of: result) == "Z_PK"
    else { return nil }
    var all: [RowComparison.Rows] = []
    var columns: [Set<String>] = []
    for place in planned {
      guard let kind = Self.kind(of: rows[place]), !all.contains(where: { $0.kind == kind.number })
      else { return nil }
      let values = values(of: rows[place], from: source, to: result)
      all.append(.init(kind: kind.number, columns: values.map { ($0.place, $0.value) }))
      columns.append(Set(values.map(\.name)))
    }
    guard all.count == 1 || all.allSatisfy({ $0.kind != nil }) else { return nil }
    let kind = source.columns.firstIndex(of: "Z_ENT")
    guard kind != nil || all.allSatisfy({ $0.kind == nil }) else { return nil }
    for (index, place) in planned.enumerated() {
      asked[place] = Asked(table: name, index: index, columns: columns[index])
    }
    return RowComparison.Question(
      root: root, kind: all.first?.kind == nil ? nil : kind,
      filled: (source.filled, result.filled), rows: all)
  }

  /// The columns that are known without SQLite, with what they must hold.
  private func values(
    of row: RowProgram, from source: IndexedTable, to result: IndexedTable
  ) -> [(name: String, place: Int, value: RowComparison.Value)] {
    row.columns.dropFirst().compactMap { column in
      guard let place = result.columns.firstIndex(of: column.name), place != result.key,
        let value = column.value.comparison(in: source), isStored(column.name, row)
      else { return nil }
      return (column.name, place, value)
    }
  }

  private func keepsKeys(_ row: RowProgram) -> Bool {
    row.columns.first?.name == "Z_PK" && row.columns.first?.value == .column("Z_PK")
  }

  private static func key(of table: IndexedTable) -> String? {
    table.key.flatMap { table.columns.indices.contains($0) ? table.columns[$0] : nil }
  }

  /// Which rows of the source they come from, by their entity; `nil` where more is asked of them.
  private static func kind(of row: RowProgram) -> Kind? {
    guard let condition = row.conditions.first else { return .any }
    return row.conditions.count == 1 ? condition.entity.map { .number($0) } : nil
  }

  private enum Kind {
    case any
    case number(Int64)

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
  }
}

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
