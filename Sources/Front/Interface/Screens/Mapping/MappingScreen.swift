import ManagedModel
import Migration
import Reports
import Terminal

/// What migrating the store to a version would do: the plan.
struct MappingScreen: ScreenContent {
  static let title = "Mapping"

  enum Pane: Sendable { case mappings, losses }

  /// Index in the versions there are.
  var to: Int?
  /// Whether the path goes through the versions between.
  var isThroughVersions = false
  var plan: MigrationPlan?
  /// What is known of the plan while it is made.
  var outline: PlanOutline?
  /// Why there is no plan.
  var refusal: CoreDataError?
  /// All that stands in the way of one, where the models are the reason.
  var refused: RefusedPlan?
  var allowedLosses: Set<String> = []
  /// What was changed by hand, by the path of the version it leads to.
  var edits: [String: MappingEdits] = [:]
  /// The file that the changes were written to, as long as it holds all of them.
  var recipePath: String?
  /// The version that was chosen, also while it is not among the versions.
  var chosen: ChosenVersion?
  /// What was chosen the last time cannot be found: nothing is planned until another is chosen.
  var isChosenGone = false
  /// Reads what was chosen from where it lies, beside none of the others.
  var chosenTask: TaskID?
  var focus = Pane.mappings
  var mappings = List()
  var problems = List()
  var task: TaskID?
  /// Writes the recipe.
  var writeTask: TaskID?
  /// What it writes.
  var writing: RecipeFile?
  var codeTask: TaskID?

  /// The path of the version that `edits` are for; set with `to`.
  var editsKey = ""

  var currentEdits: MappingEdits { edits[editsKey] ?? MappingEdits() }

  /// An entity mapping with its step.
  typealias Entry = (number: Int, step: MigrationStep, mapping: EntityMapping)

  /// The rows of the upper list.
  var entries: [Entry] { Self.entries(of: plan?.steps ?? []) }

  static func entries(of steps: [MigrationStep]) -> [Entry] {
    steps.enumerated().flatMap { index, step in
      step.mapping.entityMappings.map { (index + 1, step, $0) }
    }
  }

  var selectedEntry: Entry? { entries.element(mappings.selected) }

  /// The pane that the keys go to: a refusal has only one.
  var activePane: Pane { plan == nil ? .losses : focus }

  /// Why the plan cannot be run; `nil` when it can.
  var reasonNotToRun: String? {
    guard let plan else {
      let more = (refused?.refusals.count ?? 1) - 1
      return task != nil
        ? "the plan is still being made"
        : refusal.map { $0.message + (more > 0 ? ", and \(more) more" : "") } ?? "there is no plan"
    }
    let verdict = PlanVerdict(plan, allowing: allowedLosses)
    let reason = verdict.reason
    if case .losing = verdict { return reason.map { "\($0); accept that in Mapping first" } }
    return reason
  }

  /// The command line that runs the plan.
  func command(_ context: Context, _ verb: String = "migrate") -> String {
    let store =
      ShellText.quoted(context.storePath) + (context.copy?.modelOption("--from") ?? "")
    guard let version = context.versions.element(to) else {
      return "strata \(verb) \(store) --to MODEL"
    }
    let path = version.path.isEmpty ? context.storePath : context.known.named(version.path)
    var text = "strata \(verb) \(store) --to \(ShellText.quoted(path))"
    if let via = via(context) { text += " --via \(ShellText.quoted(context.known.named(via)))" }
    for document in context.planOptions.documents {
      text += " --mapping \(ShellText.quoted(document))"
    }
    if !currentEdits.isEmpty {
      text += " --mapping \(ShellText.quoted(recipePath ?? defaultRecipePath(context)))"
    }
    if verb == "plan" || verb == "verify" { return text }
    if context.copy != nil, verb == "migrate" { text += " --output FILE" }
    return text
      + allowedLosses.sorted().map { " --allow-loss \(ShellText.quoted($0))" }.joined()
  }

  /// The bundle or folder that the path goes through; `nil` goes straight.
  func via(_ context: Context) -> String? {
    guard isThroughVersions else { return nil }
    return context.planOptions.via ?? context.versions.element(to)?.bundlePath
  }
}

extension MappingScreen {
  static let noVersions = "there is no other version of the model; give one with --model MODEL"

  /// The versions are known: goes on to the one that was chosen, else to where the store goes next.
  ///
  /// What was accepted of another plan is not accepted of the next.
  mutating func takeVersions(in context: inout Context) -> [Effect] {
    let old = self
    self = MappingScreen()
    (edits, chosen) = (old.edits, old.chosen)
    isThroughVersions = context.planOptions.via != nil
    return takeChosen(in: &context)
  }

