import Files

/// A rollback journal: the pages of a database as they were before a transaction that was not finished.
///
/// It is read as SQLite rolls it back: the number of records, their order, where a journal ends that was cut
/// off or does not fit its checksums, and when it counts for nothing.
public final class RollbackJournal: Sendable {
  /// Whether SQLite rolls the transaction back.
  public enum State: Sendable, Equatable {
    /// It does.
    case hot
    /// The transaction was finished: the journal is empty, or begins with a zero.
    case finished
    /// The main file is empty: SQLite takes the journal for another database's, and deletes it.
    case withoutMain
    /// The header is none, or is not all there: SQLite deletes the journal.
    case damagedHeader
    /// The transaction was one of several databases, whose common journal is gone: SQLite takes it for
    /// finished.
    case superseded(by: String)
  }

  /// Where the records end.
  public enum End: Sendable, Equatable {
    /// Behind the last one that a header counts.
    case whole
    /// Within a record, or before one that a header counts.
    case cutOff
    /// Before a page whose checksum is wrong.
    case checksum
    /// Before a page that no database has.
    case noPage
  }

  /// Whether SQLite rolls it back.
  public let state: State
  /// Bytes of a page.
  public let pageSize: Int
  /// Pages that the database had before the transaction; by its first page, or at least as many as the main file has,
  /// where the header's number cannot be.
  public let initialPages: Int
  /// The header's number of those pages, if it cannot be: SQLite would cut the store off, or fill it with zeros.
  public let wrongPages: Int?
  /// Records that a header counts and that are left out, as far as pages can be so many.
  public let missing: Int
  /// Why they are.
  public let end: End
  /// Whether the main file's change counter is neither that of the journal's first page nor the next one:
  /// the main file was written to after the journal's transaction, or is another copy.
  public let isOfAnotherTime: Bool
  /// Where each page that is restored stands in the journal.
  package let places: [Int: Int]
  private let file: OpenFile

  /// Whether the main file may hold half of a save all the same: SQLite does not roll the journal back, or not
  /// whole, or its header is damaged.
  package var leavesHalf: Bool {
    state == .damagedHeader || state == .hot && (end != .whole || wrongPages != nil)
  }

  /// How many pages are restored.
  public var pages: Int { places.count }

  /// Bytes of the header that SQLite asks for before it knows the journal's sectors.
  private static let firstSector = 512
  /// SQLite's locks stand in the page at this place, which is never written.
  private static let lockedByte = 0x4000_0000

