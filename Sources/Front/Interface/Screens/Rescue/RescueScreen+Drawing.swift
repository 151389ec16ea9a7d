import ManagedModel
import Rescue
import Terminal

extension RescueScreen {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch phase {
    case .findings: drawFindings(context, with: theme, in: &grid)
    case .running(let work, let progress, let isCancelling):
      RescueProgressView(
        work: work, store: context.storePath, progress: progress, isCancelling: isCancelling
      )
      .draw(in: &grid, rect, theme: theme)
    case .done:
      let lines = lines(context)
      let visible = receiptList.fitted(to: rect.height - 2, count: lines.count).visible
      let place =
        visible.count < lines.count
        ? "  \(visible.lowerBound + 1)–\(visible.upperBound) of \(lines.count)" : ""
      let inside = grid.box(
        rect, style: theme[.borderFocused],
        title: [Span("report", theme[.title]), Span(place, theme[.dim])])
      ReportView.draw(
        lines, receiptList, in: &grid, inside.inset(horizontally: 1, vertically: 0), theme: theme)
    }
  }

  /// The lines of the report in sight, for scrolling.
  func lines(_ context: Context) -> [ReportView.Line] {
    guard let receipt else { return [] }
    // The box takes four columns, the sign before each line two.
    return ReportView.lines(
      receipt.report,
      keys: ["rollback": "b on 4 Migrate", "undeletion": "u", "change-list": "w"],
      width: max(1, context.size.width - 6))
  }

  private func drawFindings(_ context: Context, with theme: Theme, in grid: inout Grid) {
    let layout = RescueLayout(self, context)
    let isActive = !context.isCovered
    // The pane with the keys last, since edges are shared.
    for pane in Pane.allCases.filter({ $0 != focus }) + [focus] {
      let rect = layout.rect(of: pane)
      guard rect.height > 1 else { continue }
      let isFocused = pane == focus && isActive
      let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
      switch pane {
      case .findings: drawList(with: theme, in: &grid, inside, isFocused: isFocused)
      case .details: drawDetails(context, with: theme, in: &grid, inside)
      case .holdings: drawHoldings(context, with: theme, in: &grid, inside, isFocused: isFocused)
      }
    }
    // After all borders, since a shared edge would run over the title in it.
    for pane in Pane.allCases where layout.rect(of: pane).height > 1 {
      let isLooking = pane == .findings ? condition == nil : holdings == nil
      let note = pane != .details && lookTask != nil && isLooking ? "…" : note(of: pane)
      grid.title(
        [
          Span(
            // The one pane without a selected row is marked by its title.
            (pane == .details && focus == pane ? "▸ " : "") + title(of: pane),
            theme[pane == focus ? .title : .dim])
        ],
        note: note.isEmpty ? [] : [Span(note, theme[.dim])], on: layout.rect(of: pane))
    }
  }

  private func title(of pane: Pane) -> String {
    switch pane {
    case .findings: "what is wrong"
    case .details: selectedFinding?.kind.rawValue ?? "what it means"
    case .holdings: "what can be recovered"
    }
  }

  private func note(of pane: Pane) -> String {
    switch pane {
    case .findings: condition?.summary ?? ""
    case .details, .holdings: ""
    }
  }

  private func drawList(with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool) {
    guard let condition else {
      let text = failure.map { "✗ \($0.message)" } ?? "looking for what is wrong …"
      grid.write(
        Wrapping.lines(text, width: max(1, rect.width - 2)),
        in: rect.inset(horizontally: 1, vertically: 0),
        style: theme[failure == nil ? .dim : .error])
      return
    }
    guard !condition.findings.isEmpty else {
      grid.write("✓ Nothing is wrong.", in: rect.row(0), style: theme[.success])
      return
    }
    list.draw(condition.findings, in: &grid, rect, theme: theme, isFocused: isFocused) {
      finding, isSelected in
      let (sign, role) = finding.mark
      return [
        theme.span(isSelected, sign + " ", role),
        finding.severity == .note
          ? theme.span(isSelected, finding.sentence, .dim) : Span(finding.sentence),
      ]
    }
    if !condition.isComplete, condition.findings.count < rect.height - 2 {
      let text = "Values and links were not checked: the store does not open as it is."
      let room = rect.droppingRows(condition.findings.count + 1)
      grid.write(
        Wrapping.lines(text, width: max(1, room.width - 4)),
        in: room.inset(horizontally: 2, vertically: 0), style: theme[.dim])
    }
  }

  /// What the details say, of as many columns.
  func details(_ context: Context, width: Int) -> [TextLine] {
    if let finding = selectedFinding {
      return FindingText(
        finding, isOfCopy: context.copy != nil, going: ConcernedRows(finding, context)?.title,
        hasDeletions: condition?.deletions != nil, remains: context.remains.remains
      ).lines(width: width)
    }
    let text =
      condition == nil
      ? "doctor checks the file, its -wal, Core Data's bookkeeping, and the objects. It only reads."
      : "doctor has checked the file, its -wal, Core Data's bookkeeping, and the objects."
    return Wrapping.lines(text, width: width).map { ($0, .dim) }
  }

  private func drawDetails(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect)
  {
    let inside = rect.inset(horizontally: 1, vertically: 0)
    let lines = details(context, width: max(1, inside.width))
    for (index, place) in detailList.places(count: lines.count, in: inside) {
      grid.write(
        lines[index].text, at: place.origin, style: theme[lines[index].role], within: place.width)
    }
    let list = detailList.fitted(to: inside.height, count: lines.count)
    grid.scrollMark(rect, first: list.offset, of: lines.count, style: theme[.border])
  }

  private func drawHoldings(
    _ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard let holdings else {
      let text =
        context.store == nil
        ? condition?.isReadable == false
          ? "Nothing of the store can be read."
          : "The store does not open. s salvages what can still be read into a new store, and reports what was saved."
        : lookTask == nil
          ? "The objects were not counted; P looks again." : "counting the objects …"
      grid.write(
        Wrapping.lines(text, width: max(1, rect.width - 2)),
        in: rect.inset(horizontally: 1, vertically: 0), style: theme[.dim])
      return
    }
    let table = HoldingTable(holdings, condition)
    let titles = table.titles
    let widths = table.widths
    let name = max(8, min(rect.width - 3 - widths.reduce(0, +), 40))
    func cells(_ texts: [String], _ role: Theme.Role) -> [Span] {
      zip(texts, widths).map { text, width in
        Span(String(repeating: " ", count: max(1, width - text.count)) + text, theme[role])
      }
    }
    grid.write(
      [Span("entity".padded(to: name), theme[.columnTitle])] + cells(titles, .columnTitle),
      at: Point(x: rect.x + 2, y: rect.y), within: max(0, rect.width - 2))
    holdingList.draw(
      holdings, in: &grid, rect.droppingRows(1), theme: theme, isFocused: isFocused
    ) { holding, isSelected in
      let role: Theme.Role = isSelected ? .text : table.isConcerned(holding) ? .warning : .dim
      let text = Sanitize.text(holding.entity, limit: name - 1).padded(to: name)
      return [theme.span(isSelected, text, .entity)]
        + cells(table.numbers(of: holding), role).map { isSelected ? Span($0.text) : $0 }
    }
  }
}

