import Files
import ManagedModel
import ManagedStore

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
      case .migration: names.migrationBackup(suffix: suffix)
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