  mutating func setDestination(_ index: Int?, in context: Context) {
    isChosenGone = false
    to = index
    editsKey = context.versions.element(index)?.path ?? ""
  }

  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] {
    switch occasion {
    case .versions: return takeVersions(in: &context)
    case .moreVersions:
      // Where there was nowhere to go, there may be now.
      if to == nil, !isChosenGone, chosenTask == nil {
        setDestination(context.versions.destinationIndex, in: context)
      }
    case .shown: return enter(in: &context)
    case .opened, .resized, .settled: break
    }
    return []
  }

  mutating func enter(in context: inout Context) -> [Effect] {
    guard plan == nil, refusal == nil, task == nil, let to else { return [] }
    return plan(to: to, in: &context)
  }

  mutating func plan(to index: Int, in context: inout Context) -> [Effect] {
    guard let version = context.versions.element(index) else { return [] }
    let old = self
    self = MappingScreen()
    setDestination(index, in: context)
    (edits, chosen, isThroughVersions) = (old.edits, old.chosen, old.isThroughVersions)
    if old.to == index {
      (allowedLosses, focus, recipePath) = (old.allowedLosses, old.focus, old.recipePath)
    }
    context.on(MigrateScreen.self) { migrate, _ in
      migrate.forget()
      return []
    }
    let stopped = [old.task, old.codeTask, old.chosenTask].compactMap { $0 }
    let request = PlanRequest(
      from: context.storeModelName ?? "this store’s model", to: version,
      options: PlanOptions(via: via(context), documents: context.planOptions.documents),
      edits: currentEdits)
    return stopped.map { .cancel($0) } + context.ask(&task) { .plan($0, request) }
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    if let effects = codeTask.stop() {
      context.notice = Notice("the SQL is not shown", .warning)
      return effects
    }
    guard let effects = task.stop() else { return nil }
    outline = nil
    refusal = CoreDataError(.cancelled, "planning was stopped", hint: "P plans again.")
    problems = List(count: problemCount)
    return effects
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .outlined(let outline) where task == self.task: self.outline = outline
    case .planned(let plan) where task == self.task:
      self.task = nil
      outline = nil
      take(plan)
    case .refused(let refused) where task == self.task:
      self.task = nil
      outline = nil
      (self.refused, refusal) = (refused, refused.error)
      problems = List(count: problemCount)
    case .models(let versions) where task == chosenTask:
      chosenTask = nil
      return takeChosen(among: versions, in: &context)
    case .statements(let statements) where task == codeTask:
      codeTask = nil
      context.notice = nil
      showCode(statements, in: &context)
    case .written(let path) where task == writeTask:
      writeTask = nil
      recipePath = path
      context.notice = Notice("written: \(path)", .success)
    default: break
    }
    return []
  }

  private mutating func take(_ plan: MigrationPlan) {
    self.plan = plan
    // Only what is lost by this plan can have been accepted.
    allowedLosses.formIntersection(plan.losses.flatMap { [$0.name, $0.entity] })
    mappings = List(count: entries.count)
    problems = List(count: problemCount)
    // What changes is of more interest than what is copied as it is.
    if let first = entries.firstIndex(where: { $0.mapping.kind != .copy }) {
      mappings.select(first)
    }
    // What fails comes first, and stands first.
    if plan.failures.isEmpty { selectNextLoss() }
  }

  /// The first loss that is not accepted yet.
  mutating func selectNextLoss() {
    let allowed = allowedLosses
    if let first = problemList.firstIndex(where: {
      if case .loss(let loss) = $0 { !loss.isAllowed(by: allowed) } else { false }
    }) {
      problems.select(first)
    }
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    switch task {
    case chosenTask:
      chosenTask = nil
      missChosen(&context.notice)
    case codeTask:
      codeTask = nil
      if error.kind != .cancelled { context.show(MessageLayer(error)) }
    case writeTask:
      writeTask = nil
      if let writing { context.show(PromptLayer.write(writing, after: error)) }
    case self.task:
      self.task = nil
      outline = nil
      refusal = error
      problems = List(count: problemCount)
    default: break
    }
    return []
  }
}

/// The list of entity mappings, of the plan or of what is known of it so far.
extension MappingScreen {
  func drawMappings(with theme: Theme, in grid: inout Grid, _ rect: Rect, isFocused: Bool) {
    guard rect.height > 1 else { return }
    let inside = grid.box(rect, style: theme[isFocused ? .borderFocused : .border])
    mappings.draw(entries, in: &grid, inside, theme: theme, isFocused: isFocused) {
      spans($0, count: $0.step.rows[$0.mapping.name] ?? 0, $1, width: inside.width, theme)
    }
  }

  /// What the plan uses, with what is counted already.
  func drawWithoutPlan(with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let outline, rect.height > 3 else {
      grid.write(
        "planning: inferring the mapping, counting losses, checking the rows …",
        in: rect.row(rect.height / 2), style: theme[.dim], align: .center)
      return
    }
    let inside = grid.box(rect, style: theme[.border])
    let rows = inside.height - 2
    let entries = Self.entries(of: outline.steps)
    let isCut = entries.count > rows
    for (row, entry) in entries.prefix(isCut ? rows - 1 : rows).enumerated() {
      let count = entry.step.rows[entry.mapping.name]
      let spans = spans(entry, count: count, false, width: inside.width, theme)
      grid.write(spans, at: inside.row(row).origin, within: inside.width)
    }
    if isCut {
      grid.write(
        "… and \(entries.count - rows + 1) more", at: inside.row(rows - 1).origin,
        style: theme[.dim], within: inside.width)
    }
    grid.write(
      "counting what would be lost, checking the rows …",
      in: inside.row(inside.height - 1), style: theme[.dim], align: .center)
    grid.title([Span("Entity mappings", theme[.title])], on: rect)
  }

  /// - Parameter count: the objects that it takes, where they are counted.
  private func spans(
    _ entry: Entry, count: Int?, _ isSelected: Bool, width: Int, _ theme: Theme
  ) -> [Span] {
    let item = entry.mapping
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
    let count = count.map { NumberText.grouped($0) } ?? "counting …"
    let step = (plan?.steps ?? outline?.steps ?? []).count > 1 ? "\(entry.number)." : ""
    let room = max(1, width - 15 - step.count - count.count - 1)
    let isEdited = !edits(of: item).isEmpty
    let name = Sanitize.text(isEdited ? names + " ✎" : names, limit: room)
    return [
      theme.span(isSelected, step, .dim),
      theme.span(isSelected, "\(sign) " + item.kind.name.padded(to: 10, least: 0), role),
      Span(name.padded(to: room + 1)), theme.span(isSelected, count, .dim),
    ]
  }
}
