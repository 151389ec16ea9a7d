import ManagedModel
import Migration
import Terminal

extension MigrateScreen {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch phase {
    case .ready, .failed: drawReady(context, with: theme, in: &grid, rect)
    case .running(let progress, let isCancelling):
      MigrationProgressView(
        verb: "migrating", steps: context.planned.plan?.steps ?? [], progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays unchanged", theme[.warning])
          : Span(
            "the original is not changed before the last step; ^C stops", theme[.dim])
      ).draw(in: &grid, rect, theme: theme)
    case .rollingBack(let progress, let name, let isCancelling):
      MigrationProgressView(
        verb: "rolling back to \(name)", progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays unchanged", theme[.warning])
          : Span("the current store is kept; ^C stops before a file is moved", theme[.dim])
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
    _ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect
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

/// How far a migration is, drawn: parts with their bars, and the whole. For a migration, a rehearsal
/// and a rollback alike.
struct MigrationProgressView {
  /// What is being done: `migrating`, `rehearsing`.
  var verb: String
  /// The steps of the plan; a rollback has none.
  var steps: [MigrationStep] = []
  /// `nil` before the engine said anything.
  var progress: MigrationProgress?
  /// The last line: what stopping would leave.
  var foot: Span

  func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    grid.write(title(theme), at: rect.origin, within: rect.width)
    let last = rect.row(rect.height - 1)
    grid.write([Span(" "), foot], at: last.origin, within: last.width)
    guard let progress else {
      grid.write(" starting …", at: rect.row(2).origin, style: theme[.dim], within: rect.width)
      return
    }
    drawTotal(progress, with: theme, in: &grid, rect.row(rect.height - 3))
    let list = Rect(
      x: rect.x + 1, y: rect.y + 2, width: rect.width - 2, height: max(0, rect.height - 6))
    // The part at work stays in sight, with a few that are done above it.
    let offset = max(0, min(progress.current - list.height / 2, progress.parts.count - list.height))
    for row in 0..<list.height where offset + row < progress.parts.count {
      let index = offset + row
      drawPart(
        progress.parts[index], isCurrent: index == progress.current, with: theme, in: &grid,
        list.row(row))
    }
  }

  private func title(_ theme: Theme) -> [Span] {
    var title = [Span(" \(verb) ", theme[.dim])]
    if let from = steps.first?.from, let to = steps.last?.to {
      title += [Span(from, theme[.entity]), Span(" → ", theme[.dim]), Span(to, theme[.entity])]
    }
    if let progress, progress.steps > 1 {
      let path = Self.step(progress, of: steps).map { ": \($0.from) → \($0.to)" } ?? ""
      title.append(Span("   step \(progress.step) of \(progress.steps)\(path)", theme[.dim]))
    }
    return title
  }

  /// The step at work; those that have nothing to move are not counted.
  static func step(_ progress: MigrationProgress, of steps: [MigrationStep]) -> MigrationStep? {
    let moving = steps.filter { $0.mapping.kind != .none }
    return moving.element(progress.step - 1)
  }

  private func drawPart(
    _ part: MigrationProgress.Part, isCurrent: Bool, with theme: Theme, in grid: inout Grid,
    _ line: Rect
  ) {
    let titleWidth = max(10, min(24, line.width / 4))
    let sign = part.isFinished ? "✓ " : isCurrent ? "▸ " : "  "
    grid.write(
      [
        Span(sign, theme[part.isFinished ? .success : .title]),
        Span(part.title, isCurrent ? theme[.entity] : .plain),
      ], at: line.origin, within: titleWidth)
    let rest = Rect(
      x: line.x + titleWidth + 1, y: line.y, width: line.width - titleWidth - 1, height: 1)
    guard part.isFinished || part.done > 0 || isCurrent else {
      grid.write("waiting", at: rest.origin, style: theme[.dim], within: rest.width)
      return
    }
    // One thing to do has no bar: it is done or it is not.
    if !part.isFinished, part.total <= 1 {
      grid.write("working …", at: rest.origin, style: theme[.dim], within: rest.width)
      return
    }
    let numbers = numbers(of: part)
    let barWidth = max(8, rest.width - 42)
    let bar = Rect(x: rest.x, y: rest.y, width: min(barWidth, rest.width), height: 1)
    (part.isFinished ? Gauge(1) : Gauge(part.done, of: part.total))
      .draw(in: &grid, bar, theme: theme)
    grid.write(
      numbers, at: Point(x: bar.right + 1, y: rest.y), style: theme[.dim],
      within: max(0, rest.right - bar.right - 1))
  }

  /// What a part has done, and how fast.
  private func numbers(of part: MigrationProgress.Part) -> String {
    let time = NumberText.seconds(part.seconds)
    switch part.unit {
    case .bytes:
      return part.isFinished
        ? "\(NumberText.bytes(part.total))  \(time)"
        : "\(NumberText.bytes(part.done)) / \(NumberText.bytes(part.total))"
    case .items: return part.isFinished ? time : ""
    case .rows:
      guard !part.isFinished else { return "\(NumberText.grouped(part.total))  \(time)" }
      var text = "\(NumberText.grouped(part.done)) / \(NumberText.grouped(part.total))"
      if let rate = part.rate { text += "  \(NumberText.grouped(Int(min(rate, 1e12))))/s" }
      if let left = part.remaining { text += "  \(NumberText.seconds(left)) left" }
      return text
    }
  }

  private func drawTotal(
    _ progress: MigrationProgress, with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    let percent = Int(progress.fraction * 100)
    var text = "\(percent) %   elapsed \(NumberText.seconds(progress.elapsed))"
    if let left = progress.remaining { text += "   left \(NumberText.seconds(left))" }
    if line.width >= 90 {
      text +=
        "   rows \(NumberText.grouped(progress.rows))   "
        + "written \(NumberText.bytes(progress.bytesWritten))"
    }
    grid.write(" total ", at: line.origin, style: theme[.entity])
    let width = max(8, line.width - 7 - max(44, TextWidth.of(text) + 2))
    let bar = Rect(x: line.x + 7, y: line.y, width: min(width, max(0, line.width - 7)), height: 1)
    Gauge(progress.fraction).draw(in: &grid, bar, theme: theme)
    grid.write(
      text, at: Point(x: bar.right + 2, y: line.y), within: max(0, line.right - bar.right - 2))
  }
}
