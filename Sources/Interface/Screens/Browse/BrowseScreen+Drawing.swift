import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  func note(_ state: State) -> String {
    guard let window = table?.window, !window.rows.isEmpty else { return "" }
    let ofTotal = " of " + (total.map(NumberText.grouped) ?? "…")
    guard let ordinal = window.ordinal else { return "row …\(ofTotal)" }
    return "row \(NumberText.grouped(ordinal + window.selected + 1))\(ofTotal)"
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let layout = BrowseLayout(self, state)
    // The focused pane's border comes last, over the edges it shares.
    let panes = Pane.allCases.filter { $0 != focus } + [focus]
    for pane in panes {
      let frame = layout.pane(pane)
      guard !frame.isEmpty else { continue }
      grid.box(frame, style: theme[pane == focus ? .borderFocused : .border])
    }
    for pane in panes {
      // After all borders, since a shared edge would run over the title in it.
      let frame = layout.pane(pane)
      guard !frame.isEmpty else { continue }
      let note = self.note(of: pane, state, layout, theme)
      let style = theme[pane == focus ? .title : .dim]
      let title = self.title(of: pane, state, width: frame.width - 6, note: note.width())
      grid.title([Span(title, style)], note: note, on: frame)
    }
    for pane in panes where !layout.pane(pane).isEmpty {
      let inside = layout.content(of: pane)
      let isFocused = pane == focus && state.layers.isEmpty
      switch pane {
      case .entities: drawTree(state, with: theme, in: &grid, inside, isFocused: isFocused)
      case .rows: drawRows(state, with: theme, in: &grid, inside, isFocused: isFocused)
      case .inspector:
        inspector.draw(in: &grid, inside, theme: theme, isFocused: isFocused)
      }
    }
  }

  private func drawTree(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    tree.draw(in: &grid, rect, counts: counts, own: ownCounts, theme: theme, isFocused: isFocused)
    guard tree.shown.isEmpty else { return }
    let lines =
      tree.filter.isEmpty
      ? ["no entities"] : ["no entity is called so", "Esc shows all of them"]
    drawLines(lines, in: &grid, rect, style: theme[.dim])
  }

  private func drawRows(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard let table else {
      drawLines(nothing(in: state), in: &grid, rect, style: theme[.dim])
      return
    }
    let hasErrorLine = errorRows > 0 && rect.height > 2
    let body = Rect(
      x: rect.x, y: rect.y, width: rect.width, height: rect.height - (hasErrorLine ? 1 : 0))
    table.draw(in: &grid, body, total: total, theme: theme, isFocused: isFocused)
    guard table.window.rows.isEmpty else {
      if let rowsError, hasErrorLine {
        let line = rect.row(rect.height - 1)
        grid.fill(line, style: theme[.error])
        grid.write(
          " ✗ " + rowsError.description, at: line.origin, style: theme[.error], within: line.width)
      }
      return
    }
    let lines =
      rowsError.map { ["✗ " + $0.description, $0.typedHint].compactMap { $0 } }
      ?? (rowsTask != nil ? ["…"] : empty(table, state))
    drawLines(
      lines, in: &grid, rect.droppingRows(1), style: theme[rowsError == nil ? .dim : .error])
  }

  /// Why a table has no rows, and what to do about it.
  private func empty(_ table: RowTable, _ state: State) -> [String] {
    if table.filter != nil {
      return ["no object fits the filter", "/ changes it; Esc shows all rows"]
    }
    if let related = table.related {
      return ["\(related.object) has no \(related.relationship)", "⌫ goes back"]
    }
    if state.store?.missing.contains(table.entity) == true {
      return [
        "! the store has no table for \(table.entity)",
        "its model names the entity, but no rows were ever kept: w tells more",
      ]
    }
    if let other = counts.filter({ $0.value > 0 }).keys.sorted().first {
      return ["no objects", "Tab chooses another entity, such as \(other)"]
    }
    let isWhole = counts.count == state.store?.model.entities.count
    return isWhole ? ["no objects", "the whole store is empty"] : ["no objects"]
  }

  private func nothing(in state: State) -> [String] {
    guard let store = state.store else { return [] }
    if store.model.entities.isEmpty {
      return store.isRaw
        ? ["the file has no tables that could be shown", "strata info tells what it has"]
        : ["the model has no entities", "2 compares it with other versions"]
    }
    return ["no entity is chosen", "Tab goes to the entities, Esc shows all of them"]
  }

  private func drawLines(_ lines: [String], in grid: inout Grid, _ rect: Rect, style: Style) {
    let width = max(1, rect.width - 2)
    let wrapped = lines.flatMap { Wrapping.lines(Sanitize.text($0), width: width) }
    let top = max(0, min(1, rect.height - wrapped.count))
    for (index, line) in wrapped.enumerated() {
      grid.write(line, in: rect.row(top + index), style: style, align: .center)
    }
  }
}
