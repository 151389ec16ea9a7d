/// The block of 512 bytes before each member of a tar archive.
struct TarHeader {
  static let size = 512

  var name: String
  var bytes: Int
  /// What it is: `0` a file, `5` a folder, `x` attributes of the next member …
  var type: UInt8

  /// Whether a block is one: its checksum says so.
  static func isHeader(_ block: [UInt8]) -> Bool {
    guard block.count >= size, let stated = octal(block[148..<156]) else { return false }
    var sum = 8 * 0x20
    for index in 0..<size where index < 148 || index >= 156 { sum += Int(block[index]) }
    return sum == stated && sum > 8 * 0x20
  }

  /// `nil` for a block that is none.
  init?(_ block: [UInt8]) {
    guard Self.isHeader(block), let bytes = Self.number(block[124..<136]), bytes >= 0 else {
      return nil
    }
    self.bytes = bytes
    type = block[156] == 0 ? UInt8(ascii: "0") : block[156]
    let name = Self.text(block[0..<100])
    // GNU's has "ustar  ", and times in the place of the prefix.
    let hasPrefix = Array(block[257..<263]) == Array("ustar\0".utf8)
    let prefix = hasPrefix ? Self.text(block[345..<500]) : ""
    self.name = prefix.isEmpty ? name : prefix + "/" + name
  }

  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Octal digits, or a binary number where the first bit is set.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first, first & 0x80 != 0 else { return octal(bytes) }
    guard first == 0x80 else { return nil }
    var value = 0
    for byte in bytes.dropFirst() {
      guard value < 1 << 54 else { return nil }
      value = value << 8 | Int(byte)
    }
    return value
  }

  private static func octal(_ bytes: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for byte in bytes.drop(while: { $0 == 0x20 }) {
      if byte == 0 || byte == 0x20 { break }
      guard (0x30...0x37).contains(byte) else { return nil }
      value = value << 3 | Int(byte & 7)
    }
    return value
  }
}
