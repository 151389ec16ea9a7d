import ManagedModel
import Migration

/// A backup beside the store, with what is in it or why that cannot be told.
package struct BackupEntry: Sendable, Equatable {
  var backup: StoreBackup
  var contents: Result<StoreBackup.Contents, CoreDataError>
  /// When its content last changed, in local time.
  var date: String

  /// A backup with what it holds, or why that cannot be read.
  package init(
    backup: StoreBackup, contents: Result<StoreBackup.Contents, CoreDataError>, date: String
  ) {
    self.backup = backup
    self.contents = contents
    self.date = date
  }

  /// The file's name, without its folder.
  var name: String { backup.path.split(separator: "/").last.map(String.init) ?? backup.path }

  /// Its version: the name that the versions beside the store have for it, or its own.
  func version(among versions: [ModelVersion]) -> String {
    guard let contents = try? contents.get() else { return "—" }
    let hashes = contents.versionHashes
    if !hashes.isEmpty,
      let known = versions.first(where: { $0.model?.versionHashes == hashes && !$0.path.isEmpty })
    {
      return "“\(known.name)”"
    }
    return contents.version
  }

  var objects: Int? { (try? contents.get())?.counts.values.reduce(0, +) }
}
