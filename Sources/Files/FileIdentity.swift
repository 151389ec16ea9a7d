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
      hint: "Another program changed it. The store is as it was; try again.")
  }
}
