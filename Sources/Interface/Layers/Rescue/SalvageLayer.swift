import ManagedModel
import Terminal

/// Asks where what is salvaged is to be, and for the model where the store has none any more.
struct SalvageLayer: PromptingLayer {
  private enum Question: Sendable, Equatable { case output, model }

  private var order: SalvageOrder
  private var question = Question.output
  var prompt: Prompt
  /// Why the last try did not begin.
  private var problem: CoreDataError?

  init(_ order: SalvageOrder) {
    self.order = order
    prompt = Prompt(order.output)
  }

  /// Asks again after a try that could not begin.
  init(_ order: SalvageOrder, after error: CoreDataError) {
    self.init(order)
    problem = error
    guard Self.needsModel(error) else { return }
    question = .model
    prompt = Prompt(order.model ?? "")
  }

  /// Whether another answer may help against a failure.
  static func asks(after error: CoreDataError) -> Bool {
    [.refused, .usage].contains(error.kind) || needsModel(error)
  }

  private static func needsModel(_ error: CoreDataError) -> Bool {
    error.advice?.names(.model) == true
  }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    let missing = question == .output ? "there is no name" : "there is no path"
    return [
      Binding([.enter], "salvage", .confirm, unless: isEmpty ? missing : nil),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    var order = order
    switch question {
    case .output: order.output = prompt.text
    case .model: order.model = prompt.text
    }
    return .close(state.on(RescueScreen.self) { $0.start(.salvage(order), in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let title: String
    let text: String
    switch (question, problem) {
    case (.model, let problem):
      title = "Which model made the store?"
      text =
        (problem.map { "\($0.message.capitalizedFirst). " } ?? "")
        + "With the model its rows can be told: the path of a .xcdatamodeld, .momd or .mom, or of a whole store of the same version."
    case (.output, let problem?):
      title = "Salvage into"
      text = "✗ \(problem.message)" + (problem.typedHint.map { " → \($0)" } ?? "")
    case (.output, nil):
      title = "Salvage into"
      text =
        "Everything that can still be read goes into a new store; \(state.storePath) is only read. Where is the new one to be?"
    }
    draw(
      title, text, width: 72, style: theme[problem == nil ? .dim : .warning],
      mark: Span("› ", theme[.footerKey]), with: theme, in: &grid, rect)
  }
}
