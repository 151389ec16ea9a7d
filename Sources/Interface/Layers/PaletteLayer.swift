import Terminal

/// Every action there is, found by a few of its letters.
struct PaletteLayer: LayerContent {
  private(set) var prompt = Prompt()
  var list: List

  private let all: PaletteEntries

  init(_ state: State) {
    all = PaletteEntries(state)
    list = List(count: all.found("", in: state.store).count)
  }

  private func entries(_ context: Context) -> [PaletteEntry] {
    all.found(prompt.text, in: context.store)
  }

  func bindings(_ context: Context) -> [Binding] {
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

  private mutating func fit(_ context: Context) {
    list.setCount(entries(context).count)
    list.setHeight(max(1, context.body.height - 4))
  }

  private mutating func choose(in context: inout Context) -> LayerOutcome {
    fit(context)
    guard let entry = entries(context).element(list.selected) else { return .stay() }
    if let reason = entry.reason {
      context.notice = Notice("\(entry.title): \(reason)", .warning)
      return .stay()
    }
    return .close(context.run(entry))
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    let text = prompt.text
    prompt.handle(key)
    if prompt.text != text {
      list = List(count: entries(context).count, height: max(1, context.body.height - 4))
    }
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let entries = entries(context)
    // As tall as the whole list is, so that it does not jump while it narrows.
    let most = all.found("", in: context.store).count
    let inside = Popup("Palette", 96, max(3, most) + 2).draw(in: &grid, rect, theme: theme)
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
