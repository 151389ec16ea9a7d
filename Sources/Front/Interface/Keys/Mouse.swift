import Terminal

/// What the mouse does: a click selects, a double click opens, the wheel scrolls what is under it.
extension State {
  mutating func mouse(_ action: Key.MouseAction, _ point: Point, _ key: Key) -> [Effect] {
    guard !isTooSmall else { return [] }
    switch action {
    // A terminal that shows no motion shows where the button was let go.
    case .drag, .release:
      drag(to: point)
      if action == .release { dragged = nil }
      return dragged == nil ? on(BrowseScreen.self) { $0.readOn(in: &$1) } : []
    case .scrollUp, .scrollDown: return scroll(action, point, key)
    case .press, .doubleClick: break
    }
    dragged = Divider.at(point, in: self)
    if dragged != nil { return [] }
    let spots = spots
    if let binding = footerBinding(at: point, spots) {
      return action == .press ? press(binding) : []
    }
    if !layers.isEmpty { return clickInLayer(action, point, spots) }
    if point.y == 0, picker == nil {
      return Header.tab(at: point.x, in: self).map { go(to: $0) } ?? []
    }
    for spot in spots where spot.rect.contains(point) {
      if case .column(let column) = spot.target { return sort(by: column) }
    }
    return on(front) { $0.mouse(action, point, in: &$1) } ?? clickInLines(action, point)
  }

  /// Does what a key for it would; `nil` where none does it here.
  private mutating func press(_ name: String, _ key: Key? = nil, times: Int? = nil) -> [Effect]? {
    Keymap.bindings(self).first { $0.action.name == name }.map { press($0, key, times: times) }
  }

  /// What there is to be clicked on, found by drawing it.
  private var spots: [Spot] {
    var grid = Grid(known.size)
    Interface.draw(self, with: .mono, in: &grid)
    return grid.spots
  }

  private func footerBinding(at point: Point, _ spots: [Spot]) -> Binding? {
    guard point.y == known.size.height - 1, notice == nil else { return nil }
    for spot in spots where spot.rect.contains(point) {
      guard case .item(let index) = spot.target else { continue }
      return Footer.bindings(self).element(index)
    }
    return nil
  }

  private mutating func scroll(_ action: Key.MouseAction, _ point: Point, _ key: Key) -> [Effect] {
    if !layers.isEmpty { return moveInLayer(key) }
    if let effects = on(front, { $0.mouse(action, point, in: &$1) }) { return effects }
    let (_, effects) = focusLines(at: point)
    return effects + (press(Action.movement, key) ?? [])
  }

  private mutating func moveInLayer(_ key: Key) -> [Effect] {
    Keymap.bindings(self).last(where: \.action.isMovement)?.action.run(&self, key) ?? []
  }

  private mutating func sort(by column: Int) -> [Effect] {
    browse.focus = .rows
    browse.table?.selectedColumn = column
    return press("sort") ?? []
  }

  /// A line of the popup, or beside it, which closes it.
  private mutating func clickInLayer(
    _ action: Key.MouseAction, _ point: Point, _ spots: [Spot]
  ) -> [Effect] {
    guard let popup = spots.lastIndex(where: { $0.target == .popup }) else {
      return moveInLayer(.mouse(action, x: point.x, y: point.y))
    }
    guard spots[popup].rect.contains(point) else {
      guard let escape = Keymap.binding(for: .escape, self) else { return [] }
      return press(escape, .escape)
    }
    for spot in spots[popup...] where spot.rect.contains(point) {
      if case .lines(let list, _) = spot.target {
        return click(list, spot.rect, action, point)
      }
    }
    return []
  }

  private mutating func clickInLines(_ action: Key.MouseAction, _ point: Point) -> [Effect] {
    let (spot, effects) = focusLines(at: point)
    guard let spot, case .lines(let list, _) = spot.target else { return effects }
    return effects + click(list, spot.rect, action, point)
  }

  /// Gives the keys to the list under the pointer.
  private mutating func focusLines(at point: Point) -> (Spot?, [Effect]) {
    var effects: [Effect] = []
    for _ in 0..<4 {
      let spot = spots.last {
        if case .lines = $0.target { $0.rect.contains(point) } else { false }
      }
      guard let spot, case .lines(_, let isFocused) = spot.target else { return (nil, effects) }
      if isFocused { return (spot, effects) }
      guard let moved = press("nextPane") else { return (spot, effects) }
      effects += moved
    }
    return (nil, effects)
  }

  /// Goes to the line as the arrows would; a double click is Enter on it.
  private mutating func click(
    _ list: List, _ rect: Rect, _ action: Key.MouseAction, _ point: Point
  ) -> [Effect] {
    guard let row = list.row(at: point, in: rect) else { return [] }
    var effects: [Effect] = []
    let steps = row - list.selected
    if steps != 0 {
      effects = press(Action.movement, steps < 0 ? .up : .down, times: abs(steps)) ?? []
    }
    if action == .doubleClick, let enter = Keymap.binding(for: .enter, self) {
      effects += press(enter, .enter)
    }
    return effects
  }
}
