import Files
import ManagedStore
import ModelWriting
import SQLite

/// An empty store of a model in the place of one that does not open with it.
///
/// The old store is set aside, never changed and never removed unless that is asked for: its main
/// file, -wal, -shm and external data live on under the backup's name and open there as a store.
public enum StoreReset {
  /// What is at the store's path, as the model sees it.
  public enum State: Sendable, Equatable {
    /// Nothing is at the path.
    case missing
    /// It opens with the model: resetting would only lose its objects.
    case compatible
    /// A store whose version hashes are not the model's, with what differs.
    case incompatible(Compatibility)
    /// It cannot be opened at all; why.
    case unreadable(CoreDataError)
  }

  /// What a reset may do beyond setting an incompatible store aside.
  public struct Options: Sendable, Equatable {
    /// Reset a store that opens with the model, too, and replace or delete a file that is no Core
    /// Data store.
    public var isForced = false
    /// Remove the old store once the new one is in place.
    public var deletesBackup = false

    /// Neither of them: what is in the way is set aside, and a fitting store refused.
    public init() {}
  }

  /// What was done.
  public struct Receipt: Sendable, Equatable {
    /// The store's path, as it was given.
    public var storePath: String
    /// What was there before.
    public var state: State
    /// The main file of the store set aside; `nil` where there was none, or it was deleted.
    public var backupPath: String?
    /// Every file and folder set aside, under its new name.
    public var setAside: [String]
    /// Whether there was an old store, and nothing of it is left.
    public var isBackupDeleted: Bool
    /// Whether rows of the old store may be missing, so that a rollback to it has to be forced.
    public var isOldDamaged: Bool
    /// The new store's identity.
    public var uuid: String
    /// What else a person should know, as sentences: what an interrupted run had left, and what
    /// could not be as it was.
    public var notes: [String] = []

    /// Whether the old store could not be opened, so that its files can only be put back by hand.
    public var isOldUnreadable: Bool { if case .unreadable = state { true } else { false } }
  }

  /// - Returns: the state, whether SQLite reads all of the store's logs, so that it can merge them, and whether rows
  ///   may be missing.
  private static func look(
    at path: String, model: Model
  ) -> (state: State, isMergeable: Bool, isDamaged: Bool) {
    guard FileSystem.status(path) != nil else { return (.missing, false, false) }
    do {
      let store = try Store(path: path)
      let compatibility = Compatibility(storeHashes: store.metadata.versionHashes, model: model)
      let hasJournal = FileIdentity(of: store.files.journalPath) != nil
      let isMergeable = !hasJournal && store.unappliedFrames == 0 && !store.isMended
      let isDamaged = (try? store.inspect()) == nil || !store.rowGaps.isEmpty
      return (
        compatibility.isCompatible ? .compatible : .incompatible(compatibility), isMergeable,
        isDamaged
      )
    } catch {
      return (.unreadable(CoreDataError(error, or: .unreadable).at(path: path)), false, true)
    }
  }

  /// Resets the store.
  ///
  /// Main file and support folder get the backup's name as one: a failure puts all of them back, and after
  /// a crash the next run does. The -wal of a store that SQLite reads is merged into the old store first, so
  /// that the new store takes the name by one rename and a store is there at every moment. The logs of a
  /// store that SQLite cannot read keep their bytes and get the backup's name as well; the store's place is
  /// empty then for the time between two renames, since a program would apply them to the wrong file.
  ///
  /// - Throws: ``CoreDataError``: refused for a store that opens with the model; failed for one that
  ///   is in use, or when a file could not be moved. The store is as it was then.
  public static func run(
    path given: String, model: Model, options: Options = Options()
  ) throws(CoreDataError) -> Receipt {
    do {
      return try run(path: given, model: model, options: options) { _ in }
    } catch {
      throw CoreDataError(error, at: given)
    }
  }

