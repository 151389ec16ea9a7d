import Values

// Code that works with files needs the C library: importing this module is enough.
#if canImport(Darwin)
  @_exported import Darwin
#else
  @_exported import Glibc
#endif

/// The few file operations the engine needs, each failing with a sentence that names the file.
package enum FileSystem {
  /// What something in a folder is, links followed.
  package enum Kind: Sendable, Equatable { case file, directory, other }

  /// What the file system knows of a file without opening it.
  package struct Status: Sendable, Equatable {
    /// Whether it is a file or a folder.
    package var kind: Kind
    /// Its length in bytes.
    package var size: Int
    /// The number of the device that the file is on.
    package var device: UInt64
    /// The number of the file on its device: the same for each of its names.
    package var inode: UInt64
    /// Who may do what: the twelve lower bits of its mode.
    package var permissions: mode_t
  }

  /// What is at a path, links followed; `nil` when nothing is.
  package static func status(_ path: String) -> Status? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    let kind: Kind =
      switch info.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    return Status(
      kind: kind, size: Int(info.st_size), device: UInt64(bitPattern: Int64(info.st_dev)),
      inode: UInt64(info.st_ino), permissions: info.st_mode & 0o7777)
  }

  /// The sizes of two files together; the largest number where they are more, since a file with holes may
  /// have any size.
  package static func sum(_ one: Int, _ other: Int) -> Int {
    let (sum, isTooLarge) = one.addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }

  /// When a file was last written to, in seconds since 2001-01-01 UTC.
  package static func modification(_ path: String) -> Double? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return Double(info.written.tv_sec) + Double(info.written.tv_nsec) / 1e9
      - CoreDataDate.unixOffset
  }

  /// Whether a file is there, also behind a link.
  package static func isFile(_ path: String) -> Bool { status(path)?.kind == .file }
  /// Whether a folder is there, also behind a link.
  package static func isDirectory(_ path: String) -> Bool { status(path)?.kind == .directory }
  /// Whether a file begins as SQLite's do.
  package static func isDatabase(_ path: String) -> Bool {
    (try? read(path, limit: 16)).map(isDatabaseHead) ?? false
  }

  /// Whether bytes are the first of an SQLite file.
  package static func isDatabaseHead(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: Array("SQLite format 3\0".utf8))
  }

  /// Whether this process may write to it.
  package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

  /// Makes an empty file that must not exist yet, for its owner only whatever the umask is.
  ///
  /// - Returns: the file itself, whatever name it has by then.
  @discardableResult
  package static func createEmpty(_ path: String) throws -> NewFile {
    let (folder, name) = try opened(path)
    return try folder.create(name)
  }

  /// Names in a folder, sorted; without `.` and `..`.
  ///
  /// - Parameter isWanted: which of them; a temporary folder may hold thousands of others.
  package static func list(
    _ path: String, where isWanted: (String) -> Bool = { _ in true }
  ) throws -> [String] {
    guard let directory = opendir(path) else { throw failure(.list, path) }
    return try names(in: directory, path).filter(isWanted).sorted()
  }

  /// Names in a folder that is open, which is closed afterwards.
  ///
  /// - Throws: ``CoreDataError`` where the list breaks off: what was read of it is not all.
  static func names(in directory: OpaqueDirectory, _ path: String) throws -> [String] {
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      // readdir returns null at the end and on an error; only errno differs.
      errno = 0
      guard let entry = readdir(directory) else {
        guard errno == 0 else { throw failure(.list, path) }
        break
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  #if canImport(Darwin)
    typealias OpaqueDirectory = UnsafeMutablePointer<DIR>
  #else
    typealias OpaqueDirectory = OpaquePointer
  #endif

  /// Makes a folder, and those above it that are missing.
  package static func makeDirectory(_ path: String, permissions: mode_t = 0o755) throws {
    if isDirectory(path) { return }
    if let parent = parent(of: path), !isDirectory(parent) {
      try makeDirectory(parent, permissions: permissions)
    }
    guard mkdir(path, permissions) == 0 || errno == EEXIST else {
      throw failure(.makeFolder, path)
    }
  }

  /// The folder for temporary files, as TMPDIR names it.
  package static var temporaryFolder: String {
    getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  /// Whether the files of a folder take memory: it is on a tmpfs or a ramfs, which only Linux has.
  package static func isInMemory(_ path: String) -> Bool {
    var info = stat()
    // See proc(5): the third field is the device, and behind a lone “-” stands the type of the file system.
    guard stat(path, &info) == 0, let mounts = try? OpenFile("/proc/self/mountinfo"),
      let bytes = try? mounts.read(at: 0, count: 4 << 20)
    else { return false }
    let device = UInt64(truncatingIfNeeded: info.st_dev)
    let major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    let minor = device & 0xff | device >> 12 & ~0xff
    return bytes.split(separator: 0x0A).contains { line in
      let fields = line.split(separator: 0x20)
      guard fields.count > 2, fields[2].elementsEqual("\(major):\(minor)".utf8),
        let dash = fields.firstIndex(where: { $0.elementsEqual([0x2D]) }), dash + 1 < fields.count
      else { return false }
      return fields[dash + 1].elementsEqual("tmpfs".utf8)
        || fields[dash + 1].elementsEqual("ramfs".utf8)
    }
  }

  /// Makes a folder of an unused name in the temporary folder, or in another.
  package static func makeTemporaryDirectory(
    prefix: String = "strata", in folder: String? = nil
  ) throws -> String {
    let base = folder ?? temporaryFolder
    var template = Array((base + "/" + prefix + ".XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap(mkdtemp).map { String(cString: $0) }
    }
    guard let made else { throw failure(.makeTemporaryFolder, base) }
    return made
  }

  /// Removes a file, or a link itself; what cannot be removed stays, and nothing is reported.
  package static func remove(_ path: String) { unlink(path) }

  /// Removes a file, a link itself, or a folder and all in it, through no link.
  package static func removeTree(_ path: String) {
    guard let (folder, name) = try? opened(path) else { return }
    folder.removeTree(name)
  }

  /// Puts a file under another name in one step, replacing what is there.
  package static func rename(_ source: String, to destination: String) throws {
    guard rename_(source, destination) == 0 else { throw failure(.rename, source) }
  }

  /// Gives a file a second name; false where the file system cannot, or the name is taken.
  package static func link(_ source: String, to destination: String) -> Bool {
    link_(source, destination) == 0
  }

  /// Why nothing can be written there: a file, or a folder that is to take one; `nil` where it can.
  package static func refusal(toWrite path: String) -> CoreDataError? {
    access(path, W_OK) == 0 ? nil : failure(.write, path)
  }

  /// Forces a file, or the names in a folder, to the disk.
  package static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(.open, path) }
    defer { close(descriptor) }
    try sync(descriptor, path)
  }

  /// Has the file system put on the disk what was written through a descriptor.
  package static func sync(_ descriptor: Int32, _ path: String) throws {
    #if canImport(Darwin)
      // fsync leaves the data in the drive's cache on macOS.
      guard fcntl(descriptor, F_FULLFSYNC) != -1 || fsync(descriptor) == 0 else {
        throw failure(.sync, path)
      }
    #else
      guard fsync(descriptor) == 0 else { throw failure(.sync, path) }
    #endif
  }

  /// Bytes free for this user on the file system of a path.
  package static func freeSpace(at path: String) -> Int? {
    var info = statvfs()
    guard statvfs(path, &info) == 0 else { return nil }
    return Int(info.f_bavail) &* Int(info.f_frsize)
  }

  /// What could not be done with a file, as a clause.
  package enum Deed: String {
    case read = "cannot read"
    case list = "cannot list"
    case open = "cannot open"
    case write = "cannot write"
    case writeJournal = "cannot write the journal"
    case rename = "cannot rename"
    case remove = "cannot remove"
    case sync = "cannot sync"
    case makeFolder = "cannot make the folder"
    case makeTemporaryFolder = "cannot make a temporary folder in"
  }

  /// What `errno` says, with the file it is about.
  package static func failure(_ deed: Deed, _ path: String) -> CoreDataError {
    let number = errno
    let hint: String? =
      switch number {
      case EACCES, EPERM: "Check its permissions and those of its folder."
      case ENOENT: "Check the path."
      case ENOSPC, EDQUOT: "The disk is full: free some space and try again."
      case EROFS: "The file system is read-only."
      default: nil
      }
    return CoreDataError(
      deed == .read || deed == .list ? .unreadable : .failed,
      "\(deed.rawValue): \(String(cString: strerror(number)))", path: path, hint: hint)
  }
}

extension stat {
  /// When the file was last written to.
  package var written: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }

  /// When its content, its name or its attributes were last changed.
  package var changed: timespec {
    #if canImport(Darwin)
      st_ctimespec
    #else
      st_ctim
    #endif
  }

  /// Whether it is a folder.
  var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}

