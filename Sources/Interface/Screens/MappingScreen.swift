import ManagedModel
import Migration
import Terminal

/// What migrating the store to a version would do: the plan.
package struct MappingScreen: Sendable, Equatable {
  package enum Pane: Sendable { case mappings, losses }

  /// Index in the state's versions.
  package var to: Int?
  package var plan: MigrationPlan?
  /// Why there is no plan.
  package var refusal: CoreDataError?
  package var allowedLosses: Set<String> = []
  package var focus = Pane.mappings
  package var mappings = List()
  package var problems = List()
  /// First line of the property mappings in sight.
  var task: TaskID?

  package init() {}

  /// What stands in the lower pane, line by line.
  package enum Problem: Sendable, Equatable {
    case check(DataCheck)
    case loss(Loss)
    case note(String)
  }

  package var problemList: [Problem] {
    guard let plan else { return [] }
    return plan.failures.map { .check($0) } + plan.losses.map { .loss($0) }
      + plan.checks.filter(\.isWarning).map { .check($0) } + plan.notes.map { .note($0) }
  }

  var entityMappings: [EntityMapping] {
    plan?.steps.flatMap(\.mapping.entityMappings) ?? []
  }

  /// The entity mapping in the list's row, with its step.
  func entry(_ row: Int) -> (number: Int, step: MigrationPlan.Step, mapping: EntityMapping)? {
    var row = row
    for (index, step) in (plan?.steps ?? []).enumerated() {
      if step.mapping.entityMappings.indices.contains(row) {
        return (index + 1, step, step.mapping.entityMappings[row])
      }
      row -= step.mapping.entityMappings.count
    }
    return nil
  }

  var selectedLoss: Loss? {
    let problems = problemList
    guard problems.indices.contains(self.problems.selected),
      case .loss(let loss) = problems[self.problems.selected]
    else { return nil }
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
      return "\(NumberText.counted(loss.values, loss.property == nil ? "object" : "value")) of "
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
    let losses = allowedLosses.sorted().map { " --allow-loss \(ShellText.quoted($0))" }.joined()
    let path = version.path.isEmpty ? state.storePath : version.path
    return "strata \(verb) \(state.storeArgument) --to \(ShellText.quoted(path))"
      + (verb == "migrate" ? losses : "")
  }
}

extension MappingScreen {
  static let noVersions = "there is no other version of the model; give one with --model MODEL"

  static func bindings(_ state: State) -> [Binding] {
    let mapping = state.mapping
    let loss = mapping.selectedLoss
    let noLoss: String? =
      loss == nil
      ? mapping.plan.map { plan in
        plan.losses.isEmpty
          ? "nothing would be lost" : "select a loss in the lower pane first (Tab)"
      } ?? "there is no plan" : nil
    let isAllowed = loss.map { $0.isAllowed(by: mapping.allowedLosses) } ?? false
    return [
      Binding(
        [.character("a")], isAllowed ? "refuse loss" : "accept loss", .allowLoss, unless: noLoss,
        command: mapping.command(state)),
      Binding(
        [.character("o")], "other version", .chooseVersion,
        unless: state.versions.count > 1 ? nil : noVersions,
        command: mapping.command(state, "plan")),
      Binding([.tab, .backTab], "other pane", .nextPane),
      Binding([.character("m")], "migrate", .show(.migrate), command: mapping.command(state)),
      Binding(
        [.character("R")], "plan again", .planAgain,
        unless: mapping.to == nil ? noVersions : nil, command: mapping.command(state, "plan"),
        footer: false),
      Keymap.movement,
    ]
  }

  static func takeVersions(_ state: inout State) {
    let allowed = state.mapping.allowedLosses
    state.mapping = MappingScreen()
    state.mapping.allowedLosses = allowed
    state.mapping.to = state.versions.destinationIndex
  }

