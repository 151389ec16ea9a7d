import ManagedModel
import Migration
import Reports
import Terminal

/// What a migration would do, as lines: whether it can run, what it would lose, how it goes.
struct MigrateOutlook {
  let migrate: MigrateScreen
  let context: Context
  let width: Int
  let theme: Theme
  private(set) var lines: [[Span]] = []

  /// Of the version at that index; `error` is what the last try ended with.
  init(
    _ migrate: MigrateScreen, _ context: Context, to: Int, after error: CoreDataError?, width: Int,
    theme: Theme
  ) {
    (self.migrate, self.context) = (migrate, context)
    self.width = max(1, width - 3)
    self.theme = theme
    addTitle(context.versions[to], index: to)
    if let error { add(lastTry: error) }
    addVerdict()
    let mapping = context.planned
    if mapping.task != nil, let outline = mapping.outline {
      item("…", .dim, "counting losses, checking the rows")
      add(steps: outline.steps, isCounted: outline.isCounted)
    } else if let plan = mapping.plan, !plan.isNothingToDo {
      if plan.losses.isEmpty { item("✓", .success, "no loss was found") }
      add(plan.losses)
      if plan.checks.isEmpty {
        item("✓", .success, "no row was found that breaks a rule of this version")
      }
      add(plan.checks)
      add(pathOf: plan)
    } else if let refused = mapping.refused {
      for refusal in refused.refusals { item("✗", .error, refusal.reasonAtPlace) }
      add(refused.losses)
      add(refused.checks)
    }
    addCommand()
  }

  private mutating func item(_ sign: String, _ role: Theme.Role, _ text: String) {
    for (index, line) in Wrapping.lines(text, width: width).enumerated() {
      lines.append([Span(index == 0 ? sign + "  " : "   ", theme[role]), Span(line)])
    }
  }

  private mutating func item(_ line: Report.Line) {
    item(line.mark.rawValue, Theme.Role(line), line.words())
  }

  private mutating func addTitle(_ version: ModelVersion, index: Int) {
    lines.append([
      Span(context.store?.fileName ?? "", theme[.title]), Span("   "),
      Span(context.storeModelName ?? "this store’s model", theme[.entity]),
      Span(" → ", theme[.dim]),
      Span(version.name, theme[.entity]),
      Span(version.isCurrent ? "  the current version" : "", theme[.dim]),
    ])
    if !version.isWanted, !context.versions.contains(where: \.isCurrent),
      index == context.versions.destinationIndex
    {
      item("·", .dim, "no version is marked current: this is the next one; o chooses another")
    }
    lines.append([])
  }

  private mutating func add(lastTry error: CoreDataError) {
    if error.kind == .cancelled {
      item("!", .warning, "You stopped the last attempt; the store is unchanged.")
    } else {
      item(
        "✗", .error, "The last attempt failed: \(error.message). The store is unchanged.")
      if let hint = error.typedHint { item("→", .text, hint) }
      if error.isStale || error.code == .migrationMissingSourceModel {
        item("→", .text, "P plans again from the current store; ! shows the log.")
      }
    }
    lines.append([])
  }

  private mutating func addVerdict() {
    if context.planned.task != nil {
      item("…", .dim, "the plan is being made; ^C stops that")
    } else if let copy = context.copy, isForCopy {
      item("✓", .success, "\(PlanVerdict.can), into a new file: the command below writes it")
      item(" ", .dim, "Not with ⏎: \(copy.refusal).")
    } else if let reason = migrate.reasonNotToStart(context) {
      item("✗", .error, "\(PlanVerdict.cannot): \(reason)")
      item("→", .warning, advice)
    } else {
      lines.append([
        Span("✓  ", theme[.success]), Span("\(PlanVerdict.can): ", theme[.success]),
        Span("⏎ ", theme[.footerKey]), Span("asks, then migrates", theme[.success].adding(.bold)),
      ])
      item(
        " ", .dim,
        migrate.pausesBeforeCutover
          ? "It asks again before the cut-over (p: do not ask)."
          : "p: ask again before the cut-over.")
    }
    lines.append([])
  }

  /// Whether the plan can run, but not in the place of a store that came out of a container.
  private var isForCopy: Bool {
    let mapping = context.planned
    return context.copy != nil && mapping.plan != nil && mapping.reasonNotToRun == nil
  }

  /// Mapping's own advice; what its keys alone can do is done there.
  private var advice: String {
    let next = NextStep(context.planned, context)
    return next.isOfMapping ? "m shows it in Mapping; there: \(next.text)" : next.text
  }

  private mutating func add(_ losses: [Loss]) {
    guard !losses.isEmpty else { return }
    let allowed = context.planned.allowedLosses
    let counted = losses.counted
    let open = losses.count { !$0.isAllowed(by: allowed) }
    item(
      "!", .warning,
      "\(NumberText.counted(losses.count, "loss", plural: "losses"))"
        + (counted.isEmpty ? "" : ": \(counted)")
        + (open == 0 ? ", all accepted" : ", \(open) not accepted yet"))
    for loss in losses { item(loss.line(isAccepted: loss.isAllowed(by: allowed))) }
  }

  private mutating func add(_ checks: [DataCheck]) {
    for check in checks.filter({ !$0.isWarning }) + checks.filter(\.isWarning) { item(check.line) }
  }

