import Values

/// Which file it is, how long it is and when it was written to: two that are equal are of one file that
/// nobody wrote to in between, whatever its name.
///
/// Asked of the file system only: opening a file a second time and closing it again would drop the
/// locks that this process holds on it, as POSIX has it.
package struct FileSnapshot: Sendable, Equatable {
  /// Which file it is.
  package let identity: FileIdentity
  /// Its bytes.
  package let size: Int
  private let seconds: Int
  private let nanoseconds: Int
}

extension FileSnapshot {
  private init(_ info: stat) {
    self.init(
      identity: FileIdentity(info), size: Int(info.st_size), seconds: info.written.tv_sec,
      nanoseconds: info.written.tv_nsec)
  }

  /// What has that name now; `nil` where nothing has it. What cannot be asked about is equal to no file.
  ///
  /// - Parameter followsLinks: whether what a link leads to is meant, and not the link.
  package init?(of path: String, followsLinks: Bool = false) {
    var info = stat()
    guard (followsLinks ? stat(path, &info) : lstat(path, &info)) == 0 else {
      let number = errno
      guard number != ENOENT, number != ENOTDIR else { return nil }
      self.init(
        identity: FileIdentity(device: 0, inode: 0), size: -1, seconds: Int(number), nanoseconds: 0)
      return
    }
    self.init(info)
  }

  /// A file that is open.
  package init?(of descriptor: Int32) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }
}
