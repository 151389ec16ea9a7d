import ManagedModel
import Terminal

/// Asks for the path of the store that deleted objects are restored into.
struct RestoreLayer: PromptingLayer {
  private var order: RestoreOrder
  var prompt: Prompt
  /// Why the last try did not begin.
  private var problem: CoreDataError?

  init(_ order: RestoreOrder, after problem: CoreDataError? = nil) {
    self.order = order
    self.problem = problem
    prompt = Prompt(order.output)
  }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    return [
      Binding([.enter], "restore…", .confirm, unless: isEmpty ? "there is no name" : nil),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    var order = order
    order.output = prompt.text
    return .close(state.confirm(.restore(order, state)))
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let text =
      problem.map { "✗ \($0.message)" + ($0.typedHint.map { " → \($0)" } ?? "") }
      ?? "A new store gets all that is in the store, and \(order.choice.words). \(state.storePath) is only read. Path of the new store:"
    draw(
      "Restore into", text, width: 72, style: theme[problem == nil ? .dim : .warning],
      mark: Span("› ", theme[.footerKey]), with: theme, in: &grid, rect)
  }
}

extension RestoreOrder.Choice {
  /// Which objects, for a sentence.
  var words: String {
    switch self {
    case .all(nil): "every deleted object that was found"
    case .all(let entity?): "every deleted \(entity) that was found"
    case .only(let id): "\(id) alone"
    case .matching(let filter): "the deleted ones of \(filter.entity) that the filter takes"
    }
  }
}
