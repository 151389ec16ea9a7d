import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport

@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A run that changes which files a store is made of, for letting it fail or die at every step.
enum InterruptedRun: String, CaseIterable, Codable, Sendable {
  case migrate, migrateWithoutBackup, output, reset, resetDeleting
  case rollback, rollbackWithoutBackup, rollbackOfReset, rollbackOfDamaged

  static let note = """
    <model><entity name="Note"><attribute name="text" attributeType="String"/></entity></model>
    """

  static func next() throws -> Model { try Library.model(replacing: MigrationSafetyTests.added) }

  /// A store in the state from which the run starts, with all that can lie in a support folder.
  func prepare(withLog: Bool) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let support = folder.path(".Library_SUPPORT")
    try FileSystem.makeDirectory(support + "/other/empty")
    try FileSystem.write([1, 2], to: support + "/other/keep")
    _ = symbolicLink(support + "/L", to: "other/keep")
    chmod(support, 0o700)
    chmod(path, 0o600)
    switch self {
    case .migrate, .migrateWithoutBackup, .output, .reset, .resetDeleting: break
    case .rollback, .rollbackWithoutBackup, .rollbackOfDamaged:
      _ = try StoreMigration.runAndRead(Library.plan(path, to: Self.next()))
    case .rollbackOfReset:
      _ = try StoreReset.run(path: path, model: Library.model(Self.note))
      try FileSystem.makeDirectory(support + "/_EXTERNAL_DATA", permissions: 0o700)
      try FileSystem.write([3], to: support + "/_EXTERNAL_DATA/NEW")
    }
    if withLog { try Self.leaveLog(at: path) }
    if self == .rollbackOfDamaged {
      try FileSystem.write(Array("no store".utf8), to: path)
    }
    return folder
  }

  /// Rows that only the -wal holds, as an app that was killed leaves them.
  private static func leaveLog(at path: String) throws {
    let copy = path + ".copy"
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
      UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1000;
      """)
    try FileSystem.copyOver(path, to: copy)
    try FileSystem.copyOver(path + "-wal", to: copy + "-wal")
    connection.close()
    try FileSystem.rename(copy, to: path)
    try FileSystem.rename(copy + "-wal", to: path + "-wal")
    FileSystem.remove(path + "-shm")
  }

  func run(in folder: String, before: @escaping (Cutover.Step) throws -> Void) throws {
    let path = folder + "/Library.sqlite"
    switch self {
    case .migrate, .migrateWithoutBackup, .output:
      var options = MigrationOptions()
      options.keepsBackup = self != .migrateWithoutBackup
      if self == .output { options.output = folder + "/Out.sqlite" }
      var run = MigrationRun(plan: try Library.plan(path, to: Self.next()), options: options)
      run.before = before
      _ = try run.run(isCancelled: { false }, progress: { _ in })
    case .reset, .resetDeleting:
      var options = StoreReset.Options()
      options.deletesBackup = self == .resetDeleting
      _ = try StoreReset.run(
        path: path, model: Library.model(Self.note), options: options, before: before)
    case .rollback, .rollbackWithoutBackup, .rollbackOfReset, .rollbackOfDamaged:
      var options = StoreRollback.Options()
      options.keepsPresent = self != .rollbackWithoutBackup
      options.isForced = self == .rollbackOfDamaged
      _ = try StoreRollback.run(path: path, options: options) {
        if case .cutover(let step) = $0 { try before(step) }
      }
    }
  }

  var isRollback: Bool {
    switch self {
    case .rollback, .rollbackWithoutBackup, .rollbackOfReset, .rollbackOfDamaged: true
    default: false
    }
  }

  /// The steps of its cut-over.
  var steps: [Cutover.Step] {
    self == .output ? [.note, .support, .rename, .done] : Cutover.Step.allCases
  }

  /// The steps before which a process is killed, with rows in the -wal only and without.
  ///
  /// In a sample each run is killed at one step in each state, and all runs together at every step.
  func kills() -> [(withLog: Bool, steps: [Cutover.Step])] {
    guard !TestScale.isFull else { return [(true, steps), (false, steps)] }
    let place = Self.allCases.firstIndex(of: self) ?? 0
    return [true, false].enumerated().map { number, withLog in
      (withLog, [steps[(place + number) % steps.count]])
    }
  }

  /// All that matters of a folder: each store's rows, -wal included, and every other file, link,
  /// folder and mode.
  static func state(of folder: String) throws -> [String: String] {
    var state: [String: String] = [:]
    func add(_ name: String) throws {
      let path = folder + "/" + name
      var info = stat()
      guard lstat(path, &info) == 0 else { return }
      let mode = String(info.st_mode & 0o777, radix: 8)
      switch info.st_mode & S_IFMT {
      case S_IFDIR:
        state[name] = "folder \(mode)"
        for inner in try FileSystem.list(path) { try add(name + "/" + inner) }
      case S_IFLNK: state[name] = "→ " + (FileSystem.target(ofLink: path) ?? "")
      default:
        if let store = try? Store(path: path) {
          let keys = try store.connection.value("SELECT sum(Z_MAX) FROM Z_PRIMARYKEY")
          state[name] =
            "\(mode) \(keys ?? .null) \(store.warnings)\n"
            + (try StoreDump.lines(store)).joined(separator: "\n")
        } else {
          // The salts of a log are random.
          state[name] =
            name.hasSuffix("-wal") ? "log \(mode)" : "\(mode) \(try FileSystem.read(path))"
        }
      }
    }
    for name in try FileSystem.list(folder)
    where !["-wal", "-shm", "-journal"].contains(where: { name.hasSuffix("sqlite" + $0) }) {
      try add(name)
    }
    return state
  }
}
