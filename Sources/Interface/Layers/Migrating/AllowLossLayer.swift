import Migration
import Terminal

/// Asks for a word before a whole entity, or everything that would be lost, is given up.
struct AllowLossLayer: PromptingLayer {
  var losses: [Loss]
  var prompt = Prompt()

  init(_ losses: [Loss]) { self.losses = losses }

  /// Of one entity its own name has to be typed.
  var word: String { losses.count == 1 ? losses[0].entity : "all" }

  var isConfirmed: Bool { prompt.text == word }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "accept", .confirm, unless: isConfirmed ? nil : "type the word first"),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    action == .confirm
      ? .close(state.on(MappingScreen.self) { $0.allow(losses, in: &$1) }) : .stay()
  }

  private var text: String {
    guard losses.count != 1, let first = losses.first else {
      let noun = losses.first?.property == nil ? "object" : "value"
      let what = losses.first.map { NumberText.counted($0.values, noun) + " of " + $0.name } ?? ""
      return "All \(what) would be gone from the migrated store. Type “\(word)” to accept that."
    }
    let names = losses.prefix(8).map(\.name).joined(separator: ", ")
    return
      "\(losses.counted) would be gone from the migrated store: \(first == losses.last ? first.name : names)"
      + (losses.count > 8 ? " and \(losses.count - 8) more" : "")
      + ". Type “\(word)” to accept that."
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    draw(
      losses.count == 1 ? "! Accept the loss" : "! Accept all losses", text, width: 60,
      mark: isConfirmed ? Span("✓ ", theme[.success]) : Span("› ", theme[.dim]), with: theme,
      in: &grid, rect)
  }
}
