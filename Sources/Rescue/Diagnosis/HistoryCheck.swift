import ManagedModel
import ManagedStore
import SQLite

/// Persistent history whose rows lead to others that are gone.
struct HistoryCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    var found: [Finding] = []
    func add(_ what: String, from table: String, _ column: String, to other: String) throws {
      let (own, others) = (
        store.database.columns(of: table), store.database.columns(of: other)
      )
      guard own.contains(column), own.contains("Z_PK"), others.contains("Z_PK") else { return }
      let rows = """
        FROM \(quoted(table)) t WHERE t.\(quoted(column)) IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM \(quoted(other)) o WHERE o.Z_PK = t.\(quoted(column)))
        """
      let (count, first) = try store.reading {
        (
          try store.connection.value("SELECT count(*) \(rows)")?.integer ?? 0,
          try store.connection.rows("SELECT t.Z_PK \(rows) ORDER BY 1 LIMIT 5")
        )
      }
      guard count > 0 else { return }
      found.append(
        Finding(
          .history, "\(count) \(what).", entity: table, count: Int(count),
          first: first.compactMap { $0.first?.integer.map { "\(table)/p\($0)" } }, in: place))
    }
    try add(
      "changes are of no transaction", from: "ACHANGE", "ZTRANSACTIONID", to: "ATRANSACTION")
    for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"] {
      try add(
        "transactions name nobody (\(column))", from: "ATRANSACTION", column,
        to: "ATRANSACTIONSTRING")
    }
    return try found + unknownEntities() + [missingColumns].compactMap { $0 }
  }

  /// That the table of changes has fewer columns for values of deleted objects than the model needs, as versions
  /// of strata left it that did not add them.
  private var missingColumns: Finding? {
    let missing = store.missingTombstones
    guard let first = missing.first else { return nil }
    return Finding(
      .historyColumns,
      "ACHANGE has no column \(first)\(missing.count > 1 ? " to \(missing.last ?? first)" : ""), which the model needs for values of deleted objects: every save that writes history fails.",
      entity: "ACHANGE", count: missing.count, first: Array(missing.prefix(5)), in: place)
  }

  /// Changes of entities that have no number here.
  private func unknownEntities() throws -> [Finding] {
    guard store.database.columns(of: "ACHANGE").contains("ZENTITY"),
      store.database.contains("Z_PRIMARYKEY")
    else { return [] }
    return try store.reading {
      let numbers = try store.connection.rows(
        """
        SELECT ZENTITY, count(*) FROM ACHANGE
        WHERE ZENTITY NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY) GROUP BY 1 LIMIT 100
        """)
      let known = Set(store.schema.numbers.values)
      let unknown = numbers.filter { $0.first?.integer.map { !known.contains($0) } ?? false }
      guard !unknown.isEmpty else { return [] }
      let count = unknown.reduce(0) { $0 + Int($1.last?.integer ?? 0) }
      return [
        Finding(
          .history, "\(count) changes are of entities that the store does not have.",
          entity: "ACHANGE", count: count,
          first: unknown.prefix(5).compactMap { $0.first?.integer.map { "entity \($0)" } },
          in: place)
      ]
    }
  }
}

extension Store {
  /// Columns that history's table of changes needs for values of deleted objects, and does not have.
  var missingTombstones: [String] {
    guard hasHistory, modelMatches else { return [] }
    let there = Tombstones.count(in: database.columns(of: "ACHANGE"))
    return (there..<max(there, Tombstones.count(for: model))).map(Tombstones.column)
  }
}
