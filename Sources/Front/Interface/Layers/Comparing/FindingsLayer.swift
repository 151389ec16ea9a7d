import Lint
import ManagedModel
import Reports
import Terminal

/// What the rules say of the two versions in Diff: a list that leads to its lines, and below it what
/// is reported for the selected one.
struct FindingsLayer: LayerContent {
  var list: List
  /// What Diff has of them; it passes on what comes in.
  var findings: DiffFindings

  init(_ findings: DiffFindings) {
    self.findings = findings
    let count = findings.rows.count
    list = List(count: count, selected: findings.selected, height: max(1, count))
  }

  private var selected: DiffFindings.Row? { findings.rows.element(list.selected) }

  private var finding: LintFinding? {
    if case .finding(let finding)? = selected { finding } else { nil }
  }

  func bindings(_ context: Context) -> [Binding] {
    let none = finding == nil ? "no finding is selected" : nil
    return [
      Binding([.enter], "go to the line", does("choose") { $0.choose(in: &$1) }, unless: none),
      Binding(
        ["d"], "details", asks("open") { $0.open(in: &$1) },
        unless: selected == nil ? "there is nothing" : nil),
      Binding(
        ["y"], "copy all", asks("copy") { CopyLayer.send($0.text, "findings", in: &$1) },
        unless: text.isEmpty ? "there is nothing" : nil),
      moving { $0.move($1, in: &$2) }, closing([.escape, "q", "f"]),
    ]
  }

  private func choose(in context: inout Context) -> LayerOutcome {
    guard let finding else { return .stay() }
    return .close(context.on(DiffScreen.self) { $0.go(to: finding, in: &$1) })
  }

  private func open(in context: inout Context) -> [Effect] {
    if let row = selected { context.show(DetailsLayer(title(of: row), details(of: row))) }
    return []
  }

  private mutating func move(_ key: Key, in context: inout Context) -> [Effect] {
    list.handle(key, count: findings.rows.count, height: listed(in: context.body))
    let selected = list.selected
    return context.on(DiffScreen.self) { screen, _ in
      screen.findings.selected = selected
      return []
    }
  }

  private func title(of row: DiffFindings.Row) -> String {
    switch row {
    case .heading(let title, _): title
    case .finding(let finding): finding.subject ?? finding.rule.id
    case .note: "note"
    }
  }

  private func details(of row: DiffFindings.Row) -> [DetailsLayer.Paragraph] {
    sentences(of: row).flatMap { [.init($0.text, $0.role), .init("")] }.dropLast()
  }

  func sentences(of row: DiffFindings.Row) -> [TextLine] {
    switch row {
    case .heading(_, let about): [(about, .dim)]
    case .finding(let finding): finding.sentences
    case .note(let text): [(text, .text)]
    }
  }

  /// All findings as text, as `strata lint` shows them.
  private var text: String {
    findings.rows.map { row in
      switch row {
      case .heading(let title, _): "-- \(title)\n"
      case .note(let text): "! \(text)\n"
      case .finding(let finding):
        ReportText.text(Report([.init(finding.lines(withPlace: false))]))
      }
    }.joined()
  }
}

extension FindingsLayer {
  private static func width(in body: Rect) -> Int { max(1, min(116, body.width - 4)) }

