import Migration
import Terminal

/// Asks for a word before a whole entity, or everything that would be lost, is given up.
package struct AllowLossLayer: LayerContent {
  package var losses: [Loss]
  package var prompt = Prompt()

  init(_ losses: [Loss]) {
    self.losses = losses
  }

  /// Of one entity its own name has to be typed.
  package var word: String { losses.count == 1 ? losses[0].entity : "all" }

  var isConfirmed: Bool { prompt.text == word }

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "accept", .confirm, unless: isConfirmed ? nil : "type the word first"),
      Binding([.escape], "close", .close),
    ]
  }

  package func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    action == .confirm ? .close(MappingScreen.allow(losses, in: &state)) : .stay()
  }

  package mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    prompt.handle(key)
    return []
  }

  private var text: String {
    guard losses.count != 1, let first = losses.first else {
      let noun = losses.first?.property == nil ? "object" : "value"
      let what = losses.first.map { NumberText.counted($0.values, noun) + " of " + $0.name } ?? ""
      return "All \(what) would be gone from the migrated store. Type “\(word)” to accept that."
    }
    let objects = losses.filter { $0.property == nil }.reduce(0) { $0 + $1.values }
    let values = losses.filter { $0.property != nil }.reduce(0) { $0 + $1.values }
    let counts = [
      objects > 0 ? NumberText.counted(objects, "object") : nil,
      values > 0 ? NumberText.counted(values, "value") : nil,
    ].compactMap { $0 }.joined(separator: " and ")
    let names = losses.prefix(8).map(\.name).joined(separator: ", ")
    return
      "\(counts) would be gone from the migrated store: \(first == losses.last ? first.name : names)"
      + (losses.count > 8 ? " and \(losses.count - 8) more" : "")
      + ". Type “\(word)” to accept that."
  }

  package func draw(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(60, rect.width - 4))
    let lines = Wrapping.lines(text, width: width)
    let inside = Popup(
      losses.count == 1 ? "! Accept the loss" : "! Accept all losses",
      size: Size(width: width, height: lines.count + 2)
    ).draw(in: &grid, rect, theme: theme)
    for (index, line) in lines.enumerated() where index < inside.height {
      grid.write(line, at: inside.row(index).origin, within: inside.width)
    }
    let line = inside.row(min(lines.count + 1, max(0, inside.height - 1)))
    let mark = isConfirmed ? Span("✓ ", theme[.success]) : Span("› ", theme[.dim])
    prompt.draw(in: &grid, line, label: [mark], theme: theme)
  }
}
