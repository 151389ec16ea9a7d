/// A character with the marks that sit on it, safe to send to a terminal, and its width in cells.
package struct Glyph: Sendable, Hashable {
  /// The character with the marks that belong to it.
  package let text: String
  /// 1 or 2.
  package let width: Int
}

extension Glyph {
  /// Those of ASCII, which nearly all text is of.
  private static let ascii = (0..<0x80).map { String(Unicode.Scalar(UInt8($0))) }

  fileprivate init(_ scalar: Unicode.Scalar, width: Int) {
    text = scalar.isASCII ? Self.ascii[Int(scalar.value)] : String(scalar)
    self.width = width
  }
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
    if !standIn.isEmpty { return standIn.popFirst().map { Glyph($0, width: 1) } }
    while let scalar = ahead {
      ahead = scalars.next()
      // Between pictures a joiner hides nothing; anywhere else it is shown.
      if scalar.value == 0x200D, isAfterEmoji, let next = ahead, Self.isEmoji(next) { continue }
      if scalar.value != 0xFE0F { isAfterEmoji = Self.isEmoji(scalar) }
      if Sanitize.isPlain(scalar.value) {
        return joined(scalar, width: TextWidth.isWide(scalar.value) ? 2 : 1)
      }
      // These two ask for the text or the emoji look of a symbol; terminals disagree on the width
      // of the answer, and the symbol says the same without.
      if scalar.value == 0xFE0E || scalar.value == 0xFE0F { continue }
      if let replacement = Sanitize.standIn(for: scalar) {
        standIn = replacement.unicodeScalars[...]
        return standIn.popFirst().map { Glyph($0, width: 1) }
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

  /// Digits and signs of ASCII are emoji to Unicode, too.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x203C && !Sanitize.isPlain(scalar.value) && scalar.properties.isEmoji
  }

  private mutating func joined(_ scalar: Unicode.Scalar, width: Int) -> Glyph {
    guard let following = ahead, following.value >= 0x300 else {
      return Glyph(scalar, width: width)
    }
    return joined(String.UnicodeScalarView([scalar]), marks: 0, width: width)
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

/// How many cells a character takes: 0 when it sits on the one before, 2 when it is East Asian
/// wide or an emoji, else 1. Ambiguous characters take 1.
///
/// The table is our own, so that a grid is the same on every system; a screen compares it with
/// the C library before it puts a character.
package enum TextWidth {
  /// The cells that a scalar takes: none, one or two.
  package static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value == 0 ? 0 : 1 }
    if Sanitize.isPlain(value) { return isWide(value) ? 2 : 1 }
    if isZero(scalar) { return 0 }
    return isWide(value) ? 2 : 1
  }

  /// The width of a text as a grid draws it, stand-ins included.
  ///
  /// It stops looking once it is beyond `limit`, so a value of ten megabytes is measured as fast
  /// as it is drawn.
  package static func of(_ text: String, upTo limit: Int = .max) -> Int {
    var width = 0
    for byte in text.utf8 {
      // A byte of ASCII is a cell, unless marks follow it.
      guard byte >= 0x20, byte < 0x7F else { return ofGlyphs(text, upTo: limit) }
      width += 1
      if width > limit { break }
    }
    return width
  }

  private static func ofGlyphs(_ text: String, upTo limit: Int) -> Int {
    var width = 0
    for glyph in Glyphs(text) {
      width += glyph.width
      if width > limit { break }
    }
    return width
  }

  private static func isZero(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // The vowels and final consonants that join a Hangul syllable.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: return true
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return true
    default: return false
    }
  }

  fileprivate static func isWide(_ value: UInt32) -> Bool {
    guard value >= 0x1100 else { return false }
    var (low, high) = (0, wide.count - 1)
    while low <= high {
      let middle = (low + high) / 2
      let range = wide[middle]
      if value < range.lowerBound {
        high = middle - 1
      } else if value > range.upperBound {
        low = middle + 1
      } else {
        return true
      }
    }
    return false
  }

  /// Wide and fullwidth characters of Unicode's EastAsianWidth.txt, gaps of unassigned ones closed.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
    0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
    0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
    0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
    0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
    0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
    0x2E80...0x3029, 0x302E...0x303E, 0x3041...0x3096, 0x309B...0xA4C6, 0xA960...0xA97C,
    0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x16FE3, 0x16FF0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF,
    0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C,
    0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
    0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E,
    0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F,
    0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC,
    0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF,
    0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
  ]
}
