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
    let width = inside.width - 2
    let factsWidth = factsWidth(of: lines, width: width)
    list.draw(lines, in: &grid, inside, theme: theme, isFocused: isFocused) { line, _ in
      let isSelected = line == selected
      if case .heading(let text) = line { return [Span(text, theme[.dim])] }
      let description = describe(line, width: width)
      func style(_ role: Theme.Role) -> Style { isSelected ? .plain : theme[role] }
      let nameWidth = max(8, width - factsWidth - 2)
      let name = Self.tail(of: description.name, width: nameWidth)
      return [
        Span(name.padded(to: nameWidth + 2), style(description.role)),
        Span(description.facts(within: factsWidth), style(description.factsRole)),
      ]
    }
  }

  /// Cells for what is said of the files: fewer where a name needs the room and no line needs them, since stores
  /// in a backup are told apart by the app at the beginning of a long path.
  private func factsWidth(of lines: [Line], width: Int) -> Int {
    let most = width < 60 ? 22 : width < 70 ? 40 : 47
    let descriptions = lines.filter { !$0.isHeading }.map { describe($0, width: width) }
    guard descriptions.contains(where: { TextWidth.of($0.name, upTo: width) > width - most - 2 })
    else { return most }
    return descriptions.reduce(0) { max($0, TextWidth.of($1.facts(within: most), upTo: most)) } + 1
  }

  /// What a line says: a name, and what is known of the file.
  private struct Description {
    var name: String
    var role: Theme.Role
    var start: String
    var time = ""
    var end = ""
    var factsRole: Theme.Role

    /// The time with what goes around it: the day alone, or nothing, where it would be cut.
    func facts(within width: Int) -> String {
      let forms = time.isEmpty ? [] : [time, String(time.prefix(10))]
      return forms.map { start + $0 + end }.first { TextWidth.of($0) <= width }
        ?? (end.isEmpty ? start.trimmed : start + String(time.prefix(10)) + end)
    }
  }

  private func describe(_ line: Line, width: Int) -> Description {
    switch line {
    case .heading(let text):
      return Description(name: text, role: .dim, start: "", factsRole: .dim)
    case .recent(let store):
      return Description(
        name: store.path, role: .title, start: "opened ", time: store.opened,
        end: store.model.isEmpty ? "" : "  “\(store.model)”", factsRole: .dim)
    case .entry(let entry):
      let (facts, isStore) = facts(of: entry)
      let isTimed = width >= 60 && !facts.isEmpty && !entry.modified.isEmpty
      return Description(
        name: entry.kind == .folder ? entry.name + "/" : entry.name,
        role: isStore ? .title : entry.kind == .folder ? .entity : .dim,
        start: isTimed ? facts + "  " : facts, time: isTimed ? entry.modified : "",
        factsRole: isStore ? .success : .dim)
    }
  }

  private func facts(of entry: FolderListing.Entry) -> (text: String, isStore: Bool) {
    switch peeks[entry.path] {
    case .store(let entities)?:
      let count =
        entities == 0
        ? "" : ", " + NumberText.counted(entities, "entity", plural: "entities")
      return ("✓ Core Data\(count), \(NumberText.bytes(entry.bytes))", true)
    case .atomic(let type)?:
      return ("✓ Core Data, \(type), \(NumberText.bytes(entry.bytes))", true)
    case .database?: return ("SQLite, \(NumberText.bytes(entry.bytes))", false)
    case .folder(let stores, let models)?:
      let parts = [(stores, "store"), (models, "model")].filter { $0.0 > 0 }
      return (parts.map { NumberText.counted($0.0, $0.1) }.joined(separator: ", "), false)
    case .container(let noun)?: return (noun, false)
    case .locked(let noun)?: return ("locked: " + noun, false)
    case .damaged(let problem)?: return ("✗ " + problem, false)
    case .nothing?, nil: return (entry.kind == .folder ? "" : "…", false)
    }
  }

  /// The end of a path shows more than its beginning.
  private static func tail(of name: String, width: Int) -> String {
    let text = Sanitize.text(name, limit: 4_096)
    guard TextWidth.of(text) > width else { return text }
    var tail = text
    while TextWidth.of(tail) > width - 1, !tail.isEmpty { tail.removeFirst() }
    return "…" + tail
  }
}