  /// - Parameter before: called before each step, for tests that let it fail there.
  static func run(
    path given: String, model: Model, options: Options,
    before: @escaping (Cutover.Step) throws -> Void
  ) throws -> Receipt {
    let path = try place(of: given)
    try EntityNumbering.requireRoom(for: model, path: given)
    let journal = try MigrationJournal(storePath: path, for: .reset)
    // Kept to the end: letting go of it ends its lock.
    defer { withExtendedLifetime(journal) {} }
    let fingerprint = StoreFingerprint(of: path)
    if fingerprint.exists { _ = try HeldStoreLock(path) }
    let (state, isMergeable, isDamaged) = look(at: path, model: model)
    try refuse(state, options, given)
    let uuid = UUIDText.random()
    do {
      let fresh = try make(journal.workPath, model: model, uuid: uuid)
      let names = journal.names
      let backup = names.resetBackup
      let newSupport = journal.workPath + MigrationJournal.externalSuffix
      let kept = try SupportSharing(of: path).keep(
        in: FileSystem.name(of: newSupport), of: names, check: {})
      var cutover = Cutover(
        storePath: path, result: fresh, fingerprint: fingerprint,
        logs: isMergeable ? .merged : .moved, backupPath: names.path(backup),
        supportPath: names.path(StoreSuffix.supportFolder(of: backup)), newSupportPath: newSupport,
        attributesPath: path)
      cutover.before = before
      cutover.discardsOld = options.deletesBackup
      let outcome = try cutover.run(journal)
      let isBackup = fingerprint.exists && !options.deletesBackup
      let old = outcome.setAside + [names.path(backup)]
      let isDeleted =
        options.deletesBackup && (fingerprint.exists || !outcome.setAside.isEmpty)
        && old.allSatisfy { FileIdentity(of: $0) == nil }
      return Receipt(
        storePath: given, state: state, backupPath: isBackup ? names.path(backup) : nil,
        setAside: outcome.setAside.filter { FileIdentity(of: $0) != nil },
        isBackupDeleted: isDeleted, isOldDamaged: isDamaged, uuid: uuid,
        notes: journal.recovered + kept + outcome.notes + journal.finish())
    } catch {
      journal.finish()
      throw journal.completed(error, at: given)
    }
  }

  /// Where a store is or is to be; a link to one stays a link, and everything happens where it leads.
  static func place(of given: String) throws -> String {
    let path = FileSystem.place(of: given)
    guard let status = FileSystem.status(path), status.kind != .file else { return path }
    throw CoreDataError(
      .usage, status.kind == .directory ? "this is a folder, not a store" : "not a file",
      path: given,
      hint: status.kind == .directory ? "Name the store file in it, such as App.sqlite." : nil)
  }

  private static func refuse(_ state: State, _ options: Options, _ path: String) throws {
    switch state {
    case .compatible where !options.isForced:
      throw CoreDataError(
        .refused, "the store was made with this model: a reset would empty it", path: path,
        advice: "Use \(.force) to set it aside anyway.")
    case .unreadable(let error)
    where error.code == .persistentStoreInvalidType && options.deletesBackup && !options.isForced:
      throw CoreDataError(
        .refused, code: .persistentStoreInvalidType, "not deleted: \(error.message)", path: path,
        advice: "Leave out \(.deletesBackup) to set it aside, or use \(.force).")
    case .unreadable(let error)
    where error.code == .persistentStoreInvalidType && !options.isForced:
      throw CoreDataError(
        .refused, code: .persistentStoreInvalidType, "not replaced: \(error.message)", path: path,
        advice: "Check the path; use \(.force) to create a store there anyway.")
    default: return
    }
  }

  /// An empty store with the mark of a -wal in its header, as Apple's stores have it; its owner's only.
  private static func make(_ path: String, model: Model, uuid: String) throws -> VerifiedFile {
    let made = try FileSystem.createEmpty(path)
    try StoreCreation.fill(path, model: model, uuid: uuid)
    try Connection(path: path, mode: .made).closeAsLogged()
    guard try Store(path: path).metadata.uuid == uuid else {
      throw CoreDataError(
        .failed, code: .migration, "the new store is not what was written", path: path)
    }
    return try VerifiedFile(made)
  }
}
