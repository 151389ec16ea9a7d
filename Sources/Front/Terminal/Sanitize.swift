/// What is shown in place of characters that a terminal would obey or hide.
///
/// Text out of a store is hostile until shown otherwise: an escape sequence in a recipe's title
/// must not clear the screen, and an override of direction must not turn a name around. Such
/// characters get a visible stand-in, so that nothing is obeyed and nothing is concealed.
package enum Sanitize {
  /// The stand-in for a scalar, or `nil` when it may be shown as it is.
  package static func standIn(for scalar: Unicode.Scalar) -> String? {
    let value = scalar.value
    switch value {
    case 0x20..<0x7F: return nil
    case 0..<0x20: return Unicode.Scalar(0x2400 + value).map { String(Character($0)) }
    case 0x7F: return "␡"
    case 0x80..<0xA0: return codePoint(value)
    default: break
    }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate:
      return codePoint(value)
    default:
      return properties.isDefaultIgnorableCodePoint ? codePoint(value) : nil
    }
  }

  /// A text that is safe to print on one line, cut at `limit` cells with an ellipsis.
  package static func text(_ text: String, limit: Int = .max) -> String {
    guard limit < .max else { return whole(text) }
    var result = ""
    var width = 0
    // Where to cut if the text turns out too long: the last place that leaves room for the "…".
    var cut = result.endIndex
    for glyph in Glyphs(text) {
      if width + glyph.width > limit {
        return limit <= 0 ? "" : result[..<cut] + "…"
      }
      result += glyph.text
      width += glyph.width
      if width < limit { cut = result.endIndex }
    }
    return result
  }

  /// All of a text: nearly all of it is scalars that stay as they are, and is copied as bytes.
  ///
  /// A megabyte of text is printed when an object is looked at; glyph by glyph that took a fifth of a
  /// second.
  private static func whole(_ text: String) -> String {
    var text = text
    let safe: [UInt8]? = text.withUTF8 { bytes in
      var result: [UInt8] = []
      // What is to be copied begins at `start`; the last plain scalar may get marks from what follows.
      var (start, index): (Int, Int) = (0, 0)
      var last: Int?
      while index < bytes.count {
        let length = plainLength(bytes, at: index)
        guard length == 0 else {
          last = index
          index += length
          continue
        }
        let special = last ?? index
        repeat {
          index += scalarLength(bytes[index])
        } while index < bytes.count
          && plainLength(bytes, at: index) == 0
        result.append(contentsOf: bytes[start..<special])
        var glyphs = Glyphs(String(decoding: bytes[special..<index], as: UTF8.self))
        while let glyph = glyphs.next() { result.append(contentsOf: glyph.text.utf8) }
        guard !glyphs.isGivenUp else { return result }
        (start, last) = (index, nil)
      }
      guard start > 0 else { return nil }
      result.append(contentsOf: bytes[start...])
      return result
    }
    return safe.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// The bytes of a scalar that is plain; 0 for any other.
  private static func plainLength(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
    let lead = UInt32(bytes[index])
    switch lead {
    case 0x20..<0x7F: return 1
    case 0xC2..<0xE0:
      return isPlain((lead & 0x1F) << 6 | UInt32(bytes[index + 1] & 0x3F)) ? 2 : 0
    case 0xE0..<0xF0:
      let middle = UInt32(bytes[index + 1] & 0x3F) << 6
      return isPlain((lead & 0x0F) << 12 | middle | UInt32(bytes[index + 2] & 0x3F)) ? 3 : 0
    default: return 0
    }
  }

  /// Whether a scalar is known by its range to be shown as it is, and to be no mark and no emoji.
  ///
  /// `false` says nothing: rare scalars are left out, and Unicode's tables are asked about them.
  package static func isPlain(_ value: UInt32) -> Bool {
    switch value {
    // A soft hyphen is hidden.
    case 0xAD: false
    // Latin, Greek and Cyrillic letters.
    case 0x20..<0x7F, 0xA0..<0x300, 0x3A3..<0x483, 0x48A..<0x530: true
    // Dashes and quotation marks; frames; kana, Chinese characters, Hangul syllables.
    case 0x2010..<0x2028, 0x2500..<0x25A0, 0x3001..<0x302A, 0x3041..<0x3097, 0x30A1..<0x30FB,
      0x4E00..<0x9FF0, 0xAC00..<0xD7A4:
      true
    default: false
    }
  }

  /// The bytes of a scalar by its first one.
  private static func scalarLength(_ lead: UInt8) -> Int {
    lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
  }

  private static func codePoint(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "⟨U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "⟩"
  }
}
