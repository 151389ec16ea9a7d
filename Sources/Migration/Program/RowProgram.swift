import SQLite

/// The rows that an entity mapping gives one table of the destination: filled, and compared
/// afterwards, by one SELECT over the source.
struct RowProgram {
  var mapping: String
  var entity: String
  var table: String
  var source: RowSource
  var conditions: [RowCondition] = []
  /// Z_PK, Z_ENT and Z_OPT first.
  var columns: [ColumnProgram]

  /// What stands behind FROM, such as `src."ZPERSON" s`.
  var from: String { source.sql }
  var ranges: (table: String, key: String, column: String) { source.ranges }

  /// The columns that the rows are written with, with the SQL of their values.
  var written: [(name: String, sql: String)] {
    columns.compactMap { column in column.value.sql.map { (column.name, $0) } }
  }

  /// The columns that the model asks for, as the table has them.
  var own: ArraySlice<ColumnProgram> { columns.dropFirst(3) }

  /// What a column holds; `nil` for one that these rows say nothing of.
  func value(of column: String) -> ColumnValue? { columns.first { $0.name == column }?.value }

  /// Whether the rows are written with a value in a column.
  func writes(_ column: String) -> Bool { value(of: column)?.sql != nil }

  /// Whether a column is set when all objects are there.
  func isLater(_ column: String) -> Bool { value(of: column)?.isLater ?? false }

  /// The SELECT of the rows whose range key lies between `?1` and `?2`.
  var select: String {
    let all = ["\(ranges.key) BETWEEN ?1 AND ?2"] + conditions.map { "(\($0.sql))" }
    return "SELECT \(values) FROM \(from) WHERE \(all.joined(separator: " AND "))"
  }

  /// The same rows, all at once.
  var selectAll: String { "SELECT \(values) FROM \(from)\(conditions.filter)" }

  private var values: String {
    written.map { "\($0.sql) AS \(quoted($0.name))" }.joined(separator: ", ")
  }

  var insert: String {
    let names = written.map { quoted($0.name) }.joined(separator: ", ")
    return "INSERT INTO main.\(quoted(table)) (\(names)) \(select) ORDER BY \(ranges.key)"
  }
}

/// A column of a table, and what it holds in some rows.
struct ColumnProgram {
  var name: String
  var value: ColumnValue

  init(_ name: String, _ value: ColumnValue) { (self.name, self.value) = (name, value) }
}

/// Where the rows of a mapping come from; a row of the source is `s` in each.
enum RowSource: Equatable {
  /// Objects of a table of the source, each of which becomes one.
  case objects(of: String)
  /// Groups of equal values, in a temporary table `g`, each with its first object.
  case groups(String, of: String)
  /// What is made for objects, in a temporary table `t`, each with the object that it comes from.
  case children(String, of: String)

  var sql: String {
    switch self {
    case .objects(let table): "src.\(quoted(table)) s"
    case .groups(let groups, let table):
      "temp.\(groups) g CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = g.source"
    case .children(let tree, let table):
      "temp.\(tree) t JOIN src.\(quoted(table)) s ON s.Z_PK = t.source"
    }
  }

  /// The table whose keys are walked in ranges, as SQL, and the column that is the key there.
  var ranges: (table: String, key: String, column: String) {
    switch self {
    case .objects(let table): ("src." + quoted(table), "s.Z_PK", "Z_PK")
    case .groups(let groups, _): ("temp." + groups, "g.key", "key")
    case .children(let tree, _): ("temp." + tree, "t.key", "key")
    }
  }
}

/// What is true of the source rows that a mapping takes.
struct RowCondition {
  var sql: String
  /// The entity that the rows are of, where the condition says only that.
  var entity: Int64?

  init(_ sql: String, entity: Int64? = nil) { (self.sql, self.entity) = (sql, entity) }
}

extension [RowCondition] {
  var allTrue: String { map(\.sql).allTrue }
  var filter: String { map(\.sql).filter }
}

/// Conditions of SQL.
extension [String] {
  var allTrue: String { map { "(\($0))" }.joined(separator: " AND ") }
  /// WHERE all of them are true; nothing where there are none.
  var filter: String { isEmpty ? "" : " WHERE " + allTrue }
}
