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
