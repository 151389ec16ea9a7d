import ManagedModel
import Terminal

extension PickerScreen {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let inside = grid.box(rect, style: theme[.borderFocused])
    let narrowed = filter.isEmpty ? "" : "  with “\(filter)”"
    grid.title(
      [Span(folder + narrowed, theme[.title])],
      note: listing?.isCut == true ? [Span("not all of it", theme[.dim])] : [], on: rect)
    let lines = lines
    guard !lines.isEmpty else {
      let text =
        error.map { "✗ " + $0.description }
        ?? (isReading ? "…" : "no store and no folder here")
      grid.write(
        text, in: inside.row(1), style: theme[error == nil ? .dim : .error], align: .center)
      return
    }
    let isFocused = !context.isCovered
    let selected = selectedLine
    list.draw(lines, in: &grid, inside, theme: theme, isFocused: isFocused) { line, _ in
      self.line(line, width: inside.width - 2, isSelected: line == selected, theme: theme)
    }
  }

  private func line(_ line: Line, width: Int, isSelected: Bool, theme: Theme) -> [Span] {
    func style(_ role: Theme.Role) -> Style { isSelected ? .plain : theme[role] }
    let factsWidth = width < 60 ? 22 : width < 70 ? 40 : 47
    let nameWidth = max(8, width - factsWidth - 2)
    func spans(
      _ name: String, _ role: Theme.Role, _ facts: String, _ factsRole: Theme.Role
    ) -> [Span] {
      // The end of a path shows more than its beginning.
      let name = Self.tail(of: name, width: nameWidth)
      return [
        Span(name.padded(to: nameWidth + 2), style(role)), Span(facts, style(factsRole)),
      ]
    }
    /// The time with what goes around it: the day alone, or nothing, where it would be cut.
    func timed(_ start: String, _ time: String, _ end: String = "") -> String {
      let forms = time.isEmpty ? [] : [time, String(time.prefix(10))]
      return forms.map { start + $0 + end }.first { TextWidth.of($0) <= factsWidth }
        ?? (end.isEmpty ? start.trimmed : start + String(time.prefix(10)) + end)
    }
    switch line {
    case .heading(let text): return [Span(text, theme[.dim])]
    case .recent(let store):
      let model = store.model.isEmpty ? "" : "  “\(store.model)”"
      return spans(store.path, .title, timed("opened ", store.opened, model), .dim)
    case .entry(let entry):
      let facts: String
      let isStore: Bool
      switch peeks[entry.path] {
      case .store(let entities)?:
        let count =
          entities == 0
          ? "" : ", " + NumberText.counted(entities, "entity", plural: "entities")
        facts = "✓ Core Data\(count), \(NumberText.bytes(entry.bytes))"
        isStore = true
      case .atomic(let type)?:
        (facts, isStore) = ("✓ Core Data, \(type), \(NumberText.bytes(entry.bytes))", true)
      case .database?: (facts, isStore) = ("SQLite, \(NumberText.bytes(entry.bytes))", false)
      case .folder(let stores, let models)?:
        let parts = [(stores, "store"), (models, "model")].filter { $0.0 > 0 }
        facts = parts.map { NumberText.counted($0.0, $0.1) }.joined(separator: ", ")
        isStore = false
      case .container(let noun)?: (facts, isStore) = (noun, false)
      case .locked(let noun)?: (facts, isStore) = ("locked: " + noun, false)
      case .damaged(let problem)?: (facts, isStore) = ("✗ " + problem, false)
      case .nothing?, nil: (facts, isStore) = (entry.kind == .folder ? "" : "…", false)
      }
      let time = width < 60 || facts.isEmpty ? "" : entry.modified
      let name = entry.kind == .folder ? entry.name + "/" : entry.name
      return spans(
        name, isStore ? .title : entry.kind == .folder ? .entity : .dim,
        time.isEmpty ? facts : timed(facts + "  ", time), isStore ? .success : .dim)
    }
  }

  private static func tail(of name: String, width: Int) -> String {
    let text = Sanitize.text(name, limit: 4_096)
    guard TextWidth.of(text) > width else { return text }
    var tail = text
    while TextWidth.of(tail) > width - 1, !tail.isEmpty { tail.removeFirst() }
    return "…" + tail
  }
}
