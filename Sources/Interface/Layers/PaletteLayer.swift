import Terminal

/// Every action there is, found by a few of its letters.
struct PaletteLayer: LayerContent {
  private(set) var prompt = Prompt()
  var list: List

  init(_ state: State) {
    list = List(count: PaletteEntry.found("", in: state).count)
  }

  private func entries(_ state: State) -> [PaletteEntry] {
    PaletteEntry.found(prompt.text, in: state)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding(
        [.enter], "do it", does("choose") { $0.choose(in: &$1) },
        unless: list.isEmpty ? "no action found" : nil),
      moving([.up, .down, .pageUp, .pageDown, .control("p"), .control("n")], label: "↑↓ ^P ^N") {
        $0.fit($2)
        $0.list.handle($1)
        return []
      },
      closing([.escape]),
    ]
  }

  private mutating func fit(_ state: State) {
    list.setCount(entries(state).count)
    list.setHeight(max(1, state.body.height - 4))
  }

  private mutating func choose(in state: inout State) -> LayerOutcome {
    fit(state)
    guard let entry = entries(state).element(list.selected) else { return .stay() }
    if let reason = entry.reason {
      state.notice = Notice("\(entry.title): \(reason)", .warning)
      return .stay()
    }
    state.paletteMemory.called(entry.id)
    return .close(entry.run(in: &state))
  }

  mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    let text = prompt.text
    prompt.handle(key)
    if prompt.text != text {
      list = List(count: entries(state).count, height: max(1, state.body.height - 4))
    }
    return []
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let entries = entries(state)
    // As tall as the whole list is, so that it does not jump while it narrows.
    let all = PaletteEntry.found("", in: state).count
    let inside = Popup("Palette", 96, max(3, all) + 2).draw(in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span(":", theme[.footerKey])], theme: theme)
    let body = inside.droppingRows(2)
    guard !entries.isEmpty else {
      grid.write("no action found", in: body.row(0), style: theme[.dim])
      return
    }
    list.draw(entries, in: &grid, body, theme: theme) {
      $0.line(width: body.width - 2, isSelected: $1, theme: theme)
    }
  }
}

extension PaletteEntry {
  /// Section, title, keys, and the command line or the reason why not.
  fileprivate func line(width: Int, isSelected: Bool, theme: Theme) -> [Span] {
    func style(_ role: Theme.Role) -> Style { isSelected ? .plain : theme[role] }
    let base: Theme.Role = reason == nil ? .text : .dim
    var spans: [Span] = []
    let sectionWidth = width < 60 ? 0 : 12
    if sectionWidth > 0 { spans.append(Span(section.padded(to: sectionWidth), style(.dim))) }
    let titleWidth = max(12, min(34, width - sectionWidth - 10))
    // The letters that were meant, in runs of one look.
    let shown = Sanitize.text(title, limit: titleWidth - 1)
    for (index, character) in shown.enumerated() {
      let isMeant = positions.contains(index)
      spans.append(
        Span(
          String(character),
          isMeant ? (isSelected ? theme[.match].adding(.bold) : theme[.match]) : style(base)))
    }
    spans.append(Span("".padded(to: titleWidth - TextWidth.of(shown))))
    spans.append(Span(keyLabel.padded(to: 9), style(reason == nil ? .footerKey : .dim)))
    if let reason {
      spans.append(Span("(\(reason))", style(.dim)))
    } else if let command {
      spans.append(Span(command, style(.code)))
    }
    return spans
  }
}
