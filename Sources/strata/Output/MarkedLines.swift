import ManagedModel
import Terminal

/// A text with its wrong words underlined, in two lines of a terminal.
enum MarkedLines {
  /// Cells of text shown on either side of the marked words.
  private static let around = 60

  static func lines(_ mark: TextMark) -> [String] {
    // Line ends would tear the two lines apart.
    let before = Array(Sanitize.text(mark.before))
    let marked = Sanitize.text(String(mark.marked.prefix(around)))
    let after = String(decoding: mark.text.utf8.dropFirst(mark.range.upperBound), as: UTF8.self)
    let shown = (before.count > around ? "…" : "") + String(before.suffix(around))
    let rest = Sanitize.text(String(after.prefix(around)))
    return [
      "  " + shown + marked + rest,
      "  " + String(repeating: " ", count: TextWidth.of(shown))
        + String(repeating: "^", count: max(1, TextWidth.of(marked))),
    ]
  }
}
