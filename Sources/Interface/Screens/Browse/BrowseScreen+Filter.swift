import ManagedModel
import ManagedStore

extension BrowseScreen {
  private static let mostFormer = 50

  /// Narrows the tree to entities with such a name.
  mutating func filterEntities(_ text: String, in state: inout State) -> [Effect] {
    tree.setFilter(text)
    return showEntity(in: &state)
  }

  /// What the pane with the keys is narrowed to.
  var searched: String {
    switch focus {
    case .entities: tree.filter
    case .inspector: inspector.filter
    case .rows: ""
    }
  }

  /// Narrows the pane with the keys.
  mutating func search(_ text: String, in state: inout State) -> [Effect] {
    if focus == .entities { return filterEntities(text, in: &state) }
    inspector.setFilter(text)
    return []
  }

  /// Shows only the rows that a predicate takes; all of them when the text is empty.
  ///
  /// A predicate that makes no sense is told in a notice and changes nothing.
  mutating func setFilter(_ text: String, in state: inout State) -> [Effect] {
    guard let table, let layout = state.store?.layout else { return [] }
    let text = text.trimmed
    do {
      try self.table?.setFilter(text.isEmpty ? nil : text, related: table.related, layout)
    } catch {
      state.notice = Notice(error.clause, .warning)
      return []
    }
    if !text.isEmpty { remember(text, of: table.entity, in: &state) }
    state.screen = .browse
    focus = .rows
    fit(in: &state)
    // The row that is selected stays so if the filter takes it.
    guard let id = table.window.selectedRow?.id, text.isEmpty else {
      return read(.start, in: &state)
    }
    return read(.object(id), in: &state)
  }

  mutating func remember(_ text: String, of entity: String, in state: inout State) {
    var former = formerFilters[entity] ?? []
    former.removeAll { $0 == text }
    former.append(text)
    formerFilters[entity] = former.suffix(Self.mostFormer)
  }
}
