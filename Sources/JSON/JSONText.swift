/// Strings of JSON: the one place that knows which characters are written as escapes.
///
/// Besides what JSON asks for, what a terminal or an editor obeys is written as `\uXXXX`. What reads
/// the JSON gets the same text.
package enum JSONText {
  /// A text in quotes.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    quote(text, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a text in quotes, as UTF-8.
  package static func quote(_ text: String, into bytes: inout [UInt8]) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { escape($0, into: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func escape(_ text: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
    // What needs no escape is taken over in one go.
    var start = 0
    var place = 0
    while place < text.count {
      let length: Int
      let escape: String
      switch text[place] {
      case UInt8(ascii: "\""): (length, escape) = (1, "\\\"")
      case UInt8(ascii: "\\"): (length, escape) = (1, "\\\\")
      case UInt8(ascii: "\n"): (length, escape) = (1, "\\n")
      case UInt8(ascii: "\r"): (length, escape) = (1, "\\r")
      case UInt8(ascii: "\t"): (length, escape) = (1, "\\t")
      case 0..<0x20, 0x7F: (length, escape) = (1, digits(UInt32(text[place])))
      // The first bytes of the rest of them.
      case 0xC2, 0xD8, 0xE2:
        guard let scalar = scalar(text, at: place), scalar.isObeyed else {
          place += 1
          continue
        }
        (length, escape) = (scalar.utf8.count, digits(scalar.value))
      default:
        place += 1
        continue
      }
      bytes.append(contentsOf: text[start..<place])
      bytes.append(contentsOf: escape.utf8)
      place += length
      start = place
    }
    bytes.append(contentsOf: text[start..<text.count])
  }

  private static func scalar(
    _ text: UnsafeBufferPointer<UInt8>, at place: Int
  ) -> Unicode.Scalar? {
    var decoder = UTF8()
    var bytes = text[place..<min(text.count, place + 3)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
    return scalar
  }

  private static func digits(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
