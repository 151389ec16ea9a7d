import ManagedModel
import Migration
import Terminal

/// Where the parts of Mapping lie.
struct MappingLayout {
  let summary: Rect
  let mappings: Rect
  let properties: Rect
  let problems: Rect

  init(_ state: State) {
    let body = state.body
    let problemCount = state.mapping.problemList.count
    let isFocused = state.mapping.focus == .losses
    // One problem takes several lines; the pane grows with them up to half of the screen.
    let wanted =
      problemCount == 0 ? 3 : min(4 + 2 * problemCount, body.height / (isFocused ? 2 : 3))
    let problemHeight =
      body.height < 14 ? (isFocused ? body.height - 1 : 0) : problemCount == 0 ? 3 : max(5, wanted)
    summary = body.row(0)
    let upper = Rect(
      x: body.x, y: body.y + 1, width: body.width,
      height: problemHeight == body.height - 1 ? 0 : body.height - 1 - max(0, problemHeight - 1))
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
    let lines =
      state.versionsTask != nil
      ? ["looking for versions of the model …"]
      : state.versions.count > 1
        ? ["✓ The store is of the model’s current version.", "", "o chooses another one"]
        : [
          "There is no other version of the model beside the store.",
          "",
          "Put a .xcdatamodeld or .momd into the store’s folder, or name one:",
          "strata \(state.storeArgument) --model MODEL",
        ]
    for (index, line) in lines.enumerated() {
      grid.write(
        line, in: rect.row(rect.height / 3 + index),
        style: theme[index == 3 ? .code : .dim], align: .center)
    }
  }

  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let mapping = state.mapping
    guard let to = mapping.to, state.versions.indices.contains(to) else {
      drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    drawSummary(state, to: state.versions[to].name, with: theme, in: &grid, rect.row(0))
    if let refusal = mapping.refusal {
      drawRefusal(refusal, with: theme, in: &grid, rect.droppingRows(1))
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
      grid.write(
        "o chooses another one", in: rect.row(rect.height / 2 + 1), style: theme[.dim],
        align: .center)
      return
    }
    let layout = MappingLayout(state)
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
    grid.title([Span("Entity mappings", theme[isUpper ? .title : .dim])], on: layout.mappings)
    if let entry = mapping.entry(mapping.mappings.selected) {
      let steps = mapping.plan?.steps.count ?? 1
      let place = steps > 1 ? "step \(entry.number) of \(steps): " : ""
      grid.title([Span(place + entry.mapping.name, theme[.dim])], on: layout.properties)
    }
    grid.title(
      [Span("what would be lost, what would fail", theme[isUpper ? .dim : .title])],
      on: layout.problems)
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
      spans.append(
        Span(
          "   \(steps)\(kinds), \(plan.strategy.rawValue), \(NumberText.bytes(plan.bytesNeeded)) free needed",
          theme[.dim]))
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
      if plan.failures.isEmpty && losses.isEmpty {
        note.append(Span("✓ can run ", theme[.success]))
      }
    }
    let width = note.width(upTo: line.width)
    grid.write(spans, at: line.origin, within: max(0, line.width - width - 2))
    grid.write(note, at: Point(x: line.right - width, y: line.y))
  }

  private static func drawRefusal(
    _ refusal: CoreDataError, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let inside = grid.box(
      rect, style: theme[.border],
      title: [Span("✗ no mapping" + (refusal.code.map { " (\($0))" } ?? ""), theme[.error])]
    ).inset(horizontally: 2, vertically: 1)
    var lines: [(String, Theme.Role)] = []
    let place = [refusal.entity, refusal.property].compactMap { $0 }.joined(separator: ".")
    if !place.isEmpty { lines += [(place, .entity), ("", .text)] }
    lines += Wrapping.lines(refusal.message, width: inside.width).map { ($0, .text) }
    if let hint = refusal.hint {
      lines.append(("", .text))
      lines += Wrapping.lines("→ " + hint, width: inside.width).map { ($0, .success) }
    }
    for (index, line) in lines.enumerated() where index < inside.height {
      grid.write(
        line.0, at: inside.row(index).origin, style: theme[line.1], within: inside.width)
    }
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
      let name = Sanitize.text(names, limit: room)
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
      propertyLines(entry.mapping, theme)
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
    guard !problems.isEmpty else {
      grid.write(
        "✓ Nothing is lost, and the rows keep every rule that is new.",
        at: Point(x: inside.x + 1, y: inside.y), style: theme[.success], within: inside.width - 1)
      return
    }
    var lines: [(problem: Int, spans: [Span])] = []
    for (index, problem) in problems.enumerated() {
      lines += Self.lines(
        problem, allowed: mapping.allowedLosses, width: inside.width - 4, theme
      ).map { (index, $0) }
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
      let noun = loss.property == nil ? "object" : "value"
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
