import SQLite

/// Finds the keys of a damaged table that can still be read, in the database attached as `src`.
struct TableSeek {
  let table: String
  let connection: Connection

  /// Keys that are tried one by one before the steps grow: at some microseconds each.
  private static let patience = 20_000

  private var source: String { "src.\(quoted(table)) NOT INDEXED" }

  /// The last of so many keys from one on; `nil` where there are none.
  func key(from key: Int64, places: Int64) throws -> Int64? {
    let statement = try connection.cached(
      "SELECT max(k) FROM (SELECT rowid k FROM \(source) WHERE rowid >= ? ORDER BY rowid LIMIT ?)")
    try statement.bind([.integer(key), .integer(places)])
    defer { statement.reset() }
    return try statement.step() ? statement.value(at: 0).integer : nil
  }

  /// The first key from there on that can be read; `nil` where the rest of the table cannot be.
  func firstReadable(from first: Int64) -> Int64? {
    let end: Int64
    if let greatest = try? connection.value("SELECT max(rowid) FROM \(source)")?.integer {
      guard greatest >= first else { return nil }
      end = greatest
    } else {
      // Its last page is gone as well: somewhere between there may be others.
      var width: Int64 = 1
      while true {
        let (key, isPast) = first.addingReportingOverflow(width)
        guard !isPast, width < 1 << 48 else { return nil }
        if seek(key) != nil {
          end = key
          break
        }
        width *= 2
      }
    }
    // Pages that can be read may lie between others that cannot: step by step first, then in leaps.
    var (failed, key, step, tries) = (first, first, Int64(1), 0)
    while key < end {
      if let found = seek(key) { return step == 1 ? found : boundary(failed, key) ?? found }
      tries += 1
      if tries > Self.patience, tries % 1_000 == 0 { step *= 2 }
      failed = key
      key = end - key > step ? key + step : end
    }
    return seek(end).map { boundary(failed, end) ?? $0 }
  }

  /// The first readable key between one that is not and one that is.
  private func boundary(_ failed: Int64, _ readable: Int64) -> Int64? {
    var (low, high) = (failed, readable)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if seek(middle) == nil { low = middle } else { high = middle }
    }
    return seek(high)
  }

  /// The first key that is not below one; `nil` where its page cannot be read, or there is none.
  private func seek(_ key: Int64) -> Int64? {
    guard let found = try? self.key(from: key, places: 1), found >= key else { return nil }
    return found
  }

  /// Rows in a range of keys, by Z_ENT where that can be told, as an index knows them.
  func rowsInIndex(
    _ first: Int64, _ last: Int64
  ) -> (counts: [Int64?: Int], first: Int64?, last: Int64?)? {
    let list =
      (try? connection.rows("PRAGMA src.index_list(\(quoted(table)))")) ?? []
    // Of a partial one, not every row is in it.
    let names = list.compactMap { row -> String? in
      row.count >= 5 && row[4] == .integer(0) ? row[1].text : nil
    }
    let entities = names.filter { name in
      ((try? connection.rows("PRAGMA src.index_info(\(quoted(name)))")) ?? [])
        .contains { $0.count == 3 && $0[2].text == "Z_ENT" }
    }
    for name in entities + names {
      let column = entities.contains(name) ? "Z_ENT" : "NULL"
      guard
        let rows = try? connection.rows(
          """
          SELECT \(column), count(*), min(rowid), max(rowid)
          FROM src.\(quoted(table)) INDEXED BY \(quoted(name))
          WHERE rowid BETWEEN ? AND ? GROUP BY 1
          """, [.integer(first), .integer(last)])
      else { continue }
      var counts: [Int64?: Int] = [:]
      for row in rows where row.count == 4 {
        counts[row[0].integer] = Int(row[1].integer ?? 0)
      }
      return (
        counts, rows.compactMap { $0.count == 4 ? $0[2].integer : nil }.min(),
        rows.compactMap { $0.count == 4 ? $0[3].integer : nil }.max()
      )
    }
    return nil
  }
}
