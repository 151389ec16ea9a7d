import ManagedModel
import Migration
import Terminal

/// Where the parts of Mapping lie.
struct MappingLayout {
  let summary: Rect
  let mappings: Rect
  let properties: Rect
  let problems: Rect
  /// The sentence that says what to do next.
  let next: Rect

  init(_ state: State) {
    let all = state.body
    summary = all.row(0)
    next = all.row(max(0, all.height - 1))
    let body = Rect(x: all.x, y: all.y + 1, width: all.width, height: max(0, all.height - 2))
    let isFocused = state.mapping.activePane == .losses
    let problemCount = state.mapping.problemList.count
    // A refusal has the screen for itself; one problem takes several lines, and the pane grows with
    // them up to half of it.
    let command = Wrapping.code(state.mapping.command(state), width: max(8, body.width - 8))
    let calm = min(4 + command.count, max(3, body.height / 3))
    let wanted =
      problemCount == 0 ? calm : min(4 + 2 * problemCount, body.height / (isFocused ? 2 : 3))
    let problemHeight =
      state.mapping.plan == nil
      ? body.height
      : body.height < 13
        ? (isFocused ? body.height : 0) : problemCount == 0 ? calm : max(5, wanted)
    let isAlone = problemHeight == body.height
    let upper = Rect(
      x: body.x, y: body.y, width: body.width,
      height: isAlone ? 0 : body.height - max(0, problemHeight - 1))
    problems = Rect(
      x: body.x, y: body.bottom - problemHeight, width: body.width, height: problemHeight)
    let isNarrow = body.width < 80
    let leftWidth = isNarrow ? body.width : body.width * 45 / 100
    mappings = Rect(
      x: upper.x, y: upper.y, width: leftWidth,
      height: isNarrow ? min(upper.height, max(4, upper.height / 2 + 1)) : upper.height)
    properties =
      isNarrow
      ? Rect(
        x: upper.x, y: mappings.bottom - 1, width: upper.width,
        height: upper.height - mappings.height + 1)
      : Rect(
        x: mappings.right - 1, y: upper.y, width: upper.width - leftWidth + 1,
        height: upper.height)
  }
}

extension MappingScreen {
  static func drawWithoutVersions(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let isSearching = state.versionsTask != nil
    let lines: [(String, Theme.Role)]
    if isSearching {
      lines = [("looking for versions of the model …", .dim)]
    } else if state.mapping.chosenTask != nil {
      lines = [("looking for \(state.mapping.chosen?.name ?? "the version") …", .dim)]
    } else if state.mapping.isChosenGone, let chosen = state.mapping.chosen {
      lines = [
        ("\(chosen.name), which was chosen, is not there any more:", .warning),
        (chosen.path, .code), ("", .dim),
        ("Nothing is planned. → o chooses another version, a path or a git revision.", .success),
      ]
    } else if state.versions.count > 1,
      !state.versions.contains(where: {
        $0.isStores && $0.isCurrent
      })
    {
      lines = [
        ("No version comes after the store’s.", .text), ("", .dim),
        ("→ o chooses a version, a path or a git revision.", .success),
      ]
    } else if state.versions.count > 1 {
      lines = [
        ("✓ The store is of the model’s current version.", .success), ("", .dim),
        ("→ o chooses another version, a path or a git revision.", .dim),
      ]
    } else {
      lines = [
        ("There is no other version of the model beside the store.", .text), ("", .dim),
        ("→ o, then p: take a .xcdatamodeld, .momd or store by its path.", .success),
        ("Or begin with it:", .dim),
        ("strata \(state.storeArgument) --model MODEL", .code),
      ]
    }
    var row = rect.height / 3
    for line in lines {
      for part in Wrapping.lines(line.0, width: max(1, rect.width - 4)) where row < rect.height {
        grid.write(part, in: rect.row(row), style: theme[line.1], align: .center)
        row += 1
      }
    }
  }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let mapping = state.mapping
    guard let to = mapping.to, state.versions.indices.contains(to) else {
      drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    drawSummary(state, to: state.versions[to].name, with: theme, in: &grid, rect.row(0))
    let layout = MappingLayout(state)
    let next = NextStep(state)
    grid.write(
      " → " + next.text, at: layout.next.origin, style: theme[next.role],
      within: layout.next.width)
    if mapping.refusal != nil {
      drawProblems(
        state, with: theme, in: &grid, layout.problems, isFocused: state.layers.isEmpty)
      let code = mapping.refusal?.code.map { " (\($0))" } ?? ""
      grid.title([Span("✗ no mapping\(code)", theme[.error])], on: layout.problems)
      return
    }
    guard let plan = mapping.plan else {
      grid.write(
        "making a plan: inferring the mapping, counting what would be lost, checking the rows …",
        in: rect.row(rect.height / 2), style: theme[.dim], align: .center)
      return
    }
    if plan.isNothingToDo {
      let line = rect.row(rect.height / 2)
      grid.write(
        "✓ The store is of this version already.", in: line, style: theme[.success], align: .center)
      return
    }
    let isActive = state.layers.isEmpty
    drawProperties(state, with: theme, in: &grid, layout.properties)
    if mapping.focus == .mappings {
      drawProblems(state, with: theme, in: &grid, layout.problems, isFocused: false)
      drawMappings(state, plan, with: theme, in: &grid, layout.mappings, isFocused: isActive)
    } else {
      drawMappings(state, plan, with: theme, in: &grid, layout.mappings, isFocused: false)
      drawProblems(state, with: theme, in: &grid, layout.problems, isFocused: isActive)
    }
    drawTitles(state, with: theme, in: &grid, layout)
  }

