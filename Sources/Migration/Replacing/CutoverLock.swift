import Files
import ManagedModel
import ManagedStore
import SQLite

extension Cutover {
  /// Before SQLite opens a store for writing: it would wait for a FIFO in the place of a log.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for anything but a regular file there.
  static func requireFiles(beside path: String) throws {
    for suffix in StoreSuffix.companions {
      guard let there = try FileSystem.present(path + suffix), there.kind != .file else { continue }
      throw FileSystem.refusal(
        of: there.kind == .directory ? .folder : .other, at: path + suffix)
    }
  }

  /// What keeps every other program out of the old store until it is let go.
  final class Lock {
    private enum Kind {
      /// There is no old store.
      case none
      case connection(Connection)
      case file(HeldStoreLock)
    }

    private var kind: Kind

    /// Before anything is opened: what is not the store that was copied is not to be touched.
    init(_ cutover: Cutover) throws {
      let path = cutover.storePath
      func requireSame() throws {
        guard StoreFingerprint(of: path) == cutover.fingerprint else {
          throw StoreFingerprint.changed(path)
        }
      }
      try requireSame()
      switch cutover.logs {
      case .moved where !cutover.fingerprint.exists: kind = .none
      case .moved:
        kind = .file(try HeldStoreLock(path))
        try requireSame()
      case .merged:
        do {
          kind = .connection(try Self.merge(path, requireSame))
        } catch let error as SQLiteError {
          guard error.isBusy else { throw CoreDataError(sqlite: error, path: path, kind: .failed) }
          throw StoreLock.inUse(path)
        }
      }
    }

    func letGo() {
      if case .connection(let connection) = kind { connection.close() }
      kind = .none
    }

    /// Locks a store through SQLite, and merges its -wal.
    private static func merge(
      _ path: String, _ requireSame: () throws -> Void
    ) throws -> Connection {
      try requireFiles(beside: path)
      let connection = try Connection(path: path, mode: .made, busyTimeout: 500)
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
      // In exclusive mode the lock outlives the transaction that took it.
      try connection.execute("BEGIN EXCLUSIVE; COMMIT")
      try requireSame()
      // It would be applied to the new file, and cut that to the size of the old one.
      guard FileSystem.status(path + "-journal").map({ $0.size == 0 }) ?? true else {
        throw CoreDataError(
          .failed, code: .persistentStoreOpen, "there is a -journal beside the store", path: path,
          advice: "Let the app open the store once, or write elsewhere with \(.output).")
      }
      guard try connection.value("PRAGMA journal_mode") == .text("wal") else {
        try connection.execute("BEGIN EXCLUSIVE")
        return connection
      }
      // The log is merged and its file removed before the names change; leaving WAL mode would do
      // the same, but writes the header through a journal that a crash would leave behind. SQLite
      // must not remove the log by its name later: that name is the new store's then.
      let merged = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first
      connection.keepLogOnClose()
      guard merged?.first?.integer == 0,
        FileSystem.status(path + "-wal").map({ $0.size == 0 }) ?? true
      else {
        throw CoreDataError(
          .failed, code: .persistentStoreOpen, "the store's -wal could not be merged", path: path,
          hint: "Close every program that uses the store and try again.")
      }
      // A -shm that a killed program left is an index of the log that is gone now.
      for suffix in ["-wal", "-shm"] {
        do {
          try FileSystem.removeName(path + suffix)
        } catch let error as CoreDataError {
          throw CoreDataError(
            .failed, code: .persistentStoreOpen,
            "the store's \(suffix) cannot be removed, and SQLite would apply it to the new file: \(error.message)",
            path: path + suffix,
            hint: "The store's content is as it was. Fix what prevents its removal, and try again.")
        }
      }
      return connection
    }

    /// For file systems without hard links: through the locked connection, since opening the file a
    /// second time and closing it would drop the lock.
    func copy(to path: String, attributesOf source: String) throws -> FileIdentity {
      guard case .connection(let connection) = kind else {
        throw CoreDataError(.failed, "the store is not open", path: source)
      }
      let file = try FileSystem.createEmpty(path)
      try connection.clone(to: path).close()
      FileAttributes.copy(from: .named(source), to: file)
      try file.sync()
      try file.requireName()
      return file.identity
    }
  }
}
