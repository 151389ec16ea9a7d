import Migration
import Terminal

/// Where values or objects could go, the likeliest first.
package struct SuggestionsLayer: LayerContent {
  package var title: String
  package var suggestions: [MappingSuggestion]
  package var list: List

  init(_ title: String, _ suggestions: [MappingSuggestion]) {
    self.title = title
    self.suggestions = suggestions
    list = List(count: suggestions.count, height: max(1, suggestions.count))
  }

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding(
        [.enter], "map, and plan again", .choose,
        unless: suggestions.isEmpty ? "there is nothing it could become" : nil),
      Keymap.movement,
      Binding([.escape, .character("q")], "close", .close),
    ]
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    guard action == .choose else {
      list.setHeight(max(1, min(suggestions.count, state.body.height - 4)))
      list.handle(key)
      return .stay()
    }
    guard suggestions.indices.contains(list.selected) else { return .close() }
    return .close(MappingScreen.apply([suggestions[list.selected].edit], in: &state))
  }

  package func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let inside = Popup(title, size: Size(width: width, height: max(1, suggestions.count) + 2))
      .draw(in: &grid, rect, theme: theme)
    guard !suggestions.isEmpty, inside.height > 2 else {
      let text = "The new version has nothing that could take it."
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: inside.height - 2)
    let nameWidth = min(
      inside.width / 2, suggestions.map { TextWidth.of($0.name, upTo: 60) }.max() ?? 0)
    list.draw(in: &grid, rows, theme: theme) { row in
      let suggestion = suggestions[row]
      let name = Sanitize.text(suggestion.name, limit: nameWidth)
      let padding = String(repeating: " ", count: max(0, nameWidth - TextWidth.of(name)) + 2)
      let isSelected = row == list.selected
      return [
        Span(name), Span(padding),
        Span(suggestion.note, isSelected ? .plain : theme[.dim]),
        Span(row == 0 && suggestion.likeness >= 0.5 ? "  likely" : "", theme[.success]),
      ]
    }
    if suggestions.indices.contains(list.selected) {
      let text = "→ " + suggestions[list.selected].edit.text
      grid.write(
        text, at: inside.row(inside.height - 1).origin, style: theme[.success],
        within: inside.width)
    }
  }
}
