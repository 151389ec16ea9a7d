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

  func changes(of number: Int64, after: Int64?) throws -> [HistoryChange] {
    try Task.checkCancellation()
    return try opened().changes(of: number, after: after, limit: 200)
  }

  func frequencies(
    of path: String, in entity: String, _ filter: RowFilter?
  ) throws -> Frequencies {
    try Task.checkCancellation()
    return try opened().frequencies(of: path, in: entity, where: filter)
  }

  func search(for text: String, report: (StoreSearchProgress) -> Void) throws {
    try Task.checkCancellation()
    try opened().search(for: text, isCancelled: { Task.isCancelled }, report: report)
  }

  func content(
    of property: String, in id: ObjectID, from offset: Int, count: Int
  ) throws -> StoredContent? {
    try Task.checkCancellation()
    return try opened().content(of: property, in: id, from: offset, count: count)
  }

  func find(
    _ text: String, in property: String, of id: ObjectID, from offset: Int, backwards: Bool
  ) throws -> Int? {
    try Task.checkCancellation()
    return try opened().find(
      text, in: property, of: id, from: offset, backwards: backwards,
      isCancelled: { Task.isCancelled })
  }

  func text(_ form: CopyForm, of subject: CopySubject) throws -> String {
    try Task.checkCancellation()
    return try CopyText(store: opened()).text(form, of: subject)
  }

  func export(
    _ request: ExportRequest, progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> (rows: Int, bytes: Int)? {
    try Task.checkCancellation()
    return try RowExport(store: opened(), request: request, pause: pause).run(progress)
  }
}
