import ManagedModel
import Salvage

/// What about a value looks as if other bytes had been written over it, or zeros.
///
/// Each is found in values that an app wrote, too: one that rows of the store have in the same column says
/// nothing.
struct ValueDoubts: OptionSet, Sendable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A text holds control characters other than tabs and line ends.
  static let control = ValueDoubts(rawValue: 1)
  /// A number takes more bytes than SQLite gives it, or is beyond all that is measured.
  static let number = ValueDoubts(rawValue: 2)
  /// All bytes of a blob are zeros.
  static let zeros = ValueDoubts(rawValue: 4)
  /// A blob begins as a format that it does not end as: gzip, a property list, PNG, JPEG.
  static let form = ValueDoubts(rawValue: 8)
  /// The last bytes of the row are zeros.
  static let tail = ValueDoubts(rawValue: 16)

  /// What can come of a row that was found in room that is not in use, and not of a page's own cells.
  static let ofRoom: ValueDoubts = .tail

  /// Bytes that unpack to more than this are not looked at to their end.
  private static let mostUnpacked = 64 << 20

  /// Those of a value; none for one whose bytes are not all there.
  init(_ record: borrowing Record, _ column: Int, _ encoding: FileHeader.Encoding) {
    self = []
    guard record.isPresent(column) else { return }
    switch record.kind(column) {
    case .text:
      let isDoubtful =
        encoding == .utf8
        ? record.content(column)?.contains(where: Self.isControl) == true
        : record.content(column).map(encoding.text)?.utf8.contains(where: Self.isControl) == true
      if isDoubtful { insert(.control) }
    case .integer: if !record.isShortest(column) { insert(.number) }
    case .real:
      guard case .real(let number)? = record.value(column) else { break }
      // Bytes of something else are mostly a number that nothing is counted in.
      let isStrange = number != 0 && !(1e-100...1e100).contains(abs(number))
      if isStrange || !record.isShortest(column) { insert(.number) }
    case .blob:
      guard let bytes = record.content(column), !bytes.isEmpty else { break }
      if bytes.count >= 4, bytes.allSatisfy({ $0 == 0 }) { insert(.zeros) }
      if !Self.opens(bytes[...]) { insert(.form) }
    default: break
    }
    if record.endsInZeros(column) { insert(.tail) }
  }

  /// Whether a value of a row holds what no app writes: control characters, or a number in a form that SQLite
  /// does not give it.
  static func areAny(in record: borrowing Record, _ encoding: FileHeader.Encoding) -> Bool {
    for column in 0..<record.count {
      let doubts = ValueDoubts(record, column, encoding)
      if doubts.contains(.control) || doubts.contains(.number) { return true }
      if encoding == .utf8, record.isGarbled(column) { return true }
    }
    return false
  }

  private static func isControl(_ byte: UInt8) -> Bool {
    byte < 0x20 && byte != 9 && byte != 10 && byte != 13 || byte == 0x7F
  }

  /// Whether a blob that begins as one of the known formats ends as one; true for all others.
  private static func opens(_ blob: Slice<UnsafeRawBufferPointer>) -> Bool {
    // Core Data writes a 1 before what could be in a file of its own.
    let bytes = blob.first == 1 ? blob.dropFirst() : blob
    guard !FileForm.isCut(bytes) else { return false }
    if bytes.starts(with: [0x1F, 0x8B, 8]) {
      guard let inflation = try? Inflation(.gzip, chunk: 1 << 16) else { return true }
      struct Enough: Error {}
      var size = 0
      do {
        let isSound = try inflation.read(Array(bytes)) { part in
          size += part.count
          if size > mostUnpacked { throw Enough() }
        }
        return isSound && inflation.isFinished
      } catch { return true }
    }
    if bytes.starts(with: Array("bplist0".utf8)) {
      return (try? PropertyList.read(Array(bytes))) != nil
    }
    return true
  }
}

/// The doubts about the rows that were found, until the store's own rows say what is usual in a column.
struct DoubtfulRows {
  private struct Doubt {
    var pk: Int64
    var column: Int
    var doubts: ValueDoubts
  }

  private let encoding: FileHeader.Encoding
  private var doubts: [[Doubt]]
  /// The columns that values of the rows are doubtful in, by table.
  private var columns: [Set<Int>]
  /// What rows of the store have in them.
  private var usual: [[Int: ValueDoubts]]
  private var count = 0
  /// So many are remembered; rows that are found after that count as there in part at once.
  private static let most = 500_000

  /// - Parameter tables: how many tables there are.
  init(tables: Int, encoding: FileHeader.Encoding) {
    self.encoding = encoding
    doubts = Array(repeating: [], count: tables)
    columns = Array(repeating: [], count: tables)
    usual = Array(repeating: [:], count: tables)
  }

  /// Takes a row that was found.
  ///
  /// - Returns: false where there is no room left to remember what is doubtful of it.
  mutating func add(_ record: borrowing Record, _ place: Int, pk: Int64) -> Bool {
    for column in 3..<max(3, record.count) {
      let found = ValueDoubts(record, column, encoding)
      guard !found.isEmpty else { continue }
      guard count < Self.most else { return false }
      count += 1
      doubts[place].append(Doubt(pk: pk, column: column, doubts: found))
      columns[place].insert(column)
    }
    return true
  }

  /// Takes a row of the store.
  mutating func compare(_ record: borrowing Record, _ place: Int) {
    for column in columns[place] where column < record.count {
      let found = ValueDoubts(record, column, encoding)
      if !found.isEmpty { usual[place][column, default: []].formUnion(found) }
    }
  }

  /// Gives each row that is there in part, and whether it is so as a cell of a page, too.
  func forEach(_ body: (_ place: Int, _ pk: Int64, _ isOfCells: Bool) throws -> Void) rethrows {
    for (place, own) in doubts.enumerated() {
      for doubt in own {
        let left = doubt.doubts.subtracting(usual[place][doubt.column] ?? [])
        guard !left.isEmpty else { continue }
        try body(place, doubt.pk, !left.subtracting(.ofRoom).isEmpty)
      }
    }
  }
}
