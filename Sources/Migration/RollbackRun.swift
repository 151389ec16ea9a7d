import ManagedModel
import ManagedStore
import SQLite

/// One rollback under way.
struct RollbackRun {
  let path: String
  /// The store's path as a person gave it.
  let given: String
  let backup: StoreBackup
  let temporary: String
  let options: StoreRollback.Options
  let cloned: (_ bytes: Int, _ total: Int) throws -> Void
  let before: (StoreRollback.Step) throws -> Void

  /// External data that came with the backup, to be taken away again where it fails.
  private var added: [String] = []

  init(
    path: String, given: String, backup: StoreBackup, temporary: String,
    options: StoreRollback.Options,
    cloned: @escaping (_ bytes: Int, _ total: Int) throws -> Void,
    before: @escaping (StoreRollback.Step) throws -> Void
  ) {
    self.path = path
    self.given = given
    self.backup = backup
    self.temporary = temporary
    self.options = options
    self.cloned = cloned
    self.before = before
  }

  mutating func run() throws -> StoreRollback.Receipt {
    try refuseUse()
    let fingerprint = StoreFingerprint(of: path)
    let present = try fingerprint.exists ? identity() : .missing
    let contents: StoreBackup.Contents
    do {
      // Closed again before anything is moved: what it names lies at the backup's place.
      let source = try Store(path: backup.path)
      contents = try StoreBackup.Contents(source)
      try refuseForeign(contents.uuid, present)
      try before(.clone)
      try clone(source)
    }
    try before(.check)
    try check(against: contents)
    try before(.externalData)
    try bringExternalData()
    let undone = try putInPlace(fingerprint, present)
    added = []
    try before(.verify)
    let result = try verified(contents, undone)
    var isRemoved = false
    if backup.origin != .other, (try? before(.removeBackup)) != nil {
      removeBackup()
      isRemoved = true
    }
    // Without a model nothing tells which columns name files.
    let external = result.modelSource == .raw ? nil : try result.externalData()
    return StoreRollback.Receipt(
      storePath: given, backup: backup, isBackupRemoved: isRemoved, undonePath: undone,
      contents: contents, orphaned: external?.orphaned ?? [], missing: external?.missing ?? [],
      bytes: FileSystem.status(path)?.size ?? 0)
  }

  /// Removes what a run that failed before the rename made.
  func cleanUp() {
    MigrationJournal.removeTemporary(temporary)
    for file in added { FileSystem.remove(file) }
  }

  /// What is in the store's place now.
  private enum Present: Equatable {
    case missing
    case store(uuid: String)
    case unreadable(CoreDataError)
  }

  private func identity() throws -> Present {
    do {
      return .store(uuid: try Store(path: path).metadata.uuid)
    } catch let error as CoreDataError {
      return .unreadable(error)
    }
  }

  private func refuseUse() throws {
    for (file, what) in [(path, "store"), (backup.path, "backup")] {
      guard FileSystem.status(file) != nil, let user = StoreLock.user(of: file) else { continue }
      throw CoreDataError(
        .failed, code: 134080, "another program (process \(user)) is using the \(what)",
        path: file == path ? given : file,
        hint: "Close it and try again. The store is as it was.")
    }
    if (FileSystem.status(path + "-journal")?.size ?? 0) > 512, !options.isForced {
      throw CoreDataError(
        .refused, code: 134080, "the store's last change was cut off: a -journal lies beside it",
        path: given, hint: "Let the app open the store once, or use --force.")
    }
  }

  private func refuseForeign(_ uuid: String, _ present: Present) throws {
    guard !options.isForced else { return }
    switch present {
    case .missing: return
    case .unreadable(let error):
      throw CoreDataError(
        .refused, code: error.code,
        "the present store cannot be read, so nothing tells whether the backup is its own: \(error.message)",
        path: given, hint: "Use --force to put \(FileSystem.name(of: backup.path)) in its place.")
    case .store(let own):
      // A reset made a store of another identity; its backup is known by the name it was given.
      guard backup.origin != .reset, own != uuid else { return }
      throw CoreDataError(
        .refused, "the backup is of another store: its UUID is \(uuid), the store's \(own)",
        path: backup.path, hint: "Use --force to put it in place all the same.")
    }
  }

  /// Byte for byte where the main file is all there is, else as SQLite sees it with its -wal.
  private func clone(_ source: Store) throws {
    let files = StoreFiles(path: backup.path)
    let isWhole =
      source.wal.frames == 0 && (FileSystem.status(files.journalPath)?.size ?? 0) <= 512
    if isWhole {
      let total = FileSystem.status(backup.path)?.size ?? 0
      try FileSystem.copy(backup.path, to: temporary) { try cloned($0, total) }
    } else {
      try FileSystem.createEmpty(
        temporary, permissions: FileSystem.status(backup.path)?.permissions ?? 0o600)
      let connection = try Connection(path: temporary, mode: .readWrite)
      try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
      let pageSize = Int(try source.connection.value("PRAGMA page_size")?.integer ?? 4096)
      _ = try source.connection.backup(to: connection) { done, total in
        try cloned(done * pageSize, total * pageSize)
        return true
      }
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL")
      connection.close()
    }
    try FileSystem.sync(temporary)
  }

