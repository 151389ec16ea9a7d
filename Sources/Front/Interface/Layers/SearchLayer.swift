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

  init(_ target: Target, former: String) {
    (self.target, self.former) = (target, former)
    prompt = Prompt(former)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding([.enter], "keep", does("confirm") { _, _ in .close() }),
      Binding(
        [.escape], former.isEmpty ? "show all" : "cancel",
        does("cancel") { .close($1.giveUpSearch($0.former, in: $0.target)) }),
    ]
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    let text = prompt.text
    prompt.handle(key)
    return prompt.text == text ? [] : context.search(prompt.text, in: target)
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let line = Rect(x: body.x, y: body.bottom, width: body.width, height: 1)
    prompt.draw(in: &grid, line, label: [Span(" /", theme[.footerKey])], theme: theme)
  }
}

extension State {
  /// Narrows what is searched, or finds lines of it.
  mutating func search(_ text: String, in target: SearchLayer.Target) -> [Effect] {
    switch target {
    case .screen: return on(front) { $0.search(text, in: &$1) }
    case .layer:
      let index = layers.lastIndex { $0.content is any SearchableLayer }
      if let index { layers[index].narrow(to: text) }
      return []
    }
  }

  /// Narrows what was searched as it was before, and goes back to what was chosen there.
  mutating func giveUpSearch(
    _ former: String, in target: SearchLayer.Target
  ) -> [Effect] {
    switch target {
    case .screen: on(front) { $0.giveUpSearch(former, in: &$1) }
    case .layer: search(former, in: target)
    }
  }
}

extension Layer {
  /// Narrows the lines of a popup that has such; says whether they become others.
  @discardableResult
  mutating func narrow(to text: String) -> Bool {
    guard var content = content as? any SearchableLayer, content.filter != text else {
      return false
    }
    content.filter = text
    self.content = content
    return true
  }
}
