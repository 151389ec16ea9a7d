import Values

/// What files hold, read and written whole.
extension FileSystem {
  /// All bytes of a file, or `limit` of them from `offset`.
  package static func read(_ path: String, offset: Int = 0, limit: Int? = nil) throws -> [UInt8] {
    let file = try OpenFile(path)
    return try file.read(at: offset, count: max(0, min(file.size - offset, limit ?? Int.max)))
  }

  /// The bytes behind a descriptor from `offset` on: `count` of them, or fewer where the file ends.
  static func read(
    _ descriptor: Int32, at offset: Int, count: Int, _ path: String
  ) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = try read(descriptor, at: offset, into: UnsafeMutableRawBufferPointer(buffer), path)
    }
  }

  /// The same into memory that is there; how many bytes it was.
  static func read(
    _ descriptor: Int32, at offset: Int, into memory: UnsafeMutableRawBufferPointer, _ path: String
  ) throws -> Int {
    var done = 0
    while done < memory.count, let base = memory.baseAddress {
      let got = pread(descriptor, base + done, memory.count - done, off_t(offset + done))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw failure(.read, path) }
      if got == 0 { break }
      done += got
    }
    return done
  }

  /// SHA-256 of a file's bytes in hexadecimal, a megabyte in memory at a time.
  ///
  /// - Parameter isStopped: asked before each; where it is, an error is thrown.
  package static func sha256(
    _ path: String, unless isStopped: () -> Bool = { false }
  ) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(.read, path) }
    defer { close(descriptor) }
    return try sha256(descriptor, path, unless: isStopped)
  }

  static func sha256(
    _ descriptor: Int32, _ path: String, unless isStopped: () -> Bool = { false }
  ) throws -> String {
    let stream = SHA256Stream()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: off_t = 0
    while true {
      if isStopped() { throw CancellationError() }
      let got = buffer.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, offset)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw failure(.read, path) }
      guard got > 0 else { return ByteText.hex(stream.finish()) }
      stream.update(buffer.prefix(got))
      offset += off_t(got)
    }
  }

  /// Writes a new file.
  ///
  /// - Throws: ``CoreDataError`` where something has the name; nothing is replaced, and nothing is left.
  package static func create(_ path: String, holding bytes: [UInt8]) throws {
    let file = try PendingFile(for: path)
    try file.append(bytes)
    try file.finish(replacing: false, isSynced: false)
  }

  /// Writes everything to a descriptor.
  ///
  /// - Returns: 0, or the errno that ended it.
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var done = 0
    while done < bytes.count {
      let wrote = bytes.withUnsafeBytes { buffer in
        write_(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
      }
      if wrote < 0 && errno == EINTR { continue }
      guard wrote > 0 else { return wrote < 0 ? errno : EIO }
      done += wrote
    }
    return 0
  }

  /// Puts a file in the place of another or of none, whole or not at all: what is replaced stays
  /// when the disk is full.
  ///
  /// - Parameter isPrivate: whether it is for its owner only, whatever the umask is.
  package static func replace(
    _ path: String, with bytes: [UInt8], isPrivate: Bool = true
  ) throws {
    let file = try PendingFile(for: path, isPrivate: isPrivate)
    try file.append(bytes)
    try file.finish(replacing: true, isSynced: false)
  }
}
