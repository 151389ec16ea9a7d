import ManagedModel
import Migration
import Rescue

/// What a change of the store keeps, and the room that it takes on disk, as the folder is now.
package struct Footprint: Sendable, Equatable {
  /// The change that is asked about.
  package enum Request: Sendable, Equatable {
    /// A migration in place, with the bytes that its plan needs.
    case migration(MigrationOptions, bytesNeeded: Int)
    /// The cut-over of a migration whose result is made.
    case cutover(MigrationOptions)
    /// A rollback to a backup.
    case rollback(StoreBackup)
    /// A repair of these kinds of fault, in place.
    case repair(Set<FindingKind>)
    /// Prepared changes, written in place, with the bytes that they need.
    case edit(bytesNeeded: Int)
    /// A new store made of this one.
    case newStore(path: String)
  }

  /// What is kept of the present store; `nil` where nothing is.
  package var backup: ExpectedBackup?
  /// Bytes that the change needs, at most.
  package var bytesNeeded: Int
  /// Bytes that are free there; `nil` where the file system does not say.
  package var bytesFree: Int?
  /// What an interrupted run left, which the change puts right first.
  package var leftovers: StoreLeftovers

  /// What a change keeps and needs.
  package init(
    backup: ExpectedBackup? = nil, bytesNeeded: Int, bytesFree: Int? = nil,
    leftovers: StoreLeftovers = StoreLeftovers([])
  ) {
    (self.backup, self.bytesNeeded, self.bytesFree, self.leftovers) = (
      backup, bytesNeeded, bytesFree, leftovers
    )
  }

  /// Whether there is less room than the change needs.
  var isTooLarge: Bool { bytesFree.map { $0 < bytesNeeded } ?? false }
}

/// A backup beside the store, with what is in it or why that cannot be determined.
package struct BackupEntry: Sendable, Equatable {
  var backup: StoreBackup
  var contents: Result<StoreBackup.Contents, CoreDataError>
  /// When its content last changed, in local time.
  var date: String

  /// A backup with what it holds, or why that cannot be read.
  package init(
    backup: StoreBackup, contents: Result<StoreBackup.Contents, CoreDataError>, date: String
  ) {
    (self.backup, self.contents, self.date) = (backup, contents, date)
  }

  /// The file's name, without its folder.
  var name: String { backup.path.split(separator: "/").last.map(String.init) ?? backup.path }

  /// Its version: the name that the versions beside the store have for it, or its own.
  func version(among versions: [ModelVersion]) -> String {
    guard let contents = try? contents.get() else { return "—" }
    return contents.name(among: versions).map { "“\($0)”" } ?? contents.version
  }

  var objects: Int? { (try? contents.get())?.counts.values.reduce(0, +) }
}

extension StoreBackup.Contents {
  /// The name that the versions beside the store have for its version; `nil` where none is of it.
  func name(among versions: [ModelVersion]) -> String? {
    guard !versionHashes.isEmpty else { return nil }
    return versions.first { $0.model?.versionHashes == versionHashes && !$0.path.isEmpty }?.name
  }
}
