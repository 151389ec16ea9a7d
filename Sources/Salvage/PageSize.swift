/// The size of a database's pages, found by the pages themselves.
enum PageSize {
  /// The sizes that pages can have.
  static let all = (9...16).map { 1 << $0 }
  /// How many pages of each size are looked at.
  private static let sample = 64

  /// The size with which the most pages of a file begin as pages do.
  ///
  /// A file looks as much like one of larger pages, each of which begins where one does, but of fewer;
  /// and hardly like one of smaller pages, whose cells would lie outside of them.
  ///
  /// - Parameter stated: what the header says, which holds where it fits about as well as any.
  /// - Returns: `nil` where no page looks like one, and nothing is stated.
  static func likely(_ file: MainFile, stated: Int?) throws -> Int? {
    let counts = try all.map { size in
      (size: size, count: try share(file, size) * Double(file.size / size))
    }
    let best = counts.map(\.count).max() ?? 0
    guard best > 0 else { return stated }
    if let stated, let own = counts.first(where: { $0.size == stated }), own.count >= 0.7 * best {
      return stated
    }
    return counts.first { $0.count == best }?.size ?? stated
  }

  /// How many of a sample of pages begin as a b-tree's page does, or say nothing at all.
  private static func share(_ file: MainFile, _ size: Int) throws -> Double {
    let pages = file.size / size
    guard pages > 0 else { return 0 }
    let step = max(1, pages / sample)
    var (looked, sound) = (0, 0)
    for number in stride(from: 1, through: pages, by: step) {
      let bytes = try file.read(at: (number - 1) * size, count: size)
      guard bytes.contains(where: { $0 != 0 }) else { continue }
      looked += 1
      if TreePage(bytes, number: number, usable: size)?.isSound(in: bytes) == true { sound += 1 }
    }
    return looked == 0 ? 0 : Double(sound) / Double(looked)
  }
}

extension MainFile {
  /// The share of sampled pages that begin as pages of tables and indexes do, at places where only
  /// pages of exactly that size begin.
  package func share(ofPagesOf pageSize: Int) throws -> Double {
    let pages = size / pageSize
    guard pages > 1 else { return 0 }
    // Odd places: a larger page would be in its middle there.
    let places = Array(stride(from: 1, to: pages, by: max(2, pages / 128 * 2)).prefix(128))
    var found = 0
    for page in places {
      if Self.isTreePage(try read(at: page * pageSize, count: 8), pageSize) { found += 1 }
    }
    return places.isEmpty ? 0 : Double(found) / Double(places.count)
  }

  /// Whether a page that begins so can be one of a table or an index: its kind, first free block,
  /// number of cells, start of their content, and bytes lost between them.
  private static func isTreePage(_ head: [UInt8], _ pageSize: Int) -> Bool {
    guard head.count == 8, TreePage.Kind(rawValue: head[0]) != nil else { return false }
    let stated = BigEndian.half(head, 5)
    let content = stated == 0 ? 65_536 : stated
    return BigEndian.half(head, 1) < pageSize && content <= pageSize
      && 8 + 2 * BigEndian.half(head, 3) <= content && head[7] <= 60
  }

  /// The page size that the file itself shows; `nil` where it shows none.
  ///
  /// A file of larger pages has beginnings at its own odd places alone, one of smaller pages also at
  /// theirs: the smallest size with enough of them is the one.
  package func shownPageSize() throws -> Int? {
    let shares = try PageSize.all.map { (size: $0, share: try share(ofPagesOf: $0)) }
    guard let best = shares.map(\.share).max(), best >= 0.2 else { return nil }
    return shares.first { $0.share >= best / 2 }?.size
  }

  /// Whether the file was opened as text and saved: each byte that was no text became the three bytes
  /// EF BF BD, and what it was is lost.
  ///
  /// The file is text then, from its first byte on. No database with a page in use is: where its cells are
  /// is written in bytes that no text has.
  package func isSavedAsText() throws -> Bool {
    guard try read(at: 0, count: 16) == Array("SQLite format 3\0".utf8) else { return false }
    var (text, offset) = (TextCheck(), 0)
    while offset < min(size, Self.mostText) {
      let bytes = try read(at: offset, count: 65_536)
      guard !bytes.isEmpty, text.goesOn(with: bytes) else { return false }
      offset += bytes.count
    }
    return text.replacements >= 8
  }

  /// What is text up to there is text.
  private static let mostText = 4 << 20
}

/// Follows UTF-8 from chunk to chunk, as far as distinguishing it from other bytes needs.
private struct TextCheck {
  /// How many characters stand for bytes that are no text.
  private(set) var replacements = 0
  /// Bytes of the character that are still to come.
  private var rest = 0
  private var character: UInt32 = 0

  /// - Returns: false from the first byte on that no text has there.
  mutating func goesOn(with bytes: [UInt8]) -> Bool {
    for byte in bytes {
      if rest > 0 {
        guard byte & 0xC0 == 0x80 else { return false }
        character = character << 6 | UInt32(byte & 0x3F)
        rest -= 1
        if rest == 0, character == 0xFFFD { replacements += 1 }
        continue
      }
      switch byte {
      case 0..<0x80: continue
      case 0xC2..<0xE0: (rest, character) = (1, UInt32(byte & 0x1F))
      case 0xE0..<0xF0: (rest, character) = (2, UInt32(byte & 0x0F))
      case 0xF0..<0xF5: (rest, character) = (3, UInt32(byte & 0x07))
      default: return false
      }
    }
    return true
  }
}