  static func enter(_ state: inout State) -> [Effect] {
    let mapping = state.mapping
    guard mapping.plan == nil, mapping.refusal == nil, mapping.task == nil, let to = mapping.to
    else { return [] }
    return plan(to: to, in: &state)
  }

  static func plan(to index: Int, in state: inout State) -> [Effect] {
    guard state.versions.indices.contains(index) else { return [] }
    let old = state.mapping.task.map { [Effect.cancel($0)] } ?? []
    let allowed = state.mapping.to == index ? state.mapping.allowedLosses : []
    state.mapping = MappingScreen()
    state.mapping.to = index
    state.mapping.allowedLosses = allowed
    state.migrate.forget()
    let task = state.newTask()
    state.mapping.task = task
    return old + [
      .plan(task, from: state.storeModelName ?? "this store’s model", to: state.versions[index])
    ]
  }

  static func cancel(in state: inout State) -> [Effect]? {
    guard let task = state.mapping.task else { return nil }
    state.mapping.task = nil
    state.mapping.refusal = CoreDataError(
      .cancelled, "planning was stopped", hint: "R plans again.")
    return [.cancel(task)]
  }

  static func take(_ message: Message, in state: inout State) -> [Effect] {
    guard case .planned(let task, let plan) = message, task == state.mapping.task else { return [] }
    state.mapping.task = nil
    state.mapping.plan = plan
    state.mapping.mappings = List(count: state.mapping.entityMappings.count)
    state.mapping.problems = List(count: state.mapping.problemList.count)
    // What changes is of more interest than what is copied as it is.
    if let first = state.mapping.entityMappings.firstIndex(where: { $0.kind != .copy }) {
      state.mapping.mappings.select(first)
    }
    // The first loss that is not accepted yet.
    let allowed = state.mapping.allowedLosses
    if let first = state.mapping.problemList.firstIndex(where: {
      if case .loss(let loss) = $0 { !loss.isAllowed(by: allowed) } else { false }
    }) {
      state.mapping.problems.select(first)
    }
    return []
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    guard task == state.mapping.task else { return nil }
    state.mapping.task = nil
    state.mapping.refusal = error
    return []
  }

  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    let layout = MappingLayout(state)
    switch action {
    case .navigate:
      switch state.mapping.focus {
      case .mappings:
        state.mapping.mappings.setHeight(layout.mappings.inset(by: 1).height)
        state.mapping.mappings.handle(key)
      case .losses:
        state.mapping.problems.setHeight(1)
        state.mapping.problems.handle(key)
      }
    case .nextPane:
      state.mapping.focus = state.mapping.focus == .mappings ? .losses : .mappings
    case .show(let screen):
      if !state.migrate.isRunning { state.migrate.phase = .ready }
      state.screen = screen
      return state.entered()
    case .planAgain: if let to = state.mapping.to { return plan(to: to, in: &state) }
    case .chooseVersion:
      state.show(
        VersionsLayer(.migrateTo, count: state.versions.count, selected: state.mapping.to ?? 0))
    case .allowLoss:
      guard let loss = state.mapping.selectedLoss else { return [] }
      if loss.isAllowed(by: state.mapping.allowedLosses) {
        state.mapping.allowedLosses.remove(loss.name)
        state.mapping.allowedLosses.remove(loss.entity)
        state.notice = Notice("the loss of \(loss.name) is refused again")
      } else if loss.property == nil {
        state.show(AllowLossLayer(loss))
      } else {
        return allow(loss, in: &state)
      }
    default: break
    }
    return []
  }

  static func allow(_ loss: Loss, in state: inout State) -> [Effect] {
    state.mapping.allowedLosses.insert(loss.name)
    state.notice = Notice("accepted; the same: \(state.mapping.command(state))", .success)
    let allowed = state.mapping.allowedLosses
    if let next = state.mapping.problemList.firstIndex(where: {
      if case .loss(let loss) = $0 { !loss.isAllowed(by: allowed) } else { false }
    }) {
      state.mapping.problems.select(next)
    }
    return []
  }
}
