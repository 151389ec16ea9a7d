import Files
import ManagedModel
import Salvage

/// An encrypted file that is read at any place, in memory.
struct DecryptedFile {
  private let file: OpenFile
  private let key: Secret
  /// Bytes of the file, with those that fill up its last block.
  var size: Int { file.size }

  init(_ file: OpenFile, _ key: Secret) { (self.file, self.key) = (file, key) }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  func read(at offset: Int, count: Int) throws -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let block = FileDecryption.block
    let end = min(size, offset + min(count, size - offset))
    let first = offset / block * block
    // A block is decrypted with the one before it.
    let begin = max(0, first - block)
    let last = (end + block - 1) / block * block
    let stored = try file.read(at: begin, count: last - begin)
    let vector = first == 0 ? nil : Array(stored.prefix(block))
    let decryption =
      vector.map { FileDecryption(key, vector: $0) } ?? FileDecryption(key)
    guard let decryption else { return [] }
    let plain = decryption.update(stored.dropFirst(first - begin))
    return Array(plain.dropFirst(offset - first).prefix(end - offset))
  }
}

/// The names of a database's tables, read out of an encrypted file without a plain copy of it.
///
/// SQLite reads files only. These are the few pages of the table `sqlite_schema`, whose b-tree begins on
/// page 1. Format: https://www.sqlite.org/fileformat.html.
struct EncryptedTables {
  enum Fault: Error {
    case notDatabase
    case damaged
  }

  /// Names in the schema: of tables, indexes, triggers and views.
  private(set) var names: Set<String> = []

  /// Most pages that are read of a schema.
  private static let mostPages = 4096

  /// Whether they are those of a Core Data store.
  var areOfStore: Bool { names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) }

  /// - Throws: ``Fault``; an error of reading.
  init(_ file: DecryptedFile) throws {
    let head = try file.read(at: 0, count: 100)
    guard head.count == 100, FileSystem.isDatabaseHead(head) else { throw Fault.notDatabase }
    let stated = BigEndian.half(head, 16)
    let pageSize = stated == 1 ? 65_536 : stated
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
      throw Fault.damaged
    }
    var pages = [1]
    var seen: Set<Int> = [1]
    while let number = pages.popLast() {
      let (offset, overflow) = (number - 1).multipliedReportingOverflow(by: pageSize)
      guard !overflow else { throw Fault.damaged }
      let page = try file.read(at: offset, count: pageSize)
      guard page.count == pageSize else { throw Fault.damaged }
      for child in try add(page, isFirst: number == 1) where child > 0 {
        guard seen.count < Self.mostPages else { throw Fault.damaged }
        if seen.insert(child).inserted { pages.append(child) }
      }
    }
  }

  /// Adds the names on a page.
  ///
  /// - Returns: the pages below it.
  private mutating func add(_ page: [UInt8], isFirst: Bool) throws -> [Int] {
    let start = isFirst ? 100 : 0
    let count = BigEndian.half(page, start + 3)
    func cells(after header: Int) -> [Int] {
      (0..<count).map { BigEndian.half(page, start + header + 2 * $0) }
    }
    switch page[start] {
    case 5:
      return cells(after: 12).map { Int(BigEndian.word(page, $0)) }
        + [Int(BigEndian.word(page, start + 8))]
    case 13:
      for cell in cells(after: 8) {
        if let name = Self.name(in: page, cell) { names.insert(name) }
      }
      return []
    default: throw Fault.damaged
    }
  }

  /// The second column of the row in a cell.
  private static func name(in page: [UInt8], _ cell: Int) -> String? {
    guard let payload = Varint.read(page, cell), let key = Varint.read(page, payload.end),
      let header = Varint.read(page, key.end), let type = Varint.read(page, header.end),
      let name = Varint.read(page, type.end), header.value < 1024,
      let (typeSize, nameSize) = sizes(type.value, name.value)
    else { return nil }
    let begin = key.end + Int(header.value) + typeSize
    guard nameSize > 0, begin + nameSize <= page.count else { return nil }
    // In UTF-16, letters of ASCII have a zero beside them.
    return String(decoding: page[begin..<(begin + nameSize)].filter { $0 != 0 }, as: UTF8.self)
  }

  /// Bytes of two texts; `nil` where either is none.
  private static func sizes(_ first: UInt64, _ second: UInt64) -> (Int, Int)? {
    guard first >= 13, second >= 13, first < 4096, second < 4096, first & 1 == 1, second & 1 == 1
    else { return nil }
    return (Int(first - 13) / 2, Int(second - 13) / 2)
  }
}

extension EncryptedTables.Fault: CustomStringConvertible {
  var description: String {
    switch self {
    case .notDatabase: "not an SQLite file"
    case .damaged: "its schema cannot be read"
    }
  }
}
