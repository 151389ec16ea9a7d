import Files
import ManagedModel
import ManagedStore
import SQLite

/// Puts a finished, verified file in a store's place: the only code that opens a store for writing.
///
/// Store, logs and support folder change hands as one: what is to happen is written down first, and
/// the rename of the main file comes last. Before that rename everything goes back when anything
/// fails, and after a crash; after it, nothing fails any more.
struct Cutover {
  /// Without links: the rename happens where a link leads, so that the link stays.
  let storePath: String
  let result: VerifiedFile
  /// What the store was when it was copied; anything else means that it changed meanwhile.
  let fingerprint: StoreFingerprint
  /// What is done with the old store's logs.
  let logs: Logs
  /// What the old store is called afterwards; `nil` where it goes.
  var backupPath: String?
  /// Whether all that was set aside goes once the new store is in place.
  var discardsOld = false
  /// What its support folder is called afterwards; `nil` where that stays.
  var supportPath: String?
  /// A whole support folder that takes the place of the old one.
  var newSupportPath: String?
  /// A folder whose files of external data come to those of the store's support folder.
  var addedSupportPath: String?
  /// Whose owner, permissions and attributes the new store gets; where nothing is there, the new
  /// store is as any new file.
  var attributesPath: String?
  /// Called before each step, for tests that let it fail or look at what a crash would leave there.
  var before: (Step) throws -> Void = { _ in }
  /// Gives the old file its second name; false where the file system has no such thing.
  var link: (StoreNames, String, String) -> Bool = { $0.link($1, to: $2) }

  typealias Step = StoreReplacement.CutoverStep

  enum Logs {
    /// SQLite reads them: the -wal is merged into the old store.
    case merged
    /// They go along with the old store as they are, whatever they hold.
    case moved
    /// They go, and the old store is kept as its main file is: of another store, they are no part of it, and
    /// SQLite would write their pages into it.
    case dropped
  }

  struct Outcome: Equatable {
    /// Paths that files of the old store got, whether they are kept or not.
    var setAside: [String] = []
    /// What could not be as it was, as sentences.
    var notes: [String] = []
  }

  /// The order matters. The old store is locked, so that no other program can write between the
  /// comparison and the rename; a -wal that stayed would be applied to the new file, so it is merged
  /// or moved first; only then does the name change hands.
  ///
  /// No statement of it is interrupted: the last question whether to stop is asked before.
  func run(_ journal: MigrationJournal) throws -> Outcome {
    try Connection.finishing { try exchange(journal) }
  }

  private func exchange(_ journal: MigrationJournal) throws -> Outcome {
    var outcome = Outcome()
    try result.file.sync()
    try before(.lock)
    let lock = try Lock(self)
    defer { withExtendedLifetime(lock) {} }
    outcome.notes = [HardLinks.note(storePath)].compactMap { $0 } + giveAttributes()
    try before(.note)
    var handover = try plan(journal, lock)
    handover.bring.append(
      .init(from: FileSystem.name(of: result.path), to: handover.names.store, file: result.identity)
    )
    let support = StoreSuffix.supportFolder(of: FileSystem.name(of: storePath))
    let backup = backupPath.map(FileSystem.name(of:))
    let discarded =
      handover.aside.filter {
        discardsOld || (backupPath == nil && !FileSystem.isSame($0.from, support))
          || (logs == .dropped && isLog($0, of: handover.names))
      }
      // The copy of the old store, where that cannot have a second name.
      + handover.bring.filter { move in
        discardsOld && backup.map { FileSystem.isSame(move.to, $0) } ?? false
      }
    do {
      try journal.note(handover, discarding: discarded)
      try before(.link)
      try handover.linkFiles(link)
      try before(.support)
      try handover.moveSupport()
      try handover.names.sync()
      try before(.leave)
      let isEmpty = try handover.leave()
      try before(.rename)
      // No lock keeps a file manager from putting another file in the store's place.
      let present = StoreFingerprint(of: storePath)
      guard isEmpty ? !present.exists : fingerprint.isSameFile(as: present) else {
        throw StoreFingerprint.changed(storePath)
      }
      try result.requireUnchanged()
      try handover.commit()
    } catch {
      journal.undo(handover)
      throw error
    }
    // The names are exchanged: from here on nothing may fail or take the backup away. A file system
    // that cannot sync a folder loses no more than the rename, and only with the power.
    try? handover.names.sync()
    journal.noteDone()
    // The lock is on the old file, which now is the backup: it may go.
    lock.letGo()
    try? before(.done)
    journal.remove(discarded)
    outcome.setAside = handover.aside.map(\.to).map(handover.names.path)
    return outcome
  }

