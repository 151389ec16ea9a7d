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

  /// A list of so many rows in so much room.
  package init(count: Int = 0, selected: Int = 0, height: Int = 1) {
    self.count = max(0, count)
    self.selected = selected
    self.height = max(1, height)
    offset = 0
    settle()
  }

  /// Whether it has no row.
  package var isEmpty: Bool { count == 0 }
  /// The rows in sight.
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

  /// Selects a row, or the nearest that there is.
  package mutating func select(_ row: Int) {
    selected = row
    settle()
  }

  /// Moves the selection by so many rows.
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

  /// Selects the first row.
  package mutating func home() { select(0) }
  /// Selects the last row.
  package mutating func end() { select(count - 1) }

  /// Rows came before the first, or went: the same ones stay selected and in sight.
  package mutating func shift(by rows: Int) {
    selected += rows
    offset += rows
  }

  /// Puts the selected row into the middle.
  package mutating func center() {
    offset = selected - height / 2
    settle()
  }

  /// Scrolls without moving the selection further than it must to stay in sight.
  package mutating func scroll(by rows: Int) {
    offset = min(max(0, offset + rows), max(0, count - height))
    select(min(max(selected, offset), offset + height - 1))
  }

  /// Moves as a key says.
  package mutating func move(_ move: ListMove) {
    switch move {
    case .lines(let count): self.move(by: count)
    case .pages(let count): page(by: count)
    case .halfPages(let count): self.move(by: count * max(1, height / 2))
    case .scroll(let count): scroll(by: count)
    case .start: home()
    case .end: end()
    }
  }

  /// Moves as a key says, see ``ListMove``; `false` for a key that says nothing of the kind.
  ///
  /// - Parameters:
  ///   - count: rows that there are now, where they may have become more or less.
  ///   - height: rows that there is room for now.
  @discardableResult
  package mutating func handle(_ key: Key, count: Int? = nil, height: Int? = nil) -> Bool {
    if let count { setCount(count) }
    if let height { setHeight(height) }
    guard let move = ListMove(key) else { return false }
    self.move(move)
    return true
  }

  /// Does the same for text to be read, which has no selected row: arrows scroll it.
  package mutating func scrollPage(_ key: Key, count: Int, height: Int) {
    setCount(count)
    setHeight(height)
    switch ListMove(key) {
    case .lines(let rows)?: scroll(by: rows)
    case let move?: self.move(move)
    case nil: break
    }
  }

  /// The lines of a text that are in sight, each with its place.
  package func places(count: Int, in rect: Rect) -> [(line: Int, place: Rect)] {
    fitted(to: rect.height, count: count).visible.enumerated().map {
      ($0.element, rect.row($0.offset))
    }
  }

  /// The row of the list at a place on the screen, for the mouse.
  package func row(at point: Point, in rect: Rect) -> Int? {
    let fitted = fitted(to: rect.height)
    guard rect.contains(point) else { return nil }
    let row = fitted.offset + point.y - rect.y
    return row < count ? row : nil
  }

  /// The same in as much room, and with as many rows, as there are now: for drawing it.
  package func fitted(to height: Int, count: Int? = nil) -> List {
    var list = self
    if let count { list.setCount(count) }
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

  /// Draws those of some items that are in sight, as many as there are now.
  package func draw<Item>(
    _ items: [Item], in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool = true,
    line: (_ item: Item, _ isSelected: Bool) -> [Span]
  ) {
    var list = self
    list.setCount(items.count)
    list.draw(in: &grid, rect, theme: theme, isFocused: isFocused) { row in
      line(items[row], row == list.selected && isFocused)
    }
  }

  /// What stands before the selected row: another sign where keys go elsewhere.
  package static func mark(_ isFocused: Bool) -> String { isFocused ? "▌" : "▏" }

  private func drawBackground(
    of row: Int, in grid: inout Grid, _ place: Rect, theme: Theme, isFocused: Bool
  ) {
    guard row == selected else { return }
    grid.fill(place, style: theme[isFocused ? .selection : .selectionUnfocused])
    grid.write(
      Self.mark(isFocused), at: place.origin, style: theme[isFocused ? .borderFocused : .border])
  }

  /// A thumb over the border to the right of the rows.
  package func drawScrollMark(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    grid.scrollMark(rect, first: offset, of: count, style: theme[.border])
  }
}

extension Grid {
  /// A thumb over the border to the right of some rows, when there are more than fit and a border to
  /// draw it on.
  package mutating func scrollMark(_ rect: Rect, first: Int, of count: Int, style: Style) {
    let height = rect.height
    guard count > height, height > 1, self[rect.right, rect.y]?.text == "│" else { return }
    let length = max(1, height * height / count)
    let place = Double(height - length) * Double(first) / Double(count - height)
    let start = max(0, min(height - length, Int(place.rounded())))
    // Where another line meets the border the two stay joined.
    for row in start..<(start + length) where self[rect.right, rect.y + row]?.text == "│" {
      write("┃", at: Point(x: rect.right, y: rect.y + row), style: style)
    }
  }
}

/// A way to go in whatever has lines. The keys for it are the same everywhere, and reported here alone.
package enum ListMove: Sendable, Equatable {
  case lines(Int)
  case pages(Int)
  case halfPages(Int)
  /// Other lines come into sight; the selection stays where it can.
  case scroll(Int)
  case start, end

  /// What arrows, paging keys, j/k, g/G, ^N/^P, ^D/^U, ^F/^B and the wheel mean; `nil` for any other
  /// key.
  package init?(_ key: Key) {
    switch key {
    case .up, .character("k"), .control("p"): self = .lines(-1)
    case .down, .character("j"), .control("n"): self = .lines(1)
    case .pageUp, .control("b"): self = .pages(-1)
    case .pageDown, .control("f"), .space: self = .pages(1)
    case .control("u"): self = .halfPages(-1)
    case .control("d"): self = .halfPages(1)
    case .home, .character("g"): self = .start
    case .end, .character("G"): self = .end
    case .mouse(.scrollUp, _, _): self = .scroll(-3)
    case .mouse(.scrollDown, _, _): self = .scroll(3)
    default: return nil
    }
  }
}