  /// Rows of the list in sight: with the summary it has half of the popup, and less where it is shorter.
  private func listed(in body: Rect) -> Int {
    let summary = Self.summary(findings, width: Self.width(in: body))
    let room = max(1, body.height - 2)
    return min(findings.rows.count, max(1, room / 2 - summary.count))
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let rows = findings.rows
    let width = Self.width(in: rect)
    let summary = Self.summary(findings, width: width)
    let selected = rows.element(list.selected).map(sentences) ?? []
    let lines = selected.flatMap { Wrapping.lines($0.text, $0.role, width: width) }
    let room = max(1, rect.height - 2)
    // The list, a line between, the text of the selected row; or the summary alone.
    let listed = self.listed(in: context.body)
    // All the room there is, so that nothing jumps as the selection moves.
    let told = rows.isEmpty ? 0 : max(1, room - listed - summary.count - 1)
    let height = summary.count + (rows.isEmpty ? 0 : listed + 1 + told)
    let inside = Popup("Findings of lint", width, height).draw(in: &grid, rect, theme: theme)
    grid.write(summary, in: inside, theme: theme)
    guard !rows.isEmpty else { return }
    let place = Rect(
      x: inside.x, y: inside.y + summary.count, width: inside.width,
      height: max(0, min(listed, inside.height - summary.count)))
    drawList(rows, with: theme, in: &grid, place)
    let rule = place.bottom
    guard rule < inside.bottom else { return }
    grid.write(
      String(repeating: "─", count: inside.width), at: Point(x: inside.x, y: rule),
      style: theme[.border], within: inside.width)
    let below = Rect(
      x: inside.x, y: rule + 1, width: inside.width, height: max(0, inside.bottom - rule - 1))
    grid.write(lines, in: below, theme: theme)
    if lines.count > below.height {
      let more = " d: \(lines.count - below.height) more "
      grid.write(
        more, at: Point(x: max(inside.x, inside.right - more.count), y: rule), style: theme[.dim],
        within: inside.width)
    }
  }

  private func drawList(
    _ rows: [DiffFindings.Row], with theme: Theme, in grid: inout Grid, _ place: Rect
  ) {
    let found = rows.compactMap { row -> LintFinding? in
      if case .finding(let finding) = row { finding } else { nil }
    }
    func widest(_ texts: [String], _ limit: Int) -> Int {
      min(limit, texts.map { TextWidth.of(Sanitize.text($0, limit: limit)) }.max() ?? 0)
    }
    let rule = widest(found.map(\.rule.id), max(8, place.width * 3 / 10))
    let subject = widest(found.map { $0.subject ?? "" }, max(8, place.width * 3 / 10))
    list.draw(rows, in: &grid, place, theme: theme) { row, isSelected in
      switch row {
      case .heading(let title, _): [theme.span(isSelected, "── \(title)", .dim)]
      case .note(let text): [theme.span(isSelected, text, .dim)]
      case .finding(let finding):
        [
          theme.span(isSelected, finding.severity.sign + " ", finding.severity.role),
          Span(finding.rule.id.fitted(to: rule) + "  "),
          theme.span(isSelected, (finding.subject ?? "").fitted(to: subject) + "  ", .entity),
          theme.span(isSelected, finding.message, .dim),
        ]
      }
    }
  }

  /// What was found in all, or that nothing was, and how many rules looked.
  private static func summary(_ findings: DiffFindings, width: Int) -> [TextLine] {
    summary(findings).flatMap { Wrapping.lines($0.text, $0.role, width: width) }
  }

  private static func summary(_ findings: DiffFindings) -> [TextLine] {
    switch findings.result {
    case nil: return [("checking the models …", .dim)]
    case .failure(let error):
      let place = error.path.map { ": \($0)" } ?? ""
      var lines: [TextLine] = [("✗ \(error.message)\(place)", .error)]
      if let hint = error.typedHint { lines.append(("→ \(hint)", .success)) }
      return lines
    case .success(let comparison):
      let silenced = comparison.silenced == 0 ? "" : "; \(comparison.silenced) silenced"
      let looked = "\(NumberText.counted(comparison.rules, "rule")) looked\(silenced)"
      let counts = findings.counts.map { NumberText.counted($1, $0.rawValue) }
      var lines: [TextLine] =
        counts.isEmpty
        ? [("✓ no findings between these versions; \(looked)", .success)]
        : [("\(counts.joined(separator: ", ")) between these versions; \(looked)", .text)]
      if let base = comparison.base { lines.append(("shipped: \(base)", .dim)) }
      return lines
    }
  }
}
