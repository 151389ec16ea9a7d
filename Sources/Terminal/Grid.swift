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

  /// Writes a line into the first row of a field, aligned.
  package mutating func write(_ spans: [Span], in field: Rect, align: Alignment = .leading) {
    guard !field.isEmpty else { return }
    let indent = align.indent(of: spans.width(upTo: field.width), in: field.width)
    write(spans, at: Point(x: field.x + indent, y: field.y), within: field.width - indent)
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
