import ManagedModel
import Migration
import Terminal

extension MigrateScreen {
  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch phase {
    case .ready: drawReady(state, nil, with: theme, in: &grid, rect)
    case .failed(let error): drawReady(state, error, with: theme, in: &grid, rect)
    case .running(let progress, let isCancelling):
      MigrationProgressView(
        verb: "migrating", steps: state.mapping.plan?.steps ?? [], progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays as it was", theme[.warning])
          : Span(
            "the original is untouched until the last step; ^C stops and leaves it so", theme[.dim])
      ).draw(in: &grid, rect, theme: theme)
    case .rollingBack(let progress, let name, let isCancelling):
      MigrationProgressView(
        verb: "rolling back to \(name)", progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays as it is", theme[.warning])
          : Span("the present store is kept; ^C stops before anything is moved", theme[.dim])
      ).draw(in: &grid, rect, theme: theme)
    case .verified:
      let foot = rect.row(rect.height - 1)
      drawLines(
        state, title: "not in place yet", with: theme, in: &grid,
        Rect(x: rect.x, y: rect.y, width: rect.width, height: max(0, rect.height - 2)))
      grid.write(
        [
          Span(" ⏎ ", theme[.footerKey]), Span("put it in place", theme[.success].adding(.bold)),
          Span("    Esc ", theme[.footerKey]), Span("throw it away", theme[.error]),
        ], at: rect.row(rect.height - 2).origin, within: rect.width)
      grid.write(
        " the original is untouched so far; whatever ends the program leaves it so",
        at: foot.origin, style: theme[.dim], within: foot.width)
    case .done: drawLines(state, title: "receipt", with: theme, in: &grid, rect)
    case .rolledBack: drawLines(state, title: "rolled back", with: theme, in: &grid, rect)
    }
  }

  /// Rows of the receipt that are in sight.
  func receiptHeight(_ state: State) -> Int {
    if case .verified = phase { return state.body.height - 4 }
    return state.body.height - 2
  }

  private func drawLines(
    _ state: State, title: String, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let lines = lines(state)
    let inside = drawBox(title, lines.count, with: theme, in: &grid, rect)
    ReceiptView.draw(
      lines, receiptList, in: &grid, inside.inset(horizontally: 1, vertically: 0), theme: theme)
  }

  /// A box that tells which of so many lines are in sight; returns its inside.
  private func drawBox(
    _ title: String, _ count: Int, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) -> Rect {
    let visible = receiptList.fitted(to: rect.height - 2, count: count).visible
    let place =
      visible.count < count
      ? "  \(visible.lowerBound + 1)–\(visible.upperBound) of \(count)" : ""
    return grid.box(
      rect, style: theme[.borderFocused],
      title: [Span(title, theme[.title]), Span(place, theme[.dim])])
  }

  private func drawReady(
    _ state: State, _ error: CoreDataError?, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    guard state.versions.element(state.mapping.to) != nil else {
      state.mapping.drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    let lines = outlook(state, theme)
    let inside = drawBox("what will happen", lines.count, with: theme, in: &grid, rect)
      .inset(horizontally: 2, vertically: 0)
    for (index, place) in receiptList.places(count: lines.count, in: inside) {
      grid.write(lines[index], at: place.origin, within: place.width)
    }
  }

  /// What will happen; empty where there is no version to migrate to.
  func outlook(_ state: State, _ theme: Theme) -> [[Span]] {
    guard let to = state.mapping.to, state.versions.indices.contains(to), canStart else {
      return []
    }
    let error: CoreDataError? = if case .failed(let last) = phase { last } else { nil }
    // The box takes two columns, its margins four.
    return MigrateOutlook(
      self, state, to: to, after: error, width: max(1, state.size.width - 6), theme: theme
    ).lines
  }
}
