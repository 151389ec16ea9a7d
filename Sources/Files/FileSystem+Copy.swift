import Values

extension FileSystem {
  /// Copies a file: by sharing its blocks where the file system can, else what is not a hole in it.
  ///
  /// - Parameter progress: gets the bytes copied so far after each piece; it throws to stop.
  package static func copy(
    _ source: String, to destination: String, progress: (Int) throws -> Void = { _ in }
  ) throws {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw failure(.read, source) }
    defer { close(input) }
    var info = stat()
    guard fstat(input, &info) == 0 else { throw failure(.read, source) }
    let output = open(
      destination, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, info.st_mode & 0o7777 | 0o200)
    guard output >= 0 else { throw failure(.write, destination) }
    defer { close(output) }
    if cloneBlocks(from: input, to: output) { return }
    // A full disk found only when it is full would be everybody's.
    if let free = freeSpace(at: destination), free < min(Int(info.st_size), allocated(info)) {
      errno = ENOSPC
      throw failure(.write, destination)
    }
    let size = Int(info.st_size)
    var copy = PieceCopy(
      input: input, output: output, source: source, destination: destination)
    var offset = 0
    while let piece = nextData(of: input, from: offset, size: size) {
      try copy.copy(piece, progress)
      offset = piece.upperBound
    }
    // A hole at the end.
    guard ftruncate(output, off_t(size)) == 0 else { throw failure(.write, destination) }
  }

  /// Bytes that a file takes on its disk: fewer than its size where it has holes.
  package static func allocated(_ path: String) -> Int {
    var info = stat()
    return stat(path, &info) == 0 ? allocated(info) : 0
  }

  private static func allocated(_ info: stat) -> Int { Int(info.st_blocks) * 512 }

  /// The next stretch that is no hole; the whole rest where the file system does not tell.
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
      // Shorter than it was: whoever changed it is found by the store's fingerprint.
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
