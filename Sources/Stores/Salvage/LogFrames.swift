import Files

/// The frames of a -wal, whatever its header says.
///
/// SQLite applies what follows a header whose checksum fits, and ends at the first frame that does not.
/// Here frames are believed by what they say of each other: the checksum of each goes on from the one
/// before it, so that a run of frames vouches for itself when the header is gone or another's. Frames of
/// one generation have equal salts; the newest generation stands at the beginning of the file.
public final class LogFrames {
  /// Every frame in the file, in order.
  public private(set) var frames: [LogFrame] = []
  /// Pages of the database after the last commit; 0 without one.
  public private(set) var pages = 0
  /// Whether the header is one that SQLite would use, for these frames.
  public private(set) var followsHeader = false
  /// Bytes of a page.
  public let pageSize: Int
  /// Whether frames stand behind the last whole one that are cut off.
  public private(set) var isCut = false

  /// The newest frame of each page of the last committed state, by page.
  package private(set) var newest: [Int: Int] = [:]
  private var mended: [Int: BitError] = [:]
  /// The frames of each page, in order.
  private lazy var places = Dictionary(grouping: frames.indices.map { Int32($0) }) {
    frames[Int($0)].page
  }
  private let file: LogFile
  private let main: (Int, Int) throws -> [UInt8]?

  private var frameSize: Int { LogHeader.frameHeaderSize + pageSize }

