import ManagedModel
import ManagedStore
import Terminal

/// What a store knows of itself, in sections: files, metadata, numbers, external data, history,
/// CloudKit, warnings.
struct StorePanel: LayerContent {
  enum Section: String, Sendable, CaseIterable {
    case files = "Files"
    case metadata = "Metadata"
    case entities = "Entities"
    case external = "External data"
    case history = "History"
    case cloudKit = "CloudKit"
    case warnings = "Warnings"

    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  private(set) var section: Section
  private(set) var facts: StoreFacts?
  private(set) var history: HistoryPages
  private var lists: [Section: List] = [:]
  private var factsTask: TaskID?
  private var error: CoreDataError?
  /// What is looked for in history, while it is typed.
  private var prompt: Prompt?

  /// Objects of each entity, as far as they are counted.
  var counts: [String: Int]

  init(_ section: Section, counts: [String: Int], _ history: HistoryPages) {
    (self.section, self.counts, self.history) = (section, counts, history)
  }

  mutating func read(in context: inout Context) -> [Effect] {
    context.ask(&factsTask) { [versions = context.versions] in
      .ask($0, .facts(versions: versions))
    }
  }

  func bindings(_ context: Context) -> [Binding] {
    if let prompt {
      return [
        Binding(
          [.enter], "find", asks("confirm") { $0.find(in: &$1) },
          unless: prompt.text.allSatisfy(\.isWhitespace) ? "type a name, a value or a key" : nil),
        Binding([.escape], "back", changes("cancel") { $0.prompt = nil }),
      ]
    }
    let command =
      section == .history
      ? context.known.command("history", history.scope.argument) : context.known.command("info")
    let isNarrowed = section == .history && history.scope.text != nil
    return [
      Binding(
        [.left, .right, .backTab, .tab], label: "← →", "section", turns, command: command),
      Binding(
        [.enter], opening(context), does("choose") { $0.choose(in: &$1) },
        unless: selected(context)?.opens == true ? nil : "nothing to open on this line"),
    ] + (section == .history ? [searching(context), filtering(context)] : [])
      + (isNarrowed
        ? [Binding([.escape], "all of history", asks("back") { $0.readHistory(.all, in: &$1) })]
        : [])
      + [
        moving { $0.move($1, in: &$2) },
        closing(isNarrowed ? ["q", "i"] : [.escape, "q", "i"]),
      ]
  }

  /// Finds changes of objects, deleted ones too, by a text.
  private func searching(_ context: Context) -> Binding {
    Binding(
      ["/"], "find", changes("search") { $0.prompt = Prompt($0.history.scope.text ?? "") },
      unless: facts?.hasHistory == true ? nil : "the store keeps no history",
      command: context.known.command("history", "--find TEXT"))
  }

  private mutating func find(in context: inout Context) -> [Effect] {
    guard let text = prompt?.text else { return [] }
    prompt = nil
    return readHistory(.text(text), in: &context)
  }

  private mutating func readHistory(
    _ scope: HistoryScope, in context: inout Context
  ) -> [Effect] {
    lists[.history] = nil
    return history.read(scope, in: &context)
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    prompt?.handle(key)
    return []
  }

  /// Narrows history to one object, and widens it again.
  private func filtering(_ context: Context) -> Binding {
    let object = selected(context)?.object
    let isOne = history.scope.object != nil
    return Binding(
      ["H"], isOne ? "all of history" : "this object only",
      asks("objectHistory") { panel, context in
        let object = panel.history.scope.object == nil ? panel.selected(context)?.object : nil
        return panel.readHistory(object.map { .object($0) } ?? .all, in: &context)
      },
      unless: !isOne && object == nil ? "select a changed object first" : nil)
  }

  private func opening(_ context: Context) -> String {
    switch selected(context)?.purpose {
    case .object: "go there"
    case .transaction(let number): history.isUnfolded(number) ? "fold" : "changes"
    case .moreChanges: "more"
    case .rows: "go to the rows"
    default: "open"
    }
  }

  private var turns: Action {
    Action(key: "nextPane") { state, key in
      Self.work(on: &state) { .stay($0.turn(key == .left || key == .backTab ? -1 : 1, in: &$1)) }
    }
  }

  private mutating func turn(_ step: Int, in context: inout Context) -> [Effect] {
    let all = Section.allCases
    section = all[(section.index + step + all.count) % all.count]
    return history.wanted(
      isShown: section == .history && facts?.hasHistory == true, 0, in: &context)
  }

  private mutating func choose(in context: inout Context) -> LayerOutcome {
    switch selected(context)?.purpose {
    case .object(let id):
      return .close(context.on(BrowseScreen.self) { $0.goTo(object: id, in: &$1) })
    case .transaction(let number): return .stay(history.toggle(number, in: &context))
    case .moreChanges(let number, let after):
      return .stay(history.readChanges(of: number, after: after, in: &context))
    case .rows(let entity, let filter):
      return .close(
        context.on(BrowseScreen.self) { $0.goTo(entity: entity, filter: filter, in: &$1) })
    default: return .stay()
    }
  }

