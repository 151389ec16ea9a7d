import Terminal

/// The keys of this screen and of all others.
package struct HelpLayer: LayerContent {
  var list = List()

  private enum Line {
    case title(String)
    case binding(Binding)
    case blank
  }

  private func lines(_ state: State) -> [Line] {
    var lines: [Line] = []
    for section in Keymap.sections(state) {
      if !lines.isEmpty { lines.append(.blank) }
      lines.append(.title(section.title))
      lines += section.bindings.map { .binding($0) }
    }
    return lines
  }

  package func bindings(_ state: State) -> [Binding] {
    [
      Keymap.movement,
      Binding([.escape, .character("q"), .enter, .character("?")], "close", .close),
    ]
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    list.setCount(lines(state).count)
    list.setHeight(max(1, state.body.height - 2))
    // A page of text has no selected line: arrows scroll it.
    switch key {
    case .up, .character("k"): list.scroll(by: -1)
    case .down, .character("j"): list.scroll(by: 1)
    default: list.handle(key)
    }
    return .stay()
  }

  package func draw(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let lines = lines(state)
    let inside = Popup("Keys", size: Size(width: 84, height: lines.count))
      .draw(in: &grid, rect, theme: theme)
    var list = list
    list.setCount(lines.count)
    list.setHeight(max(1, inside.height))
    let keys = 14
    for (position, index) in list.visible.enumerated() {
      let place = inside.row(position)
      switch lines[index] {
      case .blank: break
      case .title(let title):
        grid.write(title, at: place.origin, style: theme[.title], within: place.width)
      case .binding(let binding):
        let isAvailable = binding.isAvailable
        let style = theme[isAvailable ? .text : .dim]
        var spans = [Span(binding.title, isAvailable ? .plain : style)]
        if case .unavailable(let reason) = binding.availability {
          spans.append(Span("  (\(reason))", theme[.dim]))
        } else if let command = binding.command {
          spans.append(Span("   \(command)", theme[.code]))
        }
        grid.write(
          binding.label, at: Point(x: place.x + 1, y: place.y),
          style: theme[isAvailable ? .footerKey : .dim], within: keys - 2)
        grid.write(
          spans, at: Point(x: place.x + keys, y: place.y), within: max(0, place.width - keys))
      }
    }
  }
}
