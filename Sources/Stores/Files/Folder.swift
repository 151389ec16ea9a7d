import Values

/// An open folder, reached through no symbolic link, and what is done with the names in it.
///
/// Every path into a store's folders goes through this type: a store that came from elsewhere, or a
/// folder that another user may write to, could have a link in place of any name. The path that is given
/// is resolved once; from then on each component is opened by itself (`openat`, `O_NOFOLLOW`), and a name
/// in the folder is never followed.
package final class Folder: Sendable {
  /// Its path without links, for messages.
  package let path: String
  private let descriptor: Int32

  /// Opens a folder. Links in the path itself are resolved first: they are the caller's.
  ///
  /// - Throws: ``CoreDataError`` where it is not there, is no folder, or may not be entered.
  package convenience init(_ path: String) throws {
    guard let resolved = realpath(path, nil) else { throw FileSystem.failure(.open, path) }
    defer { free(resolved) }
    let canonical = String(cString: resolved)
    var opened = openRoot(Self.search)
    guard opened >= 0 else { throw FileSystem.failure(.open, "/") }
    for part in canonical.utf8.split(separator: UInt8(ascii: "/")) {
      let next = openat(opened, String(decoding: part, as: UTF8.self), Self.search)
      let number = errno
      close(opened)
      guard next >= 0 else {
        errno = number
        throw FileSystem.failure(.open, canonical)
      }
      opened = next
    }
    self.init(opened, canonical)
  }

  private init(_ descriptor: Int32, _ path: String) {
    (self.descriptor, self.path) = (descriptor, path)
  }

  deinit { close(descriptor) }

  /// For looking names up: needs no right to list the folder.
  private static var search: Int32 {
    #if canImport(Darwin)
      O_EXEC | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    #else
      // O_PATH, which Glibc defines for GNU sources only.
      0o10_000_000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    #endif
  }

  // MARK: - Looking

  /// What a name in a folder stands for; the name itself, never what a link names.
  package struct Entry: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case file, folder, link, other }

    package var kind: Kind
    package var identity: FileIdentity
    /// Length in bytes.
    package var size: Int
    /// Names that the file has.
    package var names: Int
    /// Seconds since 2001-01-01 UTC.
    package var modified: Double

    init(_ info: stat) {
      kind =
        switch info.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        default: .other
        }
      identity = FileIdentity(info)
      size = Int(info.st_size)
      names = Int(info.st_nlink)
      modified =
        Double(info.written.tv_sec) + Double(info.written.tv_nsec) / 1e9 - CoreDataDate.unixOffset
    }
  }

  /// The path of a name in it, for messages.
  package func path(of name: String) -> String { (path == "/" ? "" : path) + "/" + name }

  /// What has that name; `nil` only where nothing has it.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for a name that cannot be looked up.
  package func entry(_ name: String) throws -> Entry? {
    try Self.requirePlain(name, in: path)
    var info = stat()
    if fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 { return Entry(info) }
    guard errno == ENOENT else { throw FileSystem.failure(.read, path(of: name)) }
    return nil
  }

  /// Names in it, sorted; without `.` and `..`.
  package func list() throws -> [String] {
    let listed = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard listed >= 0 else { throw FileSystem.failure(.list, path) }
    guard let directory = fdopendir(listed) else {
      close(listed)
      throw FileSystem.failure(.list, path)
    }
    return try FileSystem.names(in: directory, path).sorted()
  }

  /// The folder of that name; `nil` where nothing has the name.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for a link, a file, or a folder that may not be entered.
  package func folder(_ name: String) throws -> Folder? {
    try Self.requirePlain(name, in: path)
    let opened = openat(descriptor, name, Self.search)
    if opened >= 0 { return Folder(opened, path(of: name)) }
    guard errno != ENOENT else { return nil }
    let number = errno
    if let entry = try? entry(name), entry.kind != .folder { throw refusal(of: entry, name) }
    errno = number
    throw FileSystem.failure(.open, path(of: name))
  }

  /// Opens a regular file for reading; `nil` where nothing has the name.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for anything else that has the name, and for a file
  ///   that may not be read.
  package func file(_ name: String) throws -> OpenFile? {
    try Self.requirePlain(name, in: path)
    // Opening a FIFO would wait for a writer.
    let opened = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else {
      if errno == ENOENT { return nil }
      let number = errno
      if let entry = try? entry(name), entry.kind != .file { throw refusal(of: entry, name) }
      errno = number
      throw FileSystem.failure(.read, path(of: name))
    }
    return try OpenFile(opened, path(of: name))
  }

  /// What a symbolic link of that name holds; `nil` where the name is no link's.
  package func target(ofLink name: String) throws -> String? {
    try Self.requirePlain(name, in: path)
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlinkat(descriptor, name, &buffer, Int(PATH_MAX))
    guard count > 0 else { return nil }
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Bytes and number of the files in it and in the folders below.
  package func size(depth: Int = 0) -> (bytes: Int, files: Int) {
    var total = (bytes: 0, files: 0)
    for name in (try? list()) ?? [] where depth < Self.depth {
      guard let entry = try? entry(name) else { continue }
      guard entry.kind == .folder else {
        total = (FileSystem.sum(total.bytes, entry.size), total.files + 1)
        continue
      }
      guard let inner = try? folder(name)?.size(depth: depth + 1) else { continue }
      total = (FileSystem.sum(total.bytes, inner.bytes), total.files + inner.files)
    }
    return total
  }

  // MARK: - Changing

  /// Makes an empty file under a name that nothing has, for its owner only whatever the umask is.
  package func create(_ name: String) throws -> NewFile {
    try Self.requirePlain(name, in: path)
    let made = openat(
      descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard made >= 0 else { throw FileSystem.failure(.write, path(of: name)) }
    return try NewFile(made, path(of: name))
  }

  /// Opens what has a name, a link in its place never followed; a file that is made is its owner's only.
  ///
  /// - Returns: a descriptor, which is the caller's to close; -1 with `errno` where that fails.
  package func open(_ name: String, _ flags: Int32) -> Int32 {
    guard Self.isPlain(name) else {
      errno = EINVAL
      return -1
    }
    return openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
  }

  /// Makes a folder of that name, or enters the one that is there.
  package func makeFolder(_ name: String, permissions: mode_t = 0o755) throws -> Folder {
    try Self.requirePlain(name, in: path)
    guard mkdirat(descriptor, name, permissions) == 0 || errno == EEXIST else {
      throw FileSystem.failure(.makeFolder, path(of: name))
    }
    guard let made = try folder(name) else {
      errno = ENOENT
      throw FileSystem.failure(.makeFolder, path(of: name))
    }
    return made
  }

  /// Makes a new folder under a name that nothing has.
  package func createFolder(_ name: String, permissions: mode_t = 0o700) throws -> Folder {
    try Self.requirePlain(name, in: path)
    guard mkdirat(descriptor, name, permissions) == 0, let made = try folder(name) else {
      throw FileSystem.failure(.makeFolder, path(of: name))
    }
    return made
  }

  /// Makes a symbolic link; whatever it names is not looked at.
  package func createLink(_ name: String, to target: String) throws {
    try Self.requirePlain(name, in: path)
    guard symlinkat(target, descriptor, name) == 0 else {
      throw FileSystem.failure(.write, path(of: name))
    }
  }

  /// Gives a file a second name, in this folder or another; false where the file system cannot, or the
  /// name is taken. A link is given a second name itself.
  package func link(_ name: String, to other: String, in folder: Folder? = nil) -> Bool {
    guard Self.isPlain(name), Self.isPlain(other) else { return false }
    return linkat(descriptor, name, (folder ?? self).descriptor, other, 0) == 0
  }

  /// Puts what has a name under another, replacing what is there.
  package func rename(_ name: String, to other: String, in folder: Folder? = nil) throws {
    try Self.requirePlain(name, in: path)
    try Self.requirePlain(other, in: path)
    guard renameat(descriptor, name, (folder ?? self).descriptor, other) == 0 else {
      throw FileSystem.failure(.rename, path(of: name))
    }
  }

  /// Puts what has a name under another, which must be free.
  ///
  /// - Throws: ``CoreDataError`` where it is taken, or the file system refuses.
  package func renameExclusively(_ name: String, to other: String, in folder: Folder? = nil) throws
  {
    try Self.requirePlain(name, in: path)
    try Self.requirePlain(other, in: path)
    let target = folder ?? self
    if Self.renameNoReplace(descriptor, name, target.descriptor, other) == 0 { return }
    guard [ENOSYS, EINVAL, ENOTSUP, EOPNOTSUPP].contains(errno) else {
      throw FileSystem.failure(
        .rename, errno == EEXIST ? target.path(of: other) : path(of: name))
    }
    // Not known here, or not to this file system: a second name does not replace either.
    guard let entry = try entry(name) else {
      errno = ENOENT
      throw FileSystem.failure(.rename, path(of: name))
    }
    if entry.kind == .file {
      if link(name, to: other, in: target) { return try remove(name) }
      guard errno != EEXIST else { throw FileSystem.failure(.rename, target.path(of: other)) }
    }
    guard try target.entry(other) == nil else {
      errno = EEXIST
      throw FileSystem.failure(.rename, target.path(of: other))
    }
    try rename(name, to: other, in: target)
  }

  /// Removes a file's name, or a link itself, and makes sure that it is gone.
  package func remove(_ name: String) throws {
    try Self.requirePlain(name, in: path)
    if unlinkat(descriptor, name, 0) != 0, errno != ENOENT {
      throw FileSystem.failure(.remove, path(of: name))
    }
    guard try entry(name) == nil else {
      errno = EBUSY
      throw FileSystem.failure(.remove, path(of: name))
    }
  }

  /// Removes a file, a link itself, or a folder with all that is in it; what cannot be removed stays.
  package func removeTree(_ name: String, depth: Int = 0) {
    guard depth < Self.depth * 4, let entry = try? entry(name) else { return }
    guard entry.kind == .folder else {
      _ = unlinkat(descriptor, name, 0)
      return
    }
    if let inner = try? folder(name) {
      for child in (try? inner.list()) ?? [] { inner.removeTree(child, depth: depth + 1) }
    }
    _ = unlinkat(descriptor, name, AT_REMOVEDIR)
  }

  /// Removes a folder that is empty; one that is not stays.
  package func removeEmptyFolder(_ name: String) {
    guard Self.isPlain(name) else { return }
    _ = unlinkat(descriptor, name, AT_REMOVEDIR)
  }

  /// Forces the names in it to the disk.
  package func sync() throws {
    try withDescriptor { try FileSystem.sync($0, path) }
  }

  /// A descriptor of the folder itself, for what is not done through names.
  func withDescriptor<Result>(_ body: (Int32) throws -> Result) throws -> Result {
    let opened = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { throw FileSystem.failure(.open, path) }
    defer { close(opened) }
    return try body(opened)
  }

  // MARK: - Names

  /// No tree of a store is deeper: one that is was made to exhaust its reader.
  private static let depth = 64

  /// Whether a text is one name: not a path, and not one of the two that lead elsewhere.
  static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  private static func requirePlain(_ name: String, in path: String) throws {
    guard isPlain(name) else {
      throw CoreDataError(.refused, "“\(name)” is not the name of a file", path: path)
    }
  }

  private func refusal(of entry: Entry, _ name: String) -> CoreDataError {
    FileSystem.refusal(of: entry.kind, at: path(of: name))
  }

  /// -1 with `errno` where the name is taken or the call is not there.
  private static func renameNoReplace(
    _ folder: Int32, _ name: String, _ other: Int32, _ newName: String
  ) -> Int32 {
    #if canImport(Darwin)
      return renameatx_np(folder, name, other, newName, UInt32(RENAME_EXCL))
    #else
      // Glibc declares it for GNU sources only, which Swift's module map is not.
      typealias Rename =
        @convention(c) (
          Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32
      guard let symbol = dlsym(nil, "renameat2") else {
        errno = ENOSYS
        return -1
      }
      return unsafeBitCast(symbol, to: Rename.self)(folder, name, other, newName, 1)
    #endif
  }
}

extension FileSystem {
  /// What is said of something that is not what is expected under its name, and is left alone.
  package static func refusal(of kind: Folder.Entry.Kind, at path: String) -> CoreDataError {
    let what =
      switch kind {
      case .link: "a symbolic link, which is not followed"
      case .folder: "a folder, not a file"
      case .file: "a file, not a folder"
      case .other: "not a regular file"
      }
    return CoreDataError(
      .unreadable, what, path: path,
      hint: kind == .link
        ? "If you trust the link, replace it with the file that it points to." : nil)
  }

  /// The folder that a file is in, opened through no link, and the file's name in it.
  ///
  /// - Throws: ``CoreDataError`` where there is no such folder.
  package static func opened(_ path: String) throws -> (folder: Folder, name: String) {
    (try Folder(parent(of: path) ?? "."), name(of: path))
  }
}

// The method above has the name of the C function.
private func openRoot(_ flags: Int32) -> Int32 { open("/", flags) }
