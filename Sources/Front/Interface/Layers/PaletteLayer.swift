import ManagedModel
import ManagedStore
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
        // Not by the list: it is of the time of typing, and the store may have been opened since.
        unless: entries(context).isEmpty ? "no action found" : nil),
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
      grid.write(
        "What is done on the command line alone: strata --help", in: body.droppingRows(1).row(0),
        style: theme[.dim])
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

/// A line of the palette: an action of some screen, or a place to go to.
struct PaletteEntry: Sendable, Equatable {
  enum Deed: Sendable, Equatable {
    /// A binding of a screen, or of everywhere if none exists.
    case press(Binding, on: Screen?)
    case entity(String)
    /// A row of the table by its number, and an object by its name.
    case row(Int)
    case object(ObjectID)
  }

  let section: String
  let title: String
  let deed: Deed
  /// The characters of the title that were meant.
  var positions: Set<Int> = []
  fileprivate var score = 0

  fileprivate init(section: String, title: String, _ deed: Deed) {
    (self.section, self.title, self.deed) = (section, title, deed)
  }

  /// What the palette remembers it by.
  var id: String {
    switch deed {
    case .press(let binding, _): "\(section).\(binding.action.name)"
    case .entity(let name): "entity.\(name)"
    case .row(let row): "row.\(row)"
    case .object(let id): "object.\(id)"
    }
  }

  private var binding: Binding? {
    if case .press(let binding, _) = deed { binding } else { nil }
  }

  var reason: String? {
    binding?.action.isMovement == true ? "press the keys themselves" : binding?.reason
  }
  var keyLabel: String { binding?.label ?? "" }
  var command: String? { binding?.command }
  fileprivate var words: String { binding?.words ?? "" }

  /// Does it, on the screen that it belongs to.
  func run(in state: inout State) -> [Effect] {
    switch deed {
    case .press(let binding, let screen):
      var effects: [Effect] = []
      if let screen, state.screen != screen {
        effects = state.go(to: screen)
      }
      return effects + state.press(binding)
    case .entity(let name):
      state.screen = .browse
      var view = state.view.browse
      view.entity = name
      return state.on(BrowseScreen.self) { $0.arrange(view, in: &$1) }
    case .row(let row):
      state.screen = .browse
      return state.on(BrowseScreen.self) { $0.goTo(row: row, in: &$1) }
    case .object(let id): return state.on(BrowseScreen.self) { $0.goTo(object: id, in: &$1) }
    }
  }
}

/// All that the palette finds, as it was when it was opened.
struct PaletteEntries: Sendable, Equatable {
  private let actions: [PaletteEntry]
  private let entities: [PaletteEntry]
  private let memory: PaletteMemory
  /// The entity whose rows are shown.
  private let entity: String?

  init(_ state: State) {
    actions = Keymap.sections(state).flatMap { section in
      section.bindings.filter { $0.action.name != "palette" }.map { binding in
        PaletteEntry(
          section: section.title, title: binding.title,
          .press(binding, on: Screen.allCases.first { $0.title == section.title }))
      }
    }
    entities = (state.store?.model.entities ?? []).map {
      PaletteEntry(section: "Entity", title: $0.name, .entity($0.name))
    }
    (memory, entity) = (state.paletteMemory, state.browse.table?.entity)
  }

  /// What a text finds, the best first; nothing typed finds everything, what was called last first.
  func found(_ text: String, in store: StoreSummary?) -> [PaletteEntry] {
    guard !text.isEmpty else {
      let recent = memory.recent.compactMap { id in actions.first { $0.id == id } }
      return recent + actions.filter { !recent.contains($0) }
    }
    var found: [PaletteEntry] = []
    for var entry in actions + entities {
      let line = "\(entry.section) \(entry.title) \(entry.words)"
      guard let match = FuzzyMatch(text, in: line) else { continue }
      let start = entry.section.count + 1
      entry.positions = Set(match.positions.map { $0 - start }.filter { $0 >= 0 })
      entry.score = match.score
      // What can be done comes before what cannot, and what was called lately before the rest.
      if entry.reason != nil { entry.score -= 12 }
      if memory.recent.contains(entry.id) { entry.score += 6 }
      found.append(entry)
    }
    // The sort is not stable by itself.
    return places(text, in: store)
      + found.enumerated().sorted {
        ($1.element.score, $0.offset) < ($0.element.score, $1.offset)
      }.map(\.element)
  }

  /// The row or the object that a text names.
  private func places(_ text: String, in store: StoreSummary?) -> [PaletteEntry] {
    var places: [PaletteEntry] = []
    if let row = Int(text.trimmed), row > 0, let entity {
      let title = "row \(NumberText.grouped(row)) of \(entity)"
      places.append(PaletteEntry(section: "Row", title: title, .row(row)))
    }
    if let id = object(text, in: store) {
      places.append(PaletteEntry(section: "Object", title: id.description, .object(id)))
    }
    return places
  }

  /// `Recipe/p12`, a URI, or an entity and a key as somebody says them: `recipe 12`.
  private func object(_ text: String, in store: StoreSummary?) -> ObjectID? {
    guard let layout = store?.layout else { return nil }
    if let id = try? layout.objectID(text.trimmed) { return id }
    let words = text.split { $0 == " " || $0 == "/" }
    guard words.count == 2,
      let key = Int64(words[1].first?.lowercased() == "p" ? words[1].dropFirst() : words[1]),
      key > 0,
      let entity = entities.first(where: { $0.title.lowercased() == words[0].lowercased() })
    else { return nil }
    return layout.table(of: entity.title).map { ObjectID(entity: $0.entity, key: key) }
  }
}

/// What was called from the palette, for finding it again.
struct PaletteMemory: Codable, Sendable, Equatable {
  private static let limit = 8

  private(set) var recent: [String] = []

  mutating func called(_ id: String) {
    recent.removeAll { $0 == id }
    recent.insert(id, at: 0)
    if recent.count > Self.limit { recent.removeLast() }
  }
}
