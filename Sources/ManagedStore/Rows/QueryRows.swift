import SQLite

/// The rows that a query is about, as parts of a statement: which table, which of its rows, and
/// what they are sorted by.
struct QueryRows {
  let table: EntityTable
  /// On the row `t`.
  private let filter: SQLText?
  /// What comes before the key in the order; `nil` for the key alone.
  let sort: SQLText?
  /// A column that ``sort`` is.
  private let sortColumn: String?
  /// Whether the filter finds its rows by itself: then no index on the entity may be preferred.
  let isSeeking: Bool

  init(_ table: EntityTable, sortColumn: String?, filter: RowFilter?) {
    self.table = table
    self.filter = filter?.condition
    self.sortColumn = sortColumn
    sort = sortColumn.map { "t.\(name: $0)" } ?? filter?.order
    isSeeking = filter?.isSeeking ?? false
  }

  var from: SQLText { "\(name: table.table) t" }

  /// The key and, as `k`, what it is sorted by.
  var columns: SQLText { "t.Z_PK, \(sort ?? "NULL") AS k" }

  /// WHERE, unless every row of the table is meant.
  func restriction(_ condition: SQLText? = nil, entity: SQLText? = nil) -> SQLText {
    let sign: SQLText = isSeeking ? "+" : ""
    let own = entity ?? table.kindRows("t").map { "\(sign)\(own: $0)" }
    let parts = [own, filter.map { "(\($0))" }, condition.map { "(\($0))" }].compactMap { $0 }
    return parts.isEmpty ? "" : "WHERE \(SQLText.joined(parts, "AND"))"
  }

  func order(descending: Bool) -> SQLText {
    let direction: SQLText = descending ? "DESC" : "ASC"
    return sort.map { "ORDER BY \($0) \(direction), t.Z_PK \(direction)" }
      ?? "ORDER BY t.Z_PK \(direction)"
  }

  /// The condition on rows that come after a place.
  ///
  /// SQLite sorts NULL before every value, so a page may begin among the NULLs and end among values.
  func beyond(_ cursor: RowCursor, descending: Bool) -> SQLText {
    let sign: SQLText = descending ? "<" : ">"
    let key = SQLText(value: .integer(cursor.key))
    guard let sort else { return "t.Z_PK \(sign) \(key)" }
    let place: SQLText
    switch cursor.sortValue {
    case .none, .null:
      return descending
        ? "\(sort) IS NULL AND t.Z_PK < \(key)"
        : "(\(sort) IS NULL AND t.Z_PK > \(key)) OR \(sort) IS NOT NULL"
    case .stored:
      guard let sortColumn else { return "t.Z_PK \(sign) \(key)" }
      place = "(SELECT c.\(name: sortColumn) FROM \(name: table.table) c WHERE c.Z_PK = \(key))"
    case .brokenText: place = "CAST(\(value: cursor.sortValue.value) AS TEXT)"
    default: place = "\(value: cursor.sortValue.value)"
    }
    let seek: SQLText = "\(sort) \(sign) \(place) OR (\(sort) = \(place) AND t.Z_PK \(sign) \(key))"
    return descending ? "\(seek) OR \(sort) IS NULL" : seek
  }
}

extension RowCursor.SortValue {
  /// Bytes of text from which a cursor leaves them in the store.
  private static let longest = 300

  /// SQL for a sort value and for whether it is too long to be carried about.
  static func columns(of name: String) -> String {
    let isLong =
      "(typeof(\(name)) IN ('text', 'blob') AND length(CAST(\(name) AS BLOB)) > \(longest))"
    return "CASE WHEN \(isLong) THEN 0 ELSE \(name) END, \(isLong)"
  }

  /// Reads what ``columns(of:)`` selects.
  init(_ statement: Statement, at column: Int) {
    guard statement.integer(at: column + 1) == 0 else {
      self = .stored
      return
    }
    switch statement.value(at: column) {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text):
      self =
        statement.brokenText(at: column, decodedAs: text).map { .brokenText($0) } ?? .text(text)
    case .blob(let bytes): self = .blob(bytes)
    }
  }

  var value: Value {
    switch self {
    case .none, .null, .stored: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes), .brokenText(let bytes): .blob(bytes)
    }
  }
}

/// The keys of one page with what they are sorted by, found by seeking and not by skipping.
struct Keyset {
  /// Its columns are Z_PK and `k`.
  let sql: SQLText
  /// Whether rows come out in the reverse of the order asked for.
  let isBackward: Bool
  let isDescending: Bool

  init(_ rows: QueryRows, descending: Bool, anchor: RowQuery.Anchor, limit: Int) {
    let cursor: RowCursor?
    (isBackward, cursor) =
      switch anchor {
      case .start: (false, nil)
      case .after(let cursor): (false, cursor)
      case .end: (true, nil)
      case .before(let cursor): (true, cursor)
      }
    isDescending = descending != isBackward
    let page = cursor.map { [isDescending] in rows.beyond($0, descending: isDescending) }
    let limit: SQLText = "LIMIT \(number: Int64(max(0, limit)))"
    let order = rows.order(descending: isDescending)
    if rows.table.numbers.count > 1, !rows.table.isWholeTable, !rows.isSeeking {
      // Each entity by itself walks the Z_ENT index in key order; one IN over several would sort
      // the whole table for a page.
      let parts = rows.table.numbers.map { number -> SQLText in
        """
        SELECT * FROM (SELECT \(rows.columns) FROM \(rows.from) \
        \(rows.restriction(page, entity: "t.Z_ENT = \(number: number)")) \(order) \(limit))
        """
      }
      var all = parts.first ?? ""
      for part in parts.dropFirst() { all = "\(all) UNION ALL \(part)" }
      let direction: SQLText = isDescending ? "DESC" : "ASC"
      sql = "SELECT * FROM (\(all)) ORDER BY k \(direction), Z_PK \(direction) \(limit)"
    } else {
      sql = "SELECT \(rows.columns) FROM \(rows.from) \(rows.restriction(page)) \(order) \(limit)"
    }
  }
}
