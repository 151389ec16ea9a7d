import ManagedModel
import ManagedStore
import SQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Puts a finished, verified file in a store's place: the only code that opens a store for writing.
struct Cutover {
  /// Given by the person; the rename happens where a link leads, so that the link stays.
  let storePath: String
  let resultPath: String
  /// What the store was when it was copied; anything else means that it changed meanwhile.
  let fingerprint: StoreFingerprint
  let backupPath: String?
  /// Called before each step, for tests that let it fail or look at what a crash would leave there.
  var before: (Step) throws -> Void = { _ in }
  /// Gives the old file its second name; false where the file system has no such thing.
  var link: (String, String) -> Bool = { FileSystem.link($0, to: $1) }

  enum Step: CaseIterable { case lock, link, rename }

  /// One rename, after which the old file lives on under the backup's name.
  ///
  /// The order matters. The old store is locked, so that no other program can write between the
  /// comparison and the rename; its -wal is merged and removed, since a -wal that stayed would be
  /// applied to the new file; only then does the name change hands.
  func run() throws {
    try FileSystem.sync(resultPath)
    try before(.lock)
    let lock = try lockStore()
    var isBackupMade = false
    do {
      try before(.link)
      if let backupPath {
        if !link(storePath, backupPath) { try copy(lock, to: backupPath) }
        isBackupMade = true
      }
      FileSystem.copyOwnership(from: storePath, to: resultPath)
      try before(.rename)
      // No lock keeps a file manager from putting another file in the store's place.
      guard fingerprint.isSameFile(as: StoreFingerprint(of: storePath)) else {
        throw StoreFingerprint.changed(storePath)
      }
      try FileSystem.rename(resultPath, to: storePath)
    } catch {
      if let backupPath, isBackupMade { FileSystem.remove(backupPath) }
      throw error
    }
    // The names are exchanged: from here on nothing may fail or take the backup away. A file system
    // that cannot sync a folder loses no more than the rename, and only with the power.
    try? FileSystem.sync(StoreFiles(path: storePath).folder)
    // The lock is on the old file, which now is the backup: it may go.
    lock.close()
  }

  /// For file systems without hard links: through the locked connection, since opening the file a
  /// second time and closing it would drop the lock. The backup's name appears when it is whole.
  private func copy(_ lock: Connection, to path: String) throws {
    let temporary = MigrationJournal.temporaryPath(beside: storePath) + MigrationJournal.copySuffix
    MigrationJournal.removeTemporary(temporary)
    do {
      let backup = try Connection(path: temporary, mode: .create)
      try backup.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
      _ = try lock.backup(to: backup) { _, _ in true }
      backup.close()
      FileSystem.copyOwnership(from: storePath, to: temporary)
      try FileSystem.sync(temporary)
      guard FileSystem.status(path) == nil else {
        throw CoreDataError(.failed, "a file of the backup's name appeared meanwhile", path: path)
      }
      try FileSystem.rename(temporary, to: path)
    } catch {
      MigrationJournal.removeTemporary(temporary)
      throw error
    }
  }

  /// The connection that keeps everybody out until it is closed.
  private func lockStore() throws -> Connection {
    // Before anything is opened: what is not the store that was copied is not to be touched.
    guard StoreFingerprint(of: storePath) == fingerprint else {
      throw StoreFingerprint.changed(storePath)
    }
    do {
      let connection = try Connection(path: storePath, mode: .readWrite, busyTimeout: 500)
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
      // In exclusive mode the lock outlives the transaction that took it.
      try connection.execute("BEGIN EXCLUSIVE; COMMIT")
      guard StoreFingerprint(of: storePath) == fingerprint else {
        throw StoreFingerprint.changed(storePath)
      }
      // It would be applied to the new file, and cut that to the size of the old one.
      guard FileSystem.status(storePath + "-journal").map({ $0.size == 0 }) ?? true else {
        throw CoreDataError(
          .failed, code: 134080, "a -journal lies beside the store", path: storePath,
          hint: "Let the app open the store once, or write elsewhere with --output.")
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
        FileSystem.status(storePath + "-wal").map({ $0.size == 0 }) ?? true
      else {
        throw CoreDataError(
          .failed, code: 134080, "the store's -wal could not be merged", path: storePath,
          hint: "Close every program that uses the store and try again.")
      }
      FileSystem.remove(storePath + "-wal")
      // A -shm that a killed program left is an index of the log that is gone now.
      FileSystem.remove(storePath + "-shm")
      return connection
    } catch let error as SQLiteError {
      if error.isBusy {
        throw CoreDataError(
          .failed, code: 134080, "another program is using the store", path: storePath,
          hint: "Close it and try again. The store is as it was.")
      }
      throw CoreDataError(sqlite: error, path: storePath, kind: .failed)
    }
  }
}

/// What tells that a store's files have not changed since they were looked at.
///
/// Asked of the file system only: opening the file a second time and closing it again would drop
/// the locks that this process holds on it, as POSIX has it.
package struct StoreFingerprint: Equatable, Sendable {
  private struct File: Equatable, Sendable {
    var inode: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0 else { return nil }
      inode = UInt64(info.st_ino)
      size = Int64(info.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (info.st_mtimespec.tv_sec, info.st_mtimespec.tv_nsec)
      #else
        (seconds, nanoseconds) = (info.st_mtim.tv_sec, info.st_mtim.tv_nsec)
      #endif
    }
  }

  private let main: File?
  /// `nil` where there is no -wal or an empty one, which come and go with a mere look.
  private let wal: File?

  /// Whether there was a main file.
  package var exists: Bool { main != nil }

  /// Whether the name still stands for the same file, whatever was done to its content.
  package func isSameFile(as other: StoreFingerprint) -> Bool { main?.inode == other.main?.inode }

  /// What to say where a store is no longer what it was when it was looked at.
  static func changed(_ path: String) -> CoreDataError {
    guard FileSystem.status(path) != nil else {
      return CoreDataError(
        .failed, code: 134110, "the store was moved or deleted meanwhile", path: path,
        hint: "Nothing was written. Find out which program did it, and try again.")
    }
    return CoreDataError(
      .failed, code: 134110, "the store was changed by another program meanwhile", path: path,
      hint: "Close that program and try again. The store is as it is now.")
  }

  package init(of storePath: String) {
    main = File(storePath)
    wal = File(storePath + "-wal").flatMap { $0.size == 0 ? nil : $0 }
  }
}
