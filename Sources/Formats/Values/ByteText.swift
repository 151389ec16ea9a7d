/// Bytes as text and back: hexadecimal and Base64.
package enum ByteText {
  /// Two lowercase digits a byte.
  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The lines of a text, as `split(separator: "\n")` has them, empty ones included.
  ///
  /// A line feed behind a carriage return ends no line: the two are one character. Characters are not
  /// looked for, which takes a megabyte of text ten times as long.
  package static func lines(_ text: String) -> [String] {
    var text = text
    return text.withUTF8 { bytes in
      var lines: [String] = []
      var (start, index) = (0, 0)
      while index < bytes.count {
        if bytes[index] == 0x0A, index == 0 || bytes[index - 1] != 0x0D {
          lines.append(String(decoding: bytes[start..<index], as: UTF8.self))
          start = index + 1
        }
        index += 1
      }
      lines.append(String(decoding: bytes[start...], as: UTF8.self))
      return lines
    }
  }

  /// The bytes that pairs of hexadecimal digits in either case stand for; `nil` for other text.
  package static func bytes(hex text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var index = 0
    while index < digits.count {
      guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
      index += 2
    }
    return bytes
  }

  /// Base64 with padding and without line breaks, as Core Data writes digests.
  package static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[index + 2]) }
      text.append(alphabet[Int(group >> 18 & 63)])
      text.append(alphabet[Int(group >> 12 & 63)])
      text.append(count > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
      text.append(count > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of Base64 text; white space is skipped, and anything else makes it `nil`.
  package static func bytes(base64 text: some StringProtocol) -> [UInt8]? {
    // Read where it lies: texts are long, and the module of the caller knows only that this is one.
    var text = String(text)
    return text.withUTF8 { bytes(base64: $0) }
  }

  private static func bytes(base64 text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var bits = 0
    var padding = 0
    for character in text {
      let value: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="):
        padding += 1
        continue
      case 9, 10, 13, 32: continue
      default: return nil
      }
      guard padding == 0 else { return nil }
      group = group << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
      }
    }
    guard bits < 6, padding <= 2 else { return nil }
    return bytes
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func nibble(_ digit: UInt8) -> UInt8? {
    Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
  }
}

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

  /// A new UUID.
  package static func random() -> String { text(randomBytes()) }

  /// The bytes of a new UUID.
  package static func randomBytes() -> [UInt8] {
    version4((0..<16).map { _ in UInt8.random(in: 0...255) })
  }

  /// Sixteen bytes as a UUID of version 4 (RFC 9562), as `UUID()` and Core Data make them.
  package static func version4(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.enumerated().map { place, byte in
      switch place {
      case 6: byte & 0x0F | 0x40
      case 8: byte & 0x3F | 0x80
      default: byte
      }
    }
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

extension UInt8 {
  /// Whether it is a digit of ASCII.
  package var isDigit: Bool { (0x30...0x39).contains(self) }

  /// Whether it is a letter of ASCII.
  package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }

  /// Whether it is a letter or digit of ASCII, an underscore, or of a character beyond ASCII.
  package var isOfWord: Bool { isLetter || isDigit || self == UInt8(ascii: "_") || self >= 0x80 }
}
