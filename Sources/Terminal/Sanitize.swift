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

  private static func codePoint(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "⟨U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "⟩"
  }
}
