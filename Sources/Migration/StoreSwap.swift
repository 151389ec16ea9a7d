import ManagedModel
import ManagedStore

/// Puts a fresh store where another was, moving every file of the old one to the backup's name.
///
/// Each step is a rename or a link, and is undone when a later one fails. The order keeps a crash
/// harmless wherever it comes: the -wal gets its second name while the main file still has its first,
/// so that either the old place or the backup is always complete. A new file never comes to lie
/// beside the old -wal, which SQLite would apply to it.
struct StoreSwap {
  enum Step: CaseIterable {
    case linkLog, moveStore, removeLog, moveIndex, moveExternalData, moveJournal, placeFresh
  }

  let storePath: String
  let freshPath: String
  /// Another stem than the store's, since Core Data finds external data by the stem.
  let backupPath: String
  private(set) var setAside: [String] = []
  private(set) var hasMainFile = false
  private var undo: [() throws -> Void] = []

  init(storePath: String, freshPath: String) {
    self.storePath = storePath
    self.freshPath = freshPath
    backupPath = Self.freeName(for: storePath)
  }

  mutating func run(before: (Step) throws -> Void) throws {
    do {
      for step in Step.allCases {
        try before(step)
        try perform(step)
      }
    } catch {
      for action in undo.reversed() { try? action() }
      throw error
    }
    try? FileSystem.sync(StoreFiles(path: storePath).folder)
  }

  /// The steps before one, as a crash would leave them; for tests.
  mutating func run(until last: Step) throws {
    for step in Step.allCases.prefix(while: { $0 != last }) { try perform(step) }
  }

  /// Removes what was set aside.
  func deleteBackup() {
    for path in setAside { FileSystem.removeTree(path) }
  }

  private mutating func perform(_ step: Step) throws {
    let (old, new) = (StoreFiles(path: storePath), StoreFiles(path: backupPath))
    switch step {
    case .linkLog:
      guard FileSystem.status(old.walPath) != nil else { return }
      // Without hard links a copy does: the original is removed only when the copy is safe.
      if !FileSystem.link(old.walPath, to: new.walPath) {
        try FileSystem.copy(old.walPath, to: new.walPath)
        try FileSystem.sync(new.walPath)
      }
      undo.append { FileSystem.remove(new.walPath) }
      try FileSystem.sync(old.folder)
    case .moveStore:
      hasMainFile = FileSystem.status(storePath) != nil
      try move(storePath, to: backupPath)
    case .removeLog:
      guard FileSystem.status(old.walPath) != nil else { return }
      FileSystem.remove(old.walPath)
      undo.append {
        if !FileSystem.link(new.walPath, to: old.walPath) {
          try FileSystem.copy(new.walPath, to: old.walPath)
        }
      }
      setAside.append(new.walPath)
    case .moveIndex: try move(old.shmPath, to: new.shmPath)
    case .moveExternalData:
      guard let from = FileSystem.parent(of: old.externalDataFolder),
        let to = FileSystem.parent(of: new.externalDataFolder)
      else { return }
      try move(from, to: to)
    case .moveJournal: try move(old.journalPath, to: new.journalPath)
    case .placeFresh: try FileSystem.rename(freshPath, to: storePath)
    }
  }

  private mutating func move(_ source: String, to destination: String) throws {
    guard FileSystem.status(source) != nil else { return }
    try FileSystem.rename(source, to: destination)
    undo.append { try FileSystem.rename(destination, to: source) }
    setAside.append(destination)
    try FileSystem.sync(FileSystem.parent(of: source) ?? ".")
  }

  /// `App-backup-1.sqlite`, or a number above those of all backups there, so that the newest has
  /// the highest. A file of one, such as a -wal that was left, takes its number too.
  private static func freeName(for path: String) -> String {
    let stem = FileSystem.stem(of: path)
    let suffix = FileSystem.name(of: path).dropFirst(stem.count)
    let names = (try? FileSystem.list(StoreFiles(path: path).folder)) ?? []
    let prefixes = ["\(stem)-backup-", ".\(stem)-backup-"]
    let number = StoreBackup.nextNumber(in: names, after: prefixes)
    return "\(StoreFiles(path: path).folder)/\(stem)-backup-\(number)\(suffix)"
  }
}
