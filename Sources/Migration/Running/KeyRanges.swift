import SQLite

/// The keys of a table in ranges of so few rows that progress and cancelling are felt at once.
struct KeyRanges {
  static let rows: Int64 = 20_000

  let connection: Connection
  /// As SQL, with its schema.
  let table: String
  /// The column that is its INTEGER PRIMARY KEY.
  var key = "Z_PK"

  /// Runs a statement whose parameters are the ends of a range, for each range.
  ///
  /// - Parameter evaluating: what each run is wrapped in.
  func run(
    _ sql: String, _ meter: ProgressMeter,
    evaluating: (() throws -> Void) throws -> Void = { try $0() }
  ) throws {
    let statement = try connection.prepare(sql)
    try forEach { low, high in
      try evaluating { try statement.run([.integer(low), .integer(high)]) }
      try meter.advance(by: connection.changes)
    }
  }

  /// Calls `body` with the first and the last key of each range, in rising order.
  func forEach(_ body: (_ low: Int64, _ high: Int64) throws -> Void) throws {
    // Each by itself is found at an end of the tree, both together in all rows.
    let ends = ["min", "max"].map { "(SELECT \($0)(\(key)) FROM \(table))" }
    guard let bounds = try connection.rows("SELECT \(ends.joined(separator: ", "))").first,
      bounds.count == 2, var low = bounds[0].integer, let last = bounds[1].integer
    else { return }
    // Ranges of keys need no look at the rows; where keys lie far apart, ranges of rows are fewer.
    let (span, isHuge) = last.subtractingReportingOverflow(low)
    if !isHuge, span < Self.rows * 5_000 {
      while low <= last {
        let high = min(last, low + Self.rows - 1)
        try body(low, high)
        guard high < Int64.max else { return }
        low = high + 1
      }
      return
    }
    let next = try connection.prepare(
      """
      SELECT max(\(key)) FROM (SELECT \(key) FROM \(table) WHERE \(key) >= ? ORDER BY \(key) LIMIT \(Self.rows))
      """)
    while low <= last {
      try next.bind([.integer(low)])
      guard try next.step(), let high = next.value(at: 0).integer else { return }
      next.reset()
      try body(low, high)
      guard high < Int64.max else { return }
      low = high + 1
    }
  }
}
