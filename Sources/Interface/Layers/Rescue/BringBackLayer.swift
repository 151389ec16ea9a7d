import ManagedModel
import ManagedStore
import Terminal

/// Which of the deleted objects are to be back.
struct BringBackLayer: ChoosingLayer {
  private let choices: [RestoreOrder.Choice]
  private let output: String
  var list: List

  /// `nil` where there is nothing to choose from.
  init?(_ browse: BrowseScreen, output: String) {
    var choices: [RestoreOrder.Choice] = []
    if let table = browse.table {
      if let row = table.window.selectedRow, table.sources[row.id]?.isDeleted == true {
        choices.append(.only(row.id))
      }
      if let filter = table.rowFilter { choices.append(.matching(filter)) }
      choices.append(.all(entity: table.entity))
    }
    choices.append(.all(entity: nil))
    self.choices = choices
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
    let inside = Popup("Bring back", size: Size(width: width, height: choices.count))
      .draw(in: &grid, rect, theme: theme)
    list.draw(choices, in: &grid, inside, theme: theme) { choice, _ in [Span(choice.words)] }
  }
}
