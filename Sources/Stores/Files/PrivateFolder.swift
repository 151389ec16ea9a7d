import Synchronization

/// A folder in the temporary one for copies of a store, removed with all in it when it is let go.
///
/// It is locked while it is in use, and the system lets go of the lock of a program that was killed:
/// the next folder made anywhere removes those that nobody holds any more.
package final class PrivateFolder {
  /// Where it is; others cannot look into it.
  package let path: String
  private let descriptor: Int32

  private static let prefix = "strata-copy."
  /// What it is called until it is locked.
  private static let newPrefix = "strata-new."
  /// Those of this process that are in use.
  private static let own = Mutex<Set<String>>([])

  /// What a folder may take room of.
  package enum Room {
    /// Any: the temporary folder, wherever that is.
    case any
    /// A disk, and no memory, for what may be large.
    case disk
  }

  /// A new, empty folder.
  ///
  /// - Throws: ``CoreDataError`` where the temporary folder takes none.
  package init(_ room: Room = .any) throws {
    Self.removeAbandoned()
    let base = Self.base(for: room)
    var made: (path: String, descriptor: Int32)?
    while made == nil { made = try Self.make(in: base) }
    (path, descriptor) = made ?? ("", -1)
    _ = Self.own.withLock { $0.insert(path) }
  }

  /// Where a folder is made: in the temporary folder, but for what may be large not where that is in memory.
  ///
  /// - Parameter usual: the temporary folder.
  package static func base(
    for room: Room, usual: String = FileSystem.temporaryFolder
  ) -> String {
    guard room == .disk, FileSystem.isInMemory(usual), !FileSystem.isInMemory(onDisk),
      access(onDisk, W_OK | X_OK) == 0
    else { return usual }
    return onDisk
  }

  /// A temporary folder that a restart does not empty, by the Filesystem Hierarchy Standard.
  private static let onDisk = "/var/tmp"

  /// - Returns: `nil` where another program removes it: until it is locked it looks like one that was left behind.
  private static func make(in base: String) throws -> (path: String, descriptor: Int32)? {
    let new = FileSystem.canonical(
      try FileSystem.makeTemporaryDirectory(prefix: String(newPrefix.dropLast()), in: base))
    let descriptor = open(new, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    // A file system without locks keeps it from being cleaned up, and nothing else; a name that is
    // taken, too.
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = descriptor < 0 ? errno == ENOENT : errno == EWOULDBLOCK
      if isTaken, descriptor >= 0 { close(descriptor) }
      return isTaken ? nil : (new, descriptor)
    }
    let locked = (FileSystem.parent(of: new) ?? "") + "/" + prefix + new.suffix(6)
    if (try? FileSystem.renameExclusively(new, to: locked)) != nil { return (locked, descriptor) }
    guard FileIdentity(of: new) == nil else { return (new, descriptor) }
    close(descriptor)
    return nil
  }

  deinit {
    FileSystem.removeTree(path)
    if FileIdentity(of: path) != nil {
      LeftBehind.add("The private copy of the store in \(path) could not be removed.")
    }
    _ = Self.own.withLock { $0.remove(path) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Removes what this process has, before a signal ends it.
  ///
  /// - Returns: whether all of it is gone: what another thread writes just now may stay.
  package static func removeOwn() -> Bool {
    let paths = own.withLock { $0 }
    for path in paths { FileSystem.removeTree(path) }
    return paths.allSatisfy { FileIdentity(of: $0) == nil }
  }

  /// Removes the folders of programs that are gone.
  @discardableResult
  package static func removeAbandoned() -> Int {
    let usual = FileSystem.temporaryFolder
    let bases = FileSystem.isInMemory(usual) ? [usual, onDisk] : [usual]
    let paths = bases.flatMap { base in
      ((try? FileSystem.list(base) { $0.hasPrefix(prefix) || $0.hasPrefix(newPrefix) }) ?? [])
        .map { base + "/" + $0 }
    }
    var removed = 0
    for path in paths {
      var info = stat()
      guard lstat(path, &info) == 0, info.isFolder, info.st_uid == geteuid()
      else { continue }
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
      FileSystem.removeTree(path)
      removed += 1
    }
    return removed
  }
}

/// What this process made and could not remove, or could not move to where it belongs.
///
/// It is collected here since much of it is found when a value goes away, where nothing can be thrown. A
/// program looks here before it ends: a copy of somebody's data that stays behind is no success.
package enum LeftBehind {
  private static let found = Mutex<[String]>([])

  /// Adds a sentence that names the file; one that is there already is not repeated.
  package static func add(_ sentence: String) {
    found.withLock { if !$0.contains(sentence) { $0.append(sentence) } }
  }

  /// All sentences so far, in order.
  package static var all: [String] { found.withLock { $0 } }

  /// The same, and none is left: the caller reports them.
  package static func take() -> [String] {
    found.withLock { found in
      defer { found = [] }
      return found
    }
  }
}

/// Where strata keeps what it remembers between two runs: `$XDG_STATE_HOME/strata`, else
/// `~/.local/state/strata`.
package enum StateFolder {
  /// - Parameter environment: a variable's value.
  /// - Returns: `nil` where the environment names neither the folder nor a home.
  package static func path(
    environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> String? { folder("XDG_STATE_HOME", "/.local/state", environment) }

  /// A folder of strata's own, as the XDG specification has it: a relative path is ignored.
  package static func folder(
    _ name: String, _ fallback: String, _ environment: (String) -> String?
  ) -> String? {
    let named = environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 }
    return (named ?? home.map { $0 + fallback }).map { $0 + "/strata" }
  }
}
