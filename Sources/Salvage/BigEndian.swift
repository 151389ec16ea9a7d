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
}
