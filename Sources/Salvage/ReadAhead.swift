/// Pages of a file that are read before they are asked for, where one after the other is: a call for each
/// would take as long as what is done with it.
struct ReadAhead {
  // Larger memory is had from the system each time.
  private static let bytesAtOnce = 65_536

  private var bytes: [UInt8] = []
  /// The first page of those that were read.
  private var first = 1
  /// The page that was asked for last.
  private var last = 0

  /// A page, as much as is there of it.
  mutating func page(_ number: Int, of file: MainFile, pageSize: Int) throws -> [UInt8] {
    defer { last = number }
    if !holds(number, pageSize) {
      if number == last + 1 { fill(from: number, of: file, pageSize) }
      guard holds(number, pageSize) else {
        return try file.read(at: (number - 1) * pageSize, count: pageSize)
      }
    }
    let start = (number - first) * pageSize
    return Array(bytes[start..<min(bytes.count, start + pageSize)])
  }

  private func holds(_ number: Int, _ pageSize: Int) -> Bool {
    number >= first && !bytes.isEmpty && number <= first + (bytes.count - 1) / pageSize
  }

  /// Reads several pages; a place that the disk cannot read is no error of the pages before it.
  private mutating func fill(from number: Int, of file: MainFile, _ pageSize: Int) {
    let pages = Self.bytesAtOnce / pageSize
    guard pages > 1,
      let read = try? file.read(at: (number - 1) * pageSize, count: pages * pageSize),
      !read.isEmpty
    else { return }
    (bytes, first) = (read, number)
  }

  /// Reads a page into memory of its size.
  ///
  /// - Returns: whether all of it is there.
  mutating func read(
    _ number: Int, of file: MainFile, into memory: UnsafeMutableRawBufferPointer
  ) throws -> Bool {
    let size = memory.count
    if !holds(number, size) {
      guard number == last + 1 else {
        last = number
        return try file.read(at: (number - 1) * size, into: memory) == size
      }
      fill(from: number, of: file, size)
    }
    last = number
    let start = (number - first) * size
    guard holds(number, size), start + size <= bytes.count else {
      return try file.read(at: (number - 1) * size, into: memory) == size
    }
    bytes.withUnsafeBytes {
      memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + size]))
    }
    return true
  }
}

/// The first byte of each page of a file, read many pages at a time: whoever walks the trees of a database
/// asks for those of nearly all.
struct FirstBytes {
  private static let bytesAtOnce = 262_144

  private var bytes: [UInt8] = []
  private var isRead: [Bool] = []

  /// The first byte of a page; `nil` where the file does not reach there.
  mutating func byte(of page: Int, in file: MainFile, pageSize: Int) throws -> UInt8? {
    let offset = (page - 1) * pageSize
    guard offset >= 0, offset < file.size else { return nil }
    let pages = max(1, Self.bytesAtOnce / pageSize)
    let block = (page - 1) / pages
    if bytes.isEmpty {
      bytes = Array(repeating: 0, count: (file.size + pageSize - 1) / pageSize)
      isRead = Array(repeating: false, count: bytes.count / pages + 1)
    }
    if !isRead[block] {
      let first = block * pages
      // A place that the disk cannot read is no error of the pages beside it.
      guard let read = try? file.read(at: first * pageSize, count: pages * pageSize),
        read.count >= min(pages * pageSize, file.size - first * pageSize)
      else { return try file.read(at: offset, count: 1).first }
      for (index, place) in stride(from: 0, to: read.count, by: pageSize).enumerated()
      where first + index < bytes.count {
        bytes[first + index] = read[place]
      }
      isRead[block] = true
    }
    return bytes[page - 1]
  }
}
