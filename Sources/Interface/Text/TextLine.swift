import Terminal

/// A line of text with the role that its look comes from.
typealias TextLine = (text: String, role: Theme.Role)

extension Wrapping {
  /// A text in lines of so many cells, all of one look.
  static func lines(_ text: String, _ role: Theme.Role, width: Int) -> [TextLine] {
    lines(text, width: width).map { ($0, role) }
  }
}

extension Grid {
  /// Lines below each other, as many as have room.
  mutating func write(_ lines: [String], in rect: Rect, style: Style = .plain) {
    for (row, line) in lines.enumerated() where row < rect.height {
      write(line, at: rect.row(row).origin, style: style, within: rect.width)
    }
  }

  /// Lines below each other, each in its look, as many as have room.
  mutating func write(_ lines: [TextLine], in rect: Rect, theme: Theme) {
    for (row, line) in lines.enumerated() where row < rect.height {
      write(line.text, at: rect.row(row).origin, style: theme[line.role], within: rect.width)
    }
  }
}
