import Terminal

/// The keys of this panel, of everywhere and of the other screens, each with its command line.
struct HelpLayer: SearchableLayer {
  var list = List()
  var filter = "" {
    didSet { list = List(count: list.count, height: list.height) }
  }

  private let sections: [Keymap.Section]
  private let problems: [String]

  /// Those of the keys as they are now.
  init(_ state: State) {
    (sections, problems) = (Keymap.help(state), state.configurationProblems)
  }

  private enum Line {
    case title(String)
    case binding(Binding)
    case text(String)
    case blank
  }

  private var lines: [Line] {
    let match = TextMatch(filter)
    var lines: [Line] = []
    func add(_ title: String, _ section: [Line]) {
      guard !section.isEmpty else { return }
      if !lines.isEmpty { lines.append(.blank) }
      lines.append(.title(title))
      lines += section
    }
    if filter.isEmpty {
      add("Configuration", problems.map { .text("! " + $0) })
    }
    for section in sections {
      let found = section.bindings.filter {
        match.matches(
          "\(section.title) \($0.label) \($0.title) \($0.command ?? "") \($0.words)")
      }
      add(section.title, found.map { .binding($0) })
    }
    if filter.isEmpty {
      add(
        "Numbers",
        [
          .text("0 and 6–9 begin a number before a key: 012j moves twelve lines,"),
          .text("05G goes to the fifth; 1–5 select the screens. Esc drops it."),
        ])
    }
    if lines.isEmpty { lines.append(.text("no key found; press : to search all actions")) }
    return lines
  }

  /// The lines that are shown, those that were found only: a key, what it does, its command line.
  func copied(_ context: Context) -> (text: String, title: String) {
    let lines = lines.map { line in
      switch line {
      case .title(let text), .text(let text): text + "\n"
      case .blank: "\n"
      case .binding(let binding):
        [binding.label, binding.title, binding.command].compactMap { $0 }.joined(separator: "  ")
          + "\n"
      }
    }
    return (lines.joined(), title)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      movement, searchBinding, copyBinding, closing([.escape, "q", .enter, "?"]),
    ]
  }

  func count(_ context: Context) -> Int { lines.count }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let lines = lines
    var unfiltered = self
    unfiltered.filter = ""
    // The frame stays as it is while the lines narrow.
    let height = unfiltered.lines.count
    let inside = Popup(title, 84, height).draw(in: &grid, rect, theme: theme)
    for (index, place) in list.places(count: lines.count, in: inside) {
      switch lines[index] {
      case .blank: break
      case .title(let title):
        grid.write(title, at: place.origin, style: theme[.title], within: place.width)
      case .text(let text):
        grid.write(text, at: Point(x: place.x + 1, y: place.y), within: place.width - 1)
      case .binding(let binding): draw(binding, in: &grid, place, theme: theme)
      }
    }
    list.fitted(to: inside.height, count: lines.count).drawScrollMark(
      in: &grid,
      Rect(x: inside.x, y: inside.y, width: inside.width + 1, height: inside.height), theme: theme)
  }

  private var title: String { filter.isEmpty ? "Keys" : "Keys with “\(filter)”" }

  private func draw(_ binding: Binding, in grid: inout Grid, _ place: Rect, theme: Theme) {
    let keys = 14
    let style = theme[binding.isAvailable ? .text : .dim]
    var spans = [Span(binding.title, binding.isAvailable ? .plain : style)]
    if let reason = binding.reason {
      spans.append(Span("  (\(reason))", theme[.dim]))
    } else if let command = binding.command {
      spans.append(Span("   \(command)", theme[.code]))
    }
    grid.write(
      binding.label, at: Point(x: place.x + 1, y: place.y),
      style: theme[binding.isAvailable ? .footerKey : .dim], within: keys - 2)
    grid.write(spans, at: Point(x: place.x + keys, y: place.y), within: max(0, place.width - keys))
  }
}
