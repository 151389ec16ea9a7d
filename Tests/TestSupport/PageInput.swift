import Salvage

/// A main file and the log or journal beside it, in one run of bytes, as ``Fuzzing`` has its inputs.
struct PageInput {
  /// What stands beside a main file.
  enum Companion: UInt8, CaseIterable {
    case log = 1
    case journal = 2

    var suffix: String { self == .log ? "-wal" : "-journal" }
  }

  var main: [UInt8]
  var companion: [UInt8] = []
  var kind: Companion?
  /// Which of several ways the input is read.
  var choice: UInt8 = 0

  /// Behind the files: the choice, the companion's kind, and how long the main file is.
  private static let trailer = 6

  init(main: [UInt8], companion: [UInt8] = [], kind: Companion? = nil) {
    (self.main, self.companion, self.kind) = (main, companion, kind)
  }

  /// The files that bytes are, however they were changed.
  init(_ bytes: [UInt8]) {
    main = Array(bytes.dropLast(Self.trailer))
    guard bytes.count >= Self.trailer else { return }
    let end = bytes.suffix(Self.trailer)
    choice = end[end.startIndex]
    kind = Companion(rawValue: end[end.startIndex + 1])
    let length = Self.word(bytes, bytes.count - 4)
    guard kind != nil, length <= main.count else { return }
    companion = Array(main[length...])
    main.removeSubrange(length...)
  }

  var bytes: [UInt8] {
    main + companion + [choice, kind?.rawValue ?? 0] + Self.bytes(of: main.count)
  }

  /// A whole number of four bytes, and the bytes of one.
  static func word(_ bytes: [UInt8], _ place: Int) -> Int {
    guard place >= 0, place + 4 <= bytes.count else { return 0 }
    return bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  static func bytes(of word: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
  }

  /// Bytes of a page, by the main file's header.
  private var pageSize: Int {
    let stated = main.count < 18 ? 0 : Int(main[16]) << 8 | Int(main[17])
    return FileHeader.isPageSize(stated) ? stated : 1024
  }
}

// MARK: Mutations

extension PageInput {
  /// Where the pages of a file stand: the first, from one to the next, and where in each its bytes begin.
  private struct Places {
    var first: Int
    var step: Int
    var offset: Int
  }

  private func places(_ kind: Companion?) -> Places {
    switch kind {
    case nil: Places(first: 0, step: pageSize, offset: 0)
    case .log: Places(first: 32, step: pageSize + 24, offset: 24)
    case .journal: Places(first: 512, step: pageSize + 8, offset: 4)
    }
  }

  /// Does to a page, or to a file, what breaks readers.
  mutating func mutate(using generator: inout SeededGenerator) {
    if let kind, Bool.random(using: &generator) {
      Self.mutate(&companion, places(kind), pageSize, using: &generator)
    } else {
      Self.mutate(&main, places(nil), pageSize, using: &generator)
    }
    choice = UInt8.random(in: 0...255, using: &generator)
  }

