/// Box drawing: lines that join the lines they meet.
extension Grid {
  /// The sides of a cell that a line leaves through.
  private struct Arms: OptionSet {
    let rawValue: UInt8

    static let up = Arms(rawValue: 1)
    static let down = Arms(rawValue: 2)
    static let left = Arms(rawValue: 4)
    static let right = Arms(rawValue: 8)
  }

  private static let strokes: [String] = [
    " ", "╵", "╷", "│", "╴", "┘", "┐", "┤", "╶", "└", "┌", "├", "─", "┴", "┬", "┼",
  ]

  /// A box around a rectangle, with a title in its upper edge and a note at the right of it.
  ///
  /// Where it runs over another box the two share the edge (`┬`, `├`, `┼`). Returns the inside.
  @discardableResult
  package mutating func box(
    _ rect: Rect, style: Style = .plain, title: [Span] = [], note: [Span] = []
  ) -> Rect {
    guard rect.width >= 2, rect.height >= 2 else { return rect.inset(by: 1) }
    hline(x: rect.x, y: rect.y, length: rect.width, style: style)
    hline(x: rect.x, y: rect.bottom - 1, length: rect.width, style: style)
    vline(x: rect.x, y: rect.y, length: rect.height, style: style)
    vline(x: rect.right - 1, y: rect.y, length: rect.height, style: style)
    self.title(title, note: note, on: rect)
    return rect.inset(by: 1)
  }

  /// A line across, joined to those that it meets.
  package mutating func hline(x: Int, y: Int, length: Int, style: Style = .plain) {
    for column in max(0, x)..<max(0, x, min(x + max(0, length), width)) {
      join(Self.arms(column - x, of: length, .left, .right), column, y, style)
    }
  }

  /// A line down, joined to those that it meets.
  package mutating func vline(x: Int, y: Int, length: Int, style: Style = .plain) {
    for row in max(0, y)..<max(0, y, min(y + max(0, length), height)) {
      join(Self.arms(row - y, of: length, .up, .down), x, row, style)
    }
  }

  private static func arms(_ place: Int, of length: Int, _ back: Arms, _ on: Arms) -> Arms {
    length == 1 ? [back, on] : place == 0 ? on : place == length - 1 ? back : [back, on]
  }

  private mutating func join(_ arms: Arms, _ x: Int, _ y: Int, _ style: Style) {
    guard let cell = self[x, y] else { return }
    let there = cell.text == " " ? 0 : Self.strokes.firstIndex(of: cell.text) ?? 0
    let joined = Arms(rawValue: UInt8(there)).union(arms)
    put(Self.strokes[Int(joined.rawValue)], width: 1, x: x, y: y, style)
  }

  /// A title in the upper edge of a frame that is drawn already, and a note at the right of it.
  package mutating func title(_ title: [Span], note: [Span] = [], on frame: Rect) {
    let room = frame.width - 4
    guard room > 0, frame.height > 0 else { return }
    let width = title.width(upTo: room)
    if width > 0 {
      let used = write([Span(" ")] + title, at: Point(x: frame.x + 1, y: frame.y), within: room + 1)
      write(" ", at: Point(x: frame.x + 1 + used, y: frame.y))
    }
    // A note gives way to the title: it is drawn whole or not at all.
    let noteWidth = note.width(upTo: room)
    guard noteWidth > 0, noteWidth + width + 3 <= room else { return }
    write(
      [Span(" ")] + note + [Span(" ")], at: Point(x: frame.right - 3 - noteWidth, y: frame.y))
  }
}
