import ManagedModel
import Migration
import Terminal

/// Two versions of the model side by side.
package struct DiffScreen: Sendable, Equatable {
  package enum Pane: Sendable { case lines, meaning }

  /// Indices in the state's versions.
  package var from: Int?
  package var to: Int?
  package private(set) var comparison: Comparison?
  /// What the changes touch in the store; `nil` while it is not known, or not of this store.
  package private(set) var impacts: [ChangeImpact]?
  package private(set) var showsOnlyChanges = false
  package private(set) var folded: Set<String> = []
  /// What is searched for; empty where nothing is.
  package private(set) var search = ""
  package private(set) var lines: [DiffLine] = []
  package var list = List()
  package var focus = Pane.lines
  /// The first line of the lower pane in sight.
  package var meaningOffset = 0
  private var allLines: [DiffLine] = []
  private var task: TaskID?
  private var impactTask: TaskID?

  package init() {}

  var isComparing: Bool { task != nil }
  var isCounting: Bool { impactTask != nil }

  package var selectedLine: DiffLine? {
    lines.indices.contains(list.selected) ? lines[list.selected] : nil
  }

  var searchMatch: TextMatch { TextMatch(search) }

  /// The lines that have what is searched for.
  var matches: [Int] {
    let match = searchMatch
    guard !match.isEmpty else { return [] }
    return lines.indices.filter { match.matches(lines[$0].searchText) }
  }

  private mutating func refilter() {
    let selected = selectedLine
    lines = showsOnlyChanges ? DiffLine.onlyChanges(allLines) : allLines
    // What is searched for is found in folded entities too.
    if !folded.isEmpty, search.isEmpty {
      lines = lines.filter { $0.property == nil || !folded.contains($0.entity) }
    }
    list.setCount(lines.count)
    guard let selected else { return }
    let index =
      lines.firstIndex { $0.entity == selected.entity && $0.property == selected.property }
      ?? lines.firstIndex { $0.entity == selected.entity }
    if let index { list.select(index) }
  }

  /// Goes to the next of some lines, around the end.
  private mutating func jump(to places: [Int], forward: Bool) {
    let next =
      forward
      ? places.first { $0 > list.selected } ?? places.first
      : places.last { $0 < list.selected } ?? places.last
    if let next { list.select(next) }
    meaningOffset = 0
  }

  private mutating func toggleAll() {
    let entities = Set(allLines.map(\.entity))
    folded = folded.isEmpty ? entities : []
    refilter()
  }

  private mutating func setFolded(_ isFolded: Bool) {
    guard let line = selectedLine else { return }
    if isFolded { folded.insert(line.entity) } else { folded.remove(line.entity) }
    refilter()
  }
}

extension DiffScreen {
  static func bindings(_ state: State) -> [Binding] {
    let diff = state.diff
    let isSearching = !diff.search.isEmpty
    let noChange =
      isSearching
      ? (diff.matches.isEmpty ? "“\(diff.search)” is nowhere" : nil)
      : diff.lines.contains(where: \.isChanged) ? nil : "nothing differs"
    let what = isSearching ? "match" : "change"
    let command = diff.command(state)
    let noLine = diff.selectedLine == nil ? "there is nothing to choose" : nil
    let isEntity = diff.selectedLine.map { $0.property == nil } ?? false
    let rows = diff.focus == .meaning ? diff.concernedRows(state) : nil
    let isFolded = diff.selectedLine.map { diff.folded.contains($0.entity) } ?? false
    return [
      Binding([.character("n")], "next \(what)", .nextChange, unless: noChange),
      Binding(
        [.character("N")], "previous \(what)", .previousChange, unless: noChange, footer: false),
      Binding(
        [.character("c")], diff.showsOnlyChanges ? "everything" : "only changes", .onlyChanges),
      Binding(
        [.enter],
        rows?.title ?? (isEntity ? (isFolded ? "unfold" : "fold") : "details"), .open,
        unless: noLine),
      Binding([.character("m")], "mapping", .planCompared),
      Binding(
        [.character("o")], "other versions", .chooseVersion,
        unless: state.versionsTask == nil ? nil : "the versions are still being looked for",
        command: command),
      Binding([.character("/")], "search", .search, unless: noLine),
      Binding(
        [.escape], "end the search", .endSearch,
        unless: isSearching || diff.focus == .meaning ? nil : "nothing is searched for",
        footer: isSearching),
      Binding([.tab, .backTab], "other pane", .nextPane),
      Binding(
        [.left, .character("h")], label: "← h", "fold", .fold, unless: noLine, footer: false),
      Binding(
        [.right, .character("l")], label: "→ l", "unfold", .unfold, unless: noLine, footer: false),
      Binding(
        [.character("z")], diff.folded.isEmpty ? "fold all" : "unfold all", .foldAll,
        unless: noLine, footer: false),
      CopyLayer.binding(state),
      Keymap.movement,
    ]
  }

