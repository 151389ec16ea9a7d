import Lint
import ManagedModel
import Reports
import Terminal

/// What the rules say of the two versions in Diff: a list that leads to its lines, and below it what
/// is told of the selected one.
struct FindingsLayer: LayerContent {
  var list: List

  /// - Parameter diff: the screen as it is now: while it works the state has it as it was.
  init(_ diff: DiffScreen, _ state: State) {
    let count = diff.findings.rows.count
    list = List(count: count, selected: diff.findings.selected, height: max(1, count))
  }

  private func selected(_ state: State) -> DiffFindings.Row? {
    state.diff.findings.rows.element(list.selected)
  }

  private func finding(_ state: State) -> LintFinding? {
    if case .finding(let finding)? = selected(state) { finding } else { nil }
  }

  func bindings(_ state: State) -> [Binding] {
    let none = finding(state) == nil ? "no finding is selected" : nil
    return [
      Binding([.enter], "go to the line", does("choose") { $0.choose(in: &$1) }, unless: none),
      Binding(
        ["d"], "details", asks("open") { $0.open(in: &$1) },
        unless: selected(state) == nil ? "there is nothing" : nil),
      Binding(
        ["y"], "copy all", asks("copy") { CopyLayer.send($0.text($1), "findings", in: &$1) },
        unless: text(state).isEmpty ? "there is nothing" : nil),
      moving { $0.move($1, in: &$2) }, closing([.escape, "q", "f"]),
    ]
  }

  private func choose(in state: inout State) -> LayerOutcome {
    guard let finding = finding(state) else { return .stay() }
    state.on(DiffScreen.self) { $0.go(to: finding, in: &$1) }
    return .close()
  }

  private func open(in state: inout State) -> [Effect] {
    if let row = selected(state) { state.show(DetailsLayer(title(of: row), details(of: row))) }
    return []
  }

  private mutating func move(_ key: Key, in state: inout State) -> [Effect] {
    list.handle(key, count: state.diff.findings.rows.count, height: Self.listed(state))
    let selected = list.selected
    state.on(DiffScreen.self) { screen, _ in screen.findings.selected = selected }
    return []
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

  /// All findings as text, as `strata lint` tells them.
  private func text(_ state: State) -> String {
    state.diff.findings.rows.map { row in
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
  static func listed(_ state: State) -> Int {
    let findings = state.diff.findings
    let summary = summary(findings, width: width(in: state.body))
    let room = max(1, state.body.height - 2)
    return min(findings.rows.count, max(1, room / 2 - summary.count))
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let findings = state.diff.findings
    let rows = findings.rows
    let width = Self.width(in: rect)
    let summary = Self.summary(findings, width: width)
    let selected = rows.element(list.selected).map(sentences) ?? []
    let lines = selected.flatMap { Wrapping.lines($0.text, $0.role, width: width) }
    let room = max(1, rect.height - 2)
    // The list, a line between, the text of the selected row; or the summary alone.
    let listed = Self.listed(state)
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
    case nil: return [("looking at the models …", .dim)]
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
        ? [("✓ nothing was found between these versions; \(looked)", .success)]
        : [("\(counts.joined(separator: ", ")) between these versions; \(looked)", .text)]
      if let base = comparison.base { lines.append(("shipped: \(base)", .dim)) }
      return lines
    }
  }
}
