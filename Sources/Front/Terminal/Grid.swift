/// A screenful of cells to draw on.
///
/// Drawing never traps and never leaves the grid: what lies outside is not drawn. Every text is
/// sanitised on its way in, so a grid holds nothing that a terminal would obey.
package struct Grid: Sendable, Equatable {
  /// Columns.
  package let width: Int
  /// Rows.
  package let height: Int
  /// The look of an empty cell, which all drawing lies over.
  package let base: Style
  /// Row by row; `width * height` of them.
  package private(set) var cells: [Cell]
  /// Where the terminal's own cursor stands; hidden when `nil`.
  package var cursor: Point?
  /// What the mouse can be used on, in the order in which it was drawn.
  package private(set) var spots: [Spot] = []

  /// Empty cells, in one look.
  package init(_ size: Size, base: Style = .plain) {
    width = size.width
    height = size.height
    self.base = base
    cells = [Cell](repeating: Cell(" ", base), count: size.width * size.height)
  }

  /// Empty cells, in one look.
  package init(width: Int, height: Int, base: Style = .plain) {
    self.init(Size(width: width, height: height), base: base)
  }

  /// Columns and rows.
  package var size: Size { Size(width: width, height: height) }
  /// All of it.
  package var bounds: Rect { Rect(width: width, height: height) }

  /// The cell at a place, `nil` outside the grid.
  package subscript(x: Int, y: Int) -> Cell? {
    guard x >= 0, x < width, y >= 0, y < height else { return nil }
    return cells[y * width + x]
  }

  /// Writes a text on one line and says how many cells it took.
  ///
  /// A text longer than `width`, or than the rest of the row, ends in "…".
  @discardableResult
  package mutating func write(
    _ text: String, at point: Point, style: Style = .plain, within width: Int = .max
  ) -> Int {
    guard point.y >= 0, point.y < height, point.x < self.width else { return 0 }
    let limit = min(width, self.width - max(0, point.x) + max(0, -point.x))
    guard limit > 0 else { return 0 }
    var used = 0
    // The last glyphs are held back until it is known whether an ellipsis has to take their place.
    var last: Glyph?
    var glyphs = Glyphs(text)
    while let glyph = glyphs.next() {
      if let held = last {
        if used + held.width + glyph.width > limit {
          put("…", width: 1, x: point.x + used, y: point.y, style)
          return used + 1
        }
        put(held.text, width: held.width, x: point.x + used, y: point.y, style)
        used += held.width
        last = nil
      }
      if used + glyph.width < limit {
        put(glyph.text, width: glyph.width, x: point.x + used, y: point.y, style)
        used += glyph.width
      } else if used + glyph.width == limit {
        last = glyph
      } else {
        put("…", width: 1, x: point.x + used, y: point.y, style)
        return used + 1
      }
    }
    if let held = last {
      put(held.text, width: held.width, x: point.x + used, y: point.y, style)
      used += held.width
    }
    return used
  }

  /// Writes a line of several styles; the whole of it ends in "…" when it is too long.
  @discardableResult
  package mutating func write(_ spans: [Span], at point: Point, within width: Int = .max) -> Int {
    let limit = min(width, self.width - point.x)
    guard limit > 0, point.y >= 0, point.y < height else { return 0 }
    var used = 0
    for (index, span) in spans.enumerated() {
      let rest = limit - used
      if rest == 0 { break }
      // A span that fills the line to its end must still give way to what comes after it.
      let isFull = TextWidth.of(span.text, upTo: rest) == rest
      let isLast = spans[(index + 1)...].allSatisfy { $0.text.isEmpty }
      let text = isFull && !isLast ? span.text + "…" : span.text
      used += write(
        text, at: Point(x: point.x + used, y: point.y), style: span.style, within: rest)
    }
    return used
  }

  /// Writes within a field, to its start, its middle or its end.
  package mutating func write(
    _ text: String, in field: Rect, style: Style = .plain, align: Alignment = .leading
  ) {
    guard !field.isEmpty else { return }
    let indent = align.indent(of: TextWidth.of(text, upTo: field.width), in: field.width)
    write(
      text, at: Point(x: field.x + indent, y: field.y), style: style, within: field.width - indent)
  }

  /// Notes that the mouse does something here.
  package mutating func mark(_ rect: Rect, as target: Spot.Target) {
    if !rect.isEmpty { spots.append(Spot(rect: rect, target: target)) }
  }

  /// Empties a part of the grid, down to a style over the grid's base.
  package mutating func fill(_ rect: Rect, _ text: Character = " ", style: Style = .plain) {
    let part = rect.intersection(bounds)
    guard !part.isEmpty else { return }
    let full = style.over(base)
    var glyphs = Glyphs(String(text))
    let glyph = glyphs.next().map { $0.width == 1 ? $0.text : " " } ?? " "
    for y in part.y..<part.bottom {
      splitWide(at: part.x, y)
      splitWide(at: part.right, y)
      for x in part.x..<part.right { cells[y * width + x] = Cell(glyph, full) }
    }
  }

  mutating func put(_ text: String, width cellWidth: Int, x: Int, y: Int, _ style: Style) {
    guard y >= 0, y < height, x >= 0, x + cellWidth <= width else { return }
    let index = y * width + x
    if cells[index].isContinuation { splitWide(at: x, y) }
    let end = x + cellWidth
    if end < width, cells[y * width + end].isContinuation { splitWide(at: end, y) }
    let full = style.over(cells[index].style)
    cells[index].text = text
    cells[index].style = full
    if cellWidth == 2 { cells[index + 1] = .continuation(full) }
  }

  /// Turns a wide character that lies across the left edge of `x` into two spaces.
  private mutating func splitWide(at x: Int, _ y: Int) {
    guard x > 0, x < width else { return }
    let index = y * width + x
    guard cells[index].isContinuation else { return }
    cells[index - 1].text = " "
    cells[index].text = " "
  }
}

