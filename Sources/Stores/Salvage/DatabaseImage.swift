import Files

/// The pages of a database that need not be whole: of its main file, once a save that was not finished is
/// rolled back, with those of its -wal over them.
///
/// Nothing of it is opened by SQLite. Pages are read when they are asked for, a few of them at once, and not
/// kept, so that a database of any size takes little memory.
public final class DatabaseImage {
  /// Where a page stands.
  public enum Origin: Sendable, Equatable {
    case main
    /// In a frame of the -wal, counted from 0.
    case frame(Int)
  }

  /// A page's bytes.
  public struct Page: Sendable {
    /// The page, from 1.
    public let number: Int
    /// All its bytes; zeros where they are not there.
    public let bytes: [UInt8]
    /// How many of the bytes are there: fewer for the last page of a file that was cut off.
    public let present: Int
    /// Where it stands.
    public let origin: Origin

    /// Where in a range of a page the bytes of a sector begin that are zeros up to the sector's end, and up to
    /// the end of the range; `nil` where there are none.
    static func zeros(in range: Range<Int>, of bytes: [UInt8]) -> Int? {
      guard range.upperBound <= bytes.count, let last = bytes[range].last, last == 0 else {
        return nil
      }
      let filled = bytes[range].lastIndex { $0 != 0 } ?? range.lowerBound
      let place = (filled / Self.sector + 1) * Self.sector
      let end = min(bytes.count, (range.upperBound + Self.sector - 1) / Self.sector * Self.sector)
      guard place < range.upperBound, bytes[place..<end].allSatisfy({ $0 == 0 }) else { return nil }
      return place
    }

    /// Bytes that a disk writes at once, at least.
    private static let sector = 512
  }

  /// The first hundred bytes, as they are.
  public let header: FileHeader
  /// Bytes of a page.
  public let pageSize: Int
  /// Bytes of each page that are used.
  public let usable: Int
  /// How many pages there are to look at: those of the file, and those of the log beyond its end.
  public let pageCount: Int
  /// Pages that the main file holds, one that is cut off among them.
  public let mainPages: Int
  /// The frames of the -wal; `nil` if there is none.
  public let log: LogFrames?
  /// Bytes of the main file, once it is rolled back.
  public let size: Int
  private let main: MainFile
  private var ahead = ReadAhead()
  /// The first byte of pages of the main file, as far as they were asked for.
  private var kinds = FirstBytes()

  /// Opens a database for looking at its pages.
  ///
  /// - Parameters:
  ///   - path: the main file; one of no bytes will do where there is a log.
  ///   - log: the -wal to lay over it; `nil` for none.
  ///   - journal: where its rollback journal would be: SQLite rolls back one that is hot before it looks at
  ///     the -wal. `nil` to read the main file as it is.
  ///   - isRealigned: whether bytes of the main file that were moved are read where they should stand.
  /// - Throws: `CoreDataError` where a file cannot be read.
  public convenience init(
    path: String, log logPath: String?, journal: String? = nil, isRealigned: Bool = false
  ) throws {
    try self.init(
      path: path, log: logPath, journal: journal, believesHeader: false, isRealigned: isRealigned)
  }

  /// Opens a database that SQLite has read by the size of pages in its header: none is looked for.
  package convenience init(readBySQLiteAt path: String) throws {
    try self.init(
      path: path, log: nil, journal: nil, believesHeader: true, isRealigned: false)
  }

  private init(
    path: String, log logPath: String?, journal: String?, believesHeader: Bool, isRealigned: Bool
  ) throws {
    let main = try MainFile(path, journal: journal, isRealigned: isRealigned)
    self.main = main
    size = main.size
    let own = FileHeader(try main.read(at: 0, count: FileHeader.size))
    let believed = own.isMagic ? own.pageSize : nil
    let ownSize =
      believesHeader && believed != nil ? believed : try PageSize.likely(main, stated: believed)
    let log = try logPath.flatMap { path -> LogFrames? in
      guard try FileSystem.present(path) != nil else { return nil }
      return try LogFrames(path: path, pageSize: ownSize, isRealigned: isRealigned) { page, size in
        page > 0 ? try main.read(at: (page - 1) * size, count: size) : nil
      }
    }
    self.log = log
    let pageSize = ownSize ?? log?.pageSize ?? 4096
    self.pageSize = pageSize
    mainPages = (main.size + pageSize - 1) / pageSize
    // A page far beyond all that is there is a number that nobody wrote.
    let most = (mainPages + (log?.frames.count ?? 0)) * 64 + 100_000
    let logged = log.flatMap { log in
      log.pageSize == pageSize ? log.newest.keys.filter { $0 <= most }.max() : nil
    }
    pageCount = max(mainPages, logged ?? 0)
    var header = own
    if let frame = log?.newest[1], let first = try log?.page(of: frame) {
      header = FileHeader(first)
    }
    self.header = header
    // Apple's stores use all of a page; so do those whose header cannot be believed.
    let reserved = header.isMagic && header.reserved < 64 ? header.reserved : 0
    usable = max(480, pageSize - reserved)
  }