  func command(_ state: State) -> String {
    func name(_ index: Int?) -> String? {
      guard let index, state.versions.indices.contains(index) else { return nil }
      let path = state.versions[index].path
      return path.isEmpty ? state.storeArgument : ShellText.quoted(path)
    }
    guard let from = name(from), let to = name(to) else { return "strata diff A B" }
    return "strata diff \(from) \(to)"
  }

  /// The versions are known: begins with the store's own and the one it would go to.
  static func takeVersions(_ state: inout State) {
    let compared = state.versions.comparedIndices
    let view = state.diff.view
    state.diff = DiffScreen()
    _ = arrange(view, in: &state)
    state.diff.from = compared?.from
    state.diff.to = compared?.to
  }

  /// More versions are known: compares what could not be compared before.
  static func fillVersions(_ state: inout State) {
    guard state.diff.to == nil, let compared = state.versions.comparedIndices else { return }
    (state.diff.from, state.diff.to) = compared
  }

  var view: DiffView {
    var view = DiffView()
    view.showsOnlyChanges = showsOnlyChanges
    view.folded = folded
    return view
  }

  static func arrange(_ view: DiffView, in state: inout State) -> [Effect] {
    state.diff.showsOnlyChanges = view.showsOnlyChanges
    state.diff.folded = view.folded
    state.diff.refilter()
    return []
  }

  static func enter(_ state: inout State) -> [Effect] {
    guard state.diff.comparison == nil, state.diff.task == nil, let from = state.diff.from,
      let to = state.diff.to
    else { return [] }
    return compare(from, to, in: &state)
  }

  static func compare(_ from: Int, _ to: Int, in state: inout State) -> [Effect] {
    guard state.versions.indices.contains(from), state.versions.indices.contains(to),
      let source = state.versions[from].model, let destination = state.versions[to].model
    else { return [] }
    let old = [state.diff.task, state.diff.impactTask].compactMap { $0 }.map { Effect.cancel($0) }
    let view = state.diff.view
    state.diff = DiffScreen()
    _ = arrange(view, in: &state)
    state.diff.from = from
    state.diff.to = to
    let task = state.newTask()
    state.diff.task = task
    return old + [.compare(task, from: source, to: destination)]
  }

  static func take(_ message: Message, in state: inout State) -> [Effect] {
    switch message {
    case .compared(let task, let comparison) where task == state.diff.task:
      state.diff.task = nil
      state.diff.comparison = comparison
      state.diff.allLines = DiffLine.lines(of: comparison.difference)
      state.diff.refilter()
      if let first = state.diff.lines.firstIndex(where: \.isChanged) {
        state.diff.list.setHeight(DiffLayout(state).list.height)
        state.diff.list.select(first)
      }
      return countImpacts(in: &state)
    case .impacts(let task, let impacts) where task == state.diff.impactTask:
      state.diff.impactTask = nil
      state.diff.impacts = impacts
    default: break
    }
    return []
  }

  /// Rows can be counted where it is the store's version that changes.
  private static func countImpacts(in state: inout State) -> [Effect] {
    guard let from = state.diff.from, let to = state.diff.to,
      state.versions.indices.contains(from), state.versions.indices.contains(to),
      state.versions[from].isStores, let source = state.versions[from].model,
      let destination = state.versions[to].model, state.store?.isRaw == false,
      state.diff.comparison?.difference.hashesAreEqual == false
    else { return [] }
    let task = state.newTask()
    state.diff.impactTask = task
    return [.impacts(task, from: source, to: destination)]
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    if task == state.diff.impactTask {
      state.diff.impactTask = nil
      state.notice = Notice("the rows could not be counted: \(error.message)", .warning)
      return []
    }
    guard task == state.diff.task else { return nil }
    state.diff.task = nil
    if error.kind != .cancelled { state.show(MessageLayer(error)) }
    return []
  }

  /// Stops counting; `nil` where nothing is counted.
  static func cancel(in state: inout State) -> [Effect]? {
    guard state.screen == .diff, let task = state.diff.task ?? state.diff.impactTask else {
      return nil
    }
    state.notice = Notice(
      task == state.diff.task ? "comparing was stopped" : "counting rows was stopped", .warning)
    (state.diff.task, state.diff.impactTask) = (nil, nil)
    return [.cancel(task)]
  }

