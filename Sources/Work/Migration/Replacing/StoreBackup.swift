import Files
import ManagedModel
import ManagedStore

/// A former state of a store that lies beside it.
///
/// The two kinds of name are two on purpose. Core Data finds external data by the part of a name
/// before the last dot: `App.backup-1`, which a migration leaves, shares the files of `App.sqlite`,
/// while `App-backup-1.sqlite`, which a reset leaves, has taken its own along. `App.unrepaired-1`, which
/// a repair leaves, is as the first. A rollback leaves either
/// `App.undone-1` or `App-undone-1.sqlite`, with the same difference.
public struct StoreBackup: Sendable, Equatable {
  /// What left it.
  public enum Origin: String, Sendable {
    /// A migration, or an edit, whose backups have the same names: the same store as it was before.
    case migration
    /// A repair: the same store with what was wrong with it.
    case repair
    /// A reset: another store, set aside with all its files.
    case reset
    /// A rollback: what was there before it.
    case rollback
    /// Something else: a file that a person named.
    case other

    /// What a person calls it: migrations and edits leave backups of the same names.
    package var words: String { self == .migration ? "migration or edit" : rawValue }
  }

  /// Path of its main file.
  public var path: String
  /// What left it.
  public var origin: Origin
  /// Size of its files in bytes, without external data.
  public var bytes: Int
  /// When its content last changed, in seconds since 2001.
  public var modified: Double
  /// When its name was given, as far as the file system knows: orders backups of different origin.
  var named: Double

  /// The backups beside a store, newest first; what rollbacks left comes last.
  ///
  /// The numbers in the names show which of one origin is newer, the time at which it got its name
  /// which of different ones. Nothing is opened.
  public static func all(of storePath: String) -> [StoreBackup] {
    let path = FileSystem.place(of: storePath)
    let folder = StoreFiles(path: path).folder
    let stem = FileSystem.stem(of: path)
    let suffix = FileSystem.suffix(of: path)
    /// Whether a name is the stem, the word, a number and the store's suffix.
    func isNumbered(_ name: String, _ word: String) -> Bool {
      guard let rest = FileSystem.rest(of: name, after: stem + word) else { return false }
      let digits = rest.utf8.prefix(while: \.isDigit)
      return !digits.isEmpty && rest.utf8.dropFirst(digits.count).elementsEqual(suffix.utf8)
    }
    let present = FileSystem.status(path)
    var found: [Origin: [StoreBackup]] = [:]
    for name in (try? FileSystem.list(folder)) ?? [] {
      let origin: Origin
      if FileSystem.rest(of: name, after: stem + ".backup-") != nil {
        origin = .migration
      } else if FileSystem.rest(of: name, after: stem + ".unrepaired-") != nil {
        origin = .repair
      } else if FileSystem.rest(of: name, after: stem + ".undone-") != nil
        || isNumbered(name, "-undone-")
      {
        origin = .rollback
      } else if isNumbered(name, "-backup-") {
        origin = .reset
      } else {
        continue
      }
      guard !StoreSuffix.isCompanion(name),
        let backup = StoreBackup(path: folder + "/" + name, origin: origin),
        // A migration that died before its rename leaves a second name of the store itself.
        let status = FileSystem.status(backup.path),
        status.inode != present?.inode || status.device != present?.device
      else { continue }
      found[origin, default: []].append(backup)
    }
    func newestFirst(_ origin: Origin) -> ArraySlice<StoreBackup> {
      (found[origin] ?? []).sorted { ModelBundle.naturallyPrecedes($1.path, $0.path) }[...]
    }
    var rest = [Origin.migration, .reset, .repair].map(newestFirst)
    var all: [StoreBackup] = []
    while let newest = rest.indices.filter({ !rest[$0].isEmpty })
      .max(by: { rest[$0].first.map(\.named) ?? 0 < rest[$1].first.map(\.named) ?? 0 })
    {
      all.append(rest[newest].removeFirst())
    }
    return all + newestFirst(.rollback)
  }

  /// What to try where a store's main file has no bytes: with the backups beside it, where there are any.
  package static func adviceWhereEmpty(_ storePath: String) -> Advice {
    let advice = StoreFiles.adviceWhereEmpty(storePath)
    guard let newest = all(of: storePath).first else { return advice }
    let list: Advice = "\(.deed("backups"), of: [ShellText.quoted(storePath)])"
    return
      "\(advice) \(FileSystem.name(of: newest.path)) beside it is a backup, left by a \(newest.origin.words): \(list) shows what it holds."
  }

