/// What a scrolling list remembers: how long it is, which row is selected, which is at the top.
///
/// The selected row is always among the visible ones. A list of none has nothing selected;
/// `selected` is 0 then, so ask `isEmpty` before using it.
package struct List: Sendable, Equatable {
  package private(set) var count: Int
  package private(set) var selected: Int
  /// The first visible row.
  package private(set) var offset: Int
  /// How many rows there is room for.
  package private(set) var height: Int

  package init(count: Int = 0, selected: Int = 0, height: Int = 1) {
    self.count = max(0, count)
    self.selected = selected
    self.height = max(1, height)
    offset = 0
    settle()
  }

  package var isEmpty: Bool { count == 0 }
  package var visible: Range<Int> { offset..<min(count, offset + height) }

  /// The list as long as it is now: after a filter, a reload, an unfolding.
  package mutating func setCount(_ count: Int) {
    self.count = max(0, count)
    settle()
  }

  /// The list in as much room as there is now. Drawing does this by itself, on a copy; an update
  /// does it so that a page is the page that is seen.
  package mutating func setHeight(_ height: Int) {
    self.height = max(1, height)
    settle()
  }

  package mutating func select(_ row: Int) {
    selected = row
    settle()
  }

  package mutating func move(by rows: Int) {
    let (row, isTooFar) = selected.addingReportingOverflow(rows)
    select(isTooFar ? (rows < 0 ? 0 : count - 1) : row)
  }

  /// A page on (or back), keeping one row of the last one in sight.
  package mutating func page(by pages: Int) {
    let rows = max(1, height - 1) * pages
    offset = max(0, offset + rows)
    move(by: rows)
  }

  package mutating func home() { select(0) }
  package mutating func end() { select(count - 1) }

  /// Scrolls without moving the selection further than it must to stay in sight.
  package mutating func scroll(by rows: Int) {
    offset = min(max(0, offset + rows), max(0, count - height))
    select(min(max(selected, offset), offset + height - 1))
  }

  /// Does what arrows, paging keys, j/k, g/G and ^D/^U/^F/^B mean; `false` for any other key.
  @discardableResult
  package mutating func handle(_ key: Key) -> Bool {
    switch key {
    case .up, .character("k"), .control("p"): move(by: -1)
    case .down, .character("j"), .control("n"): move(by: 1)
    case .pageUp, .control("b"): page(by: -1)
    case .pageDown, .control("f"), .space: page(by: 1)
    case .control("u"): move(by: -max(1, height / 2))
    case .control("d"): move(by: max(1, height / 2))
    case .home, .character("g"): home()
    case .end, .character("G"): end()
    case .mouse(.scrollUp, _, _): scroll(by: -3)
    case .mouse(.scrollDown, _, _): scroll(by: 3)
    default: return false
    }
    return true
  }

  /// Does the same for text to be read, which has no selected row: arrows scroll it.
  package mutating func scrollPage(_ key: Key) {
    switch key {
    case .up, .character("k"): scroll(by: -1)
    case .down, .character("j"): scroll(by: 1)
    default: handle(key)
    }
  }

  /// The row of the list at a place on the screen, for the mouse.
  package func row(at point: Point, in rect: Rect) -> Int? {
    let fitted = fitted(to: rect.height)
    guard rect.contains(point) else { return nil }
    let row = fitted.offset + point.y - rect.y
    return row < count ? row : nil
  }

  func fitted(to height: Int) -> List {
    var list = self
    list.setHeight(height)
    return list
  }

  private mutating func settle() {
    selected = min(max(0, selected), max(0, count - 1))
    offset = min(max(0, offset), max(0, count - height))
    if selected < offset { offset = selected }
    if selected >= offset + height { offset = selected - height + 1 }
  }
}

extension List {
  /// Draws the visible rows; `line` is asked only for those.
  ///
  /// The selected row is marked with `▌` besides its colour, in the first of the columns.
  package func draw(
    in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool = true,
    line: (_ row: Int) -> [Span]
  ) {
    guard !rect.isEmpty else { return }
    let list = fitted(to: rect.height)
    grid.mark(rect, as: .lines(list, isFocused: isFocused))
    for (position, row) in list.visible.enumerated() {
      let place = rect.row(position)
      list.drawBackground(of: row, in: &grid, place, theme: theme, isFocused: isFocused)
      grid.write(
        line(row), at: Point(x: place.x + 2, y: place.y), within: max(0, place.width - 2))
    }
    list.drawScrollMark(in: &grid, rect, theme: theme)
  }

  func drawBackground(
    of row: Int, in grid: inout Grid, _ place: Rect, theme: Theme, isFocused: Bool
  ) {
    guard row == selected else { return }
    grid.fill(place, style: theme[isFocused ? .selection : .selectionUnfocused])
    grid.write("▌", at: place.origin, style: theme[isFocused ? .borderFocused : .border])
  }

  /// A thumb over the border to the right of the rows, when there are more than fit and a border
  /// to draw it on.
  package func drawScrollMark(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    guard count > height, height > 1, grid[rect.right, rect.y]?.text == "│" else { return }
    let length = max(1, height * height / count)
    let range = count - height
    let start = Int((Double(height - length) * Double(offset) / Double(range)).rounded())
    // Where another line meets the border the two stay joined.
    for row in start..<min(rect.height, start + length)
    where grid[rect.right, rect.y + row]?.text == "│" {
      grid.write("┃", at: Point(x: rect.right, y: rect.y + row), style: theme[.border])
    }
  }
}