  private func isLog(_ move: Handover.Move, of names: StoreNames) -> Bool {
    StoreSuffix.companions.contains { FileSystem.isSame(move.from, names.store + $0) }
  }

  /// Private until now, the new file becomes what the old one is.
  private func giveAttributes() -> [String] {
    if let attributesPath, FileIdentity(of: attributesPath) != nil {
      return FileAttributes.copy(from: .named(attributesPath), to: result.file)
    }
    FileAttributes.makeOrdinary(result.file)
    return []
  }

  /// Which names change; a copy of the old store where it cannot have a second one.
  private func plan(_ journal: MigrationJournal, _ lock: Lock) throws -> Handover {
    let names = journal.names
    var handover = Handover(names: names)
    handover.old = names.file(names.store)
    let support = StoreSuffix.supportFolder(of: names.store)
    switch logs {
    case .merged:
      if let backupPath { try planBackup(backupPath, lock, journal, &handover) }
    case .moved:
      let other = backupPath.map(FileSystem.name) ?? names.undone(withSupport: false)
      // The one rename replaces what is to go, where no logs lie beside it.
      let hasLogs = StoreSuffix.companions.contains {
        names.file(names.store + $0) != nil
      }
      guard backupPath != nil || hasLogs else { break }
      for suffix in StoreSuffix.all {
        handover.setAside(names.store + suffix, as: other + suffix)
      }
    case .dropped:
      let gone = names.undone(withSupport: false)
      handover.setAside(names.store, as: backupPath.map(FileSystem.name) ?? gone)
      for suffix in StoreSuffix.companions {
        handover.setAside(names.store + suffix, as: gone + suffix)
      }
    }
    if let supportPath { handover.setAside(support, as: FileSystem.name(of: supportPath)) }
    if let addedSupportPath {
      try handover.bring(FileSystem.name(of: addedSupportPath), into: support)
    }
    if let newSupportPath {
      let name = FileSystem.name(of: newSupportPath)
      if let file = names.file(name) {
        handover.bring.append(.init(from: name, to: support, file: file))
      }
    }
    return handover
  }

  /// A second name for the old file, tried before it is written down: whether the file system has
  /// such a thing, only trying shows it.
  private func planBackup(
    _ backupPath: String, _ lock: Lock, _ journal: MigrationJournal, _ handover: inout Handover
  ) throws {
    let names = journal.names
    let copy = FileSystem.name(of: journal.workPath + MigrationJournal.copySuffix)
    if link(names, names.store, copy) {
      try names.remove(copy)
      handover.setAside(names.store, as: FileSystem.name(of: backupPath))
      return
    }
    let file = try lock.copy(to: names.path(copy), attributesOf: storePath)
    handover.bring.append(.init(from: copy, to: FileSystem.name(of: backupPath), file: file))
  }
}

/// Other names of a store's file.
enum HardLinks {
  /// That these names keep the old file; `nil` where the store has one name.
  ///
  /// A store is replaced by a rename: its name stands for the new file afterwards, and every other name (hard
  /// link) of the old file goes on standing for the old one.
  static func note(_ path: String) -> String? {
    guard let (folder, name) = try? FileSystem.opened(path), let entry = try? folder.entry(name),
      entry.kind == .file, entry.names > 1
    else { return nil }
    let count = entry.names - 1
    return
      "The store's file has \(NumberText.counted(count, "other name (a hard link), which keeps", plural: "other names (hard links), which keep")) the old file: only \(name) is replaced."
  }
}

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
      case .moved, .dropped:
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
      guard !StoreFiles(path: path).hasUnfinishedChange else {
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
            hint: "The store's content is unchanged. Fix what prevents its removal, and try again.")
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
