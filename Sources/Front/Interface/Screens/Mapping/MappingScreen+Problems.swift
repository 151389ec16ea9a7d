import ManagedModel
import Migration
import Reports
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
      guard let refused else { return (refusal.map { [.refusal($0)] } ?? []) + edits }
      return refused.refusals.map { .refusal($0) }
        + Self.problems(refused.checks, refused.losses, edits)
    }
    return Self.problems(plan.checks, plan.losses, edits) + plan.notes.map { .note($0) }
  }

  /// What fails first, warnings last.
  private static func problems(
    _ checks: [DataCheck], _ losses: [Loss], _ edits: [Problem]
  ) -> [Problem] {
    checks.filter { !$0.isWarning }.map { .check($0) } + losses.map { .loss($0) } + edits
      + checks.filter(\.isWarning).map { .check($0) }
  }

  /// How many lines can be selected: with a plan its command line, too, below the others.
  var problemCount: Int { problemList.count + (plan == nil ? 0 : 1) }

  /// `nil` where the command line is selected.
  var selectedProblem: Problem? { problemList.element(problems.selected) }

  var selectedLoss: Loss? {
    if case .loss(let loss) = selectedProblem { loss } else { nil }
  }

  /// Which of the problems is reported, where there are several.
  func problemsNote(_ theme: Theme) -> [Span] {
    let count = problemList.count
    guard count > 1 else { return [] }
    let place = problems.selected < count ? "\(problems.selected + 1) of \(count)" : "command"
    return [Span(focus == .losses ? "\(place)  j k" : "\(place)  Tab", theme[.dim])]
  }

  func drawProblems(
    _ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard rect.height > 2 else { return }
    let problems = problemList
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    var lines: [(problem: Int, spans: [Span])] = []
    if problems.isEmpty {
      let text = "✓ No loss was found, and no row that breaks a rule of this version."
      lines.append((-1, [Span(text, theme[.success])]))
    }
    for (index, problem) in problems.enumerated() {
      lines += self.lines(problem, width: inside.width - 4, theme).map { (index, $0) }
      if case .refusal(let refusal) = problem {
        let fixes = self.fixes(for: refusal, context).map(\.text).joined(separator: ", ")
        if !fixes.isEmpty {
          lines += Wrapping.lines("→ or r: \(fixes)", width: max(1, inside.width - 6)).map {
            (index, [Span("  "), Span($0, theme[.success])])
          }
        }
      }
    }
    if plan != nil {
      let command = Wrapping.code(self.command(context), width: max(8, inside.width - 6))
      let isUnwritten = !currentEdits.isEmpty && recipePath == nil
      let head = isUnwritten ? "as a command (w writes the recipe first):" : "as a command:"
      let place = problems.count
      lines.append((place, [Span(head, theme[.dim])]))
      lines += command.map { (place, [Span("  "), Span($0, theme[.code])]) }
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
    if offset + inside.height < lines.count {
      // A command that goes on would be another one without its rest.
      grid.write("↓", in: inside.row(inside.height - 1), style: theme[.dim], align: .trailing)
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

/// What Enter and S show of a mapping, in full.
extension MappingScreen {
  mutating func open(in context: inout Context) -> [Effect] {
    switch activePane {
    case .mappings:
      guard let entry = selectedEntry else { return [] }
      context.show(Self.details(of: entry.mapping, in: entry.step, self))
    case .losses:
      switch selectedProblem {
      case .check(let check):
        if let rows = ConcernedRows(check, context) { return rows.show(in: &context) }
        context.show(Self.details(of: check))
      case .loss(let loss):
        var layer = Self.details(of: loss, canBeMapped: reasonNotToSuggest(context) == nil)
        layer.rows = ConcernedRows(loss, context)
        context.show(layer)
      case .refusal(let error): context.show(MessageLayer(error))
      case .edit(let edit):
        context.show(
          DetailsLayer(
            "✎ changed here", [.init(edit.text, .changed), .init("x undoes it.", .dim)]))
      case .note(let text): context.show(DetailsLayer("note", [.init(text)]))
      case nil: context.show(DetailsLayer("as a command", [.init(command(context))]))
      }
    }
    return []
  }

  static func details(
    of mapping: EntityMapping, in step: MigrationStep, _ screen: MappingScreen
  ) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init(
        "\(mapping.kind.name): \(mapping.source ?? "—") → \(mapping.destination ?? "—"), "
          + NumberText.counted(step.rows[mapping.name] ?? 0, "object"), .title),
      .init(meaning(of: mapping.kind), .dim),
      .init(""),
    ]
    for line in screen.propertyLines(mapping, in: step, .mono) {
      let text = line.spans.map(\.text).joined()
      paragraphs.append(
        .init(line.name.isEmpty ? text : "\(line.name)  \(text)", line.role, isCode: true))
    }
    let previews = step.previews.filter { $0.mapping == mapping.name }
    if !previews.isEmpty {
      paragraphs += [.init(""), .init("the first objects, before and after", .title)]
      for line in previewLines(previews, .mono) where !line.spans.isEmpty {
        paragraphs.append(.init("\(line.name)  " + line.spans.map(\.text).joined(), line.role))
      }
    }
    return DetailsLayer(mapping.name, paragraphs)
  }

  private static func meaning(of kind: EntityMapping.Kind) -> String {
    switch kind {
    case .copy: "The entity is the same in both versions: its rows stay as they are."
    case .transform: "Its objects are kept, with the properties of the new version."
    case .custom: "Its objects are created by a mapping of its own."
    case .add: "The entity is new."
    case .remove: "The entity was removed, and its objects with it. r maps them to another entity."
    }
  }

  static func details(of check: DataCheck) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init(check.summary, check.isWarning ? .warning : .error),
      .init(
        check.isWarning
          ? "The migration still runs; such objects cannot be saved as they are."
          : "The migration is refused until these rows are changed.", .dim),
    ]
    if !check.first.isEmpty {
      paragraphs += [.init(""), .init("the first of them", .title)]
      paragraphs += check.first.map { .init("  \($0)", .relationship, isCode: true) }
    }
    paragraphs += [.init(""), .init("→ " + check.typedHint, .success)]
    return DetailsLayer("✗ \(check.place)", paragraphs)
  }

  static func details(of loss: Loss, canBeMapped: Bool = true) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init("\(loss.counted) would be lost", .warning)
    ]
    if !loss.samples.isEmpty {
      paragraphs += [.init(""), .init("the first of them", .title)]
      paragraphs += loss.samples.map { .init("  \($0)", .text, isCode: true) }
    }
    if let suggestion = loss.suggestion {
      paragraphs += [.init(""), .init("→ " + suggestion, .success)]
    }
    paragraphs += [
      .init(""),
      .init(
        (canBeMapped
          ? "r maps \(loss.property == nil ? "them" : "it") elsewhere, "
          : "Nothing new in the destination fits; ") + "a accepts the loss"
          + (loss.property == nil ? ", d marks it as intended in the recipe." : "."), .dim),
    ]
    return DetailsLayer("! \(loss.name)", paragraphs)
  }

  /// The statements under the names of what they work at.
  mutating func showCode(_ statements: [MigrationStatement], in context: inout Context) {
    var paragraphs: [DetailsLayer.Paragraph] = []
    var place = (step: 0, part: "")
    let steps = plan?.steps.filter { $0.mapping.kind != .none } ?? []
    for statement in statements {
      if statement.step != place.step, steps.count > 1, steps.indices.contains(statement.step - 1) {
        let step = steps[statement.step - 1]
        if !paragraphs.isEmpty { paragraphs.append(.init("")) }
        paragraphs.append(
          .init("-- step \(statement.step): \(step.from) → \(step.to)", .title, isCode: true))
      }
      if statement.step != place.step || statement.part != place.part {
        if !paragraphs.isEmpty { paragraphs.append(.init("")) }
        let part = statement.part.isEmpty ? "before" : statement.part
        paragraphs.append(.init("-- \(part)", .dim, isCode: true))
        place = (statement.step, statement.part)
      }
      let isWhole = statement.sql.hasSuffix(";")
      paragraphs.append(.init(statement.sql + (isWhole ? "" : ";"), .code, isCode: true))
    }
    if paragraphs.isEmpty { paragraphs.append(.init("There is nothing to do.", .dim)) }
    context.show(
      DetailsLayer(
        "SQL of the plan: \(NumberText.counted(statements.count, "statement"))", paragraphs))
  }
}
