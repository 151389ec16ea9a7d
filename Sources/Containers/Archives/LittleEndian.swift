extension [UInt8] {
  /// A whole number of two bytes, the lowest first; 0 where they are not all there.
  func number16(at offset: Int) -> Int { number(at: offset, bytes: 2) }
  /// A whole number of four bytes.
  func number32(at offset: Int) -> Int { number(at: offset, bytes: 4) }

  /// A whole number of eight bytes; `nil` where it is larger than any file.
  func number64(at offset: Int) -> Int? {
    let (low, high) = (number32(at: offset), number32(at: offset + 4))
    return high < 1 << 30 ? high << 32 | low : nil
  }

  private func number(at offset: Int, bytes: Int) -> Int {
    guard offset >= 0, offset <= count - bytes else { return 0 }
    return (0..<bytes).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }
}
