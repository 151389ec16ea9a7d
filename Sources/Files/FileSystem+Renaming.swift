import Values

/// Names that change hands without ever taking one that is given.
extension FileSystem {
  /// Puts a file or a folder under a name that must be free.
  ///
  /// - Throws: ``CoreDataError`` where it is taken, or the file system refuses.
  package static func renameExclusively(_ source: String, to destination: String) throws {
    let result = renameNoReplace(source, destination)
    if result == 0 { return }
    guard [ENOSYS, EINVAL, ENOTSUP, EOPNOTSUPP].contains(errno) else {
      throw failure(.rename, errno == EEXIST ? destination : source)
    }
    // Not known here, or not to this file system: a second name does not replace either.
    var info = stat()
    guard lstat(source, &info) == 0 else { throw failure(.rename, source) }
    if info.st_mode & S_IFMT == S_IFREG {
      if link(source, to: destination) { return try removeName(source) }
      guard errno != EEXIST else { throw failure(.rename, destination) }
    }
    guard FileIdentity(of: destination) == nil else {
      errno = EEXIST
      throw failure(.rename, destination)
    }
    try rename(source, to: destination)
  }

  /// Removes a name, and makes sure that it is gone.
  package static func removeName(_ path: String) throws {
    if unlink(path) != 0, errno != ENOENT { throw failure(.remove, path) }
    guard FileIdentity(of: path) == nil else {
      errno = EBUSY
      throw failure(.remove, path)
    }
  }

  /// -1 with `errno` where the name is taken or the call is not there.
  private static func renameNoReplace(_ source: String, _ destination: String) -> Int32 {
    #if canImport(Darwin)
      return renamex_np(source, destination, UInt32(RENAME_EXCL))
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
      return unsafeBitCast(symbol, to: Rename.self)(
        AT_FDCWD, source, AT_FDCWD, destination, 1)
    #endif
  }
}