/// Where the parts of Rescue lie.
struct RescueLayout {
  let findings: Rect
  let details: Rect
  /// Empty on a small screen.
  let holdings: Rect

  init(_ rescue: RescueScreen, _ context: Context) {
    let body = context.body
    let entities = rescue.holdings?.count ?? 1
    // The frame, the titles of the columns, and the entities.
    let wanted = max(5, min(entities + 3, body.height * 2 / 5))
    let height = body.height < 15 ? 0 : wanted
    let upper = Rect(
      x: body.x, y: body.y, width: body.width, height: body.height - max(0, height - 1))
    holdings = Rect(x: body.x, y: body.bottom - height, width: body.width, height: height)
    if body.width < 76 {
      let half = max(3, min(upper.height / 2, (rescue.condition?.findings.count ?? 3) + 3))
      findings = Rect(x: upper.x, y: upper.y, width: upper.width, height: half)
      details = Rect(
        x: upper.x, y: findings.bottom - 1, width: upper.width, height: upper.height - half + 1)
    } else {
      let width = upper.width / 2
      findings = Rect(x: upper.x, y: upper.y, width: width, height: upper.height)
      details = Rect(
        x: findings.right - 1, y: upper.y, width: upper.width - width + 1, height: upper.height)
    }
  }

  /// Columns that a text in the details has.
  var textWidth: Int { max(1, details.width - 4) }

  func rect(of pane: RescueScreen.Pane) -> Rect {
    switch pane {
    case .findings: findings
    case .details: details
    case .holdings: holdings
    }
  }
}

/// How far a piece of rescue work is, drawn.
struct RescueProgressView {
  let work: RescueWork
  /// The store that it is about.
  let store: String
  /// `nil` before anything was reported.
  let progress: RescueProgress?
  let isCancelling: Bool

  func draw(in grid: inout Grid, _ rect: Rect, theme: Theme) {
    let foot =
      isCancelling
      ? Span("stopping …", theme[.warning])
      : Span(work.foot, theme[.dim])
    if case .parts(let progress)? = progress {
      MigrationProgressView(verb: work.title(store), progress: progress, foot: foot)
        .draw(in: &grid, rect, theme: theme)
      return
    }
    grid.write(
      " " + work.title(store), at: rect.origin, style: theme[.dim], within: rect.width)
    let last = rect.row(rect.height - 1)
    grid.write([Span(" "), foot], at: last.origin, within: last.width)
    guard case .single(let title, let fraction, let elapsed)? = progress else {
      grid.write(" starting …", at: rect.row(2).origin, style: theme[.dim], within: rect.width)
      return
    }
    let line = rect.row(2)
    let head = grid.write(
      [Span(" ▸ ", theme[.title]), Span(title + "  ", theme[.entity])], at: line.origin,
      within: line.width)
    var text = "\(Int(fraction * 100)) %   elapsed \(NumberText.seconds(elapsed))"
    if fraction > 0.02, fraction < 1 {
      text += "   left \(NumberText.seconds(elapsed / fraction * (1 - fraction)))"
    }
    let width = max(4, line.width - head - max(44, TextWidth.of(text) + 2))
    let bar = Rect(x: line.x + head, y: line.y, width: width, height: 1)
    Gauge(fraction).draw(in: &grid, bar, theme: theme)
    grid.write(
      text, at: Point(x: bar.right + 2, y: line.y), within: max(0, line.right - bar.right - 2))
  }
}