  /// After all borders, since a shared edge would run over the title in it.
  private static func drawTitles(
    _ state: State, with theme: Theme, in grid: inout Grid, _ layout: MappingLayout
  ) {
    let mapping = state.mapping
    let isUpper = mapping.focus == .mappings
    if layout.mappings.height > 1 {
      grid.title([Span("Entity mappings", theme[isUpper ? .title : .dim])], on: layout.mappings)
    }
    // A small screen has the lower pane alone.
    if layout.properties.height > 1, let entry = mapping.entry(mapping.mappings.selected) {
      let steps = mapping.plan?.steps.count ?? 1
      let place = steps > 1 ? "step \(entry.number) of \(steps): " : ""
      grid.title([Span(place + entry.mapping.name, theme[.dim])], on: layout.properties)
    }
    grid.title(
      [Span("what would be lost, what would fail", theme[isUpper ? .dim : .title])],
      note: problemsNote(mapping, theme), on: layout.problems)
  }

  /// Which of the problems is told, where there are several.
  private static func problemsNote(_ mapping: MappingScreen, _ theme: Theme) -> [Span] {
    let count = mapping.problemList.count
    guard count > 1 else { return [] }
    let place = "\(mapping.problems.selected + 1) of \(count)"
    return [Span(mapping.focus == .losses ? "\(place)  j k" : "\(place)  Tab", theme[.dim])]
  }

