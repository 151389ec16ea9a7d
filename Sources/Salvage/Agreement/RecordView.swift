#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The values of a whole record where its bytes lie, for as long as they lie there.
///
/// Made once and used for millions of them: nothing is copied, and nothing counted.
struct RecordView: ~Copyable {
  private var fields: UnsafeMutablePointer<Record.Field>
  private var capacity = 32
  /// How many columns the row has: fewer than its table where columns came later.
  private(set) var count = 0
  private var bytes: UnsafeRawPointer
  private var size = 0
  /// Memory for bytes that would not stay where they are.
  private var own: UnsafeMutableRawBufferPointer

  /// One that holds nothing yet.
  init() {
    fields = .allocate(capacity: capacity)
    own = .allocate(byteCount: 256, alignment: 16)
    bytes = UnsafeRawPointer(fields)
  }

  deinit {
    fields.deallocate()
    own.deallocate()
  }

  /// Takes a record, all of whose bytes are there.
  ///
  /// - Returns: false where it is none; it has no columns then.
  @inline(__always)
  mutating func read(_ payload: UnsafeRawBufferPointer) -> Bool {
    count = 0
    guard let base = payload.baseAddress else { return false }
    bytes = base
    size = payload.count
    let stated = Record.parse(payload) { field in
      if count == capacity { grow() }
      fields[count] = field
      count += 1
    }
    guard let stated, stated <= size else {
      count = 0
      return false
    }
    return true
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Record.Field>.allocate(capacity: capacity * 2)
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
  func kind(_ column: Int) -> Record.Kind { Record.kind(of: type(column)) }

  /// A whole number; `nil` where the column is none.
  @inline(__always)
  func integer(_ column: Int) -> Int64? {
    guard column >= 0, column < count else { return nil }
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

  /// A real number; 0 where the column is none.
  @inline(__always)
  func real(_ column: Int) -> Double {
    guard type(column) == 7 else { return 0 }
    let place = bytes + fields[column].offset
    return Double(bitPattern: UInt64(bigEndian: place.loadUnaligned(as: UInt64.self)))
  }

  /// The bytes of a value of any kind, good as long as the record's; none where the row has no such column.
  @inline(__always)
  func content(_ column: Int) -> UnsafeRawBufferPointer {
    guard column >= 0, column < count else { return UnsafeRawBufferPointer(start: bytes, count: 0) }
    return UnsafeRawBufferPointer(
      start: bytes + fields[column].offset, count: fields[column].size)
  }

  /// Whether a column holds what one of another record does, stored alike: whole numbers of any width, all
  /// else byte for byte.
  @inline(__always)
  func isSame(_ column: Int, as other: borrowing RecordView, _ otherColumn: Int) -> Bool {
    let (type, otherType) = (type(column), other.type(otherColumn))
    guard type == otherType else {
      guard let number = integer(column) else { return false }
      return number == other.integer(otherColumn)
    }
    let (one, two) = (content(column), other.content(otherColumn))
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
    type(column) >= 12 && content(column).first == byte
  }
}
