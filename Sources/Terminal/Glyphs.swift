/// A character with the marks that sit on it, safe to send to a terminal, and its width in cells.
package struct Glyph: Sendable, Hashable {
  /// The character with the marks that belong to it.
  package let text: String
  /// 1 or 2.
  package let width: Int
}

/// A text as a row of glyphs, lazily: only what is asked for is looked at.
///
/// A glyph is smaller than a `Character` where terminals disagree about the cluster: the parts of
/// a joined emoji come one by one, without the joiner, since a cell holds one of them and terminals
/// that cannot join them show the same. A stand-in comes glyph by glyph too, so it can be cut like
/// any text.
package struct Glyphs: Sequence, IteratorProtocol {
  /// ncurses holds a character and four marks in a cell. More marks than that show nothing.
  private static let marks = 4
  /// How many marks in a row are looked at before the rest of the text is given up as "…".
  private static let patience = 256

  private var scalars: String.UnicodeScalarView.Iterator
  private var ahead: Unicode.Scalar?
  private var standIn: Substring.UnicodeScalarView = "".unicodeScalars[...]
  /// Whether the last glyph was a picture, which a joiner joins to the next.
  private var isAfterEmoji = false
  /// Whether the rest of the text was given up.
  private(set) var isGivenUp = false

  /// The glyphs of a text, one after the other.
  package init(_ text: String) {
    scalars = text.unicodeScalars.makeIterator()
    ahead = scalars.next()
  }

  /// The next one; `nil` at the end.
  package mutating func next() -> Glyph? {
    if let scalar = standIn.popFirst() { return Glyph(text: String(scalar), width: 1) }
    while let scalar = ahead {
      ahead = scalars.next()
      // Between pictures a joiner hides nothing; anywhere else it is shown.
      if scalar.value == 0x200D, isAfterEmoji, let next = ahead, Self.isEmoji(next) { continue }
      if scalar.value != 0xFE0F { isAfterEmoji = Self.isEmoji(scalar) }
      if scalar.value >= 0x20 && scalar.value < 0x7F {
        if let following = ahead, following.value >= 0x300 { return joined(scalar, width: 1) }
        return Glyph(text: String(scalar), width: 1)
      }
      // These two ask for the text or the emoji look of a symbol; terminals disagree on the width
      // of the answer, and the symbol says the same without.
      if scalar.value == 0xFE0E || scalar.value == 0xFE0F { continue }
      if let replacement = Sanitize.standIn(for: scalar) {
        standIn = replacement.unicodeScalars[...]
        return standIn.popFirst().map { Glyph(text: String($0), width: 1) }
      }
      let width = TextWidth.of(scalar)
      guard width > 0 else {
        var lone = String.UnicodeScalarView("◌".unicodeScalars)
        lone.append(scalar)
        return joined(lone, marks: 1, width: 1)
      }
      return joined(scalar, width: width)
    }
    return nil
  }

  /// Digits and signs of ASCII are emoji to Unicode, too. Lines of frames are asked about often.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x203C && !TextWidth.lines.contains(scalar.value) && scalar.properties.isEmoji
  }

  private mutating func joined(_ scalar: Unicode.Scalar, width: Int) -> Glyph {
    joined(String.UnicodeScalarView([scalar]), marks: 0, width: width)
  }

  private mutating func joined(
    _ base: String.UnicodeScalarView, marks: Int, width: Int
  ) -> Glyph {
    var text = base
    var count = marks
    while let mark = ahead, mark.value >= 0x300 {
      let isSelector = mark.value == 0xFE0E || mark.value == 0xFE0F
      guard isSelector || (TextWidth.of(mark) == 0 && Sanitize.standIn(for: mark) == nil) else {
        break
      }
      if count < Self.marks && !isSelector { text.append(mark) }
      count += 1
      if count > Self.patience {
        ahead = nil
        isGivenUp = true
        standIn = "…".unicodeScalars[...]
        break
      }
      ahead = scalars.next()
    }
    return Glyph(text: String(text), width: width)
  }
}
