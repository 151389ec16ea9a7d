import Files
import ManagedModel
import ManagedStore
import SQLite

/// Puts a backup back in a store's place: checked first, by one rename, and undoable itself.
public enum StoreRollback {
  /// What a rollback is to do beyond putting the newest backup back.
  public struct Options: Sendable, Equatable {
    /// The backup to restore; `nil` takes the newest that a migration or a reset left.
    public var from: String?
    /// Whether the present store is kept, as `App.undone-1`; as `App-undone-1.sqlite` with its
    /// support folder where the backup brings its own. That folder is kept either way.
    public var keepsPresent = true
    /// Put a backup back that is another store's, or damaged, or in place of what cannot be read.
    public var isForced = false

    /// The newest backup, the present store kept, nothing forced.
    public init() {}
  }

  /// What was done.
  public struct Receipt: Sendable, Equatable {
    /// Path of the store, as it was given.
    public var storePath: String
    /// The backup that was restored.
    public var backup: StoreBackup
    /// Whether the backup's own file is gone, now that its content is in place. One that a person
    /// named stays.
    public var isBackupRemoved: Bool
    /// The store that was there before; `nil` where there was none, or it was not to be kept.
    public var undonePath: String?
    /// The support folder that was there before it, where the backup brought its own; `nil` where it
    /// stayed.
    public var undoneSupportPath: String?
    /// What the store holds now, equal to what the backup held.
    public var contents: StoreBackup.Contents
    /// What is wrong with the backup that was put back, and so with the store, as sentences.
    public var damage: [String] = []
    /// External data files that only the version that was undone names, or none.
    public var orphaned: [String] = []
    /// External data files that the store names and that are not there.
    public var missing: [String] = []
    /// Size of the store in bytes.
    public var bytes: Int
    /// What else a person should know, as sentences: what an interrupted run had left, and what
    /// could not be as it was.
    public var notes: [String] = []
  }

  enum Step: Equatable {
    case clone, check, externalData
    case cutover(Cutover.Step)
    case verify, removeBackup

    static let all: [Step] =
      [.clone, .check, .externalData] + Cutover.Step.allCases.map(Step.cutover) + [
        .verify, .removeBackup,
      ]
  }