// The methods above share their names with the C functions.
#if canImport(Darwin)
  let write_ = Darwin.write
  private let rename_ = Darwin.rename
  private let link_ = Darwin.link
#else
  let write_ = Glibc.write
  private let rename_: @Sendable (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32 = {
    Glibc.rename($0, $1)
  }
  private let link_: @Sendable (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32 = {
    Glibc.link($0, $1)
  }
#endif

/// Names that change hands without ever taking one that is given.
extension FileSystem {
  /// Puts a file or a folder under a name that must be free.
  ///
  /// - Throws: ``CoreDataError`` where it is taken, or the file system refuses.
  package static func renameExclusively(_ source: String, to destination: String) throws {
    let (from, to) = (try opened(source), try opened(destination))
    try from.folder.renameExclusively(from.name, to: to.name, in: to.folder)
  }

  /// Removes a name, and makes sure that it is gone.
  package static func removeName(_ path: String) throws {
    let (folder, name) = try opened(path)
    try folder.remove(name)
  }
}

/// Paths and names as the file system has them: bytes, of which two spellings of one text are two.
///
/// Swift takes `é` in one code point and in two for equal, and a slash before a combining mark for
/// another character; neither holds for a name on the disk.
extension FileSystem {
  private static let slash = UInt8(ascii: "/")

  /// The folder a path is in; `nil` for a root.
  package static func parent(of path: String) -> String? {
    var bytes = path.utf8[...]
    if bytes.count > 1, bytes.last == slash { bytes = bytes.dropLast() }
    guard let index = bytes.lastIndex(of: slash) else { return bytes.isEmpty ? nil : "." }
    if index == bytes.startIndex { return bytes.count == 1 ? nil : "/" }
    return String(decoding: bytes[..<index], as: UTF8.self)
  }

  /// What stands before the name in a path, with the slash; empty for a name alone.
  package static func prefix(of path: String) -> String {
    String(decoding: path.utf8.dropLast(name(of: path).utf8.count), as: UTF8.self)
  }

  /// The last part of a path.
  package static func name(of path: String) -> String {
    path.utf8.split(separator: slash).last.map { String(decoding: $0, as: UTF8.self) } ?? path
  }

  /// The name up to its last dot, for a path or a name.
  package static func stem(of path: String) -> String {
    let bytes = Array(name(of: path).utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: bytes[..<dot], as: UTF8.self)
  }

  /// What follows a name's stem, with the dot; empty if there is none.
  package static func suffix(of path: String) -> String {
    let name = name(of: path)
    return String(decoding: name.utf8.dropFirst(stem(of: name).utf8.count), as: UTF8.self)
  }

  /// What a name holds after the bytes of a prefix; `nil` where it does not begin with them.
  package static func rest(of name: String, after prefix: String) -> String? {
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Whether two names are one on the disk.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }

  /// The path without links, `.` and `..`; the path itself where nothing is there.
  package static func canonical(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Where a file is or would be: a link is followed even where nothing lies at its end.
  package static func place(of path: String) -> String {
    var path = path
    for _ in 0..<40 {
      if let resolved = realpath(path, nil) {
        defer { free(resolved) }
        return String(cString: resolved)
      }
      let folder = canonical(parent(of: path) ?? ".")
      guard let target = target(ofLink: path) else { return folder + "/" + name(of: path) }
      path = target.utf8.first == slash ? target : folder + "/" + target
    }
    return path
  }

  /// What a symbolic link says; `nil` where none is at the path.
  package static func target(ofLink path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink(path, &buffer, Int(PATH_MAX))
    guard count > 0 else { return nil }
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension CoreDataDate {
  /// This moment, in seconds since 2001-01-01 UTC.
  package static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - unixOffset
  }
}