  /// Reads all frames of a log.
  ///
  /// - Parameters:
  ///   - pageSize: the database's, for a log whose header does not say it.
  ///   - isRealigned: whether bytes that were moved are read where they should stand.
  ///   - main: a page of the main file by its number and size, as much as is there of it.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package init(
    path: String, pageSize known: Int?, isRealigned: Bool = false,
    main: @escaping (_ page: Int, _ size: Int) throws -> [UInt8]?
  ) throws {
    file = try LogFile(path, pageSize: known, isRealigned: isRealigned)
    self.main = main
    let header = LogHeader(try file.read(at: 0, count: LogHeader.size))
    let stated = header.isMagic ? header.pageSize : nil
    pageSize = try stated ?? known ?? Self.likelySize(file)
    try scan(header)
  }

  /// How the log's bytes were moved; `nil` where they are read as they stand.
  package var shift: ByteShift? { file.shift }

  /// How many frames are read as the database's last committed state.
  public var applied: Int { frames.count { $0.state == .committed || $0.state == .mended } }

  /// The last frame of a page among the first ones, up to `frame`; `nil` for none.
  func frame(of page: Int, upTo frame: Int) -> Int? {
    guard let own = places[page] else { return nil }
    let behind = own.partitioningIndex { $0 > frame }
    return behind > 0 ? Int(own[behind - 1]) : nil
  }

  /// The page of a frame; `nil` where it is not whole.
  package func page(of frame: Int) throws -> [UInt8]? {
    guard frames.indices.contains(frame) else { return nil }
    let start = LogHeader.size + frame * frameSize + LogHeader.frameHeaderSize
    var bytes = try file.read(at: start, count: pageSize)
    guard bytes.count == pageSize else { return nil }
    if let error = mended[frame] {
      let offset = error.offset - LogHeader.frameHeaderSize
      if bytes.indices.contains(offset) { bytes[offset] ^= error.bit }
    }
    return bytes
  }

  /// The size of page with which the most frames in a row have the same salts.
  private static func likelySize(_ file: LogFile) throws -> Int {
    var best = (size: 4096, frames: 1)
    for size in (9...16).map({ 1 << $0 }) {
      let step = LogHeader.frameHeaderSize + size
      let salts = try file.read(at: LogHeader.size + 8, count: 8)
      var count = 1
      while count < 8, try file.read(at: LogHeader.size + count * step + 8, count: 8) == salts {
        count += 1
      }
      if salts.contains(where: { $0 != 0 }), count > best.frames { best = (size, count) }
    }
    return best.size
  }

  private func scan(_ header: LogHeader) throws {
    let total = max(0, file.size - LogHeader.size) / frameSize
    isCut = file.size > LogHeader.size + total * frameSize
    guard total > 0 else { return }
    let head = try file.read(at: LogHeader.size, count: LogHeader.frameHeaderSize)
    let salts = LogHeader.salts(head, at: 8)
    followsHeader = header.isWhole && header.salts == salts
    // Without a header the words' order is what makes the second frame follow the first.
    let isBigEndian = try header.isMagic ? header.isBigEndian : isBigEndian(total)
    var sum: LogChecksum? = followsHeader ? header.checksum : nil
    var pending: [Int: Int] = [:]
    var first = 0
    for index in 0..<total {
      let bytes = try file.read(at: LogHeader.size + index * frameSize, count: frameSize)
      guard bytes.count == frameSize else { break }
      let page = Int(BigEndian.word(bytes, 0))
      guard LogHeader.salts(bytes, at: 8) == salts, page > 0 else {
        // What follows is of before, or zeros.
        frames.append(LogFrame(page: page, state: page > 0 ? .older : .wrong))
        continue
      }
      var frame = LogFrame(page: page, state: .uncommitted)
      var commit = BigEndian.word(bytes, 4)
      let stated = LogChecksum(bytes, 16)
      if let start = sum, let off = Self.checksum(bytes, from: start, isBigEndian).off(stated) {
        try mend(&frame, index, bytes, off, isBigEndian, before: pending)
        if frame.state == .mended { commit = BigEndian.word(mendedHeader(index, bytes), 4) }
      }
      sum = stated
      frames.append(frame)
      if try frame.state != .wrong || isLike(bytes, frame.page, pending) {
        pending[frame.page] = index
      }
      guard commit != 0 else { continue }
      pages = Int(commit)
      newest.merge(pending) { $1 }
      pending.removeAll(keepingCapacity: true)
      for done in first...index where frames[done].state == .uncommitted {
        frames[done].state = .committed
      }
      first = index + 1
    }
  }

  /// Puts one wrong bit right, where the checksum shows which it is.
  private func mend(
    _ frame: inout LogFrame, _ index: Int, _ bytes: [UInt8], _ off: LogChecksum,
    _ isBigEndian: Bool, before pending: [Int: Int]
  ) throws {
    frame.state = .wrong
    var errors = BitError.all(bytes, off: off, bigEndian: isBigEndian)
    if errors.count > 1, try !isLike(bytes, frame.page, pending) {
      // It is another page's: of the numbers that one bit makes, that of the page it is like.
      errors = try errors.filter { error in
        guard error.offset < 4 else { return false }
        var number = Array(bytes.prefix(4))
        number[error.offset] ^= error.bit
        return try isLike(bytes, Int(BigEndian.word(number, 0)), pending)
      }
    }
    guard errors.count == 1, let error = errors.first else { return }
    frame.state = .mended
    mended[index] = error
    frame.page = Int(BigEndian.word(mendedHeader(index, bytes), 0))
  }

  private func mendedHeader(_ index: Int, _ bytes: [UInt8]) -> [UInt8] {
    var head = Array(bytes.prefix(8))
    if let error = mended[index], error.offset < 8 { head[error.offset] ^= error.bit }
    return head
  }

  /// Whether a frame's page could be a later state of a page: half of what was there stands in it.
  private func isLike(_ frame: [UInt8], _ page: Int, _ pending: [Int: Int]) throws -> Bool {
    let before =
      if let index = pending[page] ?? newest[page] {
        try self.page(of: index)
      } else {
        try main(page, pageSize)
      }
    // Where nothing was, anything may come to be.
    guard let before, before.count == pageSize, before.contains(where: { $0 != 0 }) else {
      return page <= max(pages, 1)
    }
    var (same, set) = (0, 0)
    for index in before.indices where before[index] != 0 {
      set += 1
      if frame[LogHeader.frameHeaderSize + index] == before[index] { same += 1 }
    }
    return same * 2 >= set
  }

  private func isBigEndian(_ total: Int) throws -> Bool {
    guard total > 1 else { return false }
    let first = try file.read(at: LogHeader.size, count: frameSize)
    let second = try file.read(at: LogHeader.size + frameSize, count: frameSize)
    return Self.checksum(second, from: LogChecksum(first, 16), true) == LogChecksum(second, 16)
  }

  static func checksum(
    _ frame: [UInt8], from start: LogChecksum, _ isBigEndian: Bool
  ) -> LogChecksum {
    var sum = start
    sum.add(frame, 0..<8, bigEndian: isBigEndian)
    sum.add(frame, LogHeader.frameHeaderSize..<frame.count, bigEndian: isBigEndian)
    return sum
  }
}

