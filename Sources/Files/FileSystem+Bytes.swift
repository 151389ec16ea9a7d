import Values

/// What files hold, read and written whole.
extension FileSystem {
  /// All bytes of a file, or `limit` of them from `offset`.
  package static func read(_ path: String, offset: Int = 0, limit: Int? = nil) throws -> [UInt8] {
    // Opening a FIFO would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(.read, path) }
    defer { close(descriptor) }
    guard let status = status(path), status.kind == .file else {
      throw CoreDataError(.unreadable, "not a file", path: path)
    }
    let wanted = max(0, min(status.size - offset, limit ?? Int.max))
    guard wanted > 0 else { return [] }
    return try read(descriptor, at: offset, count: wanted, path)
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

  /// Writes a new file or replaces the content of one.
  package static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(.write, path) }
    defer { close(descriptor) }
    guard write(bytes, to: descriptor) == 0 else { throw failure(.write, path) }
  }

  /// Writes over bytes of a file that is there, and is to stay as long as it is.
  package static func overwrite(_ bytes: [UInt8], at offset: Int, in path: String) throws {
    let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(.write, path) }
    defer { close(descriptor) }
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0, write(bytes, to: descriptor) == 0
    else { throw failure(.write, path) }
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
    let new = path + ".new"
    if isPrivate {
      remove(new)
      try createEmpty(new)
    }
    do {
      try write(bytes, to: new)
      try rename(new, to: path)
    } catch {
      remove(new)
      throw error
    }
  }
}
