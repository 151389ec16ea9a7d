import Migration
import Terminal

/// Asks for the expression that a value is computed by.
struct ValueLayer: PromptingLayer {
  let place: String
  var prompt: Prompt

  init(place: String, expression: String) {
    self.place = place
    prompt = Prompt(expression)
  }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    return [
      Binding(
        [.enter], "compute it so, and plan again", .confirm,
        unless: isEmpty ? "there is no expression" : nil),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    return .close(state.on(MappingScreen.self) { $0.apply([.value(place, prompt.text)], in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let text =
      "An SQL expression over the properties of the object as it was: a name, a 'text', "
      + "coalesce(a, b), a || ' ' || b, CAST(a AS INTEGER), parse_date(a, 'yyyy-MM-dd') …"
    draw(
      "\(place) =", text, width: 72, style: theme[.dim], mark: Span("= ", theme[.footerKey]),
      with: theme, in: &grid, rect)
  }
}
