import Migration
import Terminal

/// Where values or objects could go, the likeliest first.
struct SuggestionsLayer: LayerContent {
  var title: String
  var suggestions: [MappingSuggestion]
  var list: List
  /// Whether the first line leaves all as it is: where nothing is likely, Enter changes nothing.
  private let leavesFirst: Bool

  init(_ title: String, _ suggestions: [MappingSuggestion]) {
    self.title = title
    self.suggestions = suggestions
    leavesFirst = suggestions.first.map { $0.likeness < Self.likely } ?? false
    let count = suggestions.count + (leavesFirst ? 1 : 0)
    list = List(count: count, height: max(1, count))
  }

  private static let likely = 0.5

  /// The suggestion in a line of the list; `nil` for the line that leaves all as it is.
  private func suggestion(_ row: Int) -> MappingSuggestion? {
    let index = leavesFirst ? row - 1 : row
    return suggestions.element(index)
  }

  private var count: Int { suggestions.count + (leavesFirst ? 1 : 0) }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding(
        [.enter], suggestion(list.selected) == nil ? "leave it so" : "map, and plan again", .choose,
        unless: suggestions.isEmpty ? "there is nothing it could become" : nil),
      Keymap.movement,
      Binding([.escape, .character("q")], "close", .close),
    ]
  }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .choose else {
      list.handle(key, height: min(count, state.body.height - 4))
      return .stay()
    }
    guard let chosen = suggestion(list.selected) else { return .close() }
    return .close(state.on(MappingScreen.self) { $0.apply([chosen.edit], in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let inside = Popup(title, size: Size(width: width, height: max(1, count) + 2))
      .draw(in: &grid, rect, theme: theme)
    guard !suggestions.isEmpty, inside.height > 2 else {
      let text = "The new version has nothing that could take it."
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    let rows = Rect(x: inside.x, y: inside.y, width: inside.width, height: inside.height - 2)
    let nameWidth = min(
      inside.width / 2, suggestions.map { TextWidth.of($0.name, upTo: 60) }.max() ?? 0)
    list.draw(in: &grid, rows, theme: theme) { row in
      guard let suggestion = suggestion(row) else { return [Span("leave it as it is")] }
      let name = Sanitize.text(suggestion.name, limit: nameWidth)
      let padding = String(repeating: " ", count: max(0, nameWidth - TextWidth.of(name)) + 2)
      let isSelected = row == list.selected
      return [
        Span(name), Span(padding),
        theme.span(isSelected, suggestion.note, .dim),
        Span(row == 0 && suggestion.likeness >= Self.likely ? "  likely" : "", theme[.success]),
      ]
    }
    if let selected = suggestion(list.selected) {
      let text = "→ " + selected.edit.text
      grid.write(
        text, at: inside.row(inside.height - 1).origin, style: theme[.success],
        within: inside.width)
    }
  }
}
