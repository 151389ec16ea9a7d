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
