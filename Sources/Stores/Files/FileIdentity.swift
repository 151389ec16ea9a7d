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
  /// The file as it was made.
  package let file: NewFile
  /// The name it was made under.
  package var path: String { file.path }
  /// Which file it is.
  package var identity: FileIdentity { file.identity }
  private let snapshot: FileSnapshot

  /// Takes a file as it is now: nobody writes to it any more.
  ///
  /// - Throws: ``CoreDataError`` where the name is another file's by now.
  package init(_ file: NewFile) throws {
    self.file = file
    guard let snapshot = FileSnapshot(of: file.descriptor) else {
      throw FileSystem.failure(.read, file.path)
    }
    self.snapshot = snapshot
    guard FileIdentity(of: file.path) == file.identity else { throw Self.changed(file.path) }
  }

  /// - Throws: ``CoreDataError`` where the name is another file's by now, or the file was written to
  ///   since it was verified.
  package func requireUnchanged() throws {
    guard FileSnapshot(of: file.descriptor) == snapshot, FileIdentity(of: path) == identity else {
      throw Self.changed(path)
    }
  }

  private static func changed(_ path: String) -> CoreDataError {
    CoreDataError(
      .failed, code: .migration, "the finished file is no longer the one that was verified",
      path: path,
      hint: "Another program changed it. The store is unchanged; try again.")
  }
}

/// Which file it is, how long it is and when it was written to: two that are equal are of one file that
/// nobody has written to since, whatever its name.
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
  /// - Parameter followsLinks: whether what a link references is meant, and not the link.
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
