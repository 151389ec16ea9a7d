import ManagedModel
import Migration
import Terminal

/// What to do next in Mapping, in one sentence.
struct NextStep {
  let text: String
  let role: Theme.Role

  /// Whether only Mapping's own keys do it; others do it on Migrate too.
  let isOfMapping: Bool

  init(_ mapping: MappingScreen, _ state: State) {
    self =
      mapping.plan.map { Self.step(of: $0, mapping, state) } ?? Self.step(without: mapping, state)
  }

  private init(_ text: String, _ role: Theme.Role, isOfMapping: Bool = true) {
    (self.text, self.role, self.isOfMapping) = (text, role, isOfMapping)
  }

  private static func step(without mapping: MappingScreen, _ state: State) -> NextStep {
    if mapping.task != nil {
      return NextStep("wait, or ^C: the rows are being looked through", .dim)
    }
    guard let refusal = mapping.refusal else {
      return NextStep("o chooses a version", .dim, isOfMapping: false)
    }
    if refusal.kind == .cancelled { return NextStep("P plans again", .dim, isOfMapping: false) }
    if mapping.isThroughVersions {
      return NextStep(
        "o, then v: go straight, where r can map what does not pass", .warning, isOfMapping: false)
    }
    let isEdited = !mapping.currentEdits.isEmpty
    if mapping.reasonNotToSuggest(state) == nil {
      return isEdited
        ? NextStep("r maps it so that it passes, u takes the last change back", .warning)
        : NextStep(
          "r maps it so that it passes, 2 shows what differs, o chooses another version", .warning)
    }
    return isEdited
      ? NextStep(
        "select a change (✎) and take it back with x, or u; 2 shows what differs", .warning)
      : NextStep(
        "2 shows what differs, o chooses another version or a way through versions", .warning)
  }

  private static func step(
    of plan: MigrationPlan, _ mapping: MappingScreen, _ state: State
  ) -> NextStep {
    if plan.isNothingToDo {
      return NextStep(
        "o chooses another version; there is nothing to do here", .dim, isOfMapping: false)
    }
    let isBelow = mapping.focus == .losses
    let tab = isBelow ? "" : "Tab, then "
    if !plan.failures.isEmpty {
      return NextStep(
        "\(tab)⏎ shows the rows of a failing check, = computes the value that is missing", .warning)
    }
    if !plan.unallowedLosses(mapping.allowedLosses).isEmpty {
      return mapping.canMapLosses(state)
        ? NextStep("\(tab)r maps what would be lost, a accepts it, A accepts all", .warning)
        : NextStep(
          "\(tab)a accepts what would be lost, A accepts all; nothing new takes it", .warning)
    }
    if let free = plan.bytesFree, free < plan.bytesNeeded {
      let missing = NumberText.bytes(plan.bytesNeeded - free)
      return NextStep(
        "free \(missing) more beside the store, then P plans again", .warning, isOfMapping: false)
    }
    if let obstacle = plan.obstacles.first {
      return NextStep(
        "\(obstacle.message): put that right, then P plans again", .warning, isOfMapping: false)
    }
    let recipe =
      mapping.currentEdits.isEmpty || mapping.recipePath != nil ? "" : ", w keeps your changes"
    return NextStep("m goes on to migrate, R rehearses it on a copy first\(recipe)", .success)
  }
}