  /// Reads a journal.
  ///
  /// - Parameter main: the main file as it is.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package convenience init(path: String, main: OpenFile) throws {
    try self.init(OpenFile(path), main: main)
  }

  /// Reads a journal that is open.
  ///
  /// - Throws: `CoreDataError` where the file cannot be read.
  package init(_ file: OpenFile, main: OpenFile) throws {
    self.file = file
    let first = try file.read(at: 0, count: JournalHeader.size)
    let header = JournalHeader(first)
    let state = try Self.state(file, first, header, hasMain: main.size > 0)
    self.state = state
    let isSize = FileHeader.isPageSize(header.pageSize)
    let own = isSize ? nil : FileHeader(try main.read(at: 0, count: FileHeader.size)).pageSize
    let pageSize = isSize ? header.pageSize : own ?? 4096
    self.pageSize = pageSize
    let stated = header.initialPages
    guard state == .hot else {
      (initialPages, wrongPages, missing, end, places) = (stated, nil, 0, .whole, [:])
      isOfAnotherTime = false
      return
    }
    var records = try Self.records(of: file, header, pageSize: pageSize, of: stated)
    let most = (main.size + records.places.count * pageSize) * 64 / pageSize + Self.mostZeros
    // A first page that was not saved is as it was, if all that was saved is there.
    let ownPage = records.places[1].map { (file, $0) } ?? (records.end == .whole ? (main, 0) : nil)
    let former = try ownPage.flatMap { try Self.formerPages($0) }.flatMap { $0 > most ? nil : $0 }
    if stated < former ?? 0 || stated > most {
      let saved = records.places.keys.filter { $0 <= most }.max() ?? 0
      (initialPages, wrongPages) = (former ?? max(main.size / pageSize, saved), stated)
      records = try Self.records(of: file, header, pageSize: pageSize, of: initialPages)
    } else {
      (initialPages, wrongPages) = (stated, nil)
    }
    (missing, end, places) = records
    isOfAnotherTime =
      try places[1].map { place in
        let before = FileHeader(try file.read(at: place, count: FileHeader.size))
        let now = FileHeader(try main.read(at: 0, count: FileHeader.size))
        return before.isMagic && now.isMagic && now.changeCounter &- before.changeCounter > 1
      } ?? false
  }

  /// Pages that SQLite may well have to fill with zeros.
  private static let mostZeros = 1 << 16

  /// How many pages a database has by its first page; `nil` where SQLite does not believe that.
  private static func formerPages(_ page: (file: OpenFile, place: Int)) throws -> Int? {
    let header = FileHeader(try page.file.read(at: page.place, count: FileHeader.size))
    guard header.isMagic, header.pages > 0, header.changeCounter == header.versionValidFor else {
      return nil
    }
    return header.pages
  }

  /// How many of the pages are others in a main file as it is; one more where its size is another.
  package func changes(in main: OpenFile) throws -> Int {
    var count = main.size == initialPages * pageSize ? 0 : 1
    for (page, place) in places {
      let saved = try file.read(at: place, count: pageSize)
      if try main.read(at: (page - 1) * pageSize, count: pageSize) != saved { count += 1 }
    }
    return count
  }

  /// Whether SQLite rolls a journal back, determined by its beginning and its end.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package static func state(of path: String, besideMainOf bytes: Int) throws -> State {
    let file = try OpenFile(path)
    let first = try file.read(at: 0, count: JournalHeader.size)
    return try state(file, first, JournalHeader(first), hasMain: bytes > 0)
  }

  /// A page that was saved.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    try file.read(at: offset, count: count)
  }

  private static func state(
    _ file: OpenFile, _ first: [UInt8], _ header: JournalHeader, hasMain: Bool
  ) throws -> State {
    guard let byte = first.first, byte != 0 else { return .finished }
    guard hasMain else { return .withoutMain }
    if let name = try superJournal(of: file) {
      let there = FileSystem.status(name)
      // SQLite takes an empty file for none.
      if there == nil || there?.kind == .file && there?.size == 0 { return .superseded(by: name) }
    }
    guard file.size >= firstSector, header.isMagic, header.hasSizes else { return .damagedHeader }
    return .hot
  }

  /// The journal of a transaction of several databases, whose name stands at the end of each one's.
  private static func superJournal(of file: OpenFile) throws -> String? {
    guard file.size >= 16 else { return nil }
    let tail = try file.read(at: file.size - 16, count: 16)
    let length = Int(BigEndian.word(tail, 0))
    guard tail.count == 16, length > 0, length <= min(512, file.size - 16),
      tail.suffix(8).elementsEqual(JournalHeader.magic)
    else { return nil }
    let name = try file.read(at: file.size - 16 - length, count: length)
    let stated = BigEndian.word(tail, 4)
    // Whether a letter beyond ASCII counts as negative depends on the device.
    let signed = name.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    let unsigned = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
    guard stated == signed || stated == unsigned else { return nil }
    let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  private static func records(
    of file: OpenFile, _ first: JournalHeader, pageSize: Int, of initialPages: Int
  ) throws -> (missing: Int, end: End, places: [Int: Int]) {
    let (sector, record) = (first.sectorSize, pageSize + 8)
    let locked = lockedByte / pageSize + 1
    var places: [Int: Int] = [:]
    var place = 0
    while place + sector <= file.size {
      let header = JournalHeader(try file.read(at: place, count: JournalHeader.size))
      guard header.isMagic else { break }
      place += sector
      let isCounted = header.records != JournalHeader.uncounted
      let count = isCounted ? Int(header.records) : max(0, file.size - sector) / record
      for index in 0..<count {
        let missing = max(1, min(count - index, initialPages - places.count))
        let bytes = try file.read(at: place, count: record)
        guard bytes.count >= record - 4 else { return (missing, .cutOff, places) }
        let page = Int(BigEndian.word(bytes, 0))
        // Behind the records stands the name of a common journal, under this number.
        if page == locked, !isCounted { return (0, .whole, places) }
        guard page > 0, page != locked else { return (missing, .noPage, places) }
        if page <= initialPages {
          guard bytes.count == record else { return (missing, .cutOff, places) }
          guard header.checksum(bytes[4..<4 + pageSize]) == BigEndian.word(bytes, 4 + pageSize)
          else { return (missing, .checksum, places) }
          places[page] = place + 4
        }
        place += record
      }
      place = (place + sector - 1) / sector * sector
    }
    return (0, .whole, places)
  }
}

