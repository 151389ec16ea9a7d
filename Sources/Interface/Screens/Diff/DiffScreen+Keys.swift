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
      Binding(
        ["n"], "next \(what)", changes("nextChange") { $0.jump(forward: true) }, unless: noChange),
      Binding(
        ["N"], "previous \(what)", changes("previousChange") { $0.jump(forward: false) },
        unless: noChange, footer: false),
      Binding(
        ["c"], showsOnlyChanges ? "everything" : "only changes",
        changes("onlyChanges") {
          $0.showsOnlyChanges.toggle()
          $0.refilter()
        }),
      Binding(
        [.enter], rows?.title ?? (isEntity ? (isFolded ? "unfold" : "fold") : "details"),
        does("open") { $0.open(in: &$1) },
        unless: noLine),
      Binding(["m"], "mapping", does("planCompared") { $0.plan(in: &$1) }),
      findingsBinding(state),
      Binding(
        ["o"], "other versions",
        shows("chooseVersion") {
          VersionsLayer(
            .compareFrom, count: $1.versions.count,
            selected: $0.from ?? $1.versions.storesIndex ?? 0)
        },
        unless: state.versionsTask == nil ? nil : "the versions are still being looked for",
        command: command),
      Binding(
        ["/"], "search", shows("search") { SearchLayer(.screen, in: $1) }, unless: noLine),
      Binding(
        [.escape], "end the search",
        changes("endSearch") {
          if $0.searched.isEmpty { $0.focus = .lines }
          $0.searched = ""
          $0.refilter()
        },
        unless: isSearching || focus == .meaning ? nil : "nothing is searched for",
        footer: isSearching),
      Binding(
        [.tab, .backTab], "other pane",
        changes("nextPane") { $0.focus = $0.focus == .lines ? .meaning : .lines }),
      Binding(
        [.left, "h"], label: "← h", "fold", changes("fold") { $0.setFolded(true) }, unless: noLine,
        footer: false),
      Binding(
        [.right, "l"], label: "→ l", "unfold", changes("unfold") { $0.setFolded(false) },
        unless: noLine, footer: false),
      Binding(
        ["z"], folded.isEmpty ? "fold all" : "unfold all",
        changes("foldAll") {
          $0.folded = $0.folded.isEmpty ? Set($0.allLines.map(\.entity)) : []
          $0.refilter()
        }, unless: noLine, footer: false),
      CopyLayer.binding(state),
      moving { $0.move($1, in: &$2) },
    ]
  }

  mutating func willAct(in state: inout State) {
    list.setHeight(DiffLayout(self, state).list.height)
  }

  private mutating func move(_ key: Key, in state: inout State) -> [Effect] {
    if focus == .meaning {
      scrollMeaning(key, DiffLayout(self, state), in: &state)
    } else {
      list.handle(key)
      meaningOffset = 0
    }
    return []
  }

  private mutating func jump(forward: Bool) {
    jump(
      to: searched.isEmpty ? lines.indices.filter { lines[$0].isChanged } : matches,
      forward: forward)
  }

  private mutating func open(in state: inout State) -> [Effect] {
    guard let line = selectedLine else { return [] }
    if focus == .meaning, let rows = concernedRows(state) { return rows.show(in: &state) }
    if line.property == nil {
      setFolded(!folded.contains(line.entity))
    } else {
      showDetails(of: line, in: &state)
    }
    return []
  }

  /// The plan is of what is looked at, where the store can go there.
  private func plan(in state: inout State) -> [Effect] {
    guard let to, state.versions.element(from)?.isStores == true, state.mapping.to != to, to != from
    else { return state.go(to: .mapping) }
    state.screen = .mapping
    return state.on(MappingScreen.self) { $0.choose(to, in: &$1) }
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
