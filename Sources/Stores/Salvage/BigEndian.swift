/// Whole numbers as SQLite's files have them: the most significant byte first.
package enum BigEndian {
  /// Four bytes; 0 where they are not there.
  package static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    guard offset >= 0, offset <= bytes.count - 4 else { return 0 }
    return UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16
      | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3])
  }

  /// Two bytes; 0 where they are not there.
  package static func half(_ bytes: [UInt8], _ offset: Int) -> Int {
    guard offset >= 0, offset <= bytes.count - 2 else { return 0 }
    return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
  }

  /// Two bytes that are within the bytes.
  @inline(__always)
  static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
  }

  /// Four bytes that are within the bytes.
  @inline(__always)
  static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  /// Puts four bytes, where they are.
  static func put(_ number: Int, into bytes: inout [UInt8], _ offset: Int) {
    guard offset >= 0, offset <= bytes.count - 4 else { return }
    let word = UInt32(truncatingIfNeeded: number)
    for place in 0..<4 {
      bytes[offset + place] = UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32(place)))
    }
  }

  /// Puts two bytes, where they are.
  static func putHalf(_ number: Int, into bytes: inout [UInt8], _ offset: Int) {
    guard offset >= 0, offset <= bytes.count - 2 else { return }
    bytes[offset] = UInt8(truncatingIfNeeded: number >> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: number)
  }
}

/// SQLite's whole numbers of one to nine bytes, seven bits in each but the ninth.
package enum Varint {
  /// The number at an offset and the offset behind it; `nil` where the bytes end before it does.
  @inline(__always)
  package static func read(_ bytes: [UInt8], _ offset: Int) -> (value: UInt64, end: Int)? {
    guard offset >= 0, offset < bytes.count else { return nil }
    var value: UInt64 = 0
    var place = offset
    let last = min(bytes.count, offset + 8)
    while place < last {
      let byte = bytes[place]
      value = value << 7 | UInt64(byte & 0x7F)
      place += 1
      if byte < 0x80 { return (value, place) }
    }
    guard place == offset + 8, place < bytes.count else { return nil }
    return (value << 8 | UInt64(bytes[place]), place + 1)
  }

  /// The number at a place, which then is behind it; `nil` where it does not end before `end`, which
  /// must be within the bytes.
  @inline(__always)
  static func read(
    _ bytes: UnsafeRawBufferPointer, at place: inout Int, before end: Int
  ) -> UInt64? {
    // Most are of one byte.
    if place < end, bytes[place] < 0x80 {
      defer { place += 1 }
      return UInt64(bytes[place])
    }
    var value: UInt64 = 0
    let last = min(end, place + 8)
    while place < last {
      let byte = bytes[place]
      value = value << 7 | UInt64(byte & 0x7F)
      place += 1
      if byte < 0x80 { return value }
    }
    guard place < end, last < end else { return nil }
    value = value << 8 | UInt64(bytes[place])
    place += 1
    return value
  }

  /// How many bytes a number takes.
  static func length(_ value: UInt64) -> Int {
    min(9, max(1, (UInt64.bitWidth - value.leadingZeroBitCount + 6) / 7))
  }

  /// A number as its bytes.
  static func bytes(_ value: UInt64) -> [UInt8] {
    let length = length(value)
    // The ninth byte has eight bits.
    guard length < 9 else {
      return (0..<8).map { UInt8(value >> UInt64(57 - 7 * $0) & 0x7F) | 0x80 }
        + [UInt8(truncatingIfNeeded: value)]
    }
    return (0..<length).map { place in
      let bits = UInt8(value >> UInt64(7 * (length - 1 - place)) & 0x7F)
      return place == length - 1 ? bits : bits | 0x80
    }
  }
}
