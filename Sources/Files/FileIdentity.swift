import Values

/// Which file it is, whatever its name: the same for each of its names, another for a copy.
package struct FileIdentity: Sendable, Hashable {
  /// The number of the device that the file is on.
  package let device: UInt64
  /// The number of the file on that device.
  package let inode: UInt64

  /// The identity that was noted earlier, such as in a journal.
  package init(device: UInt64, inode: UInt64) {
    (self.device, self.inode) = (device, inode)
  }

  /// The identity of a file that was asked about already.
  package init(_ info: stat) {
    device = UInt64(bitPattern: Int64(info.st_dev))
    inode = UInt64(info.st_ino)
  }

  /// What has that name now: a file, a folder, or a link itself; `nil` where nothing has it.
  package init?(of path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return nil }
    self.init(info)
  }
}

/// A file that was made and looked at, kept open until it gets its final name, so that no other can
/// take its place unnoticed.
package final class VerifiedFile {
  /// The name it was opened by.
  package let path: String
  /// Which file the name stood for when it was opened.
  package let identity: FileIdentity
  private let descriptor: Int32
  private let size: off_t
  private let written: timespec

  /// - Parameter expected: the file as it was made; `nil` takes the one that is there.
  package init(_ path: String, expected: FileIdentity? = nil) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileSystem.failure(.read, path) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      close(descriptor)
      throw FileSystem.failure(.read, path)
    }
    identity = FileIdentity(info)
    size = info.st_size
    written = info.written
    guard expected == nil || expected == identity else { throw Self.changed(path) }
  }

  deinit { close(descriptor) }

  /// SHA-256 of its bytes in hexadecimal.
  package func sha256() throws -> String { try FileSystem.sha256(descriptor, path) }

  /// Forces its bytes to the disk.
  package func sync() throws { try FileSystem.sync(descriptor, path) }

  /// - Throws: ``CoreDataError`` where the name is another file's by now, or the file was written to
  ///   since it was opened.
  package func requireUnchanged() throws {
    var info = stat()
    guard fstat(descriptor, &info) == 0, FileIdentity(of: path) == identity, info.st_size == size,
      info.written.tv_sec == written.tv_sec, info.written.tv_nsec == written.tv_nsec
    else { throw Self.changed(path) }
  }

  private static func changed(_ path: String) -> CoreDataError {
    CoreDataError(
      .failed, code: .migration, "the finished file is no longer the one that was verified",
      path: path,
      hint: "Another program changed it. The store is as it was; try again.")
  }
}
