import ManagedModel
import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A note outside the store's folder of what a migration is doing, held under a lock while it runs.
///
/// It keeps two migrations off one store, and lets the next run recognise and remove the temporary
/// file of one that was interrupted.
final class MigrationJournal {
  let path: String
  private let descriptor: Int32
  /// What an interrupted run left and this one removed, as sentences.
  private(set) var recovered: [String] = []

  /// Where journals live: $XDG_STATE_HOME/strata/migrations, else ~/.local/state/…; in the temporary
  /// folder where that cannot be written.
  static func folder() throws -> String {
    func variable(_ name: String) -> String? {
      // A relative one is none, as the XDG specification says: the journal must not land where a
      // store lies.
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
    if let folder = state.map({ $0 + "/strata/migrations" }) {
      do {
        try FileSystem.makeDirectory(folder)
        if FileSystem.isWritable(folder) { return folder }
      } catch is CoreDataError {}
    }
    let folder = (variable("TMPDIR") ?? "/tmp") + "/strata-\(getuid())"
    do {
      try FileSystem.makeDirectory(folder)
    } catch var error as CoreDataError {
      error.hint = "Set XDG_STATE_HOME to a folder that can be written: the journal goes there."
      throw error
    }
    return folder
  }

  /// Takes the store for this process and clears what an interrupted run left.
  ///
  /// - Throws: ``CoreDataError`` when another strata is migrating the same store.
  init(storePath: String) throws {
    let canonical = FileSystem.canonical(storePath)
    path = try Self.path(of: canonical)
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CoreDataError(
        .failed, "cannot write the migration's journal", path: path,
        hint: "Set XDG_STATE_HOME to a folder that can be written.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw CoreDataError(
        .failed, "another strata is migrating this store", path: storePath,
        hint: "Wait until it is done.")
    }
    recover(of: canonical)
    try FileSystem.write([], to: path)
  }

  private static func path(of storePath: String) throws -> String {
    try folder() + "/" + ByteText.hex(Digest.sha256(Array(storePath.utf8)).prefix(16)) + ".journal"
  }

  /// Removes what an interrupted run left; where there is no note of one, nothing is made or touched.
  static func cleanUp(after storePath: String) -> [String] {
    guard let path = try? path(of: storePath), (FileSystem.status(path)?.size ?? 0) > 0,
      let journal = try? MigrationJournal(storePath: storePath)
    else { return [] }
    return journal.recovered
  }

  private func recover(of storePath: String) {
    // A path can hold any byte but 0, a newline too.
    let text = String(decoding: (try? FileSystem.read(path, limit: 1 << 16)) ?? [], as: UTF8.self)
    let entries = text.split(separator: "\0")
    func paths(_ kind: String) -> [String] {
      entries.filter { $0.hasPrefix(kind) }.map { String($0.dropFirst(kind.count)) }
    }
    // Only a name that this program gives is ever removed.
    let left = paths("temporary ").filter {
      FileSystem.name(of: $0).hasPrefix(Self.temporaryPrefix) && FileSystem.status($0) != nil
    }
    guard !left.isEmpty else { return }
    var removed = left.map(FileSystem.name)
    // The result still lies there, so that its rename did not come: the backup's name, where it was
    // given already, is a second one of the store itself.
    if let store = FileSystem.status(storePath) {
      for backup in paths("backup ") where backup != storePath {
        guard let status = FileSystem.status(backup), status.inode == store.inode,
          status.device == store.device
        else { continue }
        removed.append(FileSystem.name(of: backup))
        FileSystem.remove(backup)
      }
    }
    for path in left { Self.removeTemporary(path) }
    recovered.append(
      "An earlier run was interrupted: what it left (\(removed.joined(separator: ", "))) was removed."
    )
  }

  /// The file stays, empty: removing it while another process waits for its lock would let two in.
  deinit {
    ftruncate(descriptor, 0)
    close(descriptor)
  }

  /// Writes down what a run makes before it makes it: temporary files, and the backup.
  func note(temporaries: [String], backup: String? = nil) throws {
    let entries =
      temporaries.map { "temporary \($0)\0" } + (backup.map { ["backup \($0)\0"] } ?? [])
    try FileSystem.write(Array(entries.joined().utf8), to: path)
  }

  static let temporaryPrefix = ".strata-migrating-"

  /// Name of the clone: hidden, beside the file it will replace, so that one rename suffices.
  static func temporaryPath(beside path: String) -> String {
    let folder = FileSystem.parent(of: path) ?? "."
    return folder + "/" + temporaryPrefix + FileSystem.name(of: path)
  }

  /// What the copy of a backup is called until it is whole.
  static let copySuffix = ".backup"
  /// What the folder of external data is called until it is whole.
  static let externalSuffix = ".external"

  static func removeTemporary(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { FileSystem.remove(path + suffix) }
    FileSystem.removeTree(path + externalSuffix)
  }
}
