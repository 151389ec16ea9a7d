/// Breaks text into lines at its spaces.
package enum Wrapping {
  /// A text in lines of so many cells, broken between words.
  package static func lines(_ text: String, width: Int) -> [String] {
    let width = max(1, width)
    var lines: [String] = []
    var line = ""
    var used = 0
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
      var word = word[...]
      var length = TextWidth.of(String(word))
      if used > 0 {
        if used + 1 + length <= width {
          line += " " + word
          used += 1 + length
          continue
        }
        lines.append(line)
        (line, used) = ("", 0)
      }
      // A word longer than the line is broken anywhere: a path.
      while length > width {
        var part = ""
        var cells = 0
        while let character = word.first {
          let next = TextWidth.of(String(character))
          if cells + next > width, !part.isEmpty { break }
          part.append(character)
          cells += next
          word = word.dropFirst()
        }
        lines.append(part)
        length = TextWidth.of(String(word))
      }
      line = String(word)
      used = length
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    return lines
  }

  /// A line of code as lines no wider: broken at a space where there is one, its spaces kept.
  package static func code(_ text: String, width: Int) -> [String] {
    let width = max(8, width)
    var lines: [String] = []
    var rest = Array(text.prefix(100_000))[...]
    while TextWidth.of(String(rest), upTo: width + 1) > width {
      var used = 0
      var end = rest.startIndex
      var space: Int?
      while end < rest.endIndex {
        let next = TextWidth.of(String(rest[end]))
        if used + next > width { break }
        if rest[end] == " ", used > 4 { space = end }
        used += next
        end += 1
      }
      let cut = max(space ?? end, rest.startIndex + 1)
      lines.append(String(rest[..<cut]))
      rest = rest[cut...].drop { $0 == " " }
      // What goes on stands further in than what began.
      rest = (Array("    ") + rest)[...]
    }
    lines.append(String(rest))
    return lines
  }
}

extension Wrapping {
  /// A text in lines, those after the first as far in as `indent` says; a word that is longer than a line
  /// stays whole, so that it can be copied.
  package static func paragraph(_ text: String, width: Int, indent: Int) -> [String] {
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

extension Wrapping {
  /// A message in lines, as far in as it is itself.
  ///
  /// A command in it begins a line where it does not fit, and is not broken: it can be copied as it stands.
  ///
  /// - Parameter isCommand: whether a word behind the program's name makes a command of both.
  package static func message(
    _ text: String, width: Int, isCommand: (String) -> Bool
  ) -> [String] {
    guard TextWidth.of(text, upTo: width + 1) > width else { return [text] }
    let start = String(text.prefix { $0 == " " })
    let words = text.dropFirst(start.count).split(separator: " ", omittingEmptySubsequences: false)
    let command =
      zip(words.indices, words.dropFirst()).first {
        words[$0] == "strata" && isCommand(String($1))
      }?.0 ?? words.endIndex
    let pieces =
      words[..<command].map(String.init)
      + (command < words.endIndex ? [words[command...].joined(separator: " ")] : [])
    var lines: [String] = []
    var line = start
    var isEmpty = true
    for piece in pieces {
      if !isEmpty, TextWidth.of(line) + 1 + TextWidth.of(piece) > width {
        lines.append(line)
        (line, isEmpty) = (start, true)
      }
      line += (isEmpty ? "" : " ") + piece
      isEmpty = false
    }
    return lines + [line]
  }
}

/// A line of text with the role that its look comes from.
package typealias TextLine = (text: String, role: Theme.Role)

extension Wrapping {
  /// A text in lines of so many cells, all of one look.
  package static func lines(_ text: String, _ role: Theme.Role, width: Int) -> [TextLine] {
    lines(text, width: width).map { ($0, role) }
  }
}

extension Grid {
  /// Lines below each other, as many as have room.
  package mutating func write(_ lines: [String], in rect: Rect, style: Style = .plain) {
    for (row, line) in lines.enumerated() where row < rect.height {
      write(line, at: rect.row(row).origin, style: style, within: rect.width)
    }
  }

  /// Lines below each other, each in its look, as many as have room.
  package mutating func write(_ lines: [TextLine], in rect: Rect, theme: Theme) {
    for (row, line) in lines.enumerated() where row < rect.height {
      write(line.text, at: rect.row(row).origin, style: theme[line.role], within: rect.width)
    }
  }
}

extension String {
  /// With spaces after it up to a width in cells, so many of them at least.
  package func padded(to width: Int, least: Int = 1) -> String {
    self + String(repeating: " ", count: max(least, width - TextWidth.of(self)))
  }

  /// Cut to a width in cells, or with spaces after it up to that.
  package func fitted(to width: Int) -> String {
    Sanitize.text(self, limit: width).padded(to: width, least: 0)
  }

  /// With spaces before it up to a width in cells.
  package func trailing(in width: Int, least: Int = 0) -> String {
    String(repeating: " ", count: max(least, width - TextWidth.of(self))) + self
  }

  /// With its first letter as a sentence begins.
  package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Array {
  /// The element there, if there is one.
  package func element(_ index: Int?) -> Element? {
    index.flatMap { indices.contains($0) ? self[$0] : nil }
  }
}

extension Theme {
  /// A text in the look of its role; on a selected row in that of the row.
  package func span(_ isSelected: Bool, _ text: String, _ role: Role) -> Span {
    Span(text, isSelected ? .plain : self[role])
  }
}