  private static func drawSummary(
    _ state: State, to name: String, with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    var spans = [
      Span(" plan  ", theme[.dim]),
      Span(state.storeModelName ?? "this store’s model", theme[.entity]),
      Span(" → ", theme[.dim]), Span(name, theme[.entity]),
    ]
    var note: [Span] = []
    if let plan = state.mapping.plan, !plan.isNothingToDo {
      let kinds = Set(plan.steps.map(\.mapping.kind.rawValue)).sorted().joined(separator: ", ")
      let steps = plan.steps.count > 1 ? "\(plan.steps.count) steps, " : ""
      let time =
        plan.secondsEstimated < 1
        ? "takes a moment" : "about \(NumberText.seconds(plan.secondsEstimated))"
      spans.append(
        Span(
          "   \(steps)\(kinds), \(plan.strategy.rawValue), \(time), "
            + "\(NumberText.bytes(plan.bytesNeeded)) free needed", theme[.dim]))
      let losses = plan.unallowedLosses(state.mapping.allowedLosses)
      if !plan.failures.isEmpty {
        note.append(
          Span(
            "✗ \(plan.failures.count) \(plan.failures.count == 1 ? "check fails" : "checks fail")  ",
            theme[.error]))
      }
      if !losses.isEmpty {
        let noun = losses.count == 1 ? "loss" : "losses"
        note.append(Span("! \(losses.count) \(noun)  ", theme[.warning]))
      } else if !plan.losses.isEmpty {
        note.append(Span("losses accepted  ", theme[.warning]))
      }
      if let free = plan.bytesFree, free < plan.bytesNeeded {
        note.append(Span("✗ only \(NumberText.bytes(free)) free ", theme[.error]))
      } else if plan.failures.isEmpty && losses.isEmpty {
        note.append(Span("✓ can run ", theme[.success]))
      }
    }
    let width = note.width(upTo: line.width)
    grid.write(spans, at: line.origin, within: max(0, line.width - width - 2))
    grid.write(note, at: Point(x: line.right - width, y: line.y))
  }

  private static func drawMappings(
    _ state: State, _ plan: MigrationPlan, with theme: Theme, in grid: inout Grid, _ rect: Rect,
    isFocused: Bool
  ) {
    guard rect.height > 1 else { return }
    let mapping = state.mapping
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    mapping.mappings.draw(in: &grid, inside, theme: theme, isFocused: isFocused) { row in
      guard let entry = mapping.entry(row) else { return [] }
      let item = entry.mapping
      let isSelected = isFocused && row == mapping.mappings.selected
      let (sign, role): (String, Theme.Role) =
        switch item.kind {
        case .add: ("+", .added)
        case .remove: ("−", .removed)
        case .copy: (" ", .dim)
        case .transform, .custom: ("~", .changed)
        }
      let names: String =
        switch (item.source, item.destination) {
        case (let source?, let destination?):
          source == destination ? source : "\(source) → \(destination)"
        case (let source?, nil): source
        case (nil, let destination?): destination
        case (nil, nil): item.name
        }
      let count = NumberText.grouped(entry.step.rows[item.name] ?? 0)
      let step = plan.steps.count > 1 ? "\(entry.number)." : ""
      let room = max(1, inside.width - 15 - step.count - count.count - 1)
      let isEdited = !mapping.edits(of: item).isEmpty
      let name = Sanitize.text(isEdited ? names + " ✎" : names, limit: room)
      let padding = max(1, room - TextWidth.of(name) + 1)
      let kind = item.kind.name + String(repeating: " ", count: max(0, 10 - item.kind.name.count))
      return [
        Span(step, isSelected ? .plain : theme[.dim]),
        Span("\(sign) \(kind)", isSelected ? .plain : theme[role]), Span(name),
        Span(String(repeating: " ", count: padding)),
        Span(count, isSelected ? .plain : theme[.dim]),
      ]
    }
  }

  private static func drawProperties(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    guard rect.height > 1 else { return }
    guard let entry = state.mapping.entry(state.mapping.mappings.selected) else {
      grid.box(rect, style: theme[.border])
      return
    }
    let inside = grid.box(rect, style: theme[.border]).inset(horizontally: 1, vertically: 0)
    let lines =
      state.mapping.propertyLines(entry.mapping, in: entry.step, theme)
      + previewLines(entry.step.previews.filter { $0.mapping == entry.mapping.name }, theme)
    let nameWidth = max(6, min(24, lines.map { TextWidth.of($0.name, upTo: 24) }.max() ?? 0))
    for (row, line) in lines.enumerated() where row < inside.height {
      if row == inside.height - 1, lines.count > inside.height {
        grid.write(
          "… and \(lines.count - row) more", at: inside.row(row).origin, style: theme[.dim])
        break
      }
      let place = inside.row(row)
      grid.write(line.name, at: place.origin, style: theme[line.role], within: nameWidth)
      grid.write(
        line.spans, at: Point(x: place.x + nameWidth + 1, y: place.y),
        within: max(0, place.width - nameWidth - 1))
    }
  }