  private static func mutate(
    _ file: inout [UInt8], _ places: Places, _ size: Int, using generator: inout SeededGenerator
  ) {
    let count = (file.count - places.first) / places.step
    guard count > 0 else {
      file = generator.mutated(file)
      return
    }
    /// Where the bytes of a page begin: pages are whole.
    func page() -> Int {
      places.first + Int.random(in: 0..<count, using: &generator) * places.step + places.offset
    }
    func number(_ most: Int) -> Int { Int.random(in: 0...most, using: &generator) }
    let start = page()
    // The first page begins with the file's own header.
    let head = start + (start == 0 ? FileHeader.size : 0)
    switch number(12) {
    case 0:
      let part = [0..<size, 0..<size / 2, size / 2..<size, 0..<8].randomElement(using: &generator)
      for place in part ?? 0..<8 { file[start + place] = 0 }
    case 1:
      let other = page()
      file.replaceSubrange(start..<start + size, with: file[other..<other + size])
    case 2:
      let (other, bytes) = (page(), Array(file[start..<start + size]))
      file.replaceSubrange(start..<start + size, with: file[other..<other + size])
      file.replaceSubrange(other..<other + size, with: bytes)
    case 3:
      // The header of a b-tree's page: kind, freed block, count, start of the content, fragments, last child.
      let place = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].randomElement(using: &generator) ?? 0
      let bytes: [UInt8] = [
        0, 1, 2, 5, 10, 13, 0xFF, UInt8.random(in: 0...255, using: &generator),
      ]
      file[head + place] = bytes.randomElement(using: &generator) ?? 0
    case 4, 5:
      // A cell: where it is, or what it says of its size, key and columns.
      let cells = Int(file[head + 3]) << 8 | Int(file[head + 4])
      let list = head + (file[head] & 8 == 0 ? 12 : 8)
      let place = list + 2 * number(min(max(0, cells - 1), size / 4 - 64))
      let cell = (Int(file[place]) << 8 | Int(file[place + 1])) + number(12)
      if Bool.random(using: &generator), cell < size {
        file[start + cell] = UInt8.random(in: 0...255, using: &generator)
      } else {
        let new = number(size)
        (file[place], file[place + 1]) = (UInt8(new >> 8), UInt8(new & 255))
      }
    case 6:
      // What references another page: an overflow page, an entry of the pointer map, a child.
      let place = [0, 1 + 5 * number(size / 5 - 2), number(size - 5)].randomElement(
        using: &generator)
      let new = [number(count + 2), number(0xFFFF_FFFF)].randomElement(using: &generator) ?? 0
      file.replaceSubrange(
        start + (place ?? 0)..<start + (place ?? 0) + 4, with: bytes(of: new))
    case 7:
      let place = number(min(file.count, max(FileHeader.size, places.first)) - 1)
      file[place] = UInt8.random(in: 0...255, using: &generator)
    case 8:
      let end = number(file.count)
      file.removeSubrange((Bool.random(using: &generator) ? end : end / 512 * 512)...)
    case 9:
      // Bytes before the pages, or in the middle, or not there any more.
      let place = [0, number(file.count - 1)].randomElement(using: &generator) ?? 0
      let length = min(1 + number(600), file.count - place)
      if Bool.random(using: &generator) {
        file.insert(contentsOf: file[place..<place + length], at: place)
      } else {
        file.removeSubrange(place..<place + length)
      }
    case 10:
      // Line ends are translated.
      let isLonger = Bool.random(using: &generator)
      file =
        isLonger
        ? file.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        : file.indices.compactMap { place in
          file[place] == 0x0D && place + 1 < file.count && file[place + 1] == 0x0A
            ? nil : file[place]
        }
    case 11:
      // Whole pages, at the beginning or from one on: the list of tables goes with them.
      let from = Bool.random(using: &generator) ? 0 : start
      for place in from..<min(file.count, from + (1 + number(4)) * places.step) { file[place] = 0 }
    default:
      let bytes = generator.mutated(Array(file[start..<start + size]))
      file.replaceSubrange(start..<start + size, with: (bytes + file[start...]).prefix(size))
    }
  }

  // MARK: Checksums

  /// Makes the checksums of the log or the journal right for what it holds.
  mutating func seal() {
    switch kind {
    case .log: sealLog()
    case .journal: sealJournal()
    case nil: break
    }
  }

  private mutating func put(_ word: UInt32, at offset: Int) {
    companion.replaceSubrange(offset..<offset + 4, with: Self.bytes(of: Int(word)))
  }

  private mutating func sealLog() {
    guard companion.count > 32 else { return }
    let isBigEndian = companion[3] & 1 == 1
    var sum = LogChecksum()
    func seal(at offset: Int, _ input: inout PageInput) {
      input.put(sum.first, at: offset)
      input.put(sum.second, at: offset + 4)
    }
    sum.add(companion, 0..<24, bigEndian: isBigEndian)
    seal(at: 24, &self)
    let frame = 24 + pageSize
    for start in stride(from: 32, through: companion.count - frame, by: frame) {
      companion.replaceSubrange(start + 8..<start + 16, with: companion[16..<24])
      sum.add(companion, start..<start + 8, bigEndian: isBigEndian)
      sum.add(companion, start + 24..<start + frame, bigEndian: isBigEndian)
      seal(at: start + 16, &self)
    }
  }

  private mutating func sealJournal() {
    guard companion.count > 16 else { return }
    let nonce = UInt32(truncatingIfNeeded: Self.word(companion, 12))
    let record = pageSize + 8
    for start in stride(from: 512, through: companion.count - record, by: record) {
      let page = companion[start + 4..<start + 4 + pageSize]
      put(Self.checksum(page, nonce), at: start + 4 + pageSize)
    }
  }

  /// As a journal has it of a page.
  static func checksum(_ page: ArraySlice<UInt8>, _ nonce: UInt32) -> UInt32 {
    stride(from: page.count - 200, to: 0, by: -200).reduce(nonce) { sum, place in
      sum &+ UInt32(page[page.startIndex + place])
    }
  }
}
