import ManagedModel
import Migration
import Terminal

/// What migrating the store to a version would do: the plan.
package struct MappingScreen: Sendable, Equatable {
  package enum Pane: Sendable { case mappings, losses }

  /// Index in the state's versions.
  package var to: Int?
  /// Whether the way goes through the versions between.
  package var isThroughVersions = false
  package var plan: MigrationPlan?
  /// Why there is no plan.
  package var refusal: CoreDataError?
  /// Every change that keeps a mapping from being inferred, once they are known.
  package var refusals: [CoreDataError] = []
  package var allowedLosses: Set<String> = []
  /// What was changed by hand, by the path of the version it leads to.
  package var edits: [String: MappingEdits] = [:]
  /// The file that the changes were written to, as long as it holds all of them.
  package var recipePath: String?
  /// The version that was chosen, also while it is not among the versions.
  package internal(set) var chosen: ChosenVersion?
  /// What was chosen the last time cannot be found: nothing is planned until another is chosen.
  var isChosenGone = false
  /// Reads what was chosen from where it lies, beside none of the others.
  var chosenTask: TaskID?
  package var focus = Pane.mappings
  package var mappings = List()
  package var problems = List()
  var task: TaskID?
  /// Looks for all refusals, writes the recipe, collects the SQL.
  var refusalTask: TaskID?
  var writeTask: Writing?
  var codeTask: TaskID?

  package init() {}

  struct Writing: Sendable, Equatable {
    var id: TaskID
    var file: RecipeFile
  }

  /// What stands in the lower pane, line by line.
  package enum Problem: Sendable, Equatable {
    case refusal(CoreDataError)
    case check(DataCheck)
    case loss(Loss)
    case edit(MappingEdits.Edit)
    case note(String)
    case command(String)
  }

  /// The lower pane without the command line, which depends on more than the plan.
  package var problemList: [Problem] {
    let edits = self.currentEdits.all.map { Problem.edit($0) }
    guard let plan else {
      guard let refusal else { return [] }
      return (refusals.isEmpty ? [refusal] : refusals).map { .refusal($0) } + edits
    }
    return plan.failures.map { .check($0) } + plan.losses.map { .loss($0) } + edits
      + plan.checks.filter(\.isWarning).map { .check($0) } + plan.notes.map { .note($0) }
  }

  /// The path of the version that `edits` are for; set with `to`.
  var editsKey = ""

  package var currentEdits: MappingEdits { edits[editsKey] ?? MappingEdits() }

  var entityMappings: [EntityMapping] {
    plan?.steps.flatMap(\.mapping.entityMappings) ?? []
  }

  /// The entity mapping in the list's row, with its step.
  func entry(_ row: Int) -> (number: Int, step: MigrationStep, mapping: EntityMapping)? {
    var row = row
    for (index, step) in (plan?.steps ?? []).enumerated() {
      if step.mapping.entityMappings.indices.contains(row) {
        return (index + 1, step, step.mapping.entityMappings[row])
      }
      row -= step.mapping.entityMappings.count
    }
    return nil
  }

  /// The pane that the keys go to: a refusal has only one.
  var activePane: Pane { plan == nil ? .losses : focus }

  var selectedProblem: Problem? {
    let all = problemList
    return all.indices.contains(problems.selected) ? all[problems.selected] : nil
  }

  var selectedLoss: Loss? {
    guard case .loss(let loss) = selectedProblem else { return nil }
    return loss
  }

  /// Why the plan cannot be run; `nil` when it can.
  func reasonNotToRun(_ state: State) -> String? {
    guard let plan else {
      return task != nil ? "the plan is still being made" : refusal?.message ?? "there is no plan"
    }
    if plan.isNothingToDo { return "the store is of this version already" }
    if let check = plan.failures.first {
      let more = plan.failures.count > 1 ? ", and \(plan.failures.count - 1) more" : ""
      return "a check fails: \(check.message)\(more) (\(check.code))"
    }
    let losses = plan.unallowedLosses(allowedLosses)
    if let loss = losses.first {
      let noun = loss.isOfLog ? "frame" : loss.property == nil ? "object" : "value"
      return "\(NumberText.counted(loss.values, noun)) of "
        + "\(loss.name) would be lost; accept that in Mapping first"
    }
    if let free = plan.bytesFree, free < plan.bytesNeeded {
      return "\(NumberText.bytes(plan.bytesNeeded)) must be free and "
        + "\(NumberText.bytes(free)) are"
    }
    return nil
  }

  /// The command line that runs the plan.
  package func command(_ state: State, _ verb: String = "migrate") -> String {
    guard let to, state.versions.indices.contains(to) else {
      return "strata \(verb) \(state.storeArgument) --to MODEL"
    }
    let version = state.versions[to]
    let path = version.path.isEmpty ? state.storePath : version.path
    var text = "strata \(verb) \(state.storeArgument) --to \(ShellText.quoted(path))"
    if let via = via(state) { text += " --via \(ShellText.quoted(via))" }
    for document in state.planOptions.documents {
      text += " --mapping \(ShellText.quoted(document))"
    }
    if !currentEdits.isEmpty {
      text += " --mapping \(ShellText.quoted(recipePath ?? defaultRecipePath(state)))"
    }
    if verb == "plan" || verb == "verify" { return text }
    return text
      + allowedLosses.sorted().map { " --allow-loss \(ShellText.quoted($0))" }.joined()
  }

  /// The bundle or folder that the way goes through; `nil` goes straight.
  func via(_ state: State) -> String? {
    guard isThroughVersions else { return nil }
    if let given = state.planOptions.via { return given }
    guard let to, state.versions.indices.contains(to) else { return nil }
    return state.versions[to].bundlePath
  }
}

