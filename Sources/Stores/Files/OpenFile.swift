import Values

/// A file that is read in pieces through one descriptor: every piece is of the same file, and one
/// that cannot be read is an error, never an end.
package final class OpenFile: Sendable {
  /// Where it was opened.
  package let path: String
  /// Its size when it was opened.
  package let size: Int
  let descriptor: Int32

  /// - Throws: ``CoreDataError`` of kind unreadable.
  package convenience init(_ path: String) throws {
    // Opening a FIFO would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileSystem.failure(.read, path) }
    try self.init(descriptor, path)
  }

  /// Takes a descriptor, which is closed with it.
  init(_ descriptor: Int32, _ path: String) throws {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      let error = FileSystem.failure(.read, path)
      close(descriptor)
      throw error
    }
    guard info.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw FileSystem.refusal(of: Folder.Entry(info).kind, at: path)
    }
    (self.descriptor, self.path) = (descriptor, path)
    size = Int(info.st_size)
  }

  deinit { close(descriptor) }

  /// Which file it is; `nil` where that cannot be asked.
  package var identity: FileIdentity? { FileSnapshot(of: descriptor)?.identity }

  /// The same file through another descriptor, with its size now: also where it has lost its name.
  package func reopened() throws -> OpenFile {
    let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard other >= 0 else { throw FileSystem.failure(.read, path) }
    return try OpenFile(other, path)
  }

  /// When it was removed, in seconds since 2001; `nil` where it still has a name, or that cannot be asked.
  package var removalTime: Double? {
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_nlink == 0 else { return nil }
    let time = info.changed
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - CoreDataDate.unixOffset
  }

  /// Whether it is this user's, and nobody else may write to it.
  package var isPrivate: Bool {
    var info = stat()
    return fstat(descriptor, &info) == 0 && info.st_uid == geteuid() && info.st_mode & 0o022 == 0
  }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return try FileSystem.read(descriptor, at: offset, count: count, path)
  }

  /// SHA-256 of its bytes in hexadecimal.
  package func sha256() throws -> String { try FileSystem.sha256(descriptor, path) }

  /// Reads the bytes from `offset` on into memory that is used again and again: as many as fit, or
  /// fewer where the file ends.
  package func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard offset >= 0 else { return 0 }
    return try FileSystem.read(descriptor, at: offset, into: memory, path)
  }
}

extension FileSystem {
  /// What is at a path that belongs to a store; `nil` only where nothing is there.
  ///
  /// A file that is there and cannot be asked about, and a link, is an error: what belongs to a store must
  /// not be taken for missing, and SQLite follows no link to a -wal or -journal either.
  package static func present(_ path: String) throws -> Status? {
    var info = stat()
    guard lstat(path, &info) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw failure(.read, path) }
      return nil
    }
    guard info.st_mode & S_IFMT != S_IFLNK else { throw refusal(of: .link, at: path) }
    return status(path)
  }
}

/// A file that is there and is written in pieces through one descriptor.
package final class WritableFile {
  /// Where it was opened.
  package let path: String
  private let descriptor: Int32

  /// - Throws: ``CoreDataError`` where it cannot be opened for writing.
  package init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw FileSystem.failure(.write, path) }
  }

  deinit { close(descriptor) }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    try FileSystem.read(descriptor, at: offset, count: count, path)
  }

  /// Reads the bytes from `offset` on into memory that is used again and again: as many as fit, or
  /// fewer where the file ends.
  package func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard offset >= 0 else { return 0 }
    return try FileSystem.read(descriptor, at: offset, into: memory, path)
  }

  /// Writes bytes from `offset` on; the file grows where it must.
  package func write(_ bytes: [UInt8], at offset: Int) throws {
    try write(bytes[...], at: offset)
  }

  /// The same of a part of an array.
  package func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let wrote = bytes.withUnsafeBytes {
        pwrite(
          descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
      }
      if wrote < 0 && errno == EINTR { continue }
      guard wrote > 0 else { throw FileSystem.failure(.write, path) }
      done += wrote
    }
  }
}