  private mutating func move(_ key: Key, in context: inout Context) -> [Effect] {
    var list = list(context)
    let former = list.selected
    list.handle(key)
    // Headings and blank lines are passed over, where something else follows.
    let lines = lines(context)
    let ahead =
      list.selected < former
      ? Array(lines.indices.prefix(list.selected + 1).reversed())
      : Array(lines.indices.dropFirst(list.selected))
    if let next = ahead.first(where: { lines.element($0)?.isHeading == false }) {
      list.select(next)
    }
    lists[section] = list
    guard section == .history else { return [] }
    return history.wanted(isShown: true, list.count - list.selected, in: &context)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    if task == factsTask, case .facts(let facts) = answer {
      factsTask = nil
      self.facts = facts
      return history.wanted(isShown: section == .history && facts.hasHistory, 0, in: &context)
    }
    history.take(answer, to: task)
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    if factsTask.end(task) {
      self.error = error
    } else if history.fail(task) {
      context.notice = Notice(error.description, .warning)
    }
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    if factsTask != nil { error = CoreDataError(.cancelled, "cancelled") }
    let effects = (factsTask.stop() ?? []) + history.stop()
    return effects.isEmpty ? nil : effects
  }

  private func selected(_ context: Context) -> PanelLine? {
    lines(context).element(list(context).selected)
  }

  private func list(_ context: Context) -> List {
    (lists[section] ?? List()).fitted(to: context.body.height - 4, count: lines(context).count)
  }

  private func lines(_ context: Context) -> [PanelLine] {
    if section == .warnings {
      let misfit = context.store?.misfit.map { [$0] } ?? []
      let warnings = (facts?.warnings).map { misfit + $0 } ?? context.store?.warnings ?? []
      return StorePanelText.warnings(warnings, width: max(1, context.size.width - 8))
    }
    guard let facts else {
      return [error.map { .note("✗ \($0.description)") } ?? .note("…")]
    }
    switch section {
    case .files: return StorePanelText.files(facts, context)
    case .metadata: return StorePanelText.metadata(facts, context)
    case .entities: return StorePanelText.entities(facts, counts: counts)
    case .external: return StorePanelText.external(facts, context)
    case .history:
      return facts.hasHistory
        ? history.lines(facts) : [.note("The store keeps no persistent history.")]
    case .cloudKit: return CloudKitPanel(facts, width: context.size.width - 6).lines
    case .warnings: return []
    }
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("Store", size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 2 else { return }
    var tabs: [Span] = []
    for other in Section.allCases {
      let isShown = other == section
      // Where not all fit, the names of the sections before the one that is shown give way.
      if other.index < section.index - 2, inside.width < 90 { continue }
      tabs.append(
        Span(
          isShown ? "▸\(other.rawValue) " : " \(other.rawValue) ",
          theme[isShown ? .headerActive : .dim]))
    }
    grid.write(tabs, at: inside.origin, within: inside.width)
    if let prompt {
      prompt.draw(
        in: &grid, inside.row(1), label: [Span("find › ", theme[.footerKey])], theme: theme)
    }
    list(context).draw(lines(context), in: &grid, inside.droppingRows(2), theme: theme) {
      $0.spans(theme, isSelected: $1)
    }
  }
}

/// A line of a popup that shows facts, and what Enter on it does.
struct PanelLine: Sendable, Equatable {
  enum Purpose: Sendable, Equatable {
    case none
    case object(ObjectID)
    /// An object that is not there any more.
    case deleted(ObjectID)
    case transaction(Int64)
    /// Rows of an entity, those that match a predicate.
    case rows(String, String?)
    /// The rest of a transaction's changes.
    case moreChanges(of: Int64, after: Int64)
  }

  struct Piece: Sendable, Equatable {
    var text: String
    var role: Theme.Role?
    /// Cells that it takes at least.
    var width = 0
  }

  var pieces: [Piece]
  var purpose = Purpose.none

  init(_ pieces: [Piece], _ purpose: Purpose = .none) {
    (self.pieces, self.purpose) = (pieces, purpose)
  }

  /// Whether Enter does something on it.
  var opens: Bool {
    switch purpose {
    case .none, .deleted: false
    case .object, .rows, .transaction, .moreChanges: true
    }
  }

  /// Whether it only parts or names other lines.
  var isHeading: Bool {
    purpose == .none && pieces.allSatisfy { $0.role == .title || $0.text.isEmpty }
  }

  /// The object that the line is about.
  var object: ObjectID? {
    switch purpose {
    case .object(let id), .deleted(let id): id
    case .none, .rows, .transaction, .moreChanges: nil
    }
  }

  /// A title of a part.
  static func title(_ text: String) -> PanelLine { PanelLine([Piece(text: text, role: .title)]) }

  static func note(_ text: String) -> PanelLine { PanelLine([Piece(text: text, role: .dim)]) }

  static let blank = PanelLine([])

  /// A name and what it is.
  static func fact(
    _ name: String, _ value: String, _ role: Theme.Role? = nil, width: Int = 18
  ) -> PanelLine {
    PanelLine([
      Piece(text: name, role: .attribute, width: width), Piece(text: "  ", role: nil),
      Piece(text: value, role: role),
    ])
  }

  func spans(_ theme: Theme, isSelected: Bool) -> [Span] {
    pieces.map { piece in
      let text = piece.width > 0 ? piece.text.fitted(to: piece.width) : piece.text
      return Span(text, isSelected ? .plain : piece.role.map { theme[$0] } ?? .plain)
    }
  }
}

extension HistoryScope {
  /// What a command line has for it.
  fileprivate var argument: String {
    switch self {
    case .all: ""
    case .object(let id): "\(id)"
    case .text(let text): "--find \(ShellText.quoted(text))"
    }
  }
}
