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