extension MappingScreen {
  static let noVersions = "there is no other version of the model; give one with --model MODEL"

  /// The versions are known: goes on to the one that was chosen, else to where the store goes next.
  ///
  /// What was accepted of another plan is not accepted of the next.
  static func takeVersions(_ state: inout State) -> [Effect] {
    let old = state.mapping
    state.mapping = MappingScreen()
    state.mapping.edits = old.edits
    state.mapping.chosen = old.chosen
    state.mapping.isThroughVersions = state.planOptions.via != nil
    return takeChosen(in: &state)
  }

  mutating func setNoDestination() { (to, editsKey) = (nil, "") }

  mutating func setDestination(_ index: Int?, in state: State) {
    isChosenGone = false
    to = index
    editsKey =
      index.flatMap { state.versions.indices.contains($0) ? state.versions[$0].path : nil }
      ?? ""
  }

  static func enter(_ state: inout State) -> [Effect] {
    let mapping = state.mapping
    guard mapping.plan == nil, mapping.refusal == nil, mapping.task == nil, let to = mapping.to
    else { return [] }
    return plan(to: to, in: &state)
  }

  static func plan(to index: Int, in state: inout State) -> [Effect] {
    guard state.versions.indices.contains(index) else { return [] }
    let old = state.mapping
    let isSame = old.to == index
    state.mapping = MappingScreen()
    state.mapping.setDestination(index, in: state)
    state.mapping.edits = old.edits
    state.mapping.chosen = old.chosen
    state.mapping.isThroughVersions = old.isThroughVersions
    if isSame {
      state.mapping.allowedLosses = old.allowedLosses
      state.mapping.focus = old.focus
      state.mapping.recipePath = old.recipePath
    }
    state.migrate.forget()
    let task = state.newTask()
    state.mapping.task = task
    let stopped = [old.task, old.refusalTask, old.codeTask, old.chosenTask].compactMap { $0 }
    let request = PlanRequest(
      from: state.storeModelName ?? "this store’s model", to: state.versions[index],
      options: PlanOptions(
        via: state.mapping.via(state), documents: state.planOptions.documents),
      edits: state.mapping.currentEdits)
    return stopped.map { .cancel($0) } + [.plan(task, request)]
  }