extension Grid {
  /// Calls a function with each cell that differs from that of a former grid of the same size, in a part at the upper
  /// left: its place, and whether it is a wide character. Continuations are left out; without a former grid all others
  /// differ.
  package func forEachChange(
    since old: Grid?, in part: Size,
    _ body: (_ x: Int, _ y: Int, _ cell: Cell, _ isWide: Bool) -> Void
  ) {
    let old = old?.size == size ? old : nil
    for y in 0..<min(height, part.height) {
      let row = y * width
      let end = row + min(width, part.width)
      for index in row..<end where old.map({ $0.cells[index] != cells[index] }) ?? true {
        let cell = cells[index]
        if cell.isContinuation { continue }
        body(index - row, y, cell, index + 1 < end && cells[index + 1].isContinuation)
      }
    }
  }
}

extension Grid: CustomStringConvertible {
  /// A row as text without the spaces at its end.
  package func row(_ y: Int) -> String {
    guard y >= 0, y < height else { return "" }
    var text = ""
    for cell in cells[(y * width)..<((y + 1) * width)] { text += cell.text }
    while text.last == " " { text.removeLast() }
    return text
  }

  /// The rows as text, for snapshots.
  package var description: String {
    (0..<height).map(row).joined(separator: "\n")
  }
}

/// One cell of a grid: a character with its marks, or the right half of the wide one before it.
package struct Cell: Sendable, Hashable {
  /// Empty in a continuation.
  package var text: String
  /// Its look.
  package var style: Style

  /// A character in a look.
  package init(_ text: String = " ", _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  /// The right half of a wide character.
  package static func continuation(_ style: Style) -> Cell { Cell("", style) }

  /// Whether the character before it takes this cell too.
  package var isContinuation: Bool { text.isEmpty }
}

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

  /// By scalar: texts that differ would be compared in a normal form.
  private static let armsOfScalars: [Unicode.Scalar: Arms] = Dictionary(
    uniqueKeysWithValues: strokes.enumerated().map { place, text in
      (text.unicodeScalars[text.startIndex], Arms(rawValue: UInt8(place)))
    })

  private static func arms(of text: String) -> Arms {
    guard text.utf8.count == 3, let first = text.unicodeScalars.first else { return [] }
    return armsOfScalars[first] ?? []
  }

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
    let joined = Self.arms(of: cell.text).union(arms)
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
