import Values

/// A file that is read in pieces through one descriptor: every piece is of the same file, and one
/// that cannot be read is an error, never an end.
package final class OpenFile: Sendable {
  /// Where it was opened.
  package let path: String
  /// Its size when it was opened.
  package let size: Int
  private let descriptor: Int32

  /// - Throws: ``CoreDataError`` of kind unreadable.
  package init(_ path: String) throws {
    self.path = path
    // Opening a FIFO would wait for a writer.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileSystem.failure(.read, path) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      let error = FileSystem.failure(.read, path)
      close(descriptor)
      throw error
    }
    guard info.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CoreDataError(.unreadable, "not a file", path: path)
    }
    size = Int(info.st_size)
  }

  deinit { close(descriptor) }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return try FileSystem.read(descriptor, at: offset, count: count, path)
  }

  /// Reads the bytes from `offset` on into memory that is used again and again: as many as fit, or
  /// fewer where the file ends.
  package func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard offset >= 0 else { return 0 }
    return try FileSystem.read(descriptor, at: offset, into: memory, path)
  }
}

extension FileSystem {
  /// What is at a path, links followed; `nil` only where nothing is there.
  ///
  /// A file that is there and cannot be asked about, and a link that leads nowhere, is an error:
  /// what belongs to a store must not be taken for missing.
  package static func present(_ path: String) throws -> Status? {
    if let status = status(path) { return status }
    let number = errno
    guard number == ENOENT || number == ENOTDIR else {
      errno = number
      throw failure(.read, path)
    }
    var info = stat()
    guard lstat(path, &info) == 0 else { return nil }
    throw CoreDataError(.unreadable, "a link that leads nowhere", path: path)
  }
}
