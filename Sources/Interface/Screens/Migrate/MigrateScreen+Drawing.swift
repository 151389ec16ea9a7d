import ManagedModel
import Migration
import Terminal

extension MigrateScreen {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch phase {
    case .ready: drawReady(context, nil, with: theme, in: &grid, rect)
    case .failed(let error): drawReady(context, error, with: theme, in: &grid, rect)
    case .running(let progress, let isCancelling):
      MigrationProgressView(
        verb: "migrating", steps: context.planned.plan?.steps ?? [], progress: progress,
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
      let height = questionHeight(context)
      drawLines(
        context, title: "the store is not replaced yet", with: theme, in: &grid,
        Rect(x: rect.x, y: rect.y, width: rect.width, height: max(0, rect.height - height)))
      let foot = rect.droppingRows(rect.height - height).inset(horizontally: 1, vertically: 0)
      question?.drawText(
        List(), with: theme, in: &grid,
        Rect(x: foot.x, y: foot.y, width: foot.width, height: max(0, foot.height - 1)))
      question?.drawAnswers(with: theme, in: &grid, foot.row(max(0, foot.height - 1)))
    case .done: drawLines(context, title: "receipt", with: theme, in: &grid, rect)
    case .rolledBack: drawLines(context, title: "rolled back", with: theme, in: &grid, rect)
    }
  }

  /// Rows of the receipt that are in sight.
  func receiptHeight(_ context: Context) -> Int {
    if case .verified = phase { return context.body.height - questionHeight(context) - 2 }
    return context.body.height - 2
  }

  /// Rows of the question below a receipt that waits; the receipt keeps some where there are few.
  private func questionHeight(_ context: Context) -> Int {
    let room = max(1, context.body.height - 4)
    let rows = question?.rows(width: max(1, context.size.width - 2), height: room - 1).count ?? 0
    return min(rows + 1, room)
  }

  private func drawLines(
    _ context: Context, title: String, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let lines = lines(context)
    let inside = drawBox(title, lines.count, with: theme, in: &grid, rect)
    ReportView.draw(
      lines, receiptList, in: &grid, inside.inset(horizontally: 1, vertically: 0), theme: theme)
  }

  /// A box that shows which of so many lines are in sight; returns its inside.
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
    _ context: Context, _ error: CoreDataError?, with theme: Theme, in grid: inout Grid,
    _ rect: Rect
  ) {
    guard context.versions.element(context.planned.to) != nil else {
      context.planned.drawWithoutVersions(context, with: theme, in: &grid, rect)
      return
    }
    let lines = outlook(context, theme)
    let inside = drawBox("what will happen", lines.count, with: theme, in: &grid, rect)
      .inset(horizontally: 2, vertically: 0)
    for (index, place) in receiptList.places(count: lines.count, in: inside) {
      grid.write(lines[index], at: place.origin, within: place.width)
    }
  }

  /// What will happen; empty where there is no version to migrate to.
  func outlook(_ context: Context, _ theme: Theme) -> [[Span]] {
    guard let to = context.planned.to, context.versions.indices.contains(to), canStart else {
      return []
    }
    let error: CoreDataError? = if case .failed(let last) = phase { last } else { nil }
    // The box takes two columns, its margins four.
    return MigrateOutlook(
      self, context, to: to, after: error, width: max(1, context.size.width - 6), theme: theme
    ).lines
  }
}