  private mutating func add(pathOf plan: MigrationPlan) {
    add(steps: plan.steps, isCounted: true)
    guard context.copy == nil else {
      for note in plan.notes { item("·", .dim, note) }
      return
    }
    let free = plan.bytesFree.map { ", \(NumberText.bytes($0)) free" } ?? ""
    item(
      "·", .dim,
      (plan.strategy == .copy ? "into a new file" : "on a clone")
        + " beside the store (\(NumberText.bytes(plan.storeBytes)), "
        + "needs \(NumberText.bytes(plan.bytesNeeded))\(free))")
    item("·", .dim, "the new file is verified row by row, then replaces the original by one rename")
    item("·", .dim, "the old store stays beside it as a backup")
    for note in plan.notes { item("·", .dim, note) }
  }

  /// - Parameter isCounted: whether no objects wait to be counted.
  private mutating func add(steps: [MigrationStep], isCounted: Bool) {
    let all = steps.flatMap(\.mapping.entityMappings)
    let rows = steps.flatMap(\.rows.values).reduce(0, +)
    let objects =
      rows == 0 && !isCounted
      ? "counting the objects"
      : NumberText.counted(rows, "object") + (isCounted ? "" : " so far, counting …")
    func count(_ kind: EntityMapping.Kind) -> Int { all.filter { $0.kind == kind }.count }
    let entities = NumberText.counted(
      all.filter { $0.source != nil }.count, "entity", plural: "entities")
    item(
      "·", .dim,
      "\(objects); of \(entities) "
        + "\(count(.transform) + count(.custom)) changed, \(count(.copy)) copied, "
        + "\(count(.add)) added, \(count(.remove)) removed")
    if steps.count > 1 {
      let names = steps.prefix(1).map(\.from) + steps.map(\.to)
      item("·", .dim, "in \(steps.count) steps: \(names.joined(separator: " → "))")
    }
  }

  /// The command line, only where it would do what Enter does.
  private mutating func addCommand() {
    let mapping = context.planned
    guard isForCopy || migrate.reasonNotToStart(context) == nil else { return }
    let isWritten = mapping.currentEdits.isEmpty || mapping.recipePath != nil
    lines.append([])
    lines.append([
      Span(
        "\(isForCopy ? "a command that writes the result to a file" : "as a command")\(isWritten ? "" : " (after w in Mapping)")",
        theme[.dim])
    ])
    let command = mapping.command(context) + (migrate.pausesBeforeCutover ? " --confirm" : "")
    lines += Wrapping.lines(command, width: width).map { [Span("   "), Span($0, theme[.code])] }
  }
}

/// What to do next in Mapping, in one sentence.
struct NextStep {
  let text: String
  let role: Theme.Role

  /// Whether only Mapping's own keys do it; others do it on Migrate too.
  let isOfMapping: Bool

  init(_ mapping: MappingScreen, _ context: Context) {
    self =
      mapping.plan.map { Self.step(of: $0, mapping, context) }
      ?? Self.step(without: mapping, context)
  }

  private init(_ text: String, _ role: Theme.Role, isOfMapping: Bool = true) {
    (self.text, self.role, self.isOfMapping) = (text, role, isOfMapping)
  }

  private static func step(without mapping: MappingScreen, _ context: Context) -> NextStep {
    if mapping.task != nil {
      return NextStep("wait, or ^C: the rows are being checked", .dim)
    }
    guard let refusal = mapping.refusal else {
      return NextStep("o chooses a version", .dim, isOfMapping: false)
    }
    if refusal.kind == .cancelled { return NextStep("P plans again", .dim, isOfMapping: false) }
    if mapping.isThroughVersions {
      return NextStep(
        "o, then v: migrate directly; there r can map what fails", .warning, isOfMapping: false)
    }
    let isEdited = !mapping.currentEdits.isEmpty
    if mapping.reasonNotToSuggest(context) == nil {
      return isEdited
        ? NextStep("r maps it so that it passes, u undoes the last change", .warning)
        : NextStep(
          "r maps it so that it passes, 2 shows what differs, o chooses another version", .warning)
    }
    return isEdited
      ? NextStep(
        "select a change (✎): x undoes it, u undoes the last one; 2 shows what differs", .warning)
      : NextStep(
        "2 shows what differs, o chooses another version or a way through versions", .warning)
  }

  private static func step(
    of plan: MigrationPlan, _ mapping: MappingScreen, _ context: Context
  ) -> NextStep {
    let tab = mapping.focus == .losses ? "" : "Tab, then "
    switch PlanVerdict(plan, allowing: mapping.allowedLosses) {
    case .nothingToDo:
      return NextStep(
        "o chooses another version; there is nothing to do here", .dim, isOfMapping: false)
    case .failing:
      let failures = plan.failures
      let rows = "\(tab)⏎ shows the rows of a failing check"
      return NextStep(
        failures.contains(where: \.lacksValue)
          ? "\(rows), = computes the value that is missing"
          : failures.contains { $0.rows > 0 }
            ? "\(rows), which says what helps" : "the failing check says what helps", .warning)
    case .losing:
      return mapping.canMapLosses(context)
        ? NextStep("\(tab)r maps a loss, a accepts it, A accepts all", .warning)
        : NextStep(
          "\(tab)a accepts a loss, A accepts all; nothing in the new version fits", .warning)
    case .hindered(let error):
      return NextStep(
        "\(error.message): fix that, then P plans again", .warning, isOfMapping: false)
    case .canMigrate:
      let recipe =
        mapping.currentEdits.isEmpty || mapping.recipePath != nil ? "" : ", w saves your changes"
      return NextStep("m goes on to migrate, R rehearses it on a copy first\(recipe)", .success)
    }
  }
}
