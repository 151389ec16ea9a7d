import Synchronization
import Values

/// The names under which outputs are made: hidden, beside their final names, and locked by the process
/// that makes them.
///
/// The system releases the locks of a process that ends, however it ends. The run that makes the next output in
/// the folder removes what no process holds any more.
enum WorkName {
  private static let prefix = ".strata-new-"
  private static let timeLength = 11
  private static let randomLength = 6
  private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

  /// A name that nothing has. Those of one output sort in the order in which they were made.
  static func new(for name: String) -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var rest = max(0, Int(now.tv_sec)) * 1_000_000 + Int(now.tv_nsec) / 1000
    var end: [UInt8] = []
    for _ in 0..<timeLength {
      end.insert(digits[rest % digits.count], at: 0)
      rest /= digits.count
    }
    for _ in 0..<randomLength { end.append(digits.randomElement() ?? digits[0]) }
    return stem(for: name) + String(decoding: end, as: UTF8.self)
  }

  /// What all names of one output begin with.
  private static func stem(for name: String) -> String {
    // A name has 255 bytes at most.
    let label =
      name.utf8.count <= 200 ? name : ByteText.hex(Digest.sha256(Array(name.utf8)).prefix(16))
    return prefix + label + "-"
  }

  /// What a name of this form begins with; `nil` for any other name.
  private static func stem(of name: String) -> String? {
    let (bytes, length) = (Array(name.utf8), timeLength + randomLength)
    guard bytes.starts(with: prefix.utf8), bytes.count > prefix.utf8.count + 1 + length,
      bytes.suffix(length).allSatisfy(digits.contains),
      bytes[bytes.count - length - 1] == UInt8(ascii: "-")
    else { return nil }
    return String(decoding: bytes.dropLast(length), as: UTF8.self)
  }

  // MARK: - Locks

  /// What a folder's lock is on: a file in it, since a network file system keeps locks on folders to one
  /// machine.
  private static let lockName = ".strata-lock"

  /// A lock on what a process left, until the value goes.
  private final class Lock {
    let descriptor: Int32
    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  /// What is known of the process that made something.
  private enum Maker {
    case gone(Lock)
    case alive
    /// A folder without a lock, which is made first and removed last: nothing is in it.
    case empty
    /// Another user's, not of a kind that is made, or on a file system without locks.
    case unknown
  }

  private static func maker(of name: String, in folder: Folder) -> Maker {
    // Not to be opened: closing it would end this process's lock on some file systems.
    guard !own.withLock({ $0.paths.contains(folder.path(of: name)) }) else { return .alive }
    let opened = Lock(folder.open(name, O_RDONLY))
    var info = stat()
    guard opened.descriptor >= 0, fstat(opened.descriptor, &info) == 0, info.st_uid == geteuid()
    else { return .unknown }
    if info.isFolder {
      guard let made = try? folder.folder(name) else { return .unknown }
      let lock = Lock(made.open(lockName, O_RDWR))
      if lock.descriptor < 0, errno == ENOENT { return .empty }
      return maker(holding: lock)
    }
    guard info.st_mode & S_IFMT == S_IFREG else { return .unknown }
    return maker(holding: Lock(folder.open(name, O_RDWR)))
  }

  private static func maker(holding lock: Lock) -> Maker {
    guard lock.descriptor >= 0 else { return .unknown }
    if flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 { return .gone(lock) }
    return errno == EWOULDBLOCK ? .alive : .unknown
  }

  /// Locks what this process has just made. A file system without locks keeps it from being cleaned up, and
  /// nothing else.
  ///
  /// - Returns: `false` where another process took it for left behind in the meantime.
  private static func lock(_ file: NewFile) -> Bool {
    flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }

  /// Makes a file under a new name, locks it and counts it among what this process makes.
  static func makeFile(
    for name: String, in folder: Folder
  ) throws -> (name: String, file: NewFile) {
    while true {
      let work = new(for: name)
      let file = try folder.create(work)
      guard lock(file), try folder.entry(work)?.identity == file.identity else { continue }
      begin(file.path)
      return (work, file)
    }
  }

  /// The same of a private folder, which is locked as long as the file that comes with it is held.
  static func makeFolder(
    for name: String, in folder: Folder
  ) throws -> (name: String, folder: Folder, lock: NewFile) {
    while true {
      let work = new(for: name)
      let made = try folder.createFolder(work)
      let file: NewFile
      do { file = try made.create(lockName) } catch {
        // Another process takes what has no lock for left behind.
        if try folder.entry(work) == nil { continue }
        folder.removeEmptyFolder(work)
        throw error
      }
      guard lock(file), FileIdentity(of: file.path) == file.identity else { continue }
      begin(made.path)
      return (work, made, file)
    }
  }

  /// Whether a process that is alive began to make the same output earlier.
  static func isMadeElsewhere(besides name: String, in folder: Folder) -> Bool {
    names(in: folder).contains { other in
      guard other < name, stem(of: other) == stem(of: name),
        case .alive = maker(of: other, in: folder)
      else { return false }
      return true
    }
  }

  // MARK: - What is left behind

  /// What processes that are gone left in a folder; nothing is touched.
  static func abandoned(in folder: Folder) -> [String] {
    names(in: folder).filter { name in
      if case .gone = maker(of: name, in: folder) { true } else { false }
    }
  }

  private static func names(in folder: Folder) -> [String] {
    ((try? folder.list()) ?? []).filter { stem(of: $0) != nil }
  }

  /// Removes what processes that are gone left in a folder, with what they put in place of an output that
  /// they did not finish.
  ///
  static func removeAbandoned(in folder: Folder) {
    for name in names(in: folder) {
      switch maker(of: name, in: folder) {
      case .gone(let lock):
        withExtendedLifetime(lock) {
          if takeBack(of: name, in: folder) { remove(name, in: folder) }
        }
      case .empty: folder.removeEmptyFolder(name)
      case .alive, .unknown: break
      }
    }
  }

  /// Removes what was made under a name. The lock of a folder goes last: what cannot be removed is recognized
  /// later.
  static func remove(_ name: String, in folder: Folder) {
    if let made = try? folder.folder(name) {
      let children = ((try? made.list()) ?? []).filter { $0 != lockName }
      for child in children { made.removeTree(child) }
      guard children.allSatisfy({ FileIdentity(of: made.path(of: $0)) == nil }) else { return }
    }
    folder.removeTree(name)
  }

  /// Removes the folders of an output that was not finished, and the marks of one that was.
  ///
  /// - Returns: `false` where something could not be undone. What proves it is then still needed.
  private static func takeBack(of work: String, in parent: Folder) -> Bool {
    do {
      guard try parent.entry(work)?.kind == .folder, let made = try parent.folder(work) else {
        return true
      }
      for item in try parent.list() where !FileSystem.isSame(item, work) {
        guard try parent.entry(item)?.kind == .folder, let folder = try? parent.folder(item),
          let output = output(markedIn: folder, by: work)
        else { continue }
        // A store that an app made in the meantime keeps the folder.
        if try made.entry(output) != nil, try parent.entry(output) == nil {
          try parent.renameExclusively(item, to: item, in: made)
        } else {
          try folder.remove(work)
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Marks a folder as part of an output that is being put in place. The mark has the name of the work and
  /// holds the name of the output.
  static func mark(_ folder: Folder, by work: String, for output: String) throws {
    let mark = try folder.create(work)
    try mark.append(Array(output.utf8))
    try mark.sync()
    try folder.sync()
  }

  private static func output(markedIn folder: Folder, by work: String) -> String? {
    let descriptor = folder.open(work, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_uid == geteuid(),
      info.st_mode & S_IFMT == S_IFREG,
      let bytes = try? FileSystem.read(
        descriptor, at: 0, count: min(255, Int(info.st_size)), folder.path(of: work))
    else { return nil }
    let output = String(decoding: bytes, as: UTF8.self)
    return Folder.isPlain(output) && stem(for: output) == stem(of: work) ? output : nil
  }

  // MARK: - What this process makes

  struct Own {
    var paths: Set<String> = []
    /// Whether a signal is about to end this process: nothing is put in place any more.
    var isEnding = false
  }

  /// What this process makes at the moment. Outputs are put in place while it is locked.
  static let own = Mutex(Own())

  static func begin(_ path: String) { own.withLock { _ = $0.paths.insert(path) } }
  static func end(_ path: String) { own.withLock { _ = $0.paths.remove(path) } }
}
