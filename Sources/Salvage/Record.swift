/// A value of a record: what a column of a row holds in the file.
public enum RecordValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  /// Bytes of a text, in the encoding of the database.
  case text([UInt8])
  case blob([UInt8])
}

/// The values of a row, as a cell of a b-tree holds them.
///
/// Made once and used for row after row. Format: https://www.sqlite.org/fileformat.html, "Record
/// Format".
public struct Record: Sendable {
  /// What a column's value is.
  package enum Kind: Sendable, Equatable {
    case null
    case integer
    case real
    case text
    case blob
  }

  /// A column's value: its serial type, and where it begins in the payload.
  struct Field: Sendable {
    var type: UInt64
    var offset: Int
    var size: Int
  }

  /// Most columns that SQLite lets a table have, by its largest limit.
  static let mostColumns = 32_767

  private var fields: [Field] = []
  /// What holds the payload, and bytes around it.
  private var bytes: [UInt8] = []
  /// Where in `bytes` the payload begins and what of it is there ends.
  private var start = 0
  private var end = 0
  /// How many bytes the record has by its own header.
  private(set) var stated = 0

  /// One that holds nothing yet.
  package init() {}

  /// How many columns the row has: fewer than its table where columns came later.
  public var count: Int { fields.count }

  /// Whether every byte of its values is there.
  public var isWhole: Bool { stated <= end - start }

