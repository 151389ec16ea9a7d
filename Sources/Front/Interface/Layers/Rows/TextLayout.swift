import ManagedStore
import Terminal

/// Lines of a part of a long text, each with the place where it begins: nothing but what is seen is
/// laid out.
struct TextLayout: Sendable, Equatable {
  struct Line: Sendable, Equatable {
    /// Offset of its first byte.
    var start: Int
    /// Offset of the byte after it, the end of the line included.
    var end: Int
    var text: String
  }

  /// Bytes of the text, and where in the whole they begin.
  let bytes: [UInt8]
  let offset: Int
  let width: Int

  /// Bytes that are looked back over for the start of a paragraph.
  private static let paragraph = 16 << 10

  /// Lines from a place on.
  func lines(from start: Int, count: Int) -> [Line] {
    var lines: [Line] = []
    var place = start
    while lines.count < count, let line = line(from: place) {
      lines.append(line)
      place = line.end
    }
    return lines
  }

  /// Where the line before a place begins; `nil` at the start of what is known.
  func start(before place: Int) -> Int? {
    let index = min(place - offset, bytes.count)
    guard index > 0 else { return nil }
    let limit = max(0, index - Self.paragraph)
    var first = index - 1
    while first > limit, bytes[first - 1] != 10 { first -= 1 }
    // In the middle of a character there is no line.
    while first < index - 1, bytes[first] & 0xC0 == 0x80 { first += 1 }
    var last = offset + first
    while let line = line(from: last), line.end < place { last = line.end }
    return last
  }

  /// The line that begins at a place: to a line feed, or as much as fits, broken after a space where
  /// there is one.
  private func line(from start: Int) -> Line? {
    let first = start - offset
    guard first >= 0, first < bytes.count else { return nil }
    var text = ""
    var cells = 0
    var index = first
    var space: (end: Int, text: String)?
    while index < bytes.count {
      if bytes[index] == 10 {
        return Line(start: start, end: offset + index + 1, text: text)
      }
      let length = characterLength(at: index)
      let piece = bytes[index..<(index + length)]
      var shown: String
      if piece.first == 13, index + 1 < bytes.count, bytes[index + 1] == 10 {
        shown = ""
      } else if piece.first == 9 {
        shown = String(repeating: " ", count: 4 - cells % 4)
      } else {
        shown = Sanitize.text(String(decoding: piece, as: UTF8.self))
      }
      let size = TextWidth.of(shown)
      if cells + size > width, cells > 0 {
        if let space {
          return Line(start: start, end: offset + space.end, text: space.text)
        }
        break
      }
      text += shown
      cells += size
      index += length
      if piece.first == 32 || piece.first == 9 { space = (index, text) }
    }
    return Line(start: start, end: offset + index, text: text)
  }

  /// Bytes of the scalar there and of marks that sit on it.
  private func characterLength(at index: Int) -> Int {
    var end = index + scalarLength(at: index)
    while end < bytes.count, end - index < 64, bytes[end] >= 0xCC {
      let length = scalarLength(at: end)
      let scalars = String(decoding: bytes[end..<(end + length)], as: UTF8.self).unicodeScalars
      guard let scalar = scalars.first, scalar.value >= 0x300, TextWidth.of(scalar) == 0 else {
        break
      }
      end += length
    }
    return end - index
  }

  private func scalarLength(at index: Int) -> Int {
    let wanted =
      switch bytes[index] {
      case 0xF0...0xF7: 4
      case 0xE0...0xEF: 3
      case 0xC0...0xDF: 2
      default: 1
      }
    var length = 1
    while length < wanted, index + length < bytes.count, bytes[index + length] & 0xC0 == 0x80 {
      length += 1
    }
    return length
  }
}

/// Bytes as lines of sixteen in hexadecimal, with their letters.
enum HexLayout {
  static func columns(width: Int) -> Int { width >= 78 ? 16 : width >= 44 ? 8 : 4 }

  static func line(_ bytes: ArraySlice<UInt8>, at offset: Int, columns: Int) -> String {
    let place = String(offset, radix: 16)
    var text = String(repeating: "0", count: max(0, 8 - place.count)) + place + "  "
    for index in 0..<columns {
      let byte = bytes.startIndex + index < bytes.endIndex ? bytes[bytes.startIndex + index] : nil
      if let byte {
        let digits = String(byte, radix: 16)
        text += (digits.count == 1 ? "0" : "") + digits + " "
      } else {
        text += "   "
      }
      if index == columns / 2 - 1 { text += " " }
    }
    return text + " "
      + String(
        decoding: bytes.prefix(columns).map { (32..<127).contains($0) ? $0 : 46 }, as: UTF8.self)
  }
}

extension TextLayout {
  /// The part of a value that was read.
  init(_ part: StoredContent, width: Int) {
    self.init(bytes: part.bytes, offset: part.offset, width: width)
  }
}
