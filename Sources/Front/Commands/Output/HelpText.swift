import Terminal

/// Help as a terminal shows it: what is wider is broken between words, each column under its beginning.
enum HelpText {
  /// Cells that a last column needs to be wrapped beside the others.
  private static let narrowest = 28
  /// Lines that begin so are no part of the paragraph before them.
  private static let leads = ["usage: ", "example: ", "exit status: "]
  private static let bound: Character = "\u{A0}"

  /// Help whose lines are no wider than `width`; lines that fit stay as they are.
  static func fitted(_ help: String, width: Int) -> String {
    var rest = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
    var lines: [String] = []
    while let line = rest.first {
      let paragraph = rest.prefix { isText($0) }
      if paragraph.isEmpty {
        rest.removeFirst()
        lines += TextWidth.of(line) <= width ? [line] : columns(line, width: width)
      } else {
        rest = rest.dropFirst(paragraph.count)
        lines +=
          paragraph.allSatisfy { TextWidth.of($0) <= width }
          ? Array(paragraph) : Wrapping.lines(paragraph.joined(separator: " "), width: width)
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Whether a line is one of a paragraph, which is broken anew as a whole.
  private static func isText(_ line: String) -> Bool {
    !line.isEmpty && !line.hasPrefix(" ") && !line.contains("  ")
      && !leads.contains { line.hasPrefix($0) }
  }

  /// A line whose last column goes on under its beginning, or below the others where there is no room beside them.
  private static func columns(_ line: String, width: Int) -> [String] {
    let head: Substring
    if let lead = leads.first(where: { line.hasPrefix($0) }) {
      head = line.prefix(lead.count)
    } else {
      // What stands behind the last gap of two spaces or more.
      let indent = line.prefix { $0 == " " }
      let gap = line.dropFirst(indent.count).ranges(of: "  ").last
      head =
        gap.map { gap in
          line[..<(line[gap.upperBound...].firstIndex { $0 != " " } ?? line.endIndex)]
        } ?? indent
    }
    let text = holding(line.dropFirst(head.count))
    let room = width - head.count
    let (first, margin) = room < narrowest ? (alone(head, width: width), 6) : ([], head.count)
    let wrapped = Wrapping.lines(text, width: max(narrowest, width - margin)).map {
      $0.map { $0 == bound ? " " : String($0) }.joined()
    }
    let space = String(repeating: " ", count: margin)
    return first
      + wrapped.enumerated().map { index, part in
        (index == 0 && first.isEmpty ? String(head) : space) + part
      }
  }

  /// A text whose options in brackets are not broken.
  private static func holding(_ text: Substring) -> String {
    var depth = 0
    return String(
      text.map { character in
        if character == "[" { depth += 1 }
        if character == "]" { depth -= 1 }
        return character == " " && depth > 0 ? bound : character
      })
  }

  /// What stands before a last column that has no room beside it.
  private static func alone(_ head: Substring, width: Int) -> [String] {
    let indent = String(head.prefix { $0 == " " })
    return Wrapping.lines(String(head), width: width - indent.count).map { indent + $0 }
  }
}

extension Console {
  /// Prints help, no wider than a terminal; into a pipe as it is.
  package func help(_ text: String) {
    write(isTerminal ? HelpText.fitted(text, width: width) : text)
  }
}