  /// How the main file's bytes were moved; `nil` where they are read as they stand.
  package var shift: ByteShift? { main.shift }

  /// Pages of the main file that lost bytes and are read without some of their cells.
  package var shortenedPages: Set<Int> { main.shortenedPages }

  /// The rollback journal beside the main file, rolled back or not; `nil` if there is none.
  public var journal: RollbackJournal? { main.journal }

  /// A page as the last committed state has it; `nil` where it is nowhere.
  public func page(_ number: Int) throws -> Page? {
    guard number > 0, number <= pageCount else { return nil }
    if let frame = frame(of: number), let bytes = try log?.page(of: frame) {
      return Page(number: number, bytes: bytes, present: bytes.count, origin: .frame(frame))
    }
    var bytes = try mainPage(number)
    let present = bytes.count
    guard present > 0 else { return nil }
    if present < pageSize { bytes += [UInt8](repeating: 0, count: pageSize - present) }
    return Page(number: number, bytes: bytes, present: present, origin: .main)
  }

  /// Reads a page as the last committed state has it into memory of a page's size.
  ///
  /// - Returns: false where not all of it is there.
  func read(_ number: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Bool {
    guard number > 0, number <= pageCount, memory.count == pageSize else { return false }
    if let frame = frame(of: number), let bytes = try log?.page(of: frame) {
      guard bytes.count == pageSize else { return false }
      memory.copyBytes(from: bytes)
      return true
    }
    return try ahead.read(number, of: main, into: memory)
  }

  /// The byte that shows what kind of b-tree page it is; `nil` where the page is nowhere.
  package func kind(of number: Int) throws -> UInt8? {
    guard number > 0, number <= pageCount else { return nil }
    let offset = number == 1 ? FileHeader.size : 0
    if frame(of: number) != nil { return try page(number)?.bytes[offset] }
    guard number > 1 else { return try main.read(at: offset, count: 1).first }
    return try kinds.byte(of: number, in: main, pageSize: pageSize)
  }

  /// Whether the main file begins as a database.
  package func isMainMagic() throws -> Bool {
    FileHeader(try main.read(at: 0, count: FileHeader.size)).isMagic
  }

  /// Whether the main file was opened as text and saved.
  package func isMainSavedAsText() throws -> Bool { try main.isSavedAsText() }

  /// A page of the main file, as much as is there of it.
  package func mainPage(_ number: Int) throws -> [UInt8] {
    try ahead.page(number, of: main, pageSize: pageSize)
  }

  private func frame(of page: Int) -> Int? {
    guard let log, log.pageSize == pageSize else { return nil }
    return log.newest[page]
  }
}

extension DatabaseImage {
  /// How many pages of the list of free ones are still what they were, leaves of tables with rows in them.
  package func freePagesOfRows() throws -> Int {
    try Freelist(self).pages.sorted().count { number in
      guard try kind(of: number) == TreePage.Kind.tableLeaf.rawValue, let page = try page(number),
        let tree = TreePage(page.bytes, number: number, usable: usable), tree.isPlausible
      else { return false }
      let cells = tree.cells(in: page.bytes)
      return cells.count == tree.count
        && cells.contains {
          TreeCell(page.bytes, at: $0, present: page.present, usable: usable) != nil
        }
    }
  }
}

extension DatabaseImage {
  /// Whether a page lost its first sector: it is all zeros, and something stands behind it.
  package func hasLostSector() throws -> Bool {
    let sector = 512
    guard pageSize > sector else { return false }
    for number in 2..<max(2, pageCount + 1) where try kind(of: number) == 0 {
      guard let bytes = try page(number)?.bytes else { continue }
      if bytes[..<sector].allSatisfy({ $0 == 0 }), bytes[sector...].contains(where: { $0 != 0 }) {
        return true
      }
    }
    return false
  }

  /// Whether any of a sample of pages is one of a b-tree.
  package var looksLikeDatabase: Bool {
    if header.isMagic { return true }
    let step = max(1, pageCount / 500)
    for number in stride(from: 1, through: pageCount, by: step) {
      if let page = try? page(number),
        let tree = TreePage(page.bytes, number: number, usable: usable), tree.count > 0,
        tree.isSound(in: page.bytes)
      {
        return true
      }
    }
    return false
  }

  /// Whether the main file is encrypted or compressed: nothing in it says what it is, and its bytes are
  /// as even as chance.
  package func isMainEncrypted() throws -> Bool {
    guard try !isMainMagic(), mainPages > 0 else { return false }
    var counts = [Int](repeating: 0, count: 256)
    let step = max(1, mainPages / 64)
    for number in stride(from: 1, through: mainPages, by: step) {
      for byte in try mainPage(number) { counts[Int(byte)] += 1 }
    }
    let total = Double(max(1, counts.reduce(0, +)))
    // A few pages are never quite even.
    let bits = counts.filter { $0 > 0 }.reduce(0) { sum, count in
      let share = Double(count) / total
      return sum - share * log2(share)
    }
    return total >= 4096 && bits > 7.8
  }
}
