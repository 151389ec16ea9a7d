import Files
import ManagedModel
import Salvage

/// What the header of a store's file, its size and a few samples of it say, without SQLite: as they are once
/// a save that was not finished is rolled back.
struct FileFacts {
  /// Bytes of the main file, once it is rolled back.
  let size: Int
  /// The first hundred bytes, or fewer.
  let head: [UInt8]
  /// How evenly the sampled bytes are spread: 8 bits a byte for what is encrypted or packed.
  let entropy: Double
  /// The kind of page that the first one is.
  private let firstKind: UInt8?
  private let file: MainFile
  private let path: String

  static let pageSizes = (9...16).map { 1 << $0 }

  init(_ path: String) throws {
    self.path = path
    // A -journal that cannot be read is a finding of its own.
    file = try (try? MainFile(path, journal: path + "-journal")) ?? MainFile(path, journal: nil)
    size = file.size
    head = try file.read(at: 0, count: 100)
    firstKind = try file.read(at: 100, count: 1).first
    var counts = [Int](repeating: 0, count: 256)
    for offset in [0, size / 2, size - 8192] {
      for byte in try file.read(at: max(0, offset), count: 8192) { counts[Int(byte)] += 1 }
    }
    entropy = Self.entropy(counts)
  }

  private static func entropy(_ counts: [Int]) -> Double {
    let total = Double(counts.reduce(0, +))
    guard total > 0 else { return 0 }
    return counts.reduce(0) { sum, count in
      guard count > 0 else { return sum }
      let part = Double(count) / total
      return sum - part * Self.binaryLogarithm(part)
    }
  }

  /// Of a number between 0 and 1, as exactly as telling noise from text needs.
  private static func binaryLogarithm(_ value: Double) -> Double {
    let exponent = value.exponent
    var (mantissa, result, bit) = (value.significand, Double(exponent), 0.5)
    for _ in 0..<20 {
      mantissa *= mantissa
      if mantissa >= 2 {
        mantissa /= 2
        result += bit
      }
      bit /= 2
    }
    return result
  }

  /// How its bytes were moved on the way; `nil` where nothing tells of it.
  func shift() throws -> ByteShift? { try MainFile(path, journal: nil, isRealigned: true).shift }

  /// Whether what is no text became the character that stands for it.
  ///
  /// The file is text then, from its first byte on. No database with a page in use is: where its cells are
  /// is written in bytes that no text has.
  func isSavedAsText() throws -> Bool {
    guard hasMagic else { return false }
    var (text, offset) = (TextCheck(), 0)
    while offset < min(size, Self.mostText) {
      let bytes = try file.read(at: offset, count: 65_536)
      guard !bytes.isEmpty, text.goesOn(with: bytes) else { return false }
      offset += bytes.count
    }
    return text.replacements >= 8
  }

  /// What is text up to there is text.
  private static let mostText = 4 << 20

  /// Whether a -journal is rolled back.
  var isRolledBack: Bool { file.journal?.state == .hot }

  /// What the header says, as far as it can be believed.
  private var header: FileHeader { FileHeader(head) }

  /// Whether it begins as every SQLite file does.
  var hasMagic: Bool { header.isMagic }

  /// The page size as the header states it; `nil` for no possible one.
  var statedPageSize: Int? { header.pageSize }

  /// Pages as the header counts them; `nil` where it says itself that the count is not kept up.
  var statedPages: Int? {
    let header = header
    return header.pages > 0 && header.changeCounter == header.versionValidFor ? header.pages : nil
  }

  /// Whether the three bytes that never vary are as they are in every SQLite file.
  var hasFractions: Bool { head.count >= 24 && Array(head[21..<24]) == [64, 32, 32] }

  /// Whether the header asks for a -wal.
  var isLogged: Bool { head.count >= 20 && head[18] == 2 }

  /// Whether a tree of tables stands behind the header.
  var hasFirstTree: Bool { firstKind.map { $0 == 5 || $0 == 13 } ?? false }

  /// Whether anything but random bytes is there; a small file says too little.
  var isNoise: Bool { size >= 4096 && entropy > 7.9 }

  /// The share of sampled pages that begin as pages of tables and indexes do, at places where only
  /// pages of exactly that size begin.
  func share(ofPagesOf pageSize: Int) throws -> Double {
    let pages = size / pageSize
    guard pages > 1 else { return 0 }
    // Odd places: a larger page would be in its middle there.
    let places = Array(stride(from: 1, to: pages, by: max(2, pages / 128 * 2)).prefix(128))
    var found = 0
    for page in places {
      if Self.isTreePage(try file.read(at: page * pageSize, count: 8), pageSize) { found += 1 }
    }
    return places.isEmpty ? 0 : Double(found) / Double(places.count)
  }

  /// Whether a page that begins so can be one of a table or an index: its kind, first free block,
  /// number of cells, start of their content, and bytes lost between them.
  private static func isTreePage(_ head: [UInt8], _ pageSize: Int) -> Bool {
    guard head.count == 8, [2, 5, 10, 13].contains(head[0]) else { return false }
    func number(_ offset: Int) -> Int { Int(head[offset]) << 8 | Int(head[offset + 1]) }
    let content = number(5) == 0 ? 65536 : number(5)
    return number(1) < pageSize && content <= pageSize && 8 + 2 * number(3) <= content
      && head[7] <= 60
  }

  /// The page size that the file itself shows; `nil` where it shows none.
  ///
  /// A file of larger pages has beginnings at its own odd places alone, one of smaller pages also at
  /// theirs: the smallest size with enough of them is the one.
  func shownPageSize() throws -> Int? {
    let shares = try Self.pageSizes.map { (size: $0, share: try share(ofPagesOf: $0)) }
    guard let best = shares.map(\.share).max(), best >= 0.2 else { return nil }
    return shares.first { $0.share >= best / 2 }?.size
  }
}

/// Follows UTF-8 from chunk to chunk, as far as telling it from other bytes needs.
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
