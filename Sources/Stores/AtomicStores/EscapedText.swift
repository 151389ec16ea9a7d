/// Text of an XML store, which has escapes of its own instead of XML's.
///
/// `\\` is a backslash, `\uXXXX` a UTF-16 unit. The four digits are the unit's bytes as they lie in memory: swapped on
/// Intel and Apple silicon (`\u3c00` is `<`), in order on PowerPC (`\u003c`). Only markup, control characters and
/// units from the surrogates on are written so, which tells the two apart (atomic-stores, 3,206 of 3,206 swapped).
enum EscapedText {
  /// The text that is meant; what is no escape stands for itself.
  static func read(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    var units: [UInt16] = []
    let given = Array(text.utf16)
    units.reserveCapacity(given.count)
    var place = 0
    while place < given.count {
      let unit = given[place]
      guard unit == backslash, place + 1 < given.count else {
        units.append(unit)
        place += 1
        continue
      }
      if given[place + 1] == backslash {
        units.append(backslash)
        place += 2
      } else if given[place + 1] == UInt16(UInt8(ascii: "u")),
        let written = number(given.dropFirst(place + 2).prefix(4))
      {
        units.append(meant(by: written))
        place += 6
      } else {
        units.append(unit)
        place += 1
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  private static let backslash = UInt16(UInt8(ascii: "\\"))

  private static func number(_ digits: ArraySlice<UInt16>) -> UInt16? {
    guard digits.count == 4 else { return nil }
    var value: UInt16 = 0
    for digit in digits {
      guard let digit = UInt8(exactly: digit),
        let part = Character(UnicodeScalar(digit)).hexDigitValue
      else { return nil }
      value = value << 4 | UInt16(part)
    }
    return value
  }

  /// The unit of four digits, whichever machine wrote them.
  private static func meant(by written: UInt16) -> UInt16 {
    let swapped = written.byteSwapped
    let first: UInt16 = 0xD800
    if swapped < 0x100 || swapped >= first { return swapped }
    return written < 0x100 || written >= first ? written : swapped
  }
}
