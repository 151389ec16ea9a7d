import Dispatch
import Interface
import ManagedModel
import ManagedStore
import Migration

/// What changes the store: migrations and rollbacks, with our own readers out of the way.
extension EffectPerformer {
  func migrate(_ id: TaskID, _ plan: MigrationPlan, _ options: MigrationOptions, _ confirms: Bool) {
    let hold = ReaderHold([pages, surveys])
    let stream = MigrationStream(plan, options: options) { [self, mailbox] receipt, wait in
      if confirms {
        mailbox.post(.answer(id, .verified(receipt)))
        guard wait() else { return false }
      }
      running.withLock { $0.fingerprint = nil }
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
    running.withLock {
      $0.rollbacks[id] = false
      $0.fingerprint = nil
    }
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
