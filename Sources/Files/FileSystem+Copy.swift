import Values

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
