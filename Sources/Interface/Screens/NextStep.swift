import Migration
import Terminal

/// What to do next in Mapping, in one sentence.
struct NextStep {
  let text: String
  let role: Theme.Role

  init(_ state: State) {
    let mapping = state.mapping
    (text, role) =
      mapping.plan.map { Self.sentence(of: $0, state) } ?? Self.sentence(withoutPlan: state)
  }

  private static func sentence(withoutPlan state: State) -> (String, Theme.Role) {
    let mapping = state.mapping
    if mapping.task != nil {
      return ("wait, or ^C: the rows are being looked through", .dim)
    }
    guard let refusal = mapping.refusal else { return ("o chooses a version", .dim) }
    if refusal.kind == .cancelled { return ("P plans again", .dim) }
    if mapping.isThroughVersions {
      return ("o, then v: go straight, where r can map what does not pass", .warning)
    }
    let isEdited = !mapping.currentEdits.isEmpty
    if mapping.reasonNotToSuggest(state) == nil {
      return isEdited
        ? ("r maps it so that it passes, u takes the last change back", .warning)
        : ("r maps it so that it passes, 2 shows what differs, o chooses another version", .warning)
    }
    return isEdited
      ? ("select a change (✎) and take it back with x, or u; 2 shows what differs", .warning)
      : ("2 shows what differs, o chooses another version or a way through versions", .warning)
  }

  private static func sentence(of plan: MigrationPlan, _ state: State) -> (String, Theme.Role) {
    let mapping = state.mapping
    if plan.isNothingToDo {
      return ("o chooses another version; there is nothing to do here", .dim)
    }
    let isBelow = mapping.focus == .losses
    let tab = isBelow ? "" : "Tab, then "
    if !plan.failures.isEmpty {
      return (
        "\(tab)⏎ shows the rows of a failing check, = computes the value that is missing", .warning
      )
    }
    if !plan.unallowedLosses(mapping.allowedLosses).isEmpty {
      return mapping.canMapLosses(state)
        ? ("\(tab)r maps what would be lost, a accepts it, A accepts all", .warning)
        : ("\(tab)a accepts what would be lost, A accepts all; nothing new takes it", .warning)
    }
    if let free = plan.bytesFree, free < plan.bytesNeeded {
      let missing = NumberText.bytes(plan.bytesNeeded - free)
      return ("free \(missing) more beside the store, then P plans again", .warning)
    }
    let recipe =
      mapping.currentEdits.isEmpty || mapping.recipePath != nil ? "" : ", w keeps your changes"
    return ("m goes on to migrate, R rehearses it on a copy first\(recipe)", .success)
  }
}
