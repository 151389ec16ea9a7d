import ManagedModel
import Migration
import Terminal

extension MappingScreen {
  func drawWithoutVersions(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let lines: [TextLine]
    if state.versionsTask != nil {
      lines = [("looking for versions of the model …", .dim)]
    } else if chosenTask != nil {
      lines = [("looking for \(chosen?.name ?? "the version") …", .dim)]
    } else if isChosenGone, let chosen {
      lines = [
        ("\(chosen.name), which was chosen, is not there any more:", .warning),
        (state.named(chosen.path), .code), ("", .dim),
        ("Nothing is planned. → o chooses another version, a path or a git revision.", .success),
      ]
    } else if state.versions.count > 1,
      !state.versions.contains(where: { $0.isStores && $0.isCurrent })
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
    let wrapped = lines.flatMap { Wrapping.lines($0.text, $0.role, width: rect.width - 4) }
    for (index, line) in wrapped.enumerated() {
      let row = rect.row(rect.height / 3 + index)
      grid.write(line.text, in: row, style: theme[line.role], align: .center)
    }
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let version = state.versions.element(to) else {
      drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    drawSummary(state, to: version.name, with: theme, in: &grid, rect.row(0))
    let layout = MappingLayout(self, state)
    let next = NextStep(self, state)
    grid.write(
      " → " + next.text, at: layout.next.origin, style: theme[next.role], within: layout.next.width)
    if refusal != nil {
      drawProblems(state, with: theme, in: &grid, layout.problems, isFocused: state.layers.isEmpty)
      let code = refusal?.code.map { " (\($0))" } ?? ""
      grid.title([Span("✗ no mapping\(code)", theme[.error])], on: layout.problems)
      return
    }
    guard let plan else {
      drawWithoutPlan(with: theme, in: &grid, layout.problems)
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
    if focus == .mappings {
      drawProblems(state, with: theme, in: &grid, layout.problems, isFocused: false)
      drawMappings(with: theme, in: &grid, layout.mappings, isFocused: isActive)
    } else {
      drawMappings(with: theme, in: &grid, layout.mappings, isFocused: false)
      drawProblems(state, with: theme, in: &grid, layout.problems, isFocused: isActive)
    }
    drawTitles(state, with: theme, in: &grid, layout)
  }

  /// After all borders, since a shared edge would run over the title in it.
  private func drawTitles(
    _ state: State, with theme: Theme, in grid: inout Grid, _ layout: MappingLayout
  ) {
    let isUpper = focus == .mappings
    if layout.mappings.height > 1 {
      grid.title([Span("Entity mappings", theme[isUpper ? .title : .dim])], on: layout.mappings)
    }
    // A small screen has the lower pane alone.
    if layout.properties.height > 1, let entry = selectedEntry {
      let steps = plan?.steps.count ?? 1
      let place = steps > 1 ? "step \(entry.number) of \(steps): " : ""
      grid.title([Span(place + entry.mapping.name, theme[.dim])], on: layout.properties)
    }
    grid.title(
      [Span("what would be lost, what would fail", theme[isUpper ? .dim : .title])],
      note: problemsNote(theme), on: layout.problems)
  }

  private func drawSummary(
    _ state: State, to name: String, with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    var spans = [
      Span(" plan  ", theme[.dim]),
      Span(state.storeModelName ?? "this store’s model", theme[.entity]),
      Span(" → ", theme[.dim]), Span(name, theme[.entity]),
    ]
    var note: [Span] = []
    if let plan, !plan.isNothingToDo {
      let kinds = Set(plan.steps.map(\.mapping.kind.rawValue)).sorted().joined(separator: ", ")
      let steps = plan.steps.count > 1 ? "\(plan.steps.count) steps, " : ""
      let time =
        plan.secondsEstimated < 1
        ? "takes a moment" : "about \(NumberText.seconds(plan.secondsEstimated))"
      spans.append(
        Span(
          "   \(steps)\(kinds), \(plan.strategy.rawValue), \(time), "
            + "\(NumberText.bytes(plan.bytesNeeded)) free needed", theme[.dim]))
      let losses = plan.unallowedLosses(allowedLosses)
      if !plan.failures.isEmpty {
        note.append(
          Span(
            "✗ \(NumberText.counted(plan.failures.count, "check fails", plural: "checks fail"))  ",
            theme[.error]))
      }
      if !losses.isEmpty {
        let count = NumberText.counted(losses.count, "loss", plural: "losses")
        note.append(Span("! \(count)  ", theme[.warning]))
      } else if !plan.losses.isEmpty {
        note.append(Span("losses accepted  ", theme[.warning]))
      }
      if let free = plan.bytesFree, free < plan.bytesNeeded {
        note.append(Span("✗ only \(NumberText.bytes(free)) free ", theme[.error]))
      } else if !plan.obstacles.isEmpty {
        note.append(Span("✗ cannot run now ", theme[.error]))
      } else if plan.failures.isEmpty && losses.isEmpty {
        note.append(Span("✓ can run ", theme[.success]))
      }
    }
    let width = note.width(upTo: line.width)
    grid.write(spans, at: line.origin, within: max(0, line.width - width - 2))
    grid.write(note, at: Point(x: line.right - width, y: line.y))
  }

  private func drawProperties(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    guard rect.height > 1 else { return }
    let inside = grid.box(rect, style: theme[.border]).inset(horizontally: 1, vertically: 0)
    guard let entry = selectedEntry else { return }
    let lines =
      propertyLines(entry.mapping, in: entry.step, theme)
      + Self.previewLines(entry.step.previews.filter { $0.mapping == entry.mapping.name }, theme)
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
}
