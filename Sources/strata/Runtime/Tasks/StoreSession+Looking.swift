import Interface
import ManagedModel
import ManagedStore

extension StoreSession {
  func facts() throws -> StoreFacts {
    try Task.checkCancellation()
    let store = try opened()
    var facts = StoreFacts()
    facts.files = store.files.list()
    facts.header = try store.databaseHeader()
    facts.metadata = store.metadata
    facts.numbers = try store.entityNumbers()
    (facts.external, facts.externalReport) = try store.externalFiles(limit: 500)
    facts.hasHistory = store.hasHistory
    facts.authors = try store.historyAuthors() ?? []
    facts.cloudKit = try store.cloudKitState()
    var drift = StoreDrift()
    drift.rows = try store.rowsOfUnknownEntities()
    facts.warnings = store.warnings(naming: \.typed) + drift.sentences
    if !facts.externalReport.missing.isEmpty {
      facts.warnings.append(
        "External data files are missing: \(facts.externalReport.missing.count) of \(facts.externalReport.referenced)."
      )
    }
    let dates =
      facts.files.compactMap(\.modified)
      + [facts.cloudKit?.lastImport, facts.cloudKit?.lastExport].compactMap { $0 }
      + (facts.cloudKit?.events.compactMap(\.start) ?? [])
    for date in dates { facts.localTimes[date] = LocalTime.text(date) }
    return facts
  }

  func transactions(before: Int64?) throws -> [HistoryEntry] {
    try Task.checkCancellation()
    return try (opened().transactions(before: before, limit: 100) ?? []).map { transaction in
      guard let seconds = transaction.timestamp else {
        return HistoryEntry(transaction, day: "no date", time: "")
      }
      // `2024-03-01 13:00:00 +0100`, or UTC as `2024-03-01T12:00:00Z`.
      let text = LocalTime.text(seconds) ?? CoreDataDate.text(seconds)
      guard text.count >= 19 else { return HistoryEntry(transaction, day: text, time: "") }
      return HistoryEntry(
        transaction, day: String(text.prefix(10)), time: String(text.dropFirst(11).prefix(8)))
    }
  }

  func export(
    _ request: ExportRequest, progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> (rows: Int, bytes: Int)? {
    try Task.checkCancellation()
    return try RowExport(
      store: opened(), own: source.path, request: request, pause: pause
    ).run(progress)
  }
}
