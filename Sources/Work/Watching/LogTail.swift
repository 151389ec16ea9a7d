import Files
import Salvage

/// Reads a -wal on from where it was read to: the transactions that were committed since.
///
/// Nothing is locked. A frame counts where its salts are the header's and its checksum goes on from the frame
/// before; a transaction counts when its last frame says so.
struct LogTail {
  /// What one commit wrote.
  struct Transaction {
    /// The pages that it wrote, as they are after it; empty where ``isLarge``.
    var pages: [Int: [UInt8]] = [:]
    /// Its frames in the log, from 0.
    var frames = 0..<0
    /// Pages of the database after it.
    var pageCount = 0
    /// Whether it wrote more pages than are kept in memory.
    var isLarge = false
  }

  /// Bytes of pages that are kept in memory for one transaction.
  static let mostBytes = 16 << 20

  /// The header that the frames follow.
  let header: LogHeader
  let pageSize: Int
  /// How many frames were read.
  private(set) var position = 0
  private var checksum: LogChecksum

  private var frameSize: Int { LogHeader.frameHeaderSize + pageSize }

  /// Pages of the main file.
  private let mainPages: Int

  /// Begins with the first frame of a log; `nil` where it has no header that SQLite would use.
  ///
  /// - Parameter mainBytes: bytes of the main file: a page far beyond all that is there ends the log.
  init?(_ file: OpenFile, mainBytes: Int) throws {
    header = LogHeader(try file.read(at: 0, count: LogHeader.size))
    guard header.isWhole, let size = header.pageSize else { return nil }
    pageSize = size
    mainPages = mainBytes / size
    checksum = header.checksum
  }

  /// Whether the log was begun again, or is another's: what follows must be read from its beginning.
  func isRestarted(_ file: OpenFile) throws -> Bool {
    try file.read(at: 0, count: LogHeader.size) != header.bytes
  }

  /// Whether a frame of this log follows that was not read.
  func hasMore(_ file: OpenFile) throws -> Bool {
    let head = try file.read(
      at: LogHeader.size + position * frameSize, count: LogHeader.frameHeaderSize)
    return head.count == LogHeader.frameHeaderSize && LogHeader.salts(head, at: 8) == header.salts
  }

  /// Whether a database can have that many pages of which so many are there: a number that nobody wrote is greater.
  static func isLikely(_ pages: Int, of known: Int) -> Bool { pages <= known * 64 + 100_000 }

  /// Whether the last frame that was read is still there: of a log that was begun again, nothing behind it was
  /// overwritten either.
  func isIntact(_ file: OpenFile) throws -> Bool {
    guard position > 0 else { return false }
    let head = try file.read(
      at: LogHeader.size + (position - 1) * frameSize, count: LogHeader.frameHeaderSize)
    return head.count == LogHeader.frameHeaderSize && LogHeader.salts(head, at: 8) == header.salts
  }

  /// Whether this log is the one that was begun next after another in the same file.
  func follows(_ other: LogTail) -> Bool {
    // The first salt counts them.
    BigEndian.word(header.saltBytes, 0) == BigEndian.word(other.header.saltBytes, 0) &+ 1
      && pageSize == other.pageSize
  }

  /// The next transaction; `nil` where none was committed.
  mutating func next(_ file: OpenFile) throws -> Transaction? {
    var transaction = Transaction()
    var (place, sum) = (position, checksum)
    let most = max(64, Self.mostBytes / pageSize)
    while true {
      let bytes = try file.read(at: LogHeader.size + place * frameSize, count: frameSize)
      guard bytes.count == frameSize, LogHeader.salts(bytes, at: 8) == header.salts else {
        return nil
      }
      sum.add(bytes, 0..<8, bigEndian: header.isBigEndian)
      sum.add(bytes, LogHeader.frameHeaderSize..<frameSize, bigEndian: header.isBigEndian)
      let page = Int(BigEndian.word(bytes, 0))
      let size = Int(BigEndian.word(bytes, 4))
      place += 1
      guard sum == LogChecksum(bytes, 16), page > 0,
        Self.isLikely(max(page, size), of: mainPages + place)
      else { return nil }
      if transaction.pages[page] == nil, transaction.pages.count >= most {
        transaction.isLarge = true
        transaction.pages = [:]
      }
      if !transaction.isLarge {
        transaction.pages[page] = Array(bytes[LogHeader.frameHeaderSize...])
      }
      guard size > 0 else { continue }
      transaction.frames = position..<place
      transaction.pageCount = size
      (position, checksum) = (place, sum)
      return transaction
    }
  }

  /// How many transactions follow.
  func count(_ file: OpenFile) throws -> Int {
    var (rest, count) = (self, 0)
    while try rest.next(file) != nil { count += 1 }
    return count
  }

  /// Reads the pages of a transaction again, one by one in the order of their frames.
  func pages(
    of transaction: Transaction, in file: OpenFile, _ body: (Int, [UInt8]) throws -> Void
  ) throws {
    for frame in transaction.frames {
      let bytes = try file.read(at: LogHeader.size + frame * frameSize, count: frameSize)
      guard bytes.count == frameSize else { return }
      try body(Int(BigEndian.word(bytes, 0)), Array(bytes[LogHeader.frameHeaderSize...]))
    }
  }
}
