import Migration
import Terminal

/// Asks for the expression that a value is computed by.
struct ValueLayer: LayerContent, PromptingLayer {
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
    let width = max(1, min(72, rect.width - 4))
    let text =
      "An SQL expression over the properties of the object as it was: a name, a 'text', "
      + "coalesce(a, b), a || ' ' || b, CAST(a AS INTEGER), parse_date(a, 'yyyy-MM-dd') …"
    let lines = Wrapping.lines(text, width: width)
    let inside = Popup("\(place) =", size: Size(width: width, height: lines.count + 2))
      .draw(in: &grid, rect, theme: theme)
    grid.write(lines, in: inside, style: theme[.dim])
    let line = inside.row(min(lines.count + 1, max(0, inside.height - 1)))
    prompt.draw(in: &grid, line, label: [Span("= ", theme[.footerKey])], theme: theme)
  }
}
