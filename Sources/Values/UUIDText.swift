/// UUIDs as text of the form 8-4-4-4-12.
package enum UUIDText {
  /// Uppercase digits, as Apple prints them; plain hexadecimal when there are not sixteen bytes.
  package static func text(_ bytes: [UInt8]) -> String {
    guard bytes.count == 16 else { return ByteText.hex(bytes).uppercased() }
    // Byte by byte: stores have millions of them.
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func digit(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") - 10 + number
  }

  /// The sixteen bytes; `nil` for other text.
  package static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.count == 36 else { return nil }
    guard let bytes = ByteText.bytes(hex: text.filter { $0 != "-" }), bytes.count == 16 else {
      return nil
    }
    return bytes
  }
}
