/// The 32 bytes that a -wal begins with.
///
/// Format: https://www.sqlite.org/fileformat.html, "The Write-Ahead Log".
public struct LogHeader: Sendable, Equatable {
  /// How many bytes the header has.
  public static let size = 32
  /// How many bytes stand before the page in each frame.
  public static let frameHeaderSize = 24

  /// The bytes, as many as there are.
  package let bytes: [UInt8]
  /// Whether the first four bytes are those of a log.
  public let isMagic: Bool
  /// Whether it is a log's header as SQLite wrote it: its checksum fits.
  public let isWhole: Bool
  /// Bytes of a page; `nil` where it says no such size.
  public let pageSize: Int?
  /// Whether checksums are made of big-endian words.
  public let isBigEndian: Bool

  /// Reads a header; fewer bytes are as if zeros followed, and no whole header.
  public init(_ head: [UInt8]) {
    bytes = Array(head.prefix(Self.size))
    let magic = BigEndian.word(bytes, 0)
    isMagic = magic == 0x377F_0682 || magic == 0x377F_0683
    isBigEndian = magic & 1 == 1
    let stated = Int(BigEndian.word(bytes, 8))
    let isSize = FileHeader.isPageSize(stated)
    pageSize = isSize ? stated : nil
    var sum = LogChecksum()
    sum.add(bytes, 0..<24, bigEndian: isBigEndian)
    isWhole =
      bytes.count == Self.size && isMagic && isSize && BigEndian.word(bytes, 4) == 3_007_000
      && sum == LogChecksum(bytes, 24)
  }

  /// The eight bytes that each frame of this log repeats.
  package var salts: UInt64 { Self.salts(bytes, at: 16) }

  /// The same as they stand in the file.
  package var saltBytes: [UInt8] { bytes.count < 24 ? [] : Array(bytes[16..<24]) }

  /// The salts that stand at an offset, of the header or of a frame.
  package static func salts(_ bytes: [UInt8], at offset: Int) -> UInt64 {
    UInt64(BigEndian.word(bytes, offset)) << 32 | UInt64(BigEndian.word(bytes, offset + 4))
  }

  /// What the checksums of the frames go on from.
  package var checksum: LogChecksum { LogChecksum(bytes, 24) }
}

/// The running checksum of a -wal: two words, each of all that came before.
package struct LogChecksum: Sendable, Equatable {
  /// The first word.
  package var first: UInt32 = 0
  /// The second word.
  package var second: UInt32 = 0

  /// That of nothing.
  package init() {}

  /// The two words that stand at an offset.
  package init(_ bytes: [UInt8], _ offset: Int) {
    first = BigEndian.word(bytes, offset)
    second = BigEndian.word(bytes, offset + 4)
  }

  /// What is missing to another; `nil` where they are equal.
  func off(_ other: LogChecksum) -> LogChecksum? {
    guard self != other else { return nil }
    var difference = LogChecksum()
    difference.first = other.first &- first
    difference.second = other.second &- second
    return difference
  }

  /// Goes on over bytes of a multiple of eight; what of them is not there is left out.
  package mutating func add(_ bytes: [UInt8], _ range: Range<Int>, bigEndian: Bool) {
    let range = range.clamped(to: 0..<bytes.count)
    var (first, second) = (first, second)
    bytes.withUnsafeBytes { buffer in
      for offset in stride(from: range.lowerBound, to: range.upperBound - 7, by: 8) {
        let a = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let b = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first = first &+ (bigEndian ? a.bigEndian : a.littleEndian) &+ second
        second = second &+ (bigEndian ? b.bigEndian : b.littleEndian) &+ first
      }
    }
    (self.first, self.second) = (first, second)
  }
}
