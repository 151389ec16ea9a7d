import Files

/// The main file of a database as SQLite finds it: where a rollback journal says that a transaction was not
/// finished, with the pages restored and the size that it had before.
///
/// Nothing is written: what is restored is read from the journal.
package final class MainFile: Sendable {
  /// Bytes of the main file, once it is rolled back.
  package let size: Int
  /// The journal beside it, whether it is rolled back or not; `nil` if there is none.
  package let journal: RollbackJournal?
  /// How its bytes were moved, where they are read as they were; `nil` for a file that is read as it is.
  package let shift: ByteShift?
  private let file: OpenFile
  private let moved: ByteShift.Reading?
  /// Bytes of the file as it is that are not cut off.
  private let kept: Int
  /// The pages that are restored; `nil` where none is.
  private let applied: RollbackJournal?

  /// Opens a main file.
  ///
  /// - Parameters:
  ///   - journal: where its rollback journal would be; `nil` to read the file as it is.
  ///   - isRealigned: whether bytes that were moved on the way are read where they should stand. No journal
  ///     is rolled back then.
  /// - Throws: `CoreDataError` where a file cannot be read.
  package init(_ path: String, journal journalPath: String?, isRealigned: Bool = false) throws {
    file = try OpenFile(path)
    moved = isRealigned ? try ByteShift.reading(of: file) : nil
    shift = moved?.shift
    if let moved {
      journal = nil
      (size, kept, applied) = (moved.size, moved.size, nil)
      return
    }
    var journal: RollbackJournal?
    if let journalPath, try FileSystem.present(journalPath)?.kind == .file {
      journal = try RollbackJournal(path: journalPath, main: file)
    }
    self.journal = journal
    guard let journal, journal.state == .hot else {
      (size, kept, applied) = (file.size, file.size, nil)
      return
    }
    applied = journal
    let page = journal.pageSize
    let initial = journal.initialPages * page
    kept = min(file.size, initial)
    let last = (journal.places.keys.max() ?? 0) * page
    // A part of the last page is left as it is.
    size = max(kept + page <= initial ? initial : kept, last)
  }

  /// Pages that are read without cells of which it is not known what they were.
  var shortenedPages: Set<Int> { moved?.shortened ?? [] }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    guard let applied else {
      return try moved?.read(file, at: offset, count: count)
        ?? file.read(at: offset, count: count)
    }
    guard offset >= 0, count > 0, offset < size else { return [] }
    let count = min(count, size - offset)
    let page = applied.pageSize
    let first = offset / page + 1
    if let place = applied.places[first], offset % page + count <= page {
      return try applied.read(at: place + offset % page, count: count)
    }
    var bytes = try file.read(at: offset, count: min(count, kept - offset))
    if bytes.count < count { bytes += repeatElement(0, count: count - bytes.count) }
    for number in first...((offset + count - 1) / page + 1) {
      guard let place = applied.places[number] else { continue }
      let start = max(offset, (number - 1) * page)
      let end = min(offset + count, number * page)
      let saved = try applied.read(at: place + start - (number - 1) * page, count: end - start)
      bytes.replaceSubrange(start - offset..<start - offset + saved.count, with: saved)
    }
    return bytes
  }

  /// Reads the bytes from `offset` on into memory: as many as fit, or fewer where the file ends.
  package func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard applied != nil || moved != nil else { return try file.read(at: offset, into: memory) }
    let bytes = try read(at: offset, count: memory.count)
    memory.copyBytes(from: bytes)
    return bytes.count
  }
}

/// The first hundred bytes of an SQLite database, as far as they can be believed.
///
/// Format: https://www.sqlite.org/fileformat.html, "The Database Header".
public struct FileHeader: Sendable, Equatable {
  /// How text is written in the file.
  public enum Encoding: UInt32, Sendable {
    case utf8 = 1
    case utf16LittleEndian = 2
    case utf16BigEndian = 3
  }

  /// What the first sixteen bytes of every database are.
  public static let magic = Array("SQLite format 3\0".utf8)
  /// How many bytes the header has.
  public static let size = 100

  /// Whether the file begins as a database does.
  public var isMagic: Bool
  /// Bytes of a page: a power of two from 512 to 65,536; `nil` where the header says no such size.
  public var pageSize: Int?
  /// Bytes at the end of each page that are not used.
  public var reserved: Int
  /// Pages that the header counts.
  public var pages: Int
  /// The first page of the list of free pages; 0 where there are none.
  public var freelist: Int
  /// How many pages are free, as the header counts.
  public var freePages: Int
  /// Whether the file keeps pointer maps: page 2 and others then hold no b-tree.
  public var isAutoVacuum: Bool
  /// How text is written.
  public var encoding: Encoding
  /// Counts the transactions that changed the file without a log.
  public var changeCounter: UInt32
  /// Counts the changes of the list of tables.
  public var schemaCookie: UInt32
  /// The change counter at which the count of pages was written.
  public var versionValidFor: UInt32

