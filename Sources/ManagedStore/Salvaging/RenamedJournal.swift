import Files
import Salvage

/// What becomes of files beside a store that look like its -journal under another name.
struct RenamedJournal {
  /// The one that is rolled back; `nil` where none is.
  private(set) var path: String?
  /// What a person should know, as sentences.
  private(set) var notes: [String] = []
  /// Whether one is left out that may be the store's: it may hold half of a save then.
  private(set) var isNeeded = false

  /// - Parameters:
  ///   - store: the main file.
  ///   - isTaken: whether one is rolled back at all.
  /// - Throws: `CoreDataError` where a file cannot be read.
  init(beside store: String, isTaken: Bool) throws {
    let own = store + "-journal"
    let isThere = try FileSystem.present(own)?.kind == .file
    let size = FileSystem.status(store)?.size ?? 0
    guard try !isThere || !RollbackJournal.isHot(own, besideMainOf: size) else { return }
    let folder = FileSystem.parent(of: store) ?? "."
    var fitting: [StrayLog] = []
    for stray in StrayLog.all(beside: store)
    where stray.kind == .journal && !stray.isOfAnotherTime {
      let found = try RollbackJournal.contradiction(
        of: folder + "/" + stray.name, store: store)
      guard let found else {
        fitting.append(stray)
        continue
      }
      notes.append("\(stray.name) was left out: it does not belong to the store (\(found.words)).")
      // What is damaged may contradict its own journal.
      if found.isOfDamage { isNeeded = true }
    }
    // Of two, one at most is of the last save, and a journal of the store's own says that it was finished.
    if isTaken, !isThere, fitting.count == 1, let stray = fitting.first {
      path = folder + "/" + stray.name
      notes.append("\(stray.name) was used as the store's -journal, which is missing.")
      return
    }
    notes += fitting.map { $0.sentence(store: store, isNeeded: true) }
    if !fitting.isEmpty { isNeeded = true }
  }
}

extension LogKinship.Contradiction {
  /// Whether damage of the store can be the reason, too.
  fileprivate var isOfDamage: Bool {
    switch self {
    case .unreadable, .page: true
    default: false
    }
  }
}
