/// A table of many rows of which a window is loaded.
///
/// The list says how many rows there are and which is selected; `load` brings the rows around the
/// visible ones. A row that is not loaded is drawn as `…` until it comes.
package struct Table: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package var title: String
    package var alignment: Alignment
    /// The column grows with what it has shown, up to this width.
    package var maxWidth: Int

    package init(_ title: String, _ alignment: Alignment = .leading, maxWidth: Int = 40) {
      self.title = title
      self.alignment = alignment
      self.maxWidth = max(1, maxWidth)
    }
  }

  package typealias Row = [[Span]]

  package private(set) var columns: [Column]
  package var list: List
  /// The column that `y` copies and `s` sorts by; it is always kept in sight.
  package private(set) var selectedColumn = 0
  package private(set) var firstLoaded = 0
  package private(set) var rows: [Row] = []
  private var widths: [Int]

  package init(_ columns: [Column], count: Int = 0) {
    self.columns = columns
    list = List(count: count)
    widths = columns.map { TextWidth.of($0.title, upTo: $0.maxWidth).clamped(1, $0.maxWidth) }
  }

  package var loaded: Range<Int> { firstLoaded..<(firstLoaded + rows.count) }

  /// Takes rows in place of those it had. Columns widen to what is new but never narrow, so that
  /// scrolling does not make them dance.
  package mutating func load(_ rows: [Row], from first: Int) {
    self.rows = rows
    firstLoaded = max(0, first)
    for row in rows {
      for (index, cell) in row.enumerated() where index < columns.count {
        let limit = columns[index].maxWidth
        if widths[index] < limit {
          widths[index] = max(widths[index], min(limit, cell.width(upTo: limit)))
        }
      }
    }
  }

  /// The rows a screenful around the visible ones that are wanted but not loaded, or `nil` when
  /// every visible one is there.
  package func missing(margin: Int = 100) -> Range<Int>? {
    let visible = list.visible
    if visible.isEmpty
      || (loaded.contains(visible.lowerBound)
        && loaded.contains(visible.upperBound - 1))
    {
      return nil
    }
    return max(0, visible.lowerBound - margin)..<min(list.count, visible.upperBound + margin)
  }

  package func row(_ index: Int) -> Row? {
    loaded.contains(index) ? rows[index - firstLoaded] : nil
  }

  package mutating func selectColumn(_ column: Int) {
    selectedColumn = column.clamped(0, columns.count - 1)
  }

  /// Moves as a list does, and between columns with ← → h l 0 $.
  package mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .left, .character("h"): selectColumn(selectedColumn - 1)
    case .right, .character("l"): selectColumn(selectedColumn + 1)
    case .character("0"): selectColumn(0)
    case .character("$"): selectColumn(columns.count - 1)
    default: return list.handle(key)
    }
    return true
  }
}

extension Table {
  private static var gap: Int { 2 }

  /// Draws the titles in the first row and the rows below; the rectangle's height less one is the
  /// list's height.
  package func draw(in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool = true) {
    guard !rect.isEmpty else { return }
    let places = places(in: rect.width)
    for (index, place) in places {
      let mark: Style.Attributes = index == selectedColumn && isFocused ? .underline : []
      write(
        [Span(columns[index].title, theme[.columnTitle].adding(mark))], of: index, at: place,
        in: &grid, rect.row(0))
    }
    let body = rect.droppingRows(1)
    guard !body.isEmpty else { return }
    let list = list.fitted(to: body.height)
    for (position, index) in list.visible.enumerated() {
      let line = body.row(position)
      list.drawBackground(of: index, in: &grid, line, theme: theme, isFocused: isFocused)
      guard let row = row(index) else {
        grid.write("…", at: Point(x: line.x + 2, y: line.y), style: theme[.dim])
        continue
      }
      for (column, place) in places where column < row.count {
        write(row[column], of: column, at: place, in: &grid, line)
      }
    }
    list.drawScrollMark(in: &grid, body, theme: theme)
  }

  private func write(
    _ spans: [Span], of column: Int, at place: (x: Int, width: Int), in grid: inout Grid,
    _ line: Rect
  ) {
    let field = Rect(x: line.x + place.x, y: line.y, width: place.width, height: line.height)
    grid.write(spans, in: field, align: columns[column].alignment)
  }

  /// The columns in sight and where they lie: as many as fit, scrolled as far as it takes to show
  /// the selected one. A last one that fits in part is cut.
  private func places(in width: Int) -> [(Int, (x: Int, width: Int))] {
    let room = width - 2
    guard room > 0, !columns.isEmpty else { return [] }
    var first = 0
    var needed = widths[...selectedColumn].reduce(0, +) + Self.gap * selectedColumn
    while needed > room && first < selectedColumn {
      needed -= widths[first] + Self.gap
      first += 1
    }
    var result: [(Int, (x: Int, width: Int))] = []
    var x = 2
    for index in first..<columns.count where x < width {
      result.append((index, (x: x, width: min(widths[index], width - x))))
      x += widths[index] + Self.gap
    }
    return result
  }
}

extension Int {
  /// The nearest value within bounds; the lower bound when there is none between them.
  func clamped(_ low: Int, _ high: Int) -> Int {
    Swift.max(low, Swift.min(self, high))
  }
}
