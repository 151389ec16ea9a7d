import Files

/// Pages beside each other that go into a file in one piece: a call for each would take longer than the
/// pages do.
struct PageWindow {
  private static let bytes = 524_288

  private let pageSize: Int
  /// How many pages it has room for.
  private let room: Int
  /// The first page that it has room for.
  private var first = 0
  private var content: [UInt8]
  private var isFilled: [Bool]

  init(pageSize: Int) {
    self.pageSize = pageSize
    room = max(8, Self.bytes / pageSize)
    content = Array(repeating: 0, count: room * pageSize)
    isFilled = Array(repeating: false, count: room)
  }

  /// Takes a page; one that stands before the others goes into the file at once.
  mutating func write(_ bytes: [UInt8], to number: Int, in file: WritableFile) throws {
    guard number >= first, bytes.count == pageSize else {
      return try file.write(bytes, at: (number - 1) * pageSize)
    }
    if number >= first + room {
      try flush(to: file)
      // What a row has on pages of its own is written before the row's page, which stands before them.
      first = max(1, number - room / 8)
    }
    let place = number - first
    content.withUnsafeMutableBytes { room in
      bytes.withUnsafeBytes { page in
        UnsafeMutableRawBufferPointer(rebasing: room[place * pageSize..<(place + 1) * pageSize])
          .copyMemory(from: page)
      }
    }
    isFilled[place] = true
  }

  /// Writes what was taken, each run of pages in one piece.
  mutating func flush(to file: WritableFile) throws {
    var place = 0
    while place < room {
      guard isFilled[place] else {
        place += 1
        continue
      }
      let start = place
      while place < room, isFilled[place] {
        isFilled[place] = false
        place += 1
      }
      try file.write(
        content[start * pageSize..<place * pageSize], at: (first + start - 1) * pageSize)
    }
  }
}
