import SQLite

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
