import Interface
import Terminal

extension Console {
  /// A text in lines that fit, those after the first as far in as `indent` says; a word that is
  /// longer than a line stays whole, so that it can be copied.
  func paragraph(_ text: String, indent: Int) {
    for line in Paragraph.lines(of: text, width: width, indent: indent) { self.line(line) }
  }

  /// Text behind a head, broken at spaces; the lines that follow stand two cells further in.
  func paragraph(_ head: String, _ text: String) {
    let indent = head.prefix { $0 == " " }.count
    let isBare = indent == head.count
    // What came out of a store holds no line of its own.
    let whole = isBare ? Sanitize.text(text) : Sanitize.text(head + " " + text)
    let first = isBare ? head + " " : String(repeating: " ", count: indent)
    let width = max(20, self.width - first.count - 2)
    for (index, line) in Wrapping.lines(whole, width: width).enumerated() {
      self.line(first + (index == 0 ? "" : "  ") + line)
    }
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
