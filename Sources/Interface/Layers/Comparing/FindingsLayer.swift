import Lint
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
        "\(finding.severity.sign) [\(finding.rule.id)] \(finding.subject ?? "")\n"
          + [finding.message, "on a device: " + finding.deviceText, finding.advice]
          .map { "  \($0)\n" }.joined()
      }
    }.joined()
  }
}