  private func check(against contents: StoreBackup.Contents) throws {
    let clone = try Store(path: temporary)
    let problems = try clone.reading {
      try clone.connection.rows("PRAGMA integrity_check(3)").compactMap { $0.first?.text }
    }
    guard problems == ["ok"] || options.isForced else {
      throw CoreDataError(
        .refused, code: 134080, "the backup is damaged: \(problems.joined(separator: "; "))",
        path: backup.path, hint: "Use --force to put it in place all the same, or --from another.")
    }
    guard try StoreBackup.Contents(clone) == contents else {
      throw CoreDataError(
        .failed, code: 134110, "the clone does not hold what the backup holds", path: backup.path,
        hint: "The store is as it was. Is a program using the backup?")
    }
  }

  /// A backup with a stem of its own has its external data under it: the store looks elsewhere.
  private mutating func bringExternalData() throws {
    let from = StoreFiles(path: backup.path).externalDataFolder
    let to = StoreFiles(path: path).externalDataFolder
    guard from != to, FileSystem.isDirectory(from) else { return }
    try FileSystem.makeDirectory(to)
    for name in try FileSystem.list(from) where FileSystem.isFile(from + "/" + name) {
      let target = to + "/" + name
      if FileSystem.status(target) != nil {
        guard try FileSystem.read(target) == FileSystem.read(from + "/" + name) else {
          throw CoreDataError(
            .refused, "an external data file of that name, with other content, is there already",
            path: target, hint: "Move it away. The store is as it was.")
        }
        continue
      }
      added.append(target)
      try FileSystem.copy(from + "/" + name, to: target)
      try FileSystem.sync(target)
    }
    try FileSystem.sync(to)
  }

  /// - Returns: where the present store lives on.
  private func putInPlace(
    _ fingerprint: StoreFingerprint, _ present: Present
  ) throws -> String? {
    let folder = StoreFiles(path: path).folder
    let prefix = FileSystem.stem(of: path) + ".undone-"
    let number = StoreBackup.nextNumber(in: try FileSystem.list(folder), after: [prefix])
    let undone = options.keepsPresent ? folder + "/" + prefix + String(number) : nil
    if case .store = present {
      try Cutover(
        storePath: path, resultPath: temporary, fingerprint: fingerprint, backupPath: undone,
        before: { try before(.cutover($0)) }
      ).run()
      return undone
    }
    // SQLite cannot lock or merge what it cannot read: all its files are kept as they are.
    try before(.cutover(.lock))
    let lock = fingerprint.exists ? try HeldStoreLock(path) : nil
    guard StoreFingerprint(of: path) == fingerprint else {
      throw CoreDataError(
        .failed, code: 134110, "the store was changed by another program meanwhile", path: given,
        hint: "Close that program and try again.")
    }
    return try withExtendedLifetime(lock) {
      try before(.cutover(.link))
      let suffixes = ["", "-wal", "-journal"].filter { FileSystem.status(path + $0) != nil }
      if let undone {
        for suffix in suffixes where !FileSystem.link(path + suffix, to: undone + suffix) {
          for made in suffixes.prefix(while: { $0 != suffix }) { FileSystem.remove(undone + made) }
          throw CoreDataError(
            .failed, "the present store cannot be kept: the file system has no hard links",
            path: given, hint: "Copy it elsewhere, then use --no-backup. The store is as it was.")
        }
        try FileSystem.sync(folder)
      }
      do {
        try before(.cutover(.rename))
        // A log that stayed would be applied to the file that comes.
        for suffix in ["-wal", "-journal", "-shm"] { FileSystem.remove(path + suffix) }
        try FileSystem.rename(temporary, to: path)
      } catch {
        for suffix in suffixes {
          guard let undone else { continue }
          if FileSystem.status(path + suffix) == nil {
            _ = FileSystem.link(undone + suffix, to: path + suffix)
          }
          FileSystem.remove(undone + suffix)
        }
        throw error
      }
      try? FileSystem.sync(folder)
      return fingerprint.exists ? undone : nil
    }
  }

  private func verified(
    _ contents: StoreBackup.Contents, _ undone: String?
  ) throws -> Store {
    let store: Store
    do {
      store = try Store(path: path)
      guard try StoreBackup.Contents(store) == contents else {
        throw CoreDataError(.failed, code: 134110, "it does not hold what the backup holds")
      }
    } catch let error as CoreDataError {
      throw CoreDataError(
        .failed, code: error.code,
        "the backup is in place, but cannot be verified: \(error.message)", path: given,
        hint: undone.map { "What was there before is \($0)." })
    }
    return store
  }

  /// Its content is in place and verified: a second copy would be offered as the newest again.
  private func removeBackup() {
    let files = StoreFiles(path: backup.path)
    for file in [files.path, files.walPath, files.shmPath, files.journalPath] {
      FileSystem.remove(file)
    }
    if files.externalDataFolder != StoreFiles(path: path).externalDataFolder,
      let support = FileSystem.parent(of: files.externalDataFolder)
    {
      FileSystem.removeTree(support)
    }
    try? FileSystem.sync(files.folder)
  }
}
