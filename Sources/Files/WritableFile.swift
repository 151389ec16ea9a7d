import Values

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
