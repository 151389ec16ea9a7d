import Migration
import Terminal

/// Asks for a word before a whole entity is given up.
package struct AllowLossLayer: LayerContent {
  package var loss: Loss
  package var prompt = Prompt()

  init(_ loss: Loss) {
    self.loss = loss
  }

  /// The entity's own name has to be typed.
  var isConfirmed: Bool { prompt.text == loss.entity }

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "accept", .confirm, unless: isConfirmed ? nil : "type the word first"),
      Binding([.escape], "close", .close),
    ]
  }

  package func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    action == .confirm ? .close(MappingScreen.allow(loss, in: &state)) : .stay()
  }

  package mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    prompt.handle(key)
    return []
  }

  package func draw(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(60, rect.width - 4))
    let text =
      "All \(NumberText.counted(loss.values, "object")) of \(loss.entity) would be gone from the "
      + "migrated store. Type “\(loss.entity)” to accept that."
    let lines = Wrapping.lines(text, width: width)
    let inside = Popup("! Accept the loss", size: Size(width: width, height: lines.count + 2))
      .draw(in: &grid, rect, theme: theme)
    for (index, line) in lines.enumerated() where index < inside.height {
      grid.write(line, at: inside.row(index).origin, within: inside.width)
    }
    let line = inside.row(min(lines.count + 1, max(0, inside.height - 1)))
    let mark = isConfirmed ? Span("✓ ", theme[.success]) : Span("› ", theme[.dim])
    prompt.draw(in: &grid, line, label: [mark], theme: theme)
  }
}
