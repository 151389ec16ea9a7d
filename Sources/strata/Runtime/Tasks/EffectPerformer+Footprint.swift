import Files
import Interface
import ManagedStore
import Migration
import Rescue

/// What a change of the store would keep, and the room that it takes; only looked at.
extension EffectPerformer {
  /// Has what an interrupted run left put right; a person said so.
  func recover(_ id: TaskID) {
    // What becomes of the files now is no other program's work.
    running.withLock { $0.fingerprint = nil }
    start(id) { [path] in
      .recovered(
        try await Self.onQueue("strata.recovery") { StoreMigration.cleanUp(after: path) })
    }
  }
}

extension Footprint {
  /// Asks the code that the run itself uses; nothing is touched.
  init(_ request: Request, of path: String) {
    var folder = FileSystem.parent(of: FileSystem.canonical(path)) ?? "."
    let backup: ExpectedBackup?
    let needed: Int
    switch request {
    case .migration(let options, let bytesNeeded):
      backup = ExpectedBackup(of: StoreReplacement(options, of: path))
      needed = bytesNeeded
    case .cutover(let options):
      backup = ExpectedBackup(of: StoreReplacement(options, of: path))
      needed = 0
    case .rollback(let former):
      backup = ExpectedBackup(ofRollbackOf: path, to: former)
      needed = former.bytes
    case .repair(let kinds):
      let movesFilesAlone = RepairRoom.movesFilesAlone(kinds)
      backup = movesFilesAlone ? nil : ExpectedBackup(of: StoreReplacement(.repair, of: path))
      needed = movesFilesAlone ? 0 : RepairRoom.bytesNeeded(for: kinds, of: path)
    case .newStore(let output):
      backup = nil
      let files = StoreFiles(path: FileSystem.canonical(path))
      needed = files.size + Self.bytes(in: files.supportFolder)
      folder = FileSystem.parent(of: FileSystem.place(of: output)) ?? "."
    }
    let leftovers =
      switch request {
      case .migration, .rollback, .repair: StoreLeftovers(of: path)
      // At a cut-over the run at work is our own; a new store leaves them to the next run in place.
      case .cutover, .newStore: StoreLeftovers([])
      }
    self.init(
      backup: backup, bytesNeeded: needed, bytesFree: FileSystem.freeSpace(at: folder),
      leftovers: leftovers)
  }

  /// Size of the files in a folder and those below it.
  private static func bytes(in folder: String, depth: Int = 0) -> Int {
    guard depth < 4, let names = try? FileSystem.list(folder) else { return 0 }
    return names.reduce(0) { sum, name in
      let path = folder + "/" + name
      if FileSystem.isDirectory(path) { return sum + bytes(in: path, depth: depth + 1) }
      return sum + (FileSystem.status(path)?.size ?? 0)
    }
  }
}

extension StoreReplacement {
  /// The one that a migration with these options makes.
  fileprivate init(_ options: MigrationOptions, of path: String) {
    self.init(.migration, of: path)
    (output, keepsBackup, backupSuffix) =
      (options.output, options.keepsBackup, options.backupSuffix)
  }
}
