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

extension FileSystem {
  /// Copies a file to a name that nothing has.
  ///
  /// - Parameter progress: gets the bytes copied so far after each piece; it throws to stop.
  /// - Throws: ``CoreDataError``; nothing is left of the copy then.
  @discardableResult
  package static func copy(
    _ source: String, to destination: String, progress: (Int) throws -> Void = { _ in }
  ) throws -> NewFile {
    let input = try OpenFile(source)
    let output = try createEmpty(destination)
    do {
      try copy(input, into: output, progress: progress)
    } catch {
      if FileIdentity(of: output.path) == output.identity { remove(output.path) }
      throw error
    }
    FileAttributes.copyPermissions(of: input, to: output)
    return output
  }

  /// Copies a file into one that was made for it: by sharing its blocks where the file system can, else
  /// what is not a hole in it.
  package static func copy(
    _ source: OpenFile, into file: NewFile, progress: (Int) throws -> Void = { _ in }
  ) throws {
    let (input, output) = (source.descriptor, file.descriptor)
    var info = stat()
    guard fstat(input, &info) == 0 else { throw failure(.read, source.path) }
    if cloneBlocks(from: input, to: output) { return }
    // A full disk found only when it is full would be everybody's.
    if let free = freeSpace(at: file.path), free < min(Int(info.st_size), allocated(info)) {
      errno = ENOSPC
      throw failure(.write, file.path)
    }
    let size = Int(info.st_size)
    var copy = PieceCopy(
      input: input, output: output, source: source.path, destination: file.path)
    var offset = 0
    while let piece = nextData(of: input, from: offset, size: size) {
      try copy.copy(piece, progress)
      offset = piece.upperBound
    }
    // A hole at the end.
    guard ftruncate(output, off_t(size)) == 0 else { throw failure(.write, file.path) }
  }

  /// Makes a private file that shares the blocks of another, where the file system can.
  ///
  /// - Parameter path: a name that nothing has.
  package static func clone(_ source: OpenFile, to path: String) -> Bool {
    #if canImport(Darwin)
      guard fclonefileat(source.descriptor, AT_FDCWD, path, 0) == 0 else { return false }
      guard chmod(path, 0o600) == 0 else {
        remove(path)
        return false
      }
      return true
    #else
      guard let output = try? createEmpty(path) else { return false }
      if cloneBlocks(from: source.descriptor, to: output.descriptor) { return true }
      remove(path)
      return false
    #endif
  }

  /// Bytes that a file takes on its disk: fewer than its size where it has holes.
  package static func allocated(_ path: String) -> Int {
    var info = stat()
    return stat(path, &info) == 0 ? allocated(info) : 0
  }

  private static func allocated(_ info: stat) -> Int { Int(info.st_blocks) * 512 }

  /// The next stretch that is no hole; the whole rest where the file system does not say.
  private static func nextData(of input: Int32, from offset: Int, size: Int) -> Range<Int>? {
    guard offset < size else { return nil }
    #if canImport(Darwin)
      let (seekHole, seekData): (Int32, Int32) = (3, 4)
    #else
      // Glibc defines them for GNU sources only, which Swift's module map is not.
      let (seekHole, seekData): (Int32, Int32) = (4, 3)
    #endif
    let start = lseek(input, off_t(offset), seekData)
    if start < 0 { return errno == ENXIO ? nil : offset..<size }
    let end = lseek(input, start, seekHole)
    guard start < off_t(size) else { return nil }
    return Int(start)..<(end > start ? min(Int(end), size) : size)
  }

  private static func cloneBlocks(from input: Int32, to output: Int32) -> Bool {
    #if canImport(Darwin)
      false
    #else
      // FICLONE is a macro of sizes that Swift does not import: _IOW(0x94, 9, int).
      ioctl(output, 0x4004_9409, input) == 0
    #endif
  }
}

/// Copies stretches of one open file to the same places of another.
private struct PieceCopy {
  let input: Int32
  let output: Int32
  let source: String
  let destination: String
  private var total = 0
  private var buffer: [UInt8] = []

  init(input: Int32, output: Int32, source: String, destination: String) {
    (self.input, self.output) = (input, output)
    (self.source, self.destination) = (source, destination)
  }

  mutating func copy(_ piece: Range<Int>, _ progress: (Int) throws -> Void) throws {
    var offset = piece.lowerBound
    // Faster than what the kernel does by itself: it goes by way of a pipe, a page at a time.
    if buffer.isEmpty { buffer = Array(repeating: 0, count: 1 << 18) }
    while offset < piece.upperBound {
      let wanted = min(buffer.count, piece.upperBound - offset)
      let got = pread(input, &buffer, wanted, off_t(offset))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw FileSystem.failure(.read, source) }
      // The file was cut since: the caller sees by the store's fingerprint that it changed.
      if got == 0 { return }
      var done = 0
      while done < got {
        let wrote = buffer.withUnsafeBytes {
          pwrite(output, $0.baseAddress.map { $0 + done }, got - done, off_t(offset + done))
        }
        if wrote < 0 && errno == EINTR { continue }
        guard wrote > 0 else { throw FileSystem.failure(.write, destination) }
        done += wrote
      }
      offset += got
      total += got
      try progress(total)
    }
  }
}

/// The search for a run of bytes, by the C library: it is asked of everything that is printed, and of
/// every file of source.
package enum ByteSearch {
  /// Where a pattern first stands, from a place on; `nil` where it does not, or is empty.
  package static func place(
    of pattern: [UInt8], in bytes: [UInt8], from start: Int = 0
  ) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let first = pattern.first else { return nil }
      var place = start
      while place + pattern.count <= buffer.count,
        let found = memchr(base + place, Int32(first), buffer.count - place)
      {
        place = UnsafeRawPointer(found) - base
        guard place + pattern.count <= buffer.count else { return nil }
        if memcmp(found, pattern, pattern.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }
}
