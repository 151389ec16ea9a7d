import Terminal

extension Grid {
  /// A title in the upper edge of a frame that is drawn already, and a note at the right of it.
  mutating func title(_ title: [Span], note: [Span] = [], on frame: Rect) {
    let room = frame.width - 4
    guard room > 0, frame.height > 0 else { return }
    let width = title.width(upTo: room)
    guard width > 0 else { return }
    let used = write([Span(" ")] + title, at: Point(x: frame.x + 1, y: frame.y), within: room + 1)
    write(" ", at: Point(x: frame.x + 1 + used, y: frame.y))
    // A note gives way to the title: it is drawn whole or not at all.
    let noteWidth = note.width(upTo: room)
    guard noteWidth > 0, noteWidth + width + 3 <= room else { return }
    write(
      [Span(" ")] + note + [Span(" ")],
      at: Point(x: frame.right - 3 - noteWidth, y: frame.y))
  }
}

extension Grid {
  /// Lines below each other, as many as have room.
  mutating func write(_ lines: [String], in rect: Rect, style: Style = .plain) {
    for (row, line) in lines.enumerated() where row < rect.height {
      write(line, at: rect.row(row).origin, style: style, within: rect.width)
    }
  }
}
