import Files

/// A new database that pages are appended to: one that SQLite made, with pointer maps, and let go of.
struct PageFile {
  /// Bytes of a page, all of which are used.
  let pageSize: Int
  private let file: WritableFile
  /// How many pages it has.
  private var count: Int
  /// Pages that were taken and are not needed.
  private var spare: [Int] = []
  private var maps: [Int: [UInt8]] = [:]
  private let places: PointerMap.Places
  /// Pages that were written and are not in the file yet.
  private var window: PageWindow

  /// - Throws: `CoreDataError` where it cannot be opened.
  init(_ path: String, pageSize: Int) throws {
    file = try WritableFile(path)
    self.pageSize = pageSize
    count = try Int(BigEndian.word(file.read(at: 28, count: 4), 0))
    places = PointerMap.Places(usable: pageSize, pageSize: pageSize)
    window = PageWindow(pageSize: pageSize)
  }

  /// Takes a page for what `kind` and `parent` say of it in the pointer map.
  mutating func take(_ kind: PointerMap.Kind, parent: Int) throws -> Int {
    var number = spare.popLast() ?? 0
    if number == 0 {
      repeat { count += 1 } while places.isOwn(count)
      number = count
    }
    try point(number, kind, parent: parent)
    return number
  }

  /// Gives pages back that were taken.
  mutating func give(back pages: some Sequence<Int>) { spare += pages }

  /// Writes a page, at the latest when all is finished.
  mutating func write(_ bytes: [UInt8], to number: Int) throws {
    try window.write(bytes, to: number, in: file)
  }

  /// Writes what describes the pages: pointer maps, the list of those that are free, the header.
  mutating func finish() throws {
    // Trunks of the list hold the numbers of the others.
    let old = try file.read(at: 32, count: 8)
    var next = Int(BigEndian.word(old, 0))
    let total = spare.count + Int(BigEndian.word(old, 4))
    while let trunk = spare.popLast() {
      let leaves = spare.suffix(pageSize / 4 - 8)
      spare.removeLast(leaves.count)
      var page = [UInt8](repeating: 0, count: pageSize)
      BigEndian.put(next, into: &page, 0)
      BigEndian.put(leaves.count, into: &page, 4)
      for (index, leaf) in leaves.enumerated() {
        BigEndian.put(leaf, into: &page, 8 + 4 * index)
        try point(leaf, .free, parent: 0)
        // What was taken last may not have been written.
        try write([UInt8](repeating: 0, count: pageSize), to: leaf)
      }
      try point(trunk, .free, parent: 0)
      try write(page, to: trunk)
      next = trunk
    }
    try window.flush(to: file)
    for (number, bytes) in maps { try file.write(bytes, at: (number - 1) * pageSize) }
    var free = [UInt8](repeating: 0, count: 8)
    BigEndian.put(next, into: &free, 0)
    BigEndian.put(total, into: &free, 4)
    try file.write(free, at: 32)
    var pages = [UInt8](repeating: 0, count: 4)
    BigEndian.put(count, into: &pages, 0)
    try file.write(pages, at: 28)
  }

  private mutating func point(_ number: Int, _ kind: PointerMap.Kind, parent: Int) throws {
    let map = places.map(of: number)
    if maps[map] == nil {
      let old = try file.read(at: (map - 1) * pageSize, count: pageSize)
      maps[map] = old.count == pageSize ? old : [UInt8](repeating: 0, count: pageSize)
    }
    let offset = 5 * (number - map - 1)
    maps[map]?[offset] = kind.rawValue
    BigEndian.put(parent, into: &maps[map, default: []], offset + 1)
  }
}

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