/// The bytes of a -wal where they should stand.
private struct LogFile {
  /// How many there are.
  let size: Int
  private let file: OpenFile
  private let moved: ByteShift.Reading?

  var shift: ByteShift? { moved?.shift }

  init(_ path: String, pageSize: Int?, isRealigned: Bool) throws {
    file = try OpenFile(path)
    moved = isRealigned ? try ByteShift.reading(ofLog: file, pageSize: pageSize) : nil
    size = moved?.size ?? file.size
  }

  func read(at offset: Int, count: Int) throws -> [UInt8] {
    try moved?.read(file, at: offset, count: count) ?? file.read(at: offset, count: count)
  }
}

/// A frame of a -wal: a page as a transaction left it.
public struct LogFrame: Sendable, Equatable {
  /// What is known of a frame.
  public enum State: UInt8, Sendable {
    /// Its checksum fits, and a commit follows.
    case committed
    /// Its checksum did not fit; with one bit turned it does, and so it is read.
    case mended
    /// Its checksum does not fit: something in it is wrong.
    case wrong
    /// It is of a transaction that was not committed.
    case uncommitted
    /// It is of a generation before the newest.
    case older
  }

  /// The page, from 1.
  public var page: Int
  /// What is known of it.
  public var state: State
}

/// The one bit of a frame that is wrong, found by its checksum.
///
/// Both words of the checksum are sums: a bit that was turned at some place changes them by an amount
/// that only this place and this bit give. Of the 33,000 bits that a frame of 4 KB has, the one that
/// makes both words right is it; a fault of several bits fits none. Of the highest bits in a word several
/// have the same effect.
struct BitError: Equatable {
  /// Where in the frame, its header counted.
  let offset: Int
  /// The bit in that byte.
  let bit: UInt8

  /// Every bit that would explain what a checksum is off by.
  static func all(_ frame: [UInt8], off difference: LogChecksum, bigEndian: Bool) -> [BitError] {
    let size = LogHeader.frameHeaderSize
    // Words enter in pairs, a += w0 + b and b += w1 + a: what one more in either of a pair makes of
    // the sums at its end, and from there on at the frame's.
    var effects: [(first: UInt32, second: UInt32)] = [(1, 1), (0, 1)]
    let pairs = [0] + Array(stride(from: size, to: frame.count - 7, by: 8))
    var found: [BitError] = []
    for pair in pairs.reversed() {
      for (word, effect) in effects.enumerated() {
        for shift in 0..<32 {
          let byte = pair + word * 4 + (bigEndian ? 3 - shift / 8 : shift / 8)
          let bit = UInt8(1) << UInt8(shift % 8)
          // Turned, the bit that is set takes away what it gave.
          let change = frame[byte] & bit != 0 ? 0 &- (UInt32(1) << shift) : UInt32(1) << shift
          if effect.first &* change == difference.first,
            effect.second &* change == difference.second
          {
            found.append(BitError(offset: byte, bit: bit))
          }
        }
      }
      effects = effects.map {
        ($0.first &+ $0.second, $0.first &+ $0.second &+ $0.second)
      }
    }
    return found
  }
}

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