  /// Takes another row.
  ///
  /// - Parameters:
  ///   - bytes: what holds the payload.
  ///   - range: where the payload is, as far as it is there.
  /// - Returns: false where it does not begin as a record does; nothing is to be asked of it then.
  package mutating func read(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    fields.removeAll(keepingCapacity: true)
    let range = range.clamped(to: 0..<bytes.count)
    let stated = bytes.withUnsafeBytes {
      Self.parse(UnsafeRawBufferPointer(rebasing: $0[range])) { fields.append($0) }
    }
    guard let stated else { return false }
    self.bytes = bytes
    start = range.lowerBound
    end = range.upperBound
    self.stated = stated
    return true
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
        let size = Self.size(of: type), offset <= Int(Cell.mostBytes)
      else { return nil }
      take(Field(type: type, offset: offset, size: size))
      offset += size
    }
    return place == header ? offset : nil
  }

  /// A whole number of a payload that begins the bytes; `nil` where the column is none, or is not there.
  static func integer(_ field: Field, in payload: UnsafeRawBufferPointer) -> Int64? {
    guard kind(of: field.type) == .integer else { return nil }
    if field.type >= 8 { return Int64(field.type) - 8 }
    guard field.offset + field.size <= payload.count else { return nil }
    var bits: UInt64 = payload[field.offset] & 0x80 == 0 ? 0 : .max
    for byte in payload[field.offset..<field.offset + field.size] {
      bits = bits << 8 | UInt64(byte)
    }
    return Int64(bitPattern: bits)
  }

  /// Bytes of a value of a serial type; `nil` for the two that are reserved, and beyond what any row
  /// can hold.
  @inline(__always)
  static func size(of type: UInt64) -> Int? {
    if type >= 12 {
      return (type - 12) / 2 <= Cell.mostBytes ? Int((type - 12) / 2) : nil
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

  /// What a column's value is; `nil` where the row has no such column.
  package func kind(_ column: Int) -> Kind? {
    fields.indices.contains(column) ? Self.kind(of: fields[column].type) : nil
  }

  /// Whether a column's bytes are all there.
  public func isPresent(_ column: Int) -> Bool {
    fields.indices.contains(column)
      && fields[column].offset + fields[column].size <= end - start
  }

  /// A whole number; `nil` where the column is none, or is not there.
  package func integer(_ column: Int) -> Int64? {
    guard isPresent(column), kind(column) == .integer else { return nil }
    let field = fields[column]
    if field.type >= 8 { return Int64(field.type) - 8 }
    return Int64(bitPattern: word(field))
  }

  /// The bytes of a text or a blob; `nil` where the column is neither, or is not there.
  package func content(_ column: Int) -> ArraySlice<UInt8>? {
    guard isPresent(column), fields[column].type >= 12 else { return nil }
    let from = start + fields[column].offset
    return bytes[from..<from + fields[column].size]
  }

  /// A column's value; `nil` where the row has none, or its bytes are not all there.
  public func value(_ column: Int) -> RecordValue? {
    guard isPresent(column), let kind = kind(column) else { return nil }
    switch kind {
    case .null: return .null
    case .integer: return integer(column).map { .integer($0) }
    case .real: return .real(real(column))
    case .text: return content(column).map { .text(Array($0)) }
    case .blob: return content(column).map { .blob(Array($0)) }
    }
  }

  /// Runs `body` with a column's bytes, which are good until it returns; `nil` as in ``content(_:)``.
  package func withContent<T>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> T
  ) rethrows -> T? {
    guard isPresent(column), fields[column].type >= 12 else { return nil }
    let from = start + fields[column].offset
    let size = fields[column].size
    return try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[from..<from + size]))
    }
  }

  /// What tells one row's values from another's: equal for equal values, whichever columns that hold
  /// nothing follow them.
  package var digest: UInt64 {
    var hash = Self.seed
    for column in fields.indices where fields[column].type != 0 {
      hash = Self.mix(hash, UInt64(column))
      hash = mix(hash, column)
    }
    return hash
  }

  /// For each value that few rows share what tells it from others: long texts and blobs, numbers of many
  /// digits, such as dates.
  package func marks() -> [(column: Int, mark: UInt64)] {
    fields.indices.compactMap { column in
      guard isPresent(column) else { return nil }
      switch kind(column) {
      case .text, .blob: guard fields[column].size >= 8 else { return nil }
      case .real:
        guard word(fields[column]).trailingZeroBitCount < 20 else { return nil }
      default: return nil
      }
      return (column, mix(Self.mix(Self.seed, UInt64(column)), column))
    }
  }

  /// Whether a number takes no more bytes than SQLite gives it; true for what is no number.
  ///
  /// SQLite writes each whole number in the shortest form that holds it, and a real number without a
  /// fraction as a whole one.
  package func isShortest(_ column: Int) -> Bool {
    guard isPresent(column), let kind = kind(column) else { return true }
    let field = fields[column]
    switch kind {
    case .integer:
      guard field.type < 8, let number = integer(column) else { return true }
      // File format 1 knows no shorter form of 0 and 1.
      guard field.type > 1 else { return true }
      let bits = 8 * (field.size == 8 ? 6 : field.size == 6 ? 4 : field.size - 1)
      let most = Int64(1) << (bits - 1)
      return number < -most || number >= most
    case .real:
      let number = real(column)
      return !number.isFinite || number.rounded() != number || abs(number) >= 140_737_488_355_328
    default: return true
    }
  }

  /// Whether a value is the last of the row that takes room, and its last bytes are zeros.
  package func endsInZeros(_ column: Int) -> Bool {
    guard isPresent(column), fields[column].size > 1,
      fields[(column + 1)...].allSatisfy({ $0.size == 0 })
    else { return false }
    let end = start + fields[column].offset + fields[column].size
    // A fraction that few bits hold ends in zeros, too.
    let count = kind(column) == .real ? 3 : 1
    return bytes[end - count..<end].allSatisfy { $0 == 0 }
  }

  /// Whether a byte of the record is one of a text.
  func isText(at offset: Int) -> Bool {
    fields.contains {
      $0.offset <= offset && offset < $0.offset + $0.size && Self.kind(of: $0.type) == .text
    }
  }

  /// Compares the values behind Z_OPT with those of another row.
  ///
  /// - Returns: how many are the same that few rows share, and how many are not the same.
  package func likeness(to other: borrowing Record) -> (same: Int, different: Int) {
    var result = (same: 0, different: 0)
    for column in 3..<max(3, count, other.count) {
      let value = value(column) ?? .null
      if value != other.value(column) ?? .null {
        result.different += 1
      } else if value.isTelling {
        result.same += 1
      }
    }
    return result
  }

  private static let seed: UInt64 = 0xCBF2_9CE4_8422_2325

  @inline(__always)
  private static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
    (hash ^ value) &* 0x0000_0100_0000_01B3
  }

  /// A value, as far as it is there.
  private func mix(_ hash: UInt64, _ column: Int) -> UInt64 {
    if let number = integer(column) {
      let mixed = Self.mix(Self.mix(hash, 1), UInt64(bitPattern: number))
      return mixed ^ mixed >> 29
    }
    var hash = Self.mix(hash, fields[column].type)
    let from = start + fields[column].offset
    for byte in bytes[min(from, end)..<min(from + fields[column].size, end)] {
      hash = Self.mix(hash, UInt64(byte))
    }
    return hash ^ hash >> 29
  }

  /// A real number; 0 where the column is none.
  func real(_ column: Int) -> Double {
    guard isPresent(column), kind(column) == .real else { return 0 }
    return Double(bitPattern: word(fields[column]))
  }

  private func word(_ field: Field) -> UInt64 {
    let from = start + field.offset
    var bits: UInt64 = bytes[from] & 0x80 == 0 ? 0 : .max
    for byte in bytes[from..<from + field.size] { bits = bits << 8 | UInt64(byte) }
    return bits
  }
}

extension RecordValue {
  /// Whether few rows are likely to share it: no flag, no small number, nothing empty.
  fileprivate var isTelling: Bool {
    switch self {
    case .null: false
    case .integer(let number): number > 9 || number < -1
    case .real: true
    case .text(let bytes), .blob(let bytes): bytes.count > 2
    }
  }
}
