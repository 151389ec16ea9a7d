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
    guard let (size, first) = Varint.read(bytes, range.lowerBound), size >= 1,
      size <= UInt64(range.count), size <= UInt64(Self.mostColumns * 9)
    else { return false }
    let header = range.lowerBound + Int(size)
    var offset = Int(size)
    var place = first
    while place < header {
      guard let (type, next) = Varint.read(bytes, place), let size = Self.size(of: type),
        offset <= Int(Cell.mostBytes)
      else { return false }
      fields.append(Field(type: type, offset: offset, size: size))
      offset += size
      place = next
    }
    guard place == header else { return false }
    self.bytes = bytes
    start = range.lowerBound
    end = range.upperBound
    stated = offset
    return true
  }

  /// Bytes of a value of a serial type; `nil` for the two that are reserved, and beyond what any row
  /// can hold.
  static func size(of type: UInt64) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 10, 11: nil
    default: (type - 12) / 2 <= Cell.mostBytes ? Int((type - 12) / 2) : nil
    }
  }

  /// What a column's value is; `nil` where the row has no such column.
  package func kind(_ column: Int) -> Kind? {
    guard fields.indices.contains(column) else { return nil }
    switch fields[column].type {
    case 0: return .null
    case 7: return .real
    case 1...6, 8, 9: return .integer
    case let type: return type & 1 == 0 ? .blob : .text
    }
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
    case .real: return .real(Double(bitPattern: word(fields[column])))
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

  private func word(_ field: Field) -> UInt64 {
    let from = start + field.offset
    var bits: UInt64 = bytes[from] & 0x80 == 0 ? 0 : .max
    for byte in bytes[from..<from + field.size] { bits = bits << 8 | UInt64(byte) }
    return bits
  }
}
