import Commands
import Dispatch
import Files
import Interface
import ManagedModel
import ManagedStore
import Migration
import Rescue

/// What changes the store: migrations and rollbacks, with our own readers out of the way.
extension EffectPerformer {
  func migrate(_ id: TaskID, _ plan: MigrationPlan, _ options: MigrationOptions, _ confirms: Bool) {
    let hold = ReaderHold([pages, surveys])
    let stream = MigrationStream(plan, options: options) { [self, mailbox] receipt, wait in
      if confirms {
        mailbox.post(.answer(id, .verified(receipt)))
        guard wait() else { return false }
      }
      following.stop()
      hold.begin()
      return true
    }
    running.withLock { $0.migrations[id] = stream }
    start(id) { [self] in
      defer { hold.end() }
      return .migrated(try await receipt(of: stream, id))
    }
  }

  /// Runs the stream to its end, reporting how far it is.
  func receipt(of stream: MigrationStream, _ id: TaskID) async throws -> MigrationReceipt {
    defer { running.withLock { _ = $0.migrations.removeValue(forKey: id) } }
    var receipt: MigrationReceipt?
    for try await event in stream.events() {
      switch event {
      case .progress(let progress): mailbox.post(.answer(id, .progress(progress)))
      case .receipt(let final, let last):
        if let last { mailbox.post(.answer(id, .progress(last))) }
        receipt = final
      }
    }
    guard let receipt else {
      throw CoreDataError(.failed, "the migration ended without a receipt")
    }
    return receipt
  }

  func rollBack(_ id: TaskID, _ options: StoreRollback.Options) {
    let hold = ReaderHold([pages, surveys])
    running.withLock { $0.rollbacks[id] = false }
    following.stop()
    start(id) { [self, mailbox, path] in
      defer { running.withLock { _ = $0.rollbacks.removeValue(forKey: id) } }
      return .rolledBack(
        try await Self.onQueue("strata.rollback") {
          hold.begin()
          defer { hold.end() }
          return try StoreRollback.run(
            path: path, options: options,
            isCancelled: { self.running.withLock { $0.rollbacks[id] ?? true } },
            progress: { mailbox.post(.answer(id, .progress($0))) })
        })
    }
  }

  func backups(_ id: TaskID) {
    start(id) { [path] in
      var entries: [BackupEntry] = []
      for backup in StoreBackup.all(of: path) {
        try Task.checkCancellation()
        let contents = Result { try backup.contents() }
          .mapError { CoreDataError($0, or: .unreadable) }
        let seconds = backup.modified.rounded(.down)
        entries.append(
          BackupEntry(backup: backup, contents: contents, date: LocalTime.minutes(seconds)))
      }
      return .backups(entries)
    }
  }

  /// Runs long work on a queue of its own, so that it blocks no thread that other tasks wait for.
  ///
  /// It is still part of the task: `Task.isCancelled` says whether that was cancelled.
  static func onQueue<T: Sendable>(
    _ label: String, _ body: @Sendable () throws -> T
  ) async throws -> T {
    try await Errand(label).run(body)
  }
}

/// A piece of work on a queue of its own.
private actor Errand {
  private let executor: QueueExecutor

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ label: String) { executor = QueueExecutor(label) }

  func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T { try body() }
}

/// What a change of the store would keep, and the room that it takes; only looked at.
extension EffectPerformer {
  /// Has what an interrupted run left put right; a person said so.
  func recover(_ id: TaskID) {
    // What becomes of the files now is no other program's work.
    following.stop()
    start(id) { [path] in
      .recovered(
        try await Self.onQueue("strata.recovery") { StoreMigration.cleanUp(after: path) })
    }
  }
}

extension Footprint {
  /// Asks the code that the run itself uses; nothing is touched.
  init(_ request: Request, of path: String) {
    var folder = FileSystem.parent(of: FileSystem.canonical(path)) ?? "."
    let backup: ExpectedBackup?
    let needed: Int
    switch request {
    case .migration(let options, let bytesNeeded):
      backup = ExpectedBackup(of: StoreReplacement(options, of: path))
      needed = bytesNeeded
    case .cutover(let options):
      backup = ExpectedBackup(of: StoreReplacement(options, of: path))
      needed = 0
    case .rollback(let former):
      backup = ExpectedBackup(ofRollbackOf: path, to: former)
      needed = former.bytes
    case .repair(let kinds):
      let movesFilesAlone = RepairRoom.movesFilesAlone(kinds)
      backup = movesFilesAlone ? nil : ExpectedBackup(of: StoreReplacement(.repair, of: path))
      needed = movesFilesAlone ? 0 : RepairRoom.bytesNeeded(for: kinds, of: path)
    case .edit(let bytesNeeded):
      backup = ExpectedBackup(of: StoreReplacement(.edit, of: path))
      needed = bytesNeeded
    case .newStore(let output):
      backup = nil
      let files = StoreFiles(path: FileSystem.canonical(path))
      needed = files.size + Self.bytes(in: files.supportFolder)
      folder = FileSystem.parent(of: FileSystem.place(of: output)) ?? "."
    }
    let leftovers =
      switch request {
      case .migration, .rollback, .repair, .edit: StoreLeftovers(of: path)
      // At a cut-over the run at work is our own; a new store leaves them to the next run in place.
      case .cutover, .newStore: StoreLeftovers([])
      }
    self.init(
      backup: backup, bytesNeeded: needed, bytesFree: FileSystem.freeSpace(at: folder),
      leftovers: leftovers)
  }

  /// Size of the files in a folder and those below it.
  private static func bytes(in folder: String, depth: Int = 0) -> Int {
    guard depth < 4, let names = try? FileSystem.list(folder) else { return 0 }
    return names.reduce(0) { sum, name in
      let path = folder + "/" + name
      if FileSystem.isDirectory(path) { return sum + bytes(in: path, depth: depth + 1) }
      return sum + (FileSystem.status(path)?.size ?? 0)
    }
  }
}

extension StoreReplacement {
  /// The one that a migration with these options makes.
  fileprivate init(_ options: MigrationOptions, of path: String) {
    self.init(.migration, of: path)
    (output, keepsBackup, backupSuffix) =
      (options.output, options.keepsBackup, options.backupSuffix)
  }
}

/// What goes on around the store.
extension EffectPerformer {
  /// Has tmux take a text that it may have kept from the terminal, and says what to set where it does not.
  func copyThroughTmux(_ text: String) {
    Task { [mailbox] in
      let advice = try? await Self.onQueue("strata.tmux") { TmuxClipboard.send(text) }
      if let advice { mailbox.post(.notice(Notice(advice, .warning))) }
    }
  }

  /// Removes copies that nobody uses any more, and reports what an interrupted run left of this
  /// store: a person decides whether anything is done about that.
  func tidyUp() {
    PrivateFolder.removeAbandoned()
    // A run of our own is no interrupted one.
    guard !isMigrating, running.withLock({ $0.rescues.isEmpty }) else { return }
    let found = StoreLeftovers(of: path)
    if !found.isEmpty { mailbox.post(.leftovers(found)) }
  }

  /// Has that done, not before the first screen is there.
  func tidy() {
    let isHeld = running.withLock { running in
      running.isTidyingDue = running.holdsTidying
      return running.holdsTidying
    }
    if !isHeld { Task { tidyUp() } }
  }

  /// The first screen is there: what was left for later may begin.
  func releaseTidying() {
    let isDue = running.withLock { running in
      defer { (running.holdsTidying, running.isTidyingDue) = (false, false) }
      return running.isTidyingDue
    }
    if isDue { Task { tidyUp() } }
  }
}