  /// Reads the header of page 1; fewer than a hundred bytes are as if zeros followed.
  public init(_ bytes: some Collection<UInt8>) {
    var head = Array(bytes.prefix(Self.size))
    head += [UInt8](repeating: 0, count: Self.size - head.count)
    isMagic = head.starts(with: Self.magic)
    let stated = Int(head[16]) << 8 | Int(head[17])
    pageSize = Self.isPageSize(stated) ? stated : stated == 1 ? 65_536 : nil
    reserved = Int(head[20])
    pages = Int(BigEndian.word(head, 28))
    freelist = Int(BigEndian.word(head, 32))
    freePages = Int(BigEndian.word(head, 36))
    isAutoVacuum = BigEndian.word(head, 52) != 0
    encoding = Encoding(rawValue: BigEndian.word(head, 56)) ?? .utf8
    changeCounter = BigEndian.word(head, 24)
    schemaCookie = BigEndian.word(head, 40)
    versionValidFor = BigEndian.word(head, 92)
  }

  /// Whether pages can be of that size; the header writes 65,536 as 1.
  public static func isPageSize(_ size: Int) -> Bool {
    size >= 512 && size <= 65_536 && size & (size - 1) == 0
  }
}

extension FileHeader.Encoding {
  /// A text of the database; what is no text is replaced.
  package func text(_ bytes: some Collection<UInt8>) -> String {
    guard self != .utf8 else { return String(decoding: bytes, as: UTF8.self) }
    var units: [UInt16] = []
    var rest = bytes.makeIterator()
    while let a = rest.next().map(UInt16.init), let b = rest.next().map(UInt16.init) {
      units.append(self == .utf16LittleEndian ? b << 8 | a : a << 8 | b)
    }
    return String(decoding: units, as: UTF16.self)
  }
}

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

/// Pages of a file that are read before they are asked for, where one after the other is: a call for each
/// would take as long as what is done with it.
struct ReadAhead {
  // Larger memory is had from the system each time.
  private static let bytesAtOnce = 65_536

  private var bytes: [UInt8] = []
  /// The first page of those that were read.
  private var first = 1
  /// The page that was asked for last.
  private var last = 0

  /// A page, as much as is there of it.
  mutating func page(_ number: Int, of file: MainFile, pageSize: Int) throws -> [UInt8] {
    defer { last = number }
    if !holds(number, pageSize) {
      if number == last + 1 { fill(from: number, of: file, pageSize) }
      guard holds(number, pageSize) else {
        return try file.read(at: (number - 1) * pageSize, count: pageSize)
      }
    }
    let start = (number - first) * pageSize
    return Array(bytes[start..<min(bytes.count, start + pageSize)])
  }

  private func holds(_ number: Int, _ pageSize: Int) -> Bool {
    number >= first && !bytes.isEmpty && number <= first + (bytes.count - 1) / pageSize
  }

  /// Reads several pages; a place that the disk cannot read is no error of the pages before it.
  private mutating func fill(from number: Int, of file: MainFile, _ pageSize: Int) {
    let pages = Self.bytesAtOnce / pageSize
    guard pages > 1,
      let read = try? file.read(at: (number - 1) * pageSize, count: pages * pageSize),
      !read.isEmpty
    else { return }
    (bytes, first) = (read, number)
  }

  /// Reads a page into memory of its size.
  ///
  /// - Returns: whether all of it is there.
  mutating func read(
    _ number: Int, of file: MainFile, into memory: UnsafeMutableRawBufferPointer
  ) throws -> Bool {
    let size = memory.count
    if !holds(number, size) {
      guard number == last + 1 else {
        last = number
        return try file.read(at: (number - 1) * size, into: memory) == size
      }
      fill(from: number, of: file, size)
    }
    last = number
    let start = (number - first) * size
    guard holds(number, size), start + size <= bytes.count else {
      return try file.read(at: (number - 1) * size, into: memory) == size
    }
    bytes.withUnsafeBytes {
      memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + size]))
    }
    return true
  }
}

/// The first byte of each page of a file, read many pages at a time: code that walks the trees of a database
/// asks for those of nearly all.
struct FirstBytes {
  private static let bytesAtOnce = 262_144

  private var bytes: [UInt8] = []
  private var isRead: [Bool] = []

  /// The first byte of a page; `nil` where the file does not reach there.
  mutating func byte(of page: Int, in file: MainFile, pageSize: Int) throws -> UInt8? {
    let offset = (page - 1) * pageSize
    guard offset >= 0, offset < file.size else { return nil }
    let pages = max(1, Self.bytesAtOnce / pageSize)
    let block = (page - 1) / pages
    if bytes.isEmpty {
      bytes = Array(repeating: 0, count: (file.size + pageSize - 1) / pageSize)
      isRead = Array(repeating: false, count: bytes.count / pages + 1)
    }
    if !isRead[block] {
      let first = block * pages
      // A place that the disk cannot read is no error of the pages beside it.
      guard let read = try? file.read(at: first * pageSize, count: pages * pageSize),
        read.count >= min(pages * pageSize, file.size - first * pageSize)
      else { return try file.read(at: offset, count: 1).first }
      for (index, place) in stride(from: 0, to: read.count, by: pageSize).enumerated()
      where first + index < bytes.count {
        bytes[first + index] = read[place]
      }
      isRead[block] = true
    }
    return bytes[page - 1]
  }
}
