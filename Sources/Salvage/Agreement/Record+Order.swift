/// Values as SQLite compares them: https://www.sqlite.org/datatype3.html, "Sort Order".
extension Record {
  /// What distinguishes a value of one kind from one of another, of which small numbers are no multiples.
  private enum Tag {
    static let null: UInt64 = 0xD6E8_FEB8_6659_FD93
    static let number: UInt64 = 0xA076_1D64_78BD_642F
    static let real: UInt64 = 0xE703_7ED1_A0B4_28DB
    static let text: UInt64 = 0x8EBC_6AF0_9C88_C6E3
    static let blob: UInt64 = 0x5899_65CC_7537_4CC3
  }

  @inline(__always)
  static func mixed(_ hash: UInt64, _ value: UInt64) -> UInt64 {
    let product = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }

  /// A hash that can be summed up: every bit depends on all of them, so that values which changed places
  /// among rows do not come to the same as before.
  @inline(__always)
  static func settled(_ hash: UInt64) -> UInt64 {
    var bits = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    bits = (bits ^ bits >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return bits ^ bits >> 33
  }

  /// A hash of a number as it counts, whichever way it is stored: a column of reals holds 2.0 as 2.
  @inline(__always)
  static func mixed(_ hash: UInt64, integer: Int64) -> UInt64 {
    mixed(mixed(hash, Tag.number), UInt64(bitPattern: integer))
  }

  /// Adds a value to a hash, so that equal values come to the same; the column is there.
  func mixed(_ hash: UInt64, _ column: Int) -> UInt64 {
    switch kind(column) {
    case .integer: return Self.mixed(hash, integer: integer(column) ?? 0)
    case .real:
      let real = real(column)
      if let whole = Int64(exactly: real) { return Self.mixed(hash, integer: whole) }
      return Self.mixed(Self.mixed(hash, Tag.real), real.bitPattern)
    case .text: return Self.mixed(Self.mixed(hash, Tag.text), raw(column))
    case .blob: return Self.mixed(Self.mixed(hash, Tag.blob), raw(column))
    case .null: return Self.mixed(hash, Tag.null)
    }
  }

  @inline(__always)
  static func mixed(_ hash: UInt64, _ content: UnsafeRawBufferPointer) -> UInt64 {
    var hash = mixed(hash, UInt64(content.count))
    var place = 0
    while place + 8 <= content.count {
      hash = mixed(hash, content.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < content.count {
      rest = rest << 8 | UInt64(content[place])
      place += 1
    }
    return mixed(hash, rest)
  }

  /// Compares values of one column of two records, both of which have it: below 0 where this one comes
  /// first.
  func order(
    _ other: borrowing Record, _ column: Int, _ collation: IndexedTable.Collation
  ) -> Int {
    let (kind, otherKind) = (kind(column), other.kind(column))
    switch (kind, otherKind) {
    case (.integer, .integer):
      let (one, two) = (integer(column) ?? 0, other.integer(column) ?? 0)
      return one < two ? -1 : one == two ? 0 : 1
    case (.real, .real):
      let (one, two) = (real(column), other.real(column))
      return one < two ? -1 : one == two ? 0 : 1
    case (.integer, .real): return Self.order(integer(column) ?? 0, other.real(column))
    case (.real, .integer): return -Self.order(other.integer(column) ?? 0, real(column))
    case (.null, .null): return 0
    case (.text, .text), (.blob, .blob):
      return Self.order(
        raw(column), other.raw(column), kind == .text ? collation : .binary)
    default: return Self.rank(kind) - Self.rank(otherKind)
    }
  }

  private static func rank(_ kind: Record.Kind) -> Int {
    switch kind {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  private static func order(_ whole: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 || real.isNaN { return 1 }
    let cut = Int64(real)
    if whole != cut { return whole < cut ? -1 : 1 }
    let rest = real - Double(cut)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }

  private static func order(
    _ one: UnsafeRawBufferPointer, _ two: UnsafeRawBufferPointer,
    _ collation: IndexedTable.Collation
  ) -> Int {
    var (counts, place) = ((one.count, two.count), 0)
    if collation == .rtrim {
      while counts.0 > 0, one[counts.0 - 1] == 0x20 { counts.0 -= 1 }
      while counts.1 > 0, two[counts.1 - 1] == 0x20 { counts.1 -= 1 }
    }
    let shared = min(counts.0, counts.1)
    while place < shared {
      var (a, b) = (one[place], two[place])
      if collation == .noCase {
        if a &- 0x41 < 26 { a |= 0x20 }
        if b &- 0x41 < 26 { b |= 0x20 }
      }
      if a != b { return a < b ? -1 : 1 }
      place += 1
    }
    return counts.0 < counts.1 ? -1 : counts.0 == counts.1 ? 0 : 1
  }
}
