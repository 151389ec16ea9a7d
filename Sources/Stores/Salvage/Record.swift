#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value of a record: what a column of a row holds in the file.
public enum RecordValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  /// Bytes of a text, in the encoding of the database.
  case text([UInt8])
  case blob([UInt8])
}

/// The values of a row or of an entry of an index, as a cell of a b-tree holds them.
///
/// Made once and used for millions of rows: a record is read where its bytes lie, and nothing is
/// allocated for it. Format: https://www.sqlite.org/fileformat.html, "Record Format".
public struct Record: ~Copyable {
  /// What a column's value is.
  package enum Kind: Sendable, Equatable {
    case null
    case integer
    case real
    case text
    case blob
  }

  /// A column's value: its serial type, and where it begins in the payload.
  struct Field {
    var type: UInt64
    var offset: Int
    var size: Int
  }

  /// Most columns that SQLite lets a table have, by its largest limit.
  static let mostColumns = 32_767

  private(set) var fields: UnsafeMutablePointer<Field>
  private var capacity = 32
  /// How many columns the row has: fewer than its table where columns came later.
  public private(set) var count = 0
  /// How many of them are all there: what is cut off is at the end.
  private var present = 0
  /// Where the payload begins, and how many of its bytes are there.
  private var bytes: UnsafeRawPointer
  private var size = 0
  /// How many bytes the record has by its own header.
  private(set) var stated = 0
  /// Memory for bytes that would not stay where they are.
  private var own: UnsafeMutableRawBufferPointer

  /// One that holds nothing yet.
  package init() {
    fields = .allocate(capacity: capacity)
    own = .allocate(byteCount: 256, alignment: 16)
    bytes = UnsafeRawPointer(fields)
  }

  deinit {
    fields.deallocate()
    own.deallocate()
  }

  /// Whether every byte of its values is there.
  public var isWhole: Bool { stated <= size }

  /// Takes a record where its bytes lie: it is good as long as they are.
  ///
  /// - Parameter payload: the payload, as far as it is there.
  /// - Returns: false where it does not begin as a record does; it has no columns then.
  @inline(__always)
  mutating func read(_ payload: UnsafeRawBufferPointer) -> Bool {
    (count, present) = (0, 0)
    guard let base = payload.baseAddress else { return false }
    bytes = base
    size = payload.count
    var found = 0
    let stated = Record.parse(payload) { field in
      if found == capacity { grow() }
      fields[found] = field
      found += 1
    }
    guard let stated else { return false }
    count = found
    self.stated = stated
    if stated <= size {
      present = count
    } else {
      while present < count, fields[present].offset + fields[present].size <= size { present += 1 }
    }
    return true
  }