  /// Puts a backup back.
  ///
  /// The backup is cloned beside the store, the clone opened and compared with the backup, and put
  /// in place as a migration's result is: under an exclusive lock, by one rename. The backup itself
  /// goes last, so that a crash anywhere leaves the store or the backup, whole, in the store's place.
  ///
  /// - Throws: ``CoreDataError``: unreadable where there is no backup or it cannot be opened;
  ///   refused where it is damaged or another store's and nothing is forced; failed for a store in
  ///   use, or cancelled. The store is as it was then, unless the message says that the backup is
  ///   in place. `isCancelled` is asked between steps and while the backup is cloned, the last time
  ///   before the store is locked; `progress` is called as often.
  public static func run(
    path given: String, options: Options = Options(), isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws(CoreDataError) -> Receipt {
    let meter = ProgressMeter(isCancelled: isCancelled, report: progress)
    var isCutOver = false
    do {
      try meter.begin(
        step: 1, of: 1,
        parts: [
          .init(kind: .copy, title: "clone the backup", unit: .bytes, total: 0),
          .init(kind: .verify, title: "compare", unit: .items, total: 1),
          .init(kind: .replace, title: "put in place", unit: .items, total: 1),
        ])
      let receipt = try Connection.stoppingAll(when: isCancelled) {
        try run(
          path: given, options: options,
          cloned: { try meter.update(done: $0, total: $1, bytes: $0) },
          before: { step in
            switch step {
            case .clone: try meter.begin(.copy)
            case .check: try meter.begin(.verify)
            case .externalData: try meter.checkCancelled()
            case .cutover(.lock):
              try meter.begin(.replace)
              isCutOver = true
            case .cutover, .verify, .removeBackup: return
            }
          })
      }
      meter.finish()
      return receipt
    } catch {
      // Until then whatever fails may do so because a statement was interrupted.
      if !isCutOver, meter.shouldStop { throw ProgressMeter.cancelled.at(path: given) }
      throw CoreDataError(error, at: given).at(path: given)
    }
  }

  /// Looks for the backup that a rollback would restore; nothing is touched.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable if there is no backup.
  package static func requireBackup(path given: String, options: Options) throws {
    _ = try chosen(options.from, for: StoreReset.place(of: given), given)
  }

  /// The backup to restore. A rollback that was killed at its very end has removed it: what that one left is removed.
  private static func chosen(
    _ from: String?, for path: String, _ given: String
  ) throws -> StoreBackup {
    do { return try choose(from, for: path, given) } catch {
      let interrupted = Leftovers(of: StoreNames(path))
      guard interrupted.isFinishedRollback else { throw error }
      var told = CoreDataError(error, or: .unreadable)
      let done = MigrationJournal.cleanUp(after: path).joined(separator: " ")
      told.hint = "The last rollback was interrupted after it had restored its backup. \(done)"
      throw told
    }
  }

  /// - Parameters:
  ///   - cloned: called while the backup is cloned.
  ///   - before: called before each step; tests let it fail there.
  static func run(
    path given: String, options: Options,
    cloned: @escaping (_ bytes: Int, _ total: Int) throws -> Void = { _, _ in },
    before: @escaping (Step) throws -> Void
  ) throws -> Receipt {
    let path = try StoreReset.place(of: given)
    // Without a backup nothing is begun, and nothing that another run left is touched.
    _ = try chosen(options.from, for: path, given)
    let journal = try MigrationJournal(storePath: path, for: .rollback)
    do {
      return try withExtendedLifetime(journal) {
        try RollbackRun(
          path: path, given: given, backup: choose(options.from, for: path, given),
          journal: journal, options: options, cloned: cloned, before: before
        ).run()
      }
    } catch {
      journal.finish()
      throw journal.completed(error, at: given)
    }
  }

  private static func choose(
    _ from: String?, for path: String, _ given: String
  ) throws -> StoreBackup {
    let all = StoreBackup.all(of: path)
    guard let from else {
      guard let newest = all.first(where: { $0.origin != .rollback }) else {
        throw CoreDataError(
          .unreadable, "there is no backup of the store beside it", path: given,
          advice: all.first.map {
            "A rollback kept the newer store: \(.backup, of: [$0.path]) restores it."
          } ?? "Name one in another place with \(.backup, "FILE").")
      }
      return newest
    }
    let named = FileSystem.canonical(from)
    if let known = all.first(where: { $0.path == named }) { return known }
    guard let other = StoreBackup(path: named, origin: .other) else {
      throw CoreDataError(
        .unreadable, "there is no such backup", path: from,
        hint: all.isEmpty
          ? nil : "There are: " + all.map { FileSystem.name(of: $0.path) }.joined(separator: ", "))
    }
    if let one = FileSystem.status(named), let present = FileSystem.status(path),
      one.inode == present.inode, one.device == present.device
    {
      throw CoreDataError(.usage, "this is the store itself, not a backup of it", path: from)
    }
    return other
  }
}

/// One rollback under way.
struct RollbackRun {
  let path: String
  /// The store's path as a person gave it.
  let given: String
  let backup: StoreBackup
  let journal: MigrationJournal
  let options: StoreRollback.Options
  let cloned: (_ bytes: Int, _ total: Int) throws -> Void
  let before: (StoreRollback.Step) throws -> Void

  private var temporary: String { journal.workPath }
  private var support: String { StoreNames(path).support }
  private var backupSupport: String { StoreNames(backup.path).support }
  /// Where the backup's support folder is made ready for the store.
  private var newSupport: String { journal.workPath + MigrationJournal.externalSuffix }

