import SQLite

/// The keys of one page with what they are sorted by, found by seeking and not by skipping.
struct Keyset {
  /// Its columns are Z_PK and `k`.
  let sql: SQLText
  /// Whether rows come out in the reverse of the order asked for.
  let isBackward: Bool
  let isDescending: Bool

  init(_ rows: QueryRows, descending: Bool, anchor: RowQuery.Anchor, limit: Int) {
    switch anchor {
    case .start, .after: isBackward = false
    case .end, .before: isBackward = true
    }
    isDescending = descending != isBackward
    var page: SQLText?
    switch anchor {
    case .after(let cursor), .before(let cursor):
      page = rows.beyond(cursor, descending: isDescending)
    case .start, .end: break
    }
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
