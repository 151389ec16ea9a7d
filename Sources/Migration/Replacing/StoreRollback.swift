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
  ) throws -> Receipt {
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
      throw (error as? CoreDataError)?.at(path: given) ?? error
    }
  }

  /// Looks for the backup that a rollback would restore; nothing is touched.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where there is none.
  package static func requireBackup(path given: String, options: Options) throws {
    _ = try choose(options.from, for: StoreReset.place(of: given), given)
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
    // Without a backup nothing is begun, and nothing that was left is touched.
    _ = try choose(options.from, for: path, given)
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