  /// Finds lines as the search is typed.
  static func search(_ text: String, in state: inout State) -> [Effect] {
    state.diff.search = text
    state.diff.refilter()
    state.diff.list.setHeight(DiffLayout(state).list.height)
    let matches = state.diff.matches
    if let next = matches.first(where: { $0 >= state.diff.list.selected }) ?? matches.first {
      state.diff.list.select(next)
    }
    return []
  }

  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    let layout = DiffLayout(state)
    state.diff.list.setHeight(layout.list.height)
    switch action {
    case .navigate:
      guard state.diff.focus == .meaning else {
        state.diff.list.handle(key)
        state.diff.meaningOffset = 0
        break
      }
      scrollMeaning(key, layout, in: &state)
    case .onlyChanges:
      state.diff.showsOnlyChanges.toggle()
      state.diff.refilter()
    case .nextChange, .previousChange:
      let diff = state.diff
      let places =
        diff.search.isEmpty ? diff.lines.indices.filter { diff.lines[$0].isChanged } : diff.matches
      state.diff.jump(to: places, forward: action == .nextChange)
    case .open:
      guard let line = state.diff.selectedLine else { break }
      if state.diff.focus == .meaning, let rows = state.diff.concernedRows(state) {
        return rows.show(in: &state)
      }
      if line.property == nil {
        state.diff.setFolded(!state.diff.folded.contains(line.entity))
      } else {
        showDetails(of: line, in: &state)
      }
    case .fold: state.diff.setFolded(true)
    case .unfold: state.diff.setFolded(false)
    case .foldAll: state.diff.toggleAll()
    case .search: state.show(SearchLayer(.diff, in: state))
    case .endSearch:
      if state.diff.search.isEmpty { state.diff.focus = .lines }
      state.diff.search = ""
      state.diff.refilter()
    case .nextPane:
      state.diff.focus = state.diff.focus == .lines ? .meaning : .lines
    case .chooseVersion:
      state.show(
        VersionsLayer(
          .compareFrom, count: state.versions.count,
          selected: state.diff.from ?? state.versions.storesIndex ?? 0))
    case .planCompared:
      // The plan is of what is looked at, where the store can go there.
      state.screen = .mapping
      if let to = state.diff.to, let from = state.diff.from,
        state.versions.indices.contains(from), state.versions[from].isStores,
        state.mapping.to != to, to != from
      {
        return MappingScreen.choose(to, in: &state)
      }
      return state.entered()
    default: break
    }
    return []
  }

  /// The rows that the change of the selected line touches, the gravest first.
  private func concernedRows(_ state: State) -> ConcernedRows? {
    guard let line = selectedLine, line.isChanged else { return nil }
    let own = (impacts ?? []).filter { $0.entity == line.entity && $0.property == line.property }
    let gravest =
      own.filter { $0.severity == .failure } + own.filter { $0.severity == .loss }
    return gravest.lazy.compactMap { ConcernedRows($0, state) }.first
  }

  private static func scrollMeaning(_ key: Key, _ layout: DiffLayout, in state: inout State) {
    let inside = meaningInside(layout)
    var list = List(
      count: meaningLines(state, width: inside.width).count, height: max(1, inside.height))
    list.scroll(by: state.diff.meaningOffset)
    switch key {
    case .up, .character("k"): list.scroll(by: -1)
    case .down, .character("j"): list.scroll(by: 1)
    default: list.handle(key)
    }
    state.diff.meaningOffset = list.offset
  }

  private static func showDetails(of line: DiffLine, in state: inout State) {
    var paragraphs: [DetailsLayer.Paragraph] = []
    let names = [state.diff.from, state.diff.to].map { index in
      index.flatMap { state.versions.indices.contains($0) ? state.versions[$0].name : nil } ?? ""
    }
    for (name, side) in zip(names, [line.left, line.right]) {
      paragraphs.append(.init(name, .title))
      paragraphs.append(
        .init(side.map { "  \($0.name)  \($0.text)" } ?? "  —", side == nil ? .dim : .text))
    }
    paragraphs.append(.init(""))
    paragraphs += DiffMeaning(state, details: true).sentences.map { .init($0.text, $0.role) }
    let place = line.property.map { "\(line.entity).\($0)" } ?? line.entity
    var layer = DetailsLayer(place, paragraphs)
    layer.rows = state.diff.concernedRows(state)
    state.show(layer)
  }
}
