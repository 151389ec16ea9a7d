import Files
import ManagedStore
import Salvage

/// A store as it was when it was last looked at.
struct Baseline {
  /// All of it in a file of its own.
  let copy: DatabaseCopy
  /// The copy, read as a store.
  let store: Store
  /// What the files were when it was made.
  let state: StoreState
  /// The file that it is a copy of.
  let identity: FileIdentity?
  /// The place in the -wal up to which it goes; `nil` without one.
  var tail: LogTail?

  private static let mostAttempts = 20

  /// Copies a store in one state, without a lock.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read or copied, and where programs write to it all the time.
  init(
    of files: WatchedFiles, model: Model?, fallback: (StoreMetadata) -> Model?
  ) throws {
    let names = files.names
    for attempt in 0..<Self.mostAttempts {
      if attempt > 0 { usleep(5000) }
      try files.refresh()
      try names.check()
      guard StoreLock.writer(of: names.path) == nil, try !names.hasHotJournal() else { continue }
      let before = try StoreState(files)
      guard let main = files.main else { continue }
      var tail = try files.log.flatMap { try LogTail($0) }
      let copy = try DatabaseCopy(of: main, pageSize: tail?.pageSize)
      var pageCount = copy.pageCount
      if let log = files.log, tail != nil {
        // The frames of a log that is another store's are not applied.
        let counts = try WriteAheadLog(besideStore: names.path).frames > 0
        while let transaction = try tail?.next(log) {
          guard counts else { continue }
          pageCount = transaction.pageCount
          try tail?.pages(of: transaction, in: log) { try copy.write($1, to: $0) }
        }
      }
      try copy.finish(pageCount: pageCount)
      let after = try StoreState(files)
      // Whatever a checkpoint wrote meanwhile is in the log that was read behind the main file.
      guard tail == nil ? after == before : after.header == before.header,
        StoreLock.writer(of: names.path) == nil, try !names.hasHotJournal()
      else { continue }
      let store = try Store(
        path: copy.path, files: StoreFiles(path: copy.path, externalDataOf: names), model: model,
        fallback: fallback)
      (self.copy, self.store, self.tail) = (copy, store, tail)
      (state, identity) = (before, main.identity)
      return
    }
    throw CoreDataError(
      .failed, code: .persistentStoreOpen,
      "programs write to the store all the time, or a save was not finished", path: names.path,
      hint: "Try again when less is written.")
  }
}
