import ManagedModel
import ManagedStore
import Terminal

/// Which of the deleted objects are to be restored.
struct BringBackLayer: ChoosingLayer {
  private let choices: [RestoreOrder.Choice]
  /// How many objects each choice is of, where that is known.
  private let counts: [Int?]
  private let output: String
  var list: List

  /// `nil` where there is nothing to choose from.
  init?(_ browse: BrowseScreen, in state: State, output: String) {
    var choices: [(RestoreOrder.Choice, Int?)] = []
    let found = state.remains.remains?.entities ?? []
    let all = found.reduce(0) { $0 + $1.deleted + $1.lost }
    if let table = browse.table {
      if let filter = table.rowFilter { choices.append((.matching(filter), nil)) }
      let model = state.store?.layout.model
      let names = Set(model?.subtree(of: table.entity) ?? [table.entity])
      let own = found.filter { names.contains($0.name) }.reduce(0) { $0 + $1.deleted + $1.lost }
      if own > 0 { choices.append((.all(entity: table.entity), own)) }
      if all > own { choices.append((.all(entity: nil), all)) }
      if let row = table.window.selectedRow, table.sources[row.id]?.isDeleted == true {
        choices.append((.only(row.id), nil))
      }
    } else if all > 0 {
      choices.append((.all(entity: nil), all))
    }
    guard !choices.isEmpty else { return nil }
    self.choices = choices.map(\.0)
    counts = choices.map(\.1)
    self.output = output
    list = List(count: choices.count, height: choices.count)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "choose", .choose), Keymap.movement,
      Binding([.escape, "q"], "close", .close),
    ]
  }

  mutating func choose(in state: inout State) -> LayerOutcome {
    guard let choice = choices.element(list.selected) else { return .close() }
    state.show(RestoreLayer(RestoreOrder(output: output, choice: choice)))
    return .close()
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let inside = Popup(
      "Restore into a new store", size: Size(width: width, height: choices.count)
    )
    .draw(in: &grid, rect, theme: theme)
    let lines = zip(choices, counts).map { choice, count in
      choice.words + (count.map { " (\(NumberText.grouped($0)))" } ?? "")
    }
    list.draw(lines, in: &grid, inside, theme: theme) { line, _ in [Span(line)] }
  }
}
