import Migration
import Terminal

/// Where values or objects could go, the likeliest first.
struct SuggestionsLayer: ChoosingLayer {
  var title: String
  /// Where nothing is likely the first line maps nothing, so that Enter changes nothing:
  /// `nil`.
  private let lines: [MappingSuggestion?]
  var list: List

  init(_ title: String, _ suggestions: [MappingSuggestion]) {
    self.title = title
    let isUnlikely = suggestions.first.map { $0.likeness < RenameGuess.likely } ?? false
    lines = (isUnlikely ? [nil] : []) + suggestions
    list = List(count: lines.count, height: lines.count)
  }

  private var selected: MappingSuggestion? { lines.element(list.selected) ?? nil }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding(
        [.enter], selected == nil ? "map nothing: it is lost" : "map, and plan again", chooses,
        unless: lines.isEmpty ? "nothing in the new version fits it" : nil),
      movement,
      closing(),
    ]
  }

  func room(_ context: Context) -> Int? { min(lines.count, context.body.height - 4) }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let selected else { return .close() }
    return .close(context.on(MappingScreen.self) { $0.apply([selected.edit], in: &$1) })
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let inside = Popup(title, width, max(1, lines.count) + 2).draw(in: &grid, rect, theme: theme)
    guard !lines.isEmpty, inside.height > 2 else {
      let text = "Nothing in the new version fits it."
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    let rows = Rect(x: inside.x, y: inside.y, width: inside.width, height: inside.height - 2)
    let nameWidth = min(
      inside.width / 2, lines.compactMap { $0.map { TextWidth.of($0.name, upTo: 60) } }.max() ?? 0)
    list.draw(lines, in: &grid, rows, theme: theme) { suggestion, isSelected in
      guard let suggestion else { return [Span("map nothing: it is lost")] }
      let isLikely = suggestion == lines.first && suggestion.likeness >= RenameGuess.likely
      return [
        Span(suggestion.name.fitted(to: nameWidth) + "  "),
        theme.span(isSelected, suggestion.note, .dim),
        Span(isLikely ? "  likely" : "", theme[.success]),
      ]
    }
    if let selected {
      grid.write(
        "→ " + selected.edit.text, at: inside.row(inside.height - 1).origin,
        style: theme[.success], within: inside.width)
    }
  }
}