  /// Stops what reads the store with a handle of its own.
  static func stopReading(in state: inout State) -> [Effect] {
    guard let task = state.mapping.codeTask else { return [] }
    state.mapping.codeTask = nil
    return [.cancel(task)]
  }

  static func cancel(in state: inout State) -> [Effect]? {
    if let task = state.mapping.codeTask {
      state.mapping.codeTask = nil
      state.notice = Notice("the SQL is not shown", .warning)
      return [.cancel(task)]
    }
    guard let task = state.mapping.task else { return nil }
    state.mapping.task = nil
    state.mapping.refusal = CoreDataError(
      .cancelled, "planning was stopped", hint: "P plans again.")
    state.mapping.problems = List(count: state.mapping.problemList.count)
    return [.cancel(task)]
  }

  static func take(_ message: Message, in state: inout State) -> [Effect] {
    switch message {
    case .planned(let task, let plan) where task == state.mapping.task:
      state.mapping.task = nil
      state.mapping.take(plan)
    case .compared(let task, let comparison) where task == state.mapping.refusalTask:
      state.mapping.refusalTask = nil
      state.mapping.refusals = comparison.refusals
      state.mapping.problems.setCount(state.mapping.problemList.count)
    case .models(let task, let versions) where task == state.mapping.chosenTask:
      state.mapping.chosenTask = nil
      return takeChosen(among: versions, in: &state)
    case .statements(let task, let statements) where task == state.mapping.codeTask:
      state.mapping.codeTask = nil
      state.notice = nil
      showCode(statements, in: &state)
    case .written(let task, let path) where task == state.mapping.writeTask?.id:
      state.mapping.writeTask = nil
      state.mapping.recipePath = path
      state.notice = Notice("written: \(path)", .success)
    default: break
    }
    return []
  }

  private mutating func take(_ plan: MigrationPlan) {
    self.plan = plan
    // Only what is lost by this plan can have been accepted.
    allowedLosses.formIntersection(plan.losses.flatMap { [$0.name, $0.entity] })
    mappings = List(count: entityMappings.count)
    problems = List(count: problemList.count)
    // What changes is of more interest than what is copied as it is.
    if let first = entityMappings.firstIndex(where: { $0.kind != .copy }) { mappings.select(first) }
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

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    switch task {
    case state.mapping.refusalTask: state.mapping.refusalTask = nil
    case state.mapping.chosenTask:
      state.mapping.chosenTask = nil
      state.mapping.missChosen(&state.notice)
    case state.mapping.codeTask:
      state.mapping.codeTask = nil
      if error.kind != .cancelled { state.show(MessageLayer(error)) }
    case state.mapping.writeTask?.id:
      guard let file = state.mapping.writeTask?.file else { break }
      state.mapping.writeTask = nil
      state.show(WriteRecipeLayer(file, problem: error))
    case state.mapping.task:
      state.mapping.task = nil
      state.mapping.refusal = error
      state.mapping.problems = List(count: state.mapping.problemList.count)
      return findRefusals(error, in: &state)
    default: return nil
    }
    return []
  }

  /// Inference stops at the first change it cannot infer; a person wants to know of all.
  private static func findRefusals(_ error: CoreDataError, in state: inout State) -> [Effect] {
    guard error.code == 134190, state.mapping.currentEdits.isEmpty, let to = state.mapping.to,
      let from = state.versions.storesIndex, let source = state.versions[from].model,
      state.versions.indices.contains(to), let destination = state.versions[to].model
    else { return [] }
    let task = state.newTask()
    state.mapping.refusalTask = task
    return [.compare(task, from: source, to: destination)]
  }
}

extension ModelVersion {
  /// The bundle that the version is in, as `--via` takes it.
  var bundlePath: String? {
    for end in [".xcdatamodeld@", ".momd@"] {
      let start = path.indices.last { path[$0...].hasPrefix(end) }
      if let start { return String(path[..<path.index(start, offsetBy: end.count - 1)]) }
    }
    return path.lastIndex(of: "@").map { String(path[..<$0]) }
  }
}
