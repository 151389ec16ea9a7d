import Terminal

/// A line at the foot of the screen whose text narrows or finds lines of a list as it is typed.
struct SearchLayer: LayerContent {
  /// The list that is searched.
  enum Target: Sendable, Equatable {
    /// The screen's, or that of its pane with the keys.
    case screen
    /// The popup's below.
    case layer
  }

  let target: Target
  var prompt: Prompt
  /// What the list was narrowed to before, for Escape.
  private let former: String

  init(_ target: Target, in state: State) {
    self.init(target, former: target.text(in: state))
  }

  init(_ target: Target, former: String) {
    (self.target, self.former) = (target, former)
    prompt = Prompt(former)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "keep", does("confirm") { _, _ in .close() }),
      Binding(
        [.escape], former.isEmpty ? "everything again" : "as before",
        does("cancel") { .close($0.target.search($0.former, in: &$1)) }),
    ]
  }

  mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    let text = prompt.text
    prompt.handle(key)
    return prompt.text == text ? [] : target.search(prompt.text, in: &state)
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let line = Rect(x: body.x, y: body.bottom, width: body.width, height: 1)
    prompt.draw(in: &grid, line, label: [Span(" /", theme[.footerKey])], theme: theme)
  }
}

extension SearchLayer.Target {
  /// What the list is narrowed to now.
  func text(in state: State) -> String {
    switch self {
    case .screen: state[state.front].searched
    case .layer: state.layerFilter ?? ""
    }
  }

  func search(_ text: String, in state: inout State) -> [Effect] {
    switch self {
    case .screen: return state.on(state.front) { $0.search(text, in: &$1) }
    case .layer:
      state.layerFilter = text
      return []
    }
  }
}
