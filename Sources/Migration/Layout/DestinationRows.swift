import SQLite

/// The rows that an entity mapping gives one table of the destination: filled, and compared
/// afterwards, by one SELECT over the source.
struct DestinationRows {
  var mapping: String
  var entity: String
  var table: String
  /// Column names with the SQL of their values, Z_PK, Z_ENT and Z_OPT first.
  var columns: [(name: String, sql: String)]
  /// Columns that a relationship fills later: not to be compared.
  var later: Set<String> = []
  /// Positions in an order: where the source has none, one is given afterwards.
  var orders: Set<String> = []
  /// Columns that hold nothing in these rows.
  var empty: [String] = []
  /// Derived attributes that are computed when all is there, with their SQL over the row `d`.
  var derived: [(name: String, sql: String)] = []
  /// What stands behind FROM, such as `src."ZPERSON" s`.
  var from: String
  var conditions: [String] = []
  /// The table whose keys are walked in ranges, as SQL, and the column that is the key there.
  var ranges: (table: String, key: String, column: String)

  /// The SELECT of the rows whose range key lies between `?1` and `?2`.
  var select: String {
    let all = ["\(ranges.key) BETWEEN ?1 AND ?2"] + conditions.map { "(\($0))" }
    return "SELECT \(values) FROM \(from) WHERE \(all.joined(separator: " AND "))"
  }

  /// The same rows, all at once.
  var selectAll: String { "SELECT \(values) FROM \(from)\(conditions.filter)" }

  private var values: String {
    columns.map { "\($0.sql) AS \(quoted($0.name))" }.joined(separator: ", ")
  }

  var insert: String {
    let names = columns.map { quoted($0.name) }.joined(separator: ", ")
    return "INSERT INTO main.\(quoted(table)) (\(names)) \(select) ORDER BY \(ranges.key)"
  }
}

/// Conditions of SQL.
extension [String] {
  var allTrue: String { map { "(\($0))" }.joined(separator: " AND ") }
  /// WHERE all of them are true; nothing where there are none.
  var filter: String { isEmpty ? "" : " WHERE " + allTrue }
}

/// Links of a relationship that cannot be told row by row: set when all objects are there.
struct LinkSource {
  /// The destination entity that declares the relationship, and its name.
  var entity: String
  var relationship: String
  var mapping: String
  /// SELECT of owner, destination (keys of the new store) and position (NULL where there is none).
  var select: String
}