  /// Takes a copy of a record, which is good until the next one is taken.
  ///
  /// - Parameters:
  ///   - bytes: what holds the payload.
  ///   - range: where the payload is, as far as it is there.
  /// - Returns: false where it does not begin as a record does; it has no columns then.
  package mutating func read(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    let range = range.clamped(to: 0..<bytes.count)
    return bytes.withUnsafeBytes { bytes in
      guard read(UnsafeRawBufferPointer(rebasing: bytes[range])) else { return false }
      keep()
      return true
    }
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Field>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: fields, count: capacity)
    fields.deallocate()
    fields = larger
    capacity *= 2
  }

  /// Memory of its own for a payload that is put together.
  mutating func room(for size: Int) -> UnsafeMutableRawBufferPointer {
    if own.count < size {
      own.deallocate()
      own = .allocate(byteCount: size * 2, alignment: 16)
    }
    return UnsafeMutableRawBufferPointer(rebasing: own[..<size])
  }

  /// Keeps the record when its page goes.
  mutating func keep() {
    guard count > 0, bytes != UnsafeRawPointer(own.baseAddress) else { return }
    let from = UnsafeRawBufferPointer(start: bytes, count: size)
    let room = room(for: size)
    room.copyMemory(from: from)
    if let base = room.baseAddress { bytes = UnsafeRawPointer(base) }
  }

  /// Reads the header of a payload, which begins the bytes.
  ///
  /// - Parameter take: is given each column.
  /// - Returns: how many bytes the record has by it; `nil` where it is none.
  @inline(__always)
  static func parse(_ payload: UnsafeRawBufferPointer, _ take: (Field) -> Void) -> Int? {
    var place = 0
    guard let size = Varint.read(payload, at: &place, before: payload.count), size >= 1,
      size <= UInt64(payload.count), size <= UInt64(mostColumns * 9)
    else { return nil }
    let header = Int(size)
    var offset = header
    while place < header {
      guard let type = Varint.read(payload, at: &place, before: header),
        let size = Self.size(of: type), offset <= Int(TreeCell.mostBytes)
      else { return nil }
      take(Field(type: type, offset: offset, size: size))
      offset += size
    }
    return place == header ? offset : nil
  }

  /// Bytes of a value of a serial type; `nil` for the two that are reserved, and beyond what any row
  /// can hold.
  @inline(__always)
  static func size(of type: UInt64) -> Int? {
    if type >= 12 {
      return (type - 12) / 2 <= TreeCell.mostBytes ? Int((type - 12) / 2) : nil
    }
    // A digit for each type, 0 at the right: where to jump to cannot be foreseen from column to column.
    return type < 10 ? Int(truncatingIfNeeded: 0x00_8864_3210 >> (4 * type) & 0xF) : nil
  }

  /// What a value of a serial type is.
  @inline(__always)
  static func kind(of type: UInt64) -> Kind {
    switch type {
    case 0: .null
    case 7: .real
    case 1...6, 8, 9: .integer
    default: type & 1 == 0 ? .blob : .text
    }
  }

  /// A column's serial type; that of NULL where the row is too short to have it.
  @inline(__always)
  private func type(_ column: Int) -> UInt64 {
    column >= 0 && column < count ? fields[column].type : 0
  }

  /// Whether a column holds nothing; a row that is too short to have it does not.
  @inline(__always)
  func isNull(_ column: Int) -> Bool { type(column) == 0 }

  /// What a column's value is; `.null` where the row has no such column.
  @inline(__always)
  package func kind(_ column: Int) -> Kind { Record.kind(of: type(column)) }

  /// Whether a column's bytes are all there.
  @inline(__always)
  public func isPresent(_ column: Int) -> Bool { column >= 0 && column < present }

  /// A whole number; `nil` where the column is none, or is not there.
  @inline(__always)
  package func integer(_ column: Int) -> Int64? {
    guard isPresent(column) else { return nil }
    let field = fields[column]
    let place = bytes + field.offset
    switch field.type {
    case 1: return Int64(place.load(as: Int8.self))
    case 2: return Int64(Int16(bigEndian: place.loadUnaligned(as: Int16.self)))
    case 3:
      let high = Int64(place.load(as: Int8.self)) << 16
      return high | Int64(UInt16(bigEndian: (place + 1).loadUnaligned(as: UInt16.self)))
    case 4: return Int64(Int32(bigEndian: place.loadUnaligned(as: Int32.self)))
    case 5:
      let high = Int64(Int16(bigEndian: place.loadUnaligned(as: Int16.self))) << 32
      return high | Int64(UInt32(bigEndian: (place + 2).loadUnaligned(as: UInt32.self)))
    case 6: return Int64(bigEndian: place.loadUnaligned(as: Int64.self))
    case 8: return 0
    case 9: return 1
    default: return nil
    }
  }

  /// A real number; 0 where the column is none, or is not there.
  @inline(__always)
  func real(_ column: Int) -> Double {
    guard isPresent(column), fields[column].type == 7 else { return 0 }
    let place = bytes + fields[column].offset
    return Double(bitPattern: UInt64(bigEndian: place.loadUnaligned(as: UInt64.self)))
  }

  /// The bytes of a value of any kind, good as long as the record's; none where they are not all there.
  @inline(__always)
  func raw(_ column: Int) -> UnsafeRawBufferPointer {
    guard isPresent(column) else { return UnsafeRawBufferPointer(start: bytes, count: 0) }
    return UnsafeRawBufferPointer(
      start: bytes + fields[column].offset, count: fields[column].size)
  }

  /// The bytes of a text or a blob, good as long as the record's; `nil` where the column is neither, or is
  /// not there.
  package func content(_ column: Int) -> UnsafeRawBufferPointer? {
    isPresent(column) && fields[column].type >= 12 ? raw(column) : nil
  }

  /// A column's value; `nil` where the row has none, or its bytes are not all there.
  public func value(_ column: Int) -> RecordValue? {
    guard isPresent(column) else { return nil }
    switch kind(column) {
    case .null: return .null
    case .integer: return integer(column).map { .integer($0) }
    case .real: return .real(real(column))
    case .text: return .text(Array(raw(column)))
    case .blob: return .blob(Array(raw(column)))
    }
  }

  /// Whether a column holds what one of another record does, stored alike: whole numbers of any width, all
  /// else byte for byte.
  @inline(__always)
  func isSame(_ column: Int, as other: borrowing Record, _ otherColumn: Int) -> Bool {
    let (type, otherType) = (type(column), other.type(otherColumn))
    guard type == otherType else {
      guard let number = integer(column) else { return false }
      return number == other.integer(otherColumn)
    }
    let (one, two) = (raw(column), other.raw(otherColumn))
    guard one.count > 0, let first = one.baseAddress, let second = two.baseAddress else {
      return true
    }
    return memcmp(first, second, one.count) == 0
  }

  /// Adds one for each column that holds nothing, to as many counts as there are columns.
  @inline(__always)
  func countNulls(_ counts: UnsafeMutableBufferPointer<Int>) {
    for column in 0..<min(count, counts.count) where fields[column].type == 0 {
      counts[column] += 1
    }
  }

  /// Whether a column holds a text or a blob whose first byte is that one.
  func begins(_ column: Int, with byte: UInt8) -> Bool {
    type(column) >= 12 && raw(column).first == byte
  }

  /// What distinguishes one row's values from another's: equal for equal values, whichever columns that hold
  /// nothing follow them.
  package var digest: UInt64 { digest(from: 0) }

  /// The same of the columns from one on.
  package func digest(from first: Int) -> UInt64 {
    var hash: UInt64 = 0
    for column in min(first, count)..<count where fields[column].type != 0 {
      hash = Self.mixed(hash, UInt64(column))
      guard column >= present else {
        hash = mixed(hash, column)
        continue
      }
      // A value, as far as it is there.
      let start = min(fields[column].offset, size)
      let end = min(start + fields[column].size, size)
      hash = Self.mixed(
        Self.mixed(hash, fields[column].type),
        UnsafeRawBufferPointer(start: bytes + start, count: end - start))
    }
    return hash
  }

  /// For each value that few rows share what distinguishes it from others: long texts and blobs, numbers of many
  /// digits, such as dates.
  package func marks() -> [(column: Int, mark: UInt64)] {
    (0..<present).compactMap { column in
      switch kind(column) {
      case .text, .blob: guard fields[column].size >= 8 else { return nil }
      case .real: guard real(column).bitPattern.trailingZeroBitCount < 20 else { return nil }
      default: return nil
      }
      return (column, mixed(Self.mixed(0, UInt64(column)), column))
    }
  }
}
