import Terminal

extension Console {
  /// A text in lines that fit, those after the first as far in as `indent` says; a word that is
  /// longer than a line stays whole, so that it can be copied.
  func paragraph(_ text: String, indent: Int) {
    for line in Paragraph.lines(of: text, width: width, indent: indent) { self.line(line) }
  }
}

/// Text broken between words.
enum Paragraph {
  static func lines(of text: String, width: Int, indent: Int) -> [String] {
    // As it is printed: what a terminal would obey takes more cells than one.
    let start = text.prefix { $0 == " " }
    let words = Sanitize.text(text).split(separator: " ").map(String.init)
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = String(start)
    var (cells, isEmpty) = (start.count, true)
    for word in words {
      let size = TextWidth.of(word)
      if !isEmpty, cells + 1 + size > width {
        lines.append(line)
        (line, cells, isEmpty) = (margin, indent, true)
      }
      line += (isEmpty ? "" : " ") + word
      cells += (isEmpty ? 0 : 1) + size
      isEmpty = false
    }
    return lines + [line]
  }
}
