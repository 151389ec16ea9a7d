/// Some words of a text that a person wrote, to be underlined.
public struct TextMark: Sendable, Equatable {
  /// The whole text, as it was written.
  public var text: String
  /// Offsets of UTF-8 bytes in the text; empty at a place where something is missing.
  public var range: Range<Int>

  /// Marks a range of a text, in UTF-8 bytes; what lies outside the text is cut off.
  public init(_ text: String, _ range: Range<Int>) {
    self.text = text
    let count = text.utf8.count
    let start = max(0, min(range.lowerBound, count))
    self.range = start..<max(start, min(range.upperBound, count))
  }

  /// The text before the marked words.
  public var before: String {
    String(decoding: text.utf8.prefix(range.lowerBound), as: UTF8.self)
  }

  /// The marked words.
  public var marked: String {
    String(decoding: text.utf8.prefix(range.upperBound).dropFirst(range.lowerBound), as: UTF8.self)
  }
}