  func run() throws -> StoreRollback.Receipt {
    try refuseUse()
    let fingerprint = StoreFingerprint(of: path)
    let present = try fingerprint.exists ? identity() : .missing
    let contents: StoreBackup.Contents
    let clone: NewFile
    let gaps: [String]
    do {
      // Closed again before anything is moved: what it names lies at the backup's place.
      let source = try backup.opened(backup.path)
      try source.inspect()
      gaps = source.rowGaps
      if let first = gaps.first, !options.isForced { throw isDamaged(first) }
      contents = try StoreBackup.Contents(source)
      try refuseForeign(contents.uuid, present)
      try before(.clone)
      clone = try self.clone(source)
    }
    try before(.check)
    let (file, problems) = try check(clone, against: contents)
    try before(.externalData)
    let kept = try bringSupport()
    let (undone, undoneSupport, notes) = try putInPlace(file, fingerprint, present)
    try before(.verify)
    // In place, it is compared to the end.
    let result = try Connection.finishing { try verified(contents, undone) }
    // A log that could not be applied holds what the store does not.
    if backup.origin != .other, gaps.isEmpty, (try? before(.removeBackup)) != nil {
      removeBackup()
    }
    // Without a model nothing shows which columns name files.
    let external = result.modelSource == .raw ? nil : try result.externalData()
    return StoreRollback.Receipt(
      storePath: given, backup: backup,
      isBackupRemoved: FileIdentity(of: backup.path) == nil, undonePath: undone,
      undoneSupportPath: undoneSupport, contents: contents,
      damage: gaps + problems.filter { !gaps.contains($0) }, orphaned: external?.orphaned ?? [],
      missing: external?.missing ?? [], bytes: FileSystem.status(path)?.size ?? 0,
      notes: journal.recovered + kept + notes + journal.finish())
  }

  private func isDamaged(_ problems: String) -> CoreDataError {
    CoreDataError(
      .refused, code: .persistentStoreOpen, "the backup is damaged: \(problems.asClause)",
      path: backup.path, advice: "Use \(.force) to restore it anyway, or \(.backup, "another").")
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
    } catch let error as CoreDataError where error.kind != .cancelled {
      return .unreadable(error)
    }
  }

  private func refuseUse() throws {
    for (file, what) in [(path, "store"), (backup.path, "backup")] {
      guard FileSystem.status(file) != nil, let user = StoreLock.user(of: file) else { continue }
      throw StoreLock.inUse(file == path ? given : file, by: user, as: what)
    }
    if StoreFiles(path: path).hasUnfinishedChange, !options.isForced {
      throw CoreDataError(
        .refused, code: .persistentStoreOpen, StoreFiles.unfinishedChange, path: given,
        advice: "Let the app open the store once, or use \(.force).")
    }
  }

  private func refuseForeign(_ uuid: String, _ present: Present) throws {
    guard !options.isForced else { return }
    switch present {
    case .missing: return
    case .unreadable(let error):
      throw CoreDataError(
        .refused, code: error.code,
        "the present store cannot be read, so it is not known whether the backup belongs to it: \(error.message)",
        path: given,
        advice: "Use \(.force) to put \(FileSystem.name(of: backup.path)) in its place.")
    case .store(let own):
      // A reset made a store of another identity, and a repair one where the store's own could not be
      // read; their backups are known by the names they were given.
      let isKnown = backup.origin == .reset || backup.origin == .repair && uuid.isEmpty
      guard !isKnown, own != uuid else { return }
      throw CoreDataError(
        .refused, "the backup is of another store: its UUID is \(uuid), the store's \(own)",
        path: backup.path, advice: "Use \(.force) to restore it anyway.")
    }
  }

