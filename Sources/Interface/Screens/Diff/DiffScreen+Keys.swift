import ManagedModel
import Migration
import Terminal

extension DiffScreen {
  func bindings(_ state: State) -> [Binding] {
    let isSearching = !searched.isEmpty
    let noChange =
      isSearching
      ? (matches.isEmpty ? "“\(searched)” is nowhere" : nil)
      : lines.contains(where: \.isChanged) ? nil : "nothing differs"
    let what = isSearching ? "match" : "change"
    let command = self.command(state)
    let noLine = selectedLine == nil ? "there is nothing to choose" : nil
    let isEntity = selectedLine.map { $0.property == nil } ?? false
    let rows = focus == .meaning ? concernedRows(state) : nil
    let isFolded = selectedLine.map { folded.contains($0.entity) } ?? false
    return [
      Binding(["n"], "next \(what)", .nextChange, unless: noChange),
      Binding(["N"], "previous \(what)", .previousChange, unless: noChange, footer: false),
      Binding(["c"], showsOnlyChanges ? "everything" : "only changes", .onlyChanges),
      Binding(
        [.enter], rows?.title ?? (isEntity ? (isFolded ? "unfold" : "fold") : "details"), .open,
        unless: noLine),
      Binding(["m"], "mapping", .planCompared),
      findingsBinding(state),
      Binding(
        ["o"], "other versions", .chooseVersion,
        unless: state.versionsTask == nil ? nil : "the versions are still being looked for",
        command: command),
      Binding(["/"], "search", .search, unless: noLine),
      Binding(
        [.escape], "end the search", .endSearch,
        unless: isSearching || focus == .meaning ? nil : "nothing is searched for",
        footer: isSearching),
      Binding([.tab, .backTab], "other pane", .nextPane),
      Binding([.left, "h"], label: "← h", "fold", .fold, unless: noLine, footer: false),
      Binding([.right, "l"], label: "→ l", "unfold", .unfold, unless: noLine, footer: false),
      Binding(
        ["z"], folded.isEmpty ? "fold all" : "unfold all", .foldAll, unless: noLine, footer: false),
      CopyLayer.binding(state),
      Keymap.movement,
    ]
  }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    let layout = DiffLayout(self, state)
    list.setHeight(layout.list.height)
    switch action {
    case .navigate:
      guard focus == .meaning else {
        list.handle(key)
        meaningOffset = 0
        break
      }
      scrollMeaning(key, layout, in: &state)
    case .onlyChanges:
      showsOnlyChanges.toggle()
      refilter()
    case .nextChange, .previousChange:
      let places = searched.isEmpty ? lines.indices.filter { lines[$0].isChanged } : matches
      jump(to: places, forward: action == .nextChange)
    case .open:
      guard let line = selectedLine else { break }
      if focus == .meaning, let rows = concernedRows(state) {
        return rows.show(in: &state)
      }
      if line.property == nil {
        setFolded(!folded.contains(line.entity))
      } else {
        showDetails(of: line, in: &state)
      }
    case .fold: setFolded(true)
    case .unfold: setFolded(false)
    case .foldAll:
      folded = folded.isEmpty ? Set(allLines.map(\.entity)) : []
      refilter()
    case .search: state.show(SearchLayer(.screen, in: state))
    case .endSearch:
      if searched.isEmpty { focus = .lines }
      searched = ""
      refilter()
    case .nextPane:
      focus = focus == .lines ? .meaning : .lines
    case .findings: state.show(FindingsLayer(self, state))
    case .chooseVersion:
      state.show(
        VersionsLayer(
          .compareFrom, count: state.versions.count,
          selected: from ?? state.versions.storesIndex ?? 0))
    case .planCompared:
      // The plan is of what is looked at, where the store can go there.
      if let to, state.versions.element(from)?.isStores == true, state.mapping.to != to, to != from
      {
        state.screen = .mapping
        return state.on(MappingScreen.self) { $0.choose(to, in: &$1) }
      }
      return state.go(to: .mapping)
    default: break
    }
    return []
  }

  /// The rows that the change of the selected line touches, the gravest first.
  private func concernedRows(_ state: State) -> ConcernedRows? {
    guard let line = selectedLine, line.isChanged else { return nil }
    let own = (impacts ?? []).filter { $0.entity == line.entity && $0.property == line.property }
    let gravest = own.filter { $0.severity == .failure } + own.filter { $0.severity == .loss }
    return gravest.lazy.compactMap { ConcernedRows($0, state) }.first
  }

  private mutating func scrollMeaning(_ key: Key, _ layout: DiffLayout, in state: inout State) {
    let inside = meaningInside(layout)
    let count = meaningLines(state, width: inside.width).count
    var list = List(count: count, height: inside.height)
    list.scroll(by: meaningOffset)
    list.scrollPage(key, count: count, height: inside.height)
    meaningOffset = list.offset
  }

  private mutating func showDetails(of line: DiffLine, in state: inout State) {
    var paragraphs: [DetailsLayer.Paragraph] = []
    let names = [from, to].map { state.versions.element($0)?.name ?? "" }
    for (name, side) in zip(names, [line.left, line.right]) {
      paragraphs.append(.init(name, .title))
      paragraphs.append(
        .init(side.map { "  \($0.name)  \($0.text)" } ?? "  —", side == nil ? .dim : .text))
    }
    paragraphs.append(.init(""))
    paragraphs += DiffMeaning(self, state, details: true).sentences.map { .init($0.text, $0.role) }
    var layer = DetailsLayer(line.place, paragraphs)
    layer.rows = concernedRows(state)
    state.show(layer)
  }
}
