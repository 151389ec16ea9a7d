import ManagedModel
import Migration
import Terminal

/// The lower pane: what would be lost, what would fail, what was changed.
extension MappingScreen {
  /// What stands in the lower pane, line by line.
  enum Problem: Sendable, Equatable {
    case refusal(CoreDataError)
    case check(DataCheck)
    case loss(Loss)
    case edit(MappingEdits.Edit)
    case note(String)
  }

  /// The lines, without the command line that is drawn below them.
  var problemList: [Problem] {
    let edits = currentEdits.all.map { Problem.edit($0) }
    guard let plan else {
      guard let refusal else { return [] }
      return (refusals.isEmpty ? [refusal] : refusals).map { .refusal($0) } + edits
    }
    return plan.failures.map { .check($0) } + plan.losses.map { .loss($0) } + edits
      + plan.checks.filter(\.isWarning).map { .check($0) } + plan.notes.map { .note($0) }
  }

  var selectedProblem: Problem? { problemList.element(problems.selected) }

  var selectedLoss: Loss? {
    if case .loss(let loss) = selectedProblem { loss } else { nil }
  }

  /// Which of the problems is told, where there are several.
  func problemsNote(_ theme: Theme) -> [Span] {
    let count = problemList.count
    guard count > 1 else { return [] }
    let place = "\(problems.selected + 1) of \(count)"
    return [Span(focus == .losses ? "\(place)  j k" : "\(place)  Tab", theme[.dim])]
  }

  func drawProblems(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard rect.height > 2 else { return }
    let problems = problemList
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    var lines: [(problem: Int, spans: [Span])] = []
    if problems.isEmpty {
      let text = "✓ Nothing is lost, and the rows keep every rule that is new."
      lines.append((-1, [Span(text, theme[.success])]))
    }
    for (index, problem) in problems.enumerated() {
      lines += self.lines(problem, width: inside.width - 4, theme).map { (index, $0) }
      if case .refusal(let refusal) = problem {
        let fixes = self.fixes(for: refusal, state).map(\.text).joined(separator: ", ")
        if !fixes.isEmpty {
          lines += Wrapping.lines("→ or r: \(fixes)", width: max(1, inside.width - 6)).map {
            (index, [Span("  "), Span($0, theme[.success])])
          }
        }
      }
    }
    if plan != nil {
      let command = Wrapping.code(self.command(state), width: max(8, inside.width - 6))
      let isUnwritten = !currentEdits.isEmpty && recipePath == nil
      let head = isUnwritten ? "the same (w writes the recipe first):" : "the same:"
      lines.append((-1, [Span(head, theme[.dim])]))
      lines += command.map { (-1, [Span("  "), Span($0, theme[.code])]) }
    }
    let selected = self.problems.selected
    let first = lines.firstIndex { $0.problem == selected } ?? 0
    let last = lines.lastIndex { $0.problem == selected } ?? first
    // All lines of the selected problem in sight, as far as there is room for them.
    let offset = max(0, min(first, max(last - inside.height + 1, 0)))
    for row in 0..<inside.height where offset + row < lines.count {
      let place = inside.row(row)
      let line = lines[offset + row]
      if line.problem == selected {
        if isFocused, offset + row == first || row == 0 {
          grid.fill(place, style: theme[.selection])
        }
        grid.write(
          List.mark(isFocused), at: place.origin, style: theme[isFocused ? .borderFocused : .border]
        )
      }
      grid.write(line.spans, at: Point(x: place.x + 2, y: place.y), within: max(0, place.width - 2))
    }
  }

  private func lines(_ problem: Problem, width: Int, _ theme: Theme) -> [[Span]] {
    func wrapped(_ text: String, _ role: Theme.Role) -> [[Span]] {
      Wrapping.lines(text, width: max(1, width - 2)).map { [Span("  "), Span($0, theme[role])] }
    }
    switch problem {
    case .refusal(let error):
      let head = [Span("✗ ", theme[.error]), Span(error.place, theme[.entity])]
      return (error.place.isEmpty ? [] : [head]) + wrapped(error.message, .text)
        + (error.typedHint.map { wrapped("→ " + $0, .success) } ?? [])
    case .edit(let edit):
      return [[Span("✎ ", theme[.changed]), Span(edit.text, theme[.changed])]]
    case .check(let check):
      var lines = [
        [
          Span(check.isWarning ? "! " : "✗ ", theme[check.isWarning ? .warning : .error]),
          Span(check.place, theme[.entity]),
          Span("  \(check.summary)"),
        ]
      ]
      if !check.first.isEmpty {
        let first = check.first.prefix(5).map(\.description).joined(separator: ", ")
        lines += wrapped("first: \(first)", .dim)
      }
      return lines + wrapped("→ " + check.typedHint, .success)
    case .loss(let loss):
      let isAllowed = loss.isAllowed(by: allowedLosses)
      var lines = [
        [
          Span(isAllowed ? "✓ " : "! ", theme[isAllowed ? .success : .warning]),
          Span(loss.name, theme[.entity]),
          Span("  \(loss.counted) \(loss.isIntended ? "would go" : "would be lost")"),
          Span(
            loss.isIntended ? "  as the recipe says" : isAllowed ? "  accepted" : "",
            theme[.success]),
        ]
      ]
      if !loss.samples.isEmpty {
        lines += [[Span("  "), Span(loss.samples.prefix(6).joined(separator: " · "), theme[.dim])]]
      }
      if let suggestion = loss.suggestion { lines += wrapped("→ " + suggestion, .success) }
      return lines
    case .note(let text): return wrapped(text, .dim)
    }
  }
}