/// A header of a rollback journal: how many pages were saved behind it, and how large the database was.
///
/// Format: https://www.sqlite.org/fileformat.html, "The Rollback Journal".
public struct JournalHeader: Sendable, Equatable {
  /// What the first eight bytes of every header are.
  public static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
  /// How many bytes the header has; zeros fill its sector.
  public static let size = 28
  /// The record count of a journal that was written without syncs: records fill the rest of the file.
  static let uncounted = UInt32.max

  /// Whether the first eight bytes are those of a header.
  public let isMagic: Bool
  /// How many pages were saved behind it; ``uncounted`` for as many as there are.
  public let records: UInt32
  /// What the checksums of its pages begin with.
  public let nonce: UInt32
  /// Pages that the database had before the transaction.
  public let initialPages: Int
  /// Bytes of a sector, at whose beginnings headers stand.
  public let sectorSize: Int
  /// Bytes of a page; 0 in journals of SQLite before 3.5.8.
  public let pageSize: Int

  /// Reads a header; fewer bytes are as if zeros followed.
  public init(_ head: [UInt8]) {
    isMagic = head.starts(with: Self.magic)
    records = BigEndian.word(head, 8)
    nonce = BigEndian.word(head, 12)
    initialPages = Int(BigEndian.word(head, 16))
    sectorSize = Int(BigEndian.word(head, 20))
    pageSize = Int(BigEndian.word(head, 24))
  }

  /// Whether SQLite believes the sizes.
  var hasSizes: Bool {
    let isSector = sectorSize >= 32 && sectorSize <= 65_536 && sectorSize & (sectorSize - 1) == 0
    return isSector && (pageSize == 0 || FileHeader.isPageSize(pageSize))
  }

  /// The checksum of a page that was saved: every 200th byte, counted from its end.
  func checksum(_ page: ArraySlice<UInt8>) -> UInt32 {
    var sum = nonce
    var place = page.count - 200
    while place > 0 {
      sum &+= UInt32(page[page.startIndex + place])
      place -= 200
    }
    return sum
  }
}

extension RollbackJournal {
  /// What speaks against a journal of another name beside a main file; `nil` where nothing does.
  ///
  /// SQLite rolls a journal back by its name alone. One that was renamed on its way may be another store's,
  /// or another copy's: it is asked what a -wal is, see ``LogKinship``.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package static func contradiction(
    of journal: String, store: String
  ) throws -> LogKinship.Contradiction? {
    let main = try DatabaseImage(path: store, log: nil)
    let found = try RollbackJournal(path: journal, main: OpenFile(store))
    guard found.state == .hot else { return nil }
    if main.header.isMagic, main.pageSize != found.pageSize {
      return .pageSize(log: found.pageSize, main: main.pageSize)
    }
    let counted = found.wrongPages ?? found.initialPages
    if let place = found.places[1], let stated = try formerPages((found.file, place)),
      stated != counted
    {
      return .journalPages(counted: counted, stated: stated)
    }
    let image = try DatabaseImage(path: store, log: nil, journal: journal)
    // Half of a save may be all that the main file is.
    if let own = try LogKinship.names(in: main)?.uuid {
      guard let both = try LogKinship.names(in: image)?.uuid else { return .unreadable }
      if both != own { return .uuid(log: both, main: own) }
    }
    return try found.pageThatDoesNotFit(image, main)
  }

  /// A page of a whole journal that does not fit what references it, where the main file's own does.
  private func pageThatDoesNotFit(
    _ image: DatabaseImage, _ main: DatabaseImage
  ) throws -> LogKinship.Contradiction? {
    guard end == .whole, image.header.isAutoVacuum, main.header.isAutoVacuum else { return nil }
    var with = PageFit(image)
    var without = PageFit(main)
    for number in places.keys.sorted().prefix(Self.mostFitted)
    where number > 1 && number <= initialPages {
      guard try with.fits(number) == false, try without.fits(number) == true else { continue }
      return .page(number)
    }
    return nil
  }

  private static let mostFitted = 20_000
}