  /// What a backup holds.
  public struct Contents: Sendable, Equatable {
    /// The store's identity.
    public var uuid: String
    /// Identifiers of its model version.
    public var versionIdentifiers: [String]
    /// Hash of each entity of that version.
    public var versionHashes: [String: VersionHash] = [:]
    /// Number of objects of each entity.
    public var counts: [String: Int]

    /// What its model version is called, as far as the backup itself shows.
    public var version: String {
      Model.versionName(identifiers: versionIdentifiers, hashes: versionHashes)
    }
  }

  /// Opens the backup, without a trace, and counts what is in it.
  ///
  /// - Throws: ``CoreDataError`` where it is no store that can be read.
  public func contents() throws -> Contents { try Contents(opened(path)) }

  /// A store that was repaired is read as far as it can be: its faults are why it is a backup.
  package func opened(_ path: String) throws -> Store {
    guard origin == .repair else { return try Store(path: path) }
    return try Store(path: path, files: StoreFiles(path: path), isLenient: true)
  }
}

extension StoreBackup.Contents {
  init(_ store: Store) throws {
    self.init(
      uuid: store.metadata.uuid, versionIdentifiers: store.metadata.versionIdentifiers,
      versionHashes: store.metadata.versionHashes, counts: try store.counts())
  }
}

extension StoreBackup {
  /// `nil` where no file is at the path.
  init?(path: String, origin: Origin) {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    func seconds(_ time: timespec) -> Double {
      Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - CoreDataDate.unixOffset
    }
    self.init(
      path: path, origin: origin,
      bytes: StoreFiles(path: path).size,
      modified: seconds(info.written), named: seconds(info.changed))
  }
}

/// What a run in a store's place keeps of the store, found by looking at the folder alone.
///
/// The names are made by the code that the run uses. They hold as long as the folder stays as it is:
/// another program can take a name in between, and the run then takes the next one.
package struct ExpectedBackup: Sendable, Equatable {
  /// Name of its main file, which lies beside the store.
  package let name: String
  /// Size of the store's main file and its log in bytes, without external data.
  package let bytes: Int

  /// A backup of that name and size.
  package init(name: String, bytes: Int) {
    (self.name, self.bytes) = (name, bytes)
  }

  private init?(_ storePath: String, name: (StoreNames) -> String) {
    guard FileSystem.status(storePath) != nil else { return nil }
    self.init(name: name(StoreNames(storePath)), bytes: StoreFiles(path: storePath).size)
  }

  /// The backup that a migration or a repair keeps; `nil` where it keeps none.
  package init?(of replacement: StoreReplacement) {
    guard replacement.output == nil, replacement.keepsBackup else { return nil }
    let suffix = replacement.backupSuffix
    self.init(FileSystem.canonical(replacement.storePath)) { names in
      switch replacement.deed {
      case .migration, .edit: names.migrationBackup(suffix: suffix)
      case .repair: names.repairBackup(suffix: suffix)
      }
    }
  }

  /// What a rollback to a backup keeps of the present store; `nil` where no store is there.
  package init?(ofRollbackOf storePath: String, to backup: StoreBackup) {
    let path = FileSystem.place(of: storePath)
    let own = StoreNames(path).support
    let other = StoreNames(backup.path).support
    // A support folder that comes with the backup sets the present one aside.
    let movesSupport =
      !FileSystem.isSame(own, other) && FileSystem.isDirectory(other)
      && FileIdentity(of: own) != nil
    self.init(path) { $0.undone(withSupport: movesSupport) }
  }
}

/// What an interrupted run left beside a store, found by looking alone.
package struct StoreLeftovers: Sendable, Equatable {
  /// What is there, and what the next run does about it; empty where nothing is.
  package let sentences: [String]
  /// Whether ``StoreMigration/cleanUp(after:)`` can do something about it now: not while a run is
  /// under way, nor where the journal is another user's.
  package let isRecoverable: Bool

  /// Leftovers that these sentences describe.
  package init(_ sentences: [String], isRecoverable: Bool = true) {
    (self.sentences, self.isRecoverable) = (sentences, isRecoverable)
  }

  /// Looks beside a store; nothing is touched.
  package init(of storePath: String) {
    let names = StoreNames(FileSystem.place(of: storePath))
    let look = JournalFile.look(names)
    let isOthers = look == nil && FileIdentity(of: names.path(names.journal)) != nil
    self.init(
      StoreMigration.leftovers(of: storePath),
      isRecoverable: !isOthers && look?.isBusy != true)
  }

  /// Whether nothing is there.
  package var isEmpty: Bool { sentences.isEmpty }
}
