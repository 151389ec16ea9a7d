/// A value of an attribute: a default in a model, or what a row of a store holds.
public enum AttributeValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case boolean(Bool)
  /// Double and Float attributes.
  case double(Double)
  /// The digits as text, since binary floating point would change them.
  case decimal(String)
  case string(String)
  /// Seconds since 2001-01-01 00:00:00 UTC, as Core Data stores them; may be infinite or NaN.
  case date(Double)
  case bytes([UInt8])
  /// Sixteen bytes.
  case uuid([UInt8])
  case uri(String)
}

extension AttributeValue {
  /// The text of a String or URI attribute; `nil` for anything else.
  public var text: String? {
    switch self {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }

  /// The value as a line for people: dates by ISO 8601, bytes by their number, nothing for null.
  package var line: String {
    switch self {
    case .null: ""
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .double(let number): number.description
    case .decimal(let text), .string(let text), .uri(let text): text
    case .date(let seconds): CoreDataDate.text(seconds)
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }
}

/// Decimal numbers as digits and as the 16-bit words of an NSDecimal.
package enum DecimalText {
  /// The number in plain digits, without trailing zeros behind the point.
  package static func text(words: [UInt32], exponent: Int, isNegative: Bool) -> String {
    var words = words
    var digits: [UInt8] = []
    while words.contains(where: { $0 != 0 }) {
      var remainder: UInt32 = 0
      for index in words.indices.reversed() {
        let value = remainder << 16 | words[index]
        words[index] = value / 10
        remainder = value % 10
      }
      digits.append(UInt8(ascii: "0") + UInt8(remainder))
    }
    return plain(digits.reversed(), exponent: exponent, isNegative: isNegative)
  }

  /// Digits and a power of ten in plain digits.
  package static func plain(_ digits: [UInt8], exponent: Int, isNegative: Bool) -> String {
    guard !digits.isEmpty else { return "0" }
    var (digits, exponent) = (digits, exponent)
    while exponent < 0, digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    var text = String(decoding: digits, as: UTF8.self)
    if exponent > 0 {
      text += String(repeating: "0", count: exponent)
    } else if exponent < 0 {
      let missing = -exponent - digits.count + 1
      if missing > 0 { text = String(repeating: "0", count: missing) + text }
      let point = text.index(text.endIndex, offsetBy: exponent)
      text = text[..<point] + "." + text[point...]
    }
    return isNegative ? "-" + text : text
  }

  /// The words and the power of ten of plain digits such as `-12.50`; `nil` for other text or for
  /// more than the 38 digits an NSDecimal holds.
  package static func words(_ text: String) -> (words: [UInt16], exponent: Int, isNegative: Bool)? {
    var characters = Array(text.utf8)[...]
    let isNegative = characters.first == UInt8(ascii: "-")
    if let first = characters.first, [UInt8(ascii: "-"), UInt8(ascii: "+")].contains(first) {
      characters.removeFirst()
    }
    var exponent = 0
    var seenPoint = false
    var words = [UInt32](repeating: 0, count: 8)
    var digits = 0
    while let character = characters.popFirst() {
      switch character {
      case UInt8(ascii: "."):
        guard !seenPoint else { return nil }
        seenPoint = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits += 1
        var carry = UInt32(character - UInt8(ascii: "0"))
        for index in words.indices {
          let value = words[index] * 10 + carry
          words[index] = value & 0xFFFF
          carry = value >> 16
        }
        guard carry == 0 else { return nil }
        if seenPoint { exponent -= 1 }
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard let power = Int(String(decoding: characters, as: UTF8.self)),
          (-200...200).contains(power)
        else { return nil }
        exponent += power
        characters = []
      default: return nil
      }
    }
    guard digits > 0, (-128...127).contains(exponent) else { return nil }
    return (words.map { UInt16($0) }, exponent, isNegative)
  }
}

/// A number in plain digits, as a Decimal prints: no exponent, no trailing zeros.
package func decimalDigits(of number: Double) -> String {
  guard number.isFinite else { return number.description }
  if let whole = Int64(exactly: number) { return String(whole) }
  let text = number.description
  guard let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }),
    let exponent = Int(text[text.index(after: mark)...])
  else { return text }
  let parts = text[..<mark].drop { $0 == "-" }.split(separator: ".")
  let fraction = parts.count > 1 && parts[1] != "0" ? String(parts[1]) : ""
  return DecimalText.plain(
    Array(((parts.first ?? "") + fraction).utf8), exponent: exponent - fraction.count,
    isNegative: number < 0)
}
