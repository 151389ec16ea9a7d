/// A pasted text made even, so that an error is found however it was printed: white space of any
/// kind is one blank, quotes are straight, digits of any script are ASCII's, and what was escaped
/// within a quoted description stands as it was said.
///
/// It is here, and what is looked for in it elsewhere, because it looks at every byte of a log.
package struct LogText: Sendable {
  /// The text in bytes of UTF-8.
  package let bytes: [UInt8]
  /// The same with ASCII's letters small; places are those of ``bytes``.
  package let small: [UInt8]
  /// Runs of ASCII's letters, digits and underscores, and runs of other letters between them.
  package let words: [Word]

  /// Makes a text even.
  package init(_ text: String) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var isEscape = false
    var coloring = Coloring.none
    for scalar in text.unicodeScalars {
      if coloring.takes(scalar) {
        Self.append(" ", to: &bytes)
        continue
      }
      let plain = Self.plain(scalar)
      if isEscape {
        isEscape = false
        switch plain {
        case "n", "t", "r": Self.append(" ", to: &bytes)
        case "\"", "'": Self.append(plain, to: &bytes)
        // Descriptions within descriptions are escaped once more.
        case "\\": isEscape = true
        default:
          bytes.append(UInt8(ascii: "\\"))
          Self.append(plain, to: &bytes)
        }
        continue
      }
      if plain == "\\" {
        isEscape = true
        continue
      }
      if scalar.value >= 0x80, scalar.properties.generalCategory == .format { continue }
      Self.append(plain, to: &bytes)
    }
    let small = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    self.bytes = bytes
    self.small = small
    words = Self.words(of: small)
  }

  /// A terminal's sequence for colours, which is no part of the words beside it.
  private enum Coloring {
    case none, begun, inside

    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .none:
        self = scalar.value == 0x1B ? .begun : .none
        return self == .begun
      case .begun:
        self = scalar == "[" ? .inside : .none
        return self == .inside
      case .inside:
        if !(0x20..<0x40).contains(scalar.value) { self = .none }
        return true
      }
    }
  }

  private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    if scalar == " ", bytes.last == 32 { return }
    bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let value = scalar.value
    if value < 0x80 { return value <= 0x20 || value == 0x7F ? " " : scalar }
    switch value {
    case 0x2018, 0x2019, 0x201A, 0x2032, 0x02BC: return "'"
    case 0x201C...0x201E, 0x2033, 0xAB, 0xBB, 0x300C, 0x300D: return "\""
    case 0xFF01...0xFF5E: return Unicode.Scalar(value - 0xFEE0) ?? scalar
    case 0x3002: return "."
    default: break
    }
    let properties = scalar.properties
    if properties.isWhitespace { return " " }
    if properties.numericType == .decimal, let digit = properties.numericValue,
      (0...9).contains(digit)
    {
      return Unicode.Scalar(0x30 + UInt8(digit))
    }
    return scalar
  }

  /// Some of the text, as it was written.
  package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The byte at a place; a blank outside of the text.
  package func byte(_ place: Int) -> UInt8 { bytes.indices.contains(place) ? bytes[place] : 32 }
}

extension LogText {
  /// A word or a number.
  package struct Word: Sendable {
    /// Where it stands.
    package let range: Range<Int>
    /// With ASCII's letters small.
    package let text: String
    /// Its number, where it is digits alone; a minus before it counts.
    package let number: Int?
  }

  private static func words(of small: [UInt8]) -> [Word] {
    func byte(_ place: Int) -> UInt8 { small.indices.contains(place) ? small[place] : 32 }
    var words: [Word] = []
    words.reserveCapacity(small.count / 5)
    var at = 0
    while at < small.count {
      let start = at
      while at < small.count, isPlain(small[at]) { at += 1 }
      if at == start {
        while at < small.count, small[at] >= 0x80 { at += 1 }
      }
      guard at > start else {
        at += 1
        continue
      }
      let range = start..<at
      var number: Int?
      if range.count < 10, small[range].allSatisfy(isDigit) {
        number = Int(String(decoding: small[range], as: UTF8.self))
        let isNegative =
          byte(start - 1) == UInt8(ascii: "-") && !isPlain(byte(start - 2))
          && byte(start - 2) < 0x80
        if isNegative { number = number.map { -$0 } }
      }
      // Longer words are no words of an error.
      guard range.count < 200 else { continue }
      words.append(
        Word(range: range, text: String(decoding: small[range], as: UTF8.self), number: number))
    }
    return words
  }

  /// Whether a byte is a letter, a digit or an underscore of ASCII.
  package static func isPlain(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || isDigit(byte) || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte)
  }

  /// Whether a byte is a digit of ASCII.
  package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The places where a word or a sign begins, and with it what begins with one of some fours of bytes.
  package func places(of starts: Set<UInt32>) -> [Int] {
    var places: [Int] = []
    for at in small.indices {
      guard at == 0 || !Self.isPlain(small[at - 1]) || !Self.isPlain(small[at]) else { continue }
      if starts.contains(Self.start(of: small, at: at)) { places.append(at) }
    }
    return places
  }

  /// Whether the text, its letters small, goes on so at a place.
  package func says(_ words: [UInt8], at place: Int) -> Bool {
    place + words.count <= small.count
      && words.indices.allSatisfy { small[place + $0] == words[$0] }
  }

  /// Four bytes as a number; zeros behind the end.
  package static func start(of bytes: [UInt8], at place: Int) -> UInt32 {
    var start: UInt32 = 0
    for index in place..<(place + 4) {
      start = start << 8 | (index < bytes.count ? UInt32(bytes[index]) : 0)
    }
    return start
  }
}
