import ManagedModel
import Migration
import Terminal

extension MigrateScreen {
  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch state.migrate.phase {
    case .ready: drawReady(state, nil, with: theme, in: &grid, rect)
    case .failed(let error): drawReady(state, error, with: theme, in: &grid, rect)
    case .running(let progress, let isCancelling):
      MigrationProgressView(
        verb: "migrating", steps: state.mapping.plan?.steps ?? [], progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays as it was", theme[.warning])
          : Span(
            "the original is untouched until the last step; ^C stops and leaves it so",
            theme[.dim])
      ).draw(in: &grid, rect, theme: theme)
    case .rollingBack(let progress, let name, let isCancelling):
      MigrationProgressView(
        verb: "rolling back to \(name)", progress: progress,
        foot: isCancelling
          ? Span("stopping … the store stays as it is", theme[.warning])
          : Span("the present store is kept; ^C stops before anything is moved", theme[.dim])
      ).draw(in: &grid, rect, theme: theme)
    case .verified:
      let foot = rect.row(rect.height - 1)
      drawLines(
        state, title: "not in place yet", with: theme, in: &grid,
        Rect(x: rect.x, y: rect.y, width: rect.width, height: max(0, rect.height - 2)))
      grid.write(
        [
          Span(" ⏎ ", theme[.footerKey]), Span("put it in place", theme[.success].adding(.bold)),
          Span("    Esc ", theme[.footerKey]), Span("throw it away", theme[.error]),
        ], at: rect.row(rect.height - 2).origin, within: rect.width)
      grid.write(
        " the original is untouched so far; whatever ends the program leaves it so",
        at: foot.origin, style: theme[.dim], within: foot.width)
    case .done: drawLines(state, title: "receipt", with: theme, in: &grid, rect)
    case .rolledBack: drawLines(state, title: "rolled back", with: theme, in: &grid, rect)
    }
  }

  /// Rows of the receipt that are in sight.
  static func receiptHeight(_ state: State) -> Int {
    if case .verified = state.migrate.phase { return state.body.height - 4 }
    return state.body.height - 2
  }

  private static func drawLines(
    _ state: State, title: String, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let lines = lines(state)
    var list = state.migrate.receiptList
    list.setCount(lines.count)
    list.setHeight(max(1, rect.height - 2))
    let visible = list.visible
    let place =
      visible.count < lines.count
      ? "  \(visible.lowerBound + 1)–\(visible.upperBound) of \(lines.count)" : ""
    let inside = grid.box(
      rect, style: theme[.borderFocused],
      title: [Span(title, theme[.title]), Span(place, theme[.dim])]
    ).inset(horizontally: 1, vertically: 0)
    ReceiptView.draw(lines, list, in: &grid, inside, theme: theme)
  }

  private static func write(
    _ lines: [[Span]], in grid: inout Grid, _ rect: Rect
  ) {
    for (row, spans) in lines.enumerated() where row < rect.height {
      grid.write(spans, at: rect.row(row).origin, within: rect.width)
    }
  }

  private static func drawReady(
    _ state: State, _ error: CoreDataError?, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let mapping = state.mapping
    guard let to = mapping.to, state.versions.indices.contains(to) else {
      MappingScreen.drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    let inside = grid.box(
      rect, style: theme[.borderFocused], title: [Span("what will happen", theme[.title])]
    ).inset(horizontally: 2, vertically: 1)
    let width = max(1, inside.width - 3)
    var lines: [[Span]] = []
    func item(_ sign: String, _ role: Theme.Role, _ text: String) {
      for (index, line) in Wrapping.lines(text, width: width).enumerated() {
        lines.append([Span(index == 0 ? sign + "  " : "   ", theme[role]), Span(line)])
      }
    }
    lines.append([
      Span(state.store?.fileName ?? "", theme[.title]), Span("   "),
      Span(state.storeModelName ?? "this store’s model", theme[.entity]), Span(" → ", theme[.dim]),
      Span(state.versions[to].name, theme[.entity]),
    ])
    lines.append([])
    if let error {
      let what = error.kind == .cancelled ? "it was stopped" : error.message
      item("✗", .error, "The last try did not finish: \(what). The store is as it was.")
      if let hint = error.hint, error.kind != .cancelled { item("→", .text, hint) }
      if isOfAnotherStore(error) {
        item("→", .text, "P plans again, for the store as it is now; ! tells what happened when.")
      }
      lines.append([])
    }
    if let plan = mapping.plan {
      describe(plan, state, item)
    } else if mapping.refusal == nil {
      item("…", .dim, "the plan is being made")
    }
    lines.append([])
    if let reason = mapping.reasonNotToRun(state) {
      if mapping.task == nil { item("✗", .error, "It cannot run: \(reason).") }
    } else {
      lines.append([
        Span("⏎ ", theme[.footerKey]), Span("migrates now", theme[.success].adding(.bold)),
        Span(
          state.migrate.pausesBeforeCutover
            ? ", and waits for your word before the result is put in place (p: do not)"
            : "  p waits for your word before the result is put in place", theme[.dim]),
      ])
    }
    lines.append([])
    lines.append([Span("the same as", theme[.dim])])
    let command =
      mapping.command(state) + (state.migrate.pausesBeforeCutover ? " --confirm" : "")
    lines += Wrapping.lines(command, width: width).map { [Span("   "), Span($0, theme[.code])] }
    write(lines, in: &grid, inside)
  }

  /// Whether the plan was made of a store that is another one now.
  private static func isOfAnotherStore(_ error: CoreDataError) -> Bool {
    error.code == 134130 || (error.code == 134110 && error.message.contains("meanwhile"))
  }

  private static func describe(
    _ plan: MigrationPlan, _ state: State, _ item: (String, Theme.Role, String) -> Void
  ) {
    guard !plan.isNothingToDo else { return }
    let all = plan.steps.flatMap(\.mapping.entityMappings)
    let rows = plan.steps.flatMap(\.rows.values).reduce(0, +)
    func count(_ kind: EntityMapping.Kind) -> Int { all.filter { $0.kind == kind }.count }
    item(
      "·", .dim,
      "\(NumberText.counted(rows, "object")) of \(all.filter { $0.source != nil }.count) "
        + "entities: \(count(.transform) + count(.custom)) changed, \(count(.copy)) copied, \(count(.add)) added, "
        + "\(count(.remove)) removed")
    if plan.steps.count > 1 {
      let names = plan.steps.prefix(1).map(\.from) + plan.steps.map(\.to)
      item("·", .dim, "in \(plan.steps.count) steps: \(names.joined(separator: " → "))")
    }
    item(
      "·", .dim,
      plan.strategy == .copy
        ? "into a new file beside the store (\(NumberText.bytes(plan.storeBytes)), "
          + "\(NumberText.bytes(plan.bytesNeeded)) free needed"
          + (plan.bytesFree.map { ", \(NumberText.bytes($0)) free)" } ?? ")")
        : "on a clone beside the store (\(NumberText.bytes(plan.storeBytes)), "
          + "\(NumberText.bytes(plan.bytesNeeded)) free needed"
          + (plan.bytesFree.map { ", \(NumberText.bytes($0)) free)" } ?? ")"))
    item("·", .dim, "verified row by row against the original, then put in place by one rename")
    item("·", .dim, "the old store stays beside it as a backup")
    if plan.failures.isEmpty {
      item("✓", .success, "the rows keep every rule that is new in this version")
    }
    for check in (plan.failures + plan.checks.filter(\.isWarning)).prefix(5) {
      let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
      item(
        check.isWarning ? "!" : "✗", check.isWarning ? .warning : .error,
        "\(place): \(check.summary)")
    }
    if plan.losses.isEmpty { item("✓", .success, "nothing is lost") }
    for loss in plan.losses.prefix(5) {
      let noun = loss.property == nil ? "object" : "value"
      let isAllowed = loss.isAllowed(by: state.mapping.allowedLosses)
      item(
        "!", .warning,
        "\(loss.name): \(NumberText.counted(loss.values, noun)) lost"
          + (loss.isIntended ? ", as the recipe says" : isAllowed ? ", accepted" : ""))
    }
    for note in plan.notes.prefix(3) { item("·", .dim, note) }
  }
}