  private static func drawProblems(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool
  ) {
    guard rect.height > 2 else { return }
    let mapping = state.mapping
    let problems = mapping.problemList
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    var lines: [(problem: Int, spans: [Span])] = []
    if problems.isEmpty {
      lines.append(
        (
          -1,
          [Span("✓ Nothing is lost, and the rows keep every rule that is new.", theme[.success])]
        ))
    }
    for (index, problem) in problems.enumerated() {
      lines += Self.lines(
        problem, allowed: mapping.allowedLosses, width: inside.width - 4, theme
      ).map { (index, $0) }
      if case .refusal(let refusal) = problem {
        let fixes = mapping.fixes(for: refusal, state).map(\.text).joined(separator: ", ")
        if !fixes.isEmpty {
          lines += Wrapping.lines("→ or r: \(fixes)", width: max(1, inside.width - 6)).map {
            (index, [Span("  "), Span($0, theme[.success])])
          }
        }
      }
    }
    if mapping.plan != nil {
      let command = Wrapping.code(mapping.command(state), width: max(8, inside.width - 6))
      let isUnwritten = !mapping.currentEdits.isEmpty && mapping.recipePath == nil
      lines.append(
        (
          -1,
          [Span(isUnwritten ? "the same (w writes the recipe first):" : "the same:", theme[.dim])]
        ))
      lines += command.map { (-1, [Span("  "), Span($0, theme[.code])]) }
    }
    let selected = mapping.problems.selected
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
        grid.write("▌", at: place.origin, style: theme[isFocused ? .borderFocused : .border])
      }
      grid.write(
        line.spans, at: Point(x: place.x + 2, y: place.y), within: max(0, place.width - 2))
    }
  }

  private static func lines(
    _ problem: Problem, allowed: Set<String>, width: Int, _ theme: Theme
  ) -> [[Span]] {
    func wrapped(_ text: String, _ role: Theme.Role) -> [[Span]] {
      Wrapping.lines(text, width: max(1, width - 2)).map { [Span("  "), Span($0, theme[role])] }
    }
    switch problem {
    case .refusal(let error):
      let place = [error.entity, error.property].compactMap { $0 }.joined(separator: ".")
      let head = [Span("✗ ", theme[.error]), Span(place, theme[.entity])]
      return (place.isEmpty ? [] : [head]) + wrapped(error.message, .text)
        + (error.typedHint.map { wrapped("→ " + $0, .success) } ?? [])
    case .edit(let edit):
      return [[Span("✎ ", theme[.changed]), Span(edit.text, theme[.changed])]]
    case .command(let text):
      return Wrapping.code(text, width: width).map { [Span($0, theme[.code])] }
    case .check(let check):
      let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
      var lines = [
        [
          Span(check.isWarning ? "! " : "✗ ", theme[check.isWarning ? .warning : .error]),
          Span(place, theme[.entity]),
          Span("  \(check.summary)"),
        ]
      ]
      if !check.first.isEmpty {
        let first = check.first.prefix(5).map(\.description).joined(separator: ", ")
        lines += wrapped("first: \(first)", .dim)
      }
      return lines + wrapped("→ " + check.hint, .success)
    case .loss(let loss):
      let isAllowed = loss.isAllowed(by: allowed)
      let noun = loss.isOfLog ? "frame" : loss.property == nil ? "object" : "value"
      var lines = [
        [
          Span(isAllowed ? "✓ " : "! ", theme[isAllowed ? .success : .warning]),
          Span(loss.name, theme[.entity]),
          Span(
            "  \(NumberText.counted(loss.values, noun)) \(loss.isIntended ? "would go" : "would be lost")"
          ),
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
