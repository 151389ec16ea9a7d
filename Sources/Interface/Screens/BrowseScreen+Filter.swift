import ManagedModel
import ManagedStore

extension BrowseScreen {
  private static let mostFormer = 50

  /// Narrows the tree to entities with such a name.
  static func filterEntities(_ text: String, in state: inout State) -> [Effect] {
    state.browse.tree.setFilter(text)
    return showEntity(in: &state)
  }

  /// Shows only the rows that a predicate takes; all of them when the text is empty.
  ///
  /// A predicate that makes no sense is told in a notice and changes nothing.
  package static func setFilter(_ text: String, in state: inout State) -> [Effect] {
    guard let table = state.browse.table, let layout = state.store?.layout else { return [] }
    let text = text.trimmed
    do {
      try state.browse.table?.setFilter(
        text.isEmpty ? nil : text, related: table.related, layout)
    } catch {
      state.notice = Notice((error as? CoreDataError)?.message ?? "\(error)", .warning)
      return []
    }
    if !text.isEmpty { remember(text, of: table.entity, in: &state) }
    state.screen = .browse
    state.browse.focus = .rows
    fit(&state)
    // The row that is selected stays so if the filter takes it.
    guard let id = table.window.selectedRow?.id, text.isEmpty else {
      return read(.start, in: &state)
    }
    return read(.object(id), in: &state)
  }

  static func remember(_ text: String, of entity: String, in state: inout State) {
    var former = state.browse.formerFilters[entity] ?? []
    former.removeAll { $0 == text }
    former.append(text)
    state.browse.formerFilters[entity] = former.suffix(mostFormer)
  }
}

extension String {
  /// Without the spaces around it.
  var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
