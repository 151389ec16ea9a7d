import ManagedStore

extension BrowseScreen {
  /// Goes to an object that a popup named.
  static func visit(_ id: ObjectID, in state: inout State) -> [Effect] {
    state.screen = .browse
    state.browse.tree.select(id.entity)
    let effects = showEntity(in: &state)
    state.browse.inspector.show(id)
    state.browse.focus = .inspector
    fit(&state)
    return effects + load(in: &state)
  }

  /// Shows only the rows that fulfil a predicate.
  package static func setFilter(_ text: String, in state: inout State) -> [Effect] {
    state.notice = Notice("where \(text)")
    return []
  }
}