  /// Byte for byte where the main file is all there is, else as SQLite sees it with its -wal.
  private func clone(_ source: Store) throws -> NewFile {
    let isWhole = source.wal.frames == 0 && !StoreFiles(path: backup.path).hasUnfinishedChange
    let made = try FileSystem.createEmpty(temporary)
    if isWhole {
      let total = FileSystem.status(backup.path)?.size ?? 0
      try FileSystem.copy(OpenFile(backup.path), into: made) { try cloned($0, total) }
    } else {
      try source.connection.clone(to: temporary, cloned).closeAsLogged()
    }
    try made.sync()
    return made
  }

  /// - Returns: the file, and what is wrong with it, as sentences.
  private func check(
    _ made: NewFile, against contents: StoreBackup.Contents
  ) throws -> (VerifiedFile, [String]) {
    let file = try VerifiedFile(made)
    let clone = try backup.opened(temporary)
    try clone.inspect()
    // What could not be read of the backup is not in the clone of it.
    let found = clone.damage?.problems ?? []
    let problems = clone.rowGaps + (backup.origin == .repair ? [] : found)
    guard problems.isEmpty || options.isForced else {
      throw isDamaged(problems.prefix(3).joined(separator: "; "))
    }
    guard try StoreBackup.Contents(clone) == contents else {
      throw CoreDataError(
        .failed, code: .migration, "the clone differs from the backup",
        path: backup.path, hint: "The store is unchanged. Is a program using the backup?")
    }
    return (file, clone.rowGaps + found)
  }

  /// A backup with a stem of its own has a support folder under it, of which a second one is made: the store looks
  /// elsewhere. What other stores name in the folder that goes stays in the one that comes.
  ///
  /// - Returns: what a person should know of it, as sentences.
  private func bringSupport() throws -> [String] {
    guard !FileSystem.isSame(support, backupSupport),
      let source = try StoreFiles(path: backup.path).openSupportFolder()
    else { return [] }
    let name = FileSystem.name(of: newSupport)
    try SupportTree.clone(
      source, to: Folder(journal.names.folder).createFolder(name), links: backup.origin != .other
    ) { try cloned(0, 0) }
    return try SupportSharing(of: path).keep(in: name, of: journal.names) { try cloned(0, 0) }
  }

  /// - Returns: where the present store and its support folder live on, and what to show.
  private func putInPlace(
    _ file: VerifiedFile, _ fingerprint: StoreFingerprint, _ present: Present
  ) throws -> (store: String?, support: String?, notes: [String]) {
    let names = journal.names
    let movesSupport =
      names.file(FileSystem.name(of: newSupport)) != nil
      && names.file(FileSystem.name(of: support)) != nil
    let undone = names.undone(withSupport: movesSupport)
    var logs = Cutover.Logs.moved
    // SQLite cannot lock or merge what it cannot read: all its files are kept as they are.
    if case .store = present { logs = .merged }
    var cutover = Cutover(
      storePath: path, result: file, fingerprint: fingerprint, logs: logs,
      backupPath: options.keepsPresent ? names.path(undone) : nil,
      supportPath: movesSupport ? names.path(StoreSuffix.supportFolder(of: undone)) : nil,
      newSupportPath: newSupport, attributesPath: fingerprint.exists ? path : backup.path)
    cutover.before = { try before(.cutover($0)) }
    let outcome = try cutover.run(journal)
    return (fingerprint.exists ? cutover.backupPath : nil, cutover.supportPath, outcome.notes)
  }

  private func verified(_ contents: StoreBackup.Contents, _ undone: String?) throws -> Store {
    let store: Store
    do {
      store = try backup.opened(path)
      guard try StoreBackup.Contents(store) == contents else {
        throw CoreDataError(.failed, code: .migration, "it differs from the backup")
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
    let name = FileSystem.name(of: backup.path)
    let sharing = SupportSharing(of: backup.path)
    let isShared =
      FileSystem.isSame(support, backupSupport) || !(sharing.stores + sharing.unreadable).isEmpty
    let ownSupport = isShared ? [] : [FileSystem.name(of: backupSupport)]
    journal.remove(StoreSuffix.all.map { name + $0 } + ownSupport)
    try? journal.names.sync()
  }
}
