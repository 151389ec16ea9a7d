import JSON

extension StringProtocol {
  /// Without the white space at both ends.
  package var trimmed: String {
    var text = Substring(self)
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let start = text.utf8.firstIndex(where: { !isBlank($0) }),
      let end = text.utf8.lastIndex(where: { !isBlank($0) })
    else { return "" }
    // ASCII at both ends, as nearly all text is: letters with marks need no look.
    if text.utf8[start] < 0x80, text.utf8[end] < 0x80 { return String(text[start...end]) }
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  /// As XML has it between tags and in quotes.
  ///
  /// Line breaks are written as references, since a parser turns plain ones in attributes into
  /// spaces; characters that XML 1.0 cannot hold are replaced.
  package var escapedForXML: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x26: result += "&amp;"
      case 0x3C: result += "&lt;"
      case 0x3E: result += "&gt;"
      case 0x22: result += "&quot;"
      case 0x09, 0x0A, 0x0D: result += "&#\(scalar.value);"
      case 0..<0x20, 0xFFFE, 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// With what a terminal obeys as `\u{1B}`.
  package var printable: String {
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isObeyed {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension String {
  /// Byte order, which is how Core Data sorts names of properties.
  package func precedes(_ other: String) -> Bool {
    let result = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { two in
        for index in 0..<min(one.count, two.count) where one[index] != two[index] {
          return one[index] < two[index]
        }
        return one.count < two.count
      }
    }
    return (result ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension Sequence {
  /// The elements by the bytes of their names.
  package func sortedByBytes(_ name: (Element) -> String) -> [Element] {
    let elements = Array(self)
    // Texts are compared here, in a module that is optimised, and not in that of the elements.
    let names = elements.map(name)
    return names.indices.sorted { names[$0].precedes(names[$1]) }.map { elements[$0] }
  }
}

extension [String] {
  /// The first text that stood before.
  package var firstRepeated: String? {
    var seen: Set<String> = []
    return first { !seen.insert($0).inserted }
  }
}
