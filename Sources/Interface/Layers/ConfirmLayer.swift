import Terminal

/// A question with yes and no.
package struct ConfirmLayer: LayerContent {
  package enum Question: Sendable { case quitWhileMigrating }

  package var question: Question

  init(_ question: Question) {
    self.question = question
  }

  var yes: String { "stop it and quit" }
  var no: String { "go on" }

  private var text: String {
    "A migration is running. Quitting stops it; the store stays as it was."
  }

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding([.character("y")], yes, .confirm),
      Binding([.escape, .character("n"), .character("q")], label: "n", no, .close),
    ]
  }

  package func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    action == .confirm ? .close((MigrateScreen.cancel(in: &state) ?? []) + [.quit]) : .stay()
  }

  package func draw(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(60, rect.width - 4))
    let lines = Wrapping.lines(text, width: width)
    let inside = Popup("Quit?", size: Size(width: width, height: lines.count))
      .draw(in: &grid, rect, theme: theme)
    for (index, line) in lines.enumerated() where index < inside.height {
      grid.write(line, at: inside.row(index).origin, within: inside.width)
    }
  }
}
