import SQLite

extension Store {
  /// Number of objects of exactly each entity, subentities not included.
  ///
  /// Reads every table once, through the smallest index that will do.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func counts() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for table in entityTables where table.isWholeTable {
      counts.merge(try count(hierarchyOf: table)) { first, _ in first }
    }
    return counts
  }

  /// Number of objects of exactly each entity in the hierarchy of a root entity's table.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func count(hierarchyOf table: EntityTable) throws -> [String: Int] {
    try reading { try countedOnce(hierarchyOf: table) }
  }

  private func countedOnce(hierarchyOf table: EntityTable) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for number in table.numbers { entityNames[number].map { counts[$0] = 0 } }
    guard database.contains(table.table) else { return counts }
    guard table.numbers.count > 1 else {
      let count = try connection.value("SELECT count(*) FROM \(quoted(table.table))")
      counts[table.entity] = Int(count?.integer ?? 0)
      return counts
    }
    for row in try connection.rows(
      "SELECT Z_ENT, count(*) FROM \(quoted(table.table)) GROUP BY Z_ENT")
    {
      guard row.count == 2, let name = row[0].integer.flatMap({ entityNames[$0] }) else { continue }
      counts[name] = Int(row[1].integer ?? 0)
    }
    return counts
  }

  /// The same as ``counts()`` for whom something is better than nothing: what a few milliseconds
  /// give, the small tables first, and then what the rest of the time does.
  ///
  /// Nothing is thrown, and nothing mended: a table that cannot be counted, or not in time, is not
  /// among those that `report` is told of. It is called with all that is known, now and then.
  package func earlyCounts(
    within limit: Duration = .milliseconds(100), _ report: ([String: Int]) -> Void
  ) {
    let end = ContinuousClock.now + limit
    var counts: [String: Int] = [:]
    var waiting = entityTables.filter(\.isWholeTable)
    for share in [limit / 20, limit] {
      let isFirstRound = share < limit
      waiting = waiting.filter { table in
        let now = ContinuousClock.now
        guard now < end, !connection.shouldStop else { return true }
        let stop = min(end, now + share)
        let found = connection.stopping(when: { ContinuousClock.now > stop }) {
          try? countedOnce(hierarchyOf: table)
        }
        guard let found else { return true }
        counts.merge(found) { first, _ in first }
        if !isFirstRound { report(counts) }
        return false
      }
      if isFirstRound, !counts.isEmpty { report(counts) }
    }
  }
}
