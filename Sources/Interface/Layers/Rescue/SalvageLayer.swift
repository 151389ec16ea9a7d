import ManagedModel
import Terminal

/// Asks for the path of the store that salvaged objects go into.
struct SalvageLayer: PromptingLayer {
  private var order: SalvageOrder
  var prompt: Prompt
  /// Why the last try did not begin.
  private var problem: CoreDataError?

  init(_ order: SalvageOrder, after problem: CoreDataError? = nil) {
    self.order = order
    self.problem = problem
    prompt = Prompt(order.output)
  }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    return [
      Binding([.enter], "salvage…", .confirm, unless: isEmpty ? "there is no name" : nil),
      Binding([.escape], "close", .close),
    ]
      + (order.isLogForeign
        ? [Binding([.tab], order.ignoresLog ? "with the -wal" : "without the -wal", .nextPane)]
        : [])
  }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    if action == .nextPane, order.isLogForeign {
      order.ignoresLog.toggle()
      return .stay()
    }
    guard action == .confirm else { return .stay() }
    var order = order
    order.output = prompt.text
    return .close(state.confirm(.salvage(order, state)))
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let text =
      problem.map { "✗ \($0.message)" + ($0.typedHint.map { " → \($0)" } ?? "") }
      ?? "Everything that can still be read \(order.words)goes into a new store; \(state.storePath) is only read. Path of the new store:"
    draw(
      "Salvage into", text, width: 72, style: theme[problem == nil ? .dim : .warning],
      mark: Span("› ", theme[.footerKey]), with: theme, in: &grid, rect)
  }
}
