import ManagedModel
import Terminal

/// Asks for the model that made the store, where the store itself has none any more.
struct ModelLayer: PromptingLayer {
  private let work: RescueWork
  var prompt: Prompt
  /// Why it is asked for.
  private let problem: CoreDataError

  /// - Returns: `nil` where a model does not help, or the work takes none.
  init?(_ work: RescueWork, after problem: CoreDataError) {
    guard problem.advice?.names(.model) == true, work.taking(model: "") != nil else { return nil }
    self.work = work
    self.problem = problem
    prompt = Prompt(work.model ?? "")
  }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    return [
      Binding([.enter], "try with it", .confirm, unless: isEmpty ? "there is no path" : nil),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm, let work = work.taking(model: prompt.text) else { return .stay() }
    if case .salvage(let order) = work { return .close(state.confirm(.salvage(order, state))) }
    return .close(state.on(RescueScreen.self) { $0.start(work, in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let text =
      "\(problem.message.capitalizedFirst). With the model its rows can be told: the path of a .xcdatamodeld, .momd or .mom, or of a whole store of the same version."
    draw(
      "Which model made the store?", text, width: 72, style: theme[.warning],
      mark: Span("› ", theme[.footerKey]), with: theme, in: &grid, rect)
  }
}

extension RescueWork {
  /// The model that was given for it.
  fileprivate var model: String? {
    switch self {
    case .salvage(let order): order.model
    case .search(_, let model): model
    case .restore, .repair: nil
    }
  }

  /// The same with a model; `nil` where none can be given.
  fileprivate func taking(model: String) -> RescueWork? {
    switch self {
    case .salvage(var order):
      order.model = model
      return .salvage(order)
    case .search(let thenShow, _): return .search(thenShow: thenShow, model: model)
    case .restore, .repair: return nil
    }
  }
}
