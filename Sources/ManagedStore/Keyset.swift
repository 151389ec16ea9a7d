import SQLite

/// The keys of one page, found by seeking and not by skipping.
struct Keyset {
  let sql: String
  let values: [Value]
  /// Whether rows come out in the reverse of the order asked for.
  let isBackward: Bool
  private let sortColumn: String?
  private let isDescending: Bool

  init(
    table: EntityTable, sortColumn: String?, descending: Bool, anchor: RowQuery.Anchor, limit: Int,
    filter: SQLText? = nil
  ) {
    self.sortColumn = sortColumn
    switch anchor {
    case .start, .after: isBackward = false
    case .end, .before: isBackward = true
    }
    isDescending = descending != isBackward
    var values: [Value] = []
    var condition: String?
    if case .after(let cursor) = anchor {
      condition = Self.beyond(cursor, sortColumn, descending: isDescending, &values)
    } else if case .before(let cursor) = anchor {
      condition = Self.beyond(cursor, sortColumn, descending: isDescending, &values)
    }
    if let filter {
      values += filter.values
      condition = condition.map { "(\($0)) AND (\(filter.sql))" } ?? filter.sql
    }
    let direction = isDescending ? "DESC" : "ASC"
    let order =
      (sortColumn.map { quoted($0) + " \(direction), " } ?? "") + "Z_PK \(direction)"
    let columns = sortColumn.map { "Z_PK, " + quoted($0) } ?? "Z_PK"
    let limit = max(0, limit)
    if table.numbers.count > 1, !table.isWholeTable {
      // Each entity by itself walks the Z_ENT index in key order; one IN over several would sort
      // the whole table for a page.
      var all: [Value] = []
      let parts = table.numbers.map { number -> String in
        all += values
        let rest = condition.map { " AND (\($0))" } ?? ""
        return """
          SELECT * FROM (SELECT \(columns) FROM \(quoted(table.table)) t
          WHERE Z_ENT = \(number)\(rest) ORDER BY \(order) LIMIT \(limit))
          """
      }
      sql =
        "SELECT * FROM (\(parts.joined(separator: " UNION ALL "))) ORDER BY \(order) LIMIT \(limit)"
      self.values = all
    } else {
      let conditions = [table.entityCondition(), condition.map { "(\($0))" }].compactMap { $0 }
      let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
      sql =
        "SELECT \(columns) FROM \(quoted(table.table)) t \(restriction) ORDER BY \(order) LIMIT \(limit)"
      self.values = values
    }
  }

  func order(of alias: String) -> String {
    let direction = isDescending ? "DESC" : "ASC"
    return (sortColumn.map { "\(alias).\(quoted($0)) \(direction), " } ?? "")
      + "\(alias).Z_PK \(direction)"
  }

  /// SQLite sorts NULL before every value, so a page may begin among the NULLs and end among values.
  private static func beyond(
    _ cursor: RowCursor, _ column: String?, descending: Bool, _ values: inout [Value]
  ) -> String {
    let sign = descending ? "<" : ">"
    guard let column = column.map({ quoted($0) }) else {
      values.append(.integer(cursor.key))
      return "Z_PK \(sign) ?"
    }
    switch cursor.sortValue {
    case .none, .null:
      values.append(.integer(cursor.key))
      return descending
        ? "\(column) IS NULL AND Z_PK < ?"
        : "(\(column) IS NULL AND Z_PK > ?) OR \(column) IS NOT NULL"
    default:
      values += [cursor.sortValue.value, cursor.sortValue.value, .integer(cursor.key)]
      let place = cursor.sortValue.parameter
      let seek = "\(column) \(sign) \(place) OR (\(column) = \(place) AND Z_PK \(sign) ?)"
      return descending ? "\(seek) OR \(column) IS NULL" : seek
    }
  }
}
