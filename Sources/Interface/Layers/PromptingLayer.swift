import Terminal

/// A popup with a line of text that keys without another meaning go to.
protocol PromptingLayer: LayerContent {
  var prompt: Prompt { get set }
}

extension PromptingLayer {
  mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    prompt.handle(key)
    return []
  }

  /// Draws a text, and the line to be typed below it.
  func draw(
    _ title: String, _ text: String, width: Int, style: Style = .plain, mark: Span,
    with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let lines = Wrapping.lines(text, width: max(1, min(width, rect.width - 4)))
    let inside = Popup(
      title, size: Size(width: max(1, min(width, rect.width - 4)), height: lines.count + 2)
    ).draw(in: &grid, rect, theme: theme)
    grid.write(lines, in: inside, style: style)
    let line = inside.row(min(lines.count + 1, max(0, inside.height - 1)))
    prompt.draw(in: &grid, line, label: [mark], theme: theme)
  }
}
