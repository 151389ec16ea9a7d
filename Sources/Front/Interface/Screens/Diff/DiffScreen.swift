import ManagedModel
import Migration
import Terminal

/// Two versions of the model side by side.
struct DiffScreen: ScreenContent {
  static let title = "Diff"
  static let command: String? = "strata diff A B"

  enum Pane: Sendable { case lines, meaning }

  /// Indices in the versions there are.
  var from: Int?
  var to: Int?
  var comparison: Comparison?
  /// What the changes touch in the store; `nil` while it is not known, or not of this store.
  var impacts: [ChangeImpact]?
  var showsOnlyChanges = false
  var folded: Set<String> = []
  /// Whether changes that keep the version hash have one line for each entity: there is little room, or
  /// SwiftData's source leaves them to be guessed.
  var foldsKept = false
  /// What is searched for; empty where nothing is.
  var searched = ""
  var lines: [DiffLine] = []
  var list = List()
  var focus = Pane.lines
  /// The first line of the lower pane in sight.
  var meaningOffset = 0
  var allLines: [DiffLine] = []
  /// What lint says of the two.
  var findings = DiffFindings()
  var task: TaskID?
  var impactTask: TaskID?

  var isComparing: Bool { task != nil }
  var isCounting: Bool { impactTask != nil }

  var selectedLine: DiffLine? { lines.element(list.selected) }

  var searchMatch: TextMatch { TextMatch(searched) }

  /// The lines that have what is searched for.
  var matches: [Int] {
    let match = searchMatch
    guard !match.isEmpty else { return [] }
    return lines.indices.filter { match.matches(lines[$0].searchText) }
  }

  mutating func refilter() {
    let selected = selectedLine
    lines = showsOnlyChanges ? DiffLine.onlyChanges(allLines) : allLines
    if foldsKept, searched.isEmpty {
      let grave = (impacts ?? []).filter { $0.severity != .harmless }
      lines = DiffLine.folding(lines, hides: showsOnlyChanges) { line in
        grave.contains { $0.entity == line.entity && $0.property == line.property }
      }
    }
    // What is searched for is found in folded entities too.
    if !folded.isEmpty, searched.isEmpty {
      lines = lines.filter { $0.property == nil || !folded.contains($0.entity) }
    }
    list.setCount(lines.count)
    guard let selected else { return }
    let index =
      lines.firstIndex { $0.entity == selected.entity && $0.property == selected.property }
      ?? lines.firstIndex { $0.entity == selected.entity }
    if let index { list.select(index) }
  }

  private mutating func setFolding(_ context: Context) {
    foldsKept =
      context.body.width < 100
      || [from, to].contains { context.versions.element($0)?.isSource == true }
    refilter()
  }

  /// Goes to the next of some lines, around the end.
  mutating func jump(to places: [Int], forward: Bool) {
    let next =
      forward
      ? places.first { $0 > list.selected } ?? places.first
      : places.last { $0 < list.selected } ?? places.last
    if let next { list.select(next) }
    meaningOffset = 0
  }

  mutating func setFolded(_ isFolded: Bool) {
    guard let line = selectedLine else { return }
    if isFolded { folded.insert(line.entity) } else { folded.remove(line.entity) }
    refilter()
  }
}

extension DiffScreen {
  func command(_ context: Context) -> String {
    func name(_ index: Int?) -> String? {
      context.versions.element(index).map {
        $0.path.isEmpty ? context.storeArgument : ShellText.quoted(context.known.named($0.path))
      }
    }
    guard let from = name(from), let to = name(to) else { return "strata diff A B" }
    return "strata diff \(from) \(to)"
  }

  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] {
    switch occasion {
    case .versions:
      // Begins with the store's own and the one it would go to.
      let compared = context.versions.comparedIndices
      begin(from: compared?.from, to: compared?.to)
    case .moreVersions:
      // Compares what could not be compared before.
      if to == nil, let compared = context.versions.comparedIndices { (from, to) = compared }
    case .shown:
      if comparison == nil, task == nil, let from, let to { return compare(from, to, in: &context) }
      setFolding(context)
    case .resized: setFolding(context)
    case .opened, .settled: break
    }
    return []
  }

  /// Begins again with two versions, arranged as it was.
  private mutating func begin(from: Int?, to: Int?) {
    let view = self.view
    self = DiffScreen()
    arrange(view)
    (self.from, self.to) = (from, to)
  }

  var view: DiffView {
    DiffView(showsOnlyChanges: showsOnlyChanges, folded: folded)
  }

  mutating func arrange(_ view: DiffView) {
    (showsOnlyChanges, folded) = (view.showsOnlyChanges, view.folded)
    refilter()
  }

  mutating func compare(_ from: Int, _ to: Int, in context: inout Context) -> [Effect] {
    guard let (source, destination) = context.known.models(from: from, to: to) else { return [] }
    let old =
      (task.stop() ?? []) + (impactTask.stop() ?? [])
      + (findings.task.stop() ?? [])
    begin(from: from, to: to)
    tellFindings(&context)
    return old + context.ask(&task) { .compute($0, .compare(from: source, to: destination)) }
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .compared(let comparison) where task == self.task:
      self.task = nil
      self.comparison = comparison
      allLines = DiffLine.lines(of: comparison.difference)
      setFolding(context)
      if let first = lines.firstIndex(where: \.isChanged) {
        list.setHeight(DiffLayout(self, context).list.height)
        list.select(first)
      }
      return lint(in: &context) + countImpacts(in: &context)
    case .impacts(let impacts) where task == self.impactTask:
      self.impactTask = nil
      self.impacts = impacts
      if foldsKept { refilter() }
    case .linted(let comparison) where findings.task.end(task):
      findings.result = .success(comparison)
      tellFindings(&context)
    default: break
    }
    return []
  }

  /// Rows can be counted where it is the store's version that changes.
  mutating func countImpacts(in context: inout Context) -> [Effect] {
    guard let (source, destination) = context.known.models(from: from, to: to),
      from.map({ context.versions[$0].isStores }) == true, context.store?.isRaw == false,
      comparison?.difference.hashesAreEqual == false
    else { return [] }
    return context.ask(&impactTask) { .ask($0, .impacts(from: source, to: destination)) }
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    if findings.task.end(task) {
      findings.result = .failure(error)
      tellFindings(&context)
      return []
    }
    if impactTask.end(task) {
      context.notice = Notice("the rows could not be counted: \(error.message)", .warning)
      return []
    }
    if self.task.end(task), error.kind != .cancelled { context.show(MessageLayer(error)) }
    return []
  }

  /// Stops counting; `nil` where nothing is counted.
  mutating func cancel(in context: inout Context) -> [Effect]? {
    guard context.screen == .diff, let task = self.task ?? impactTask ?? findings.task else {
      return nil
    }
    let what =
      task == self.task
      ? "comparing" : task == impactTask ? "counting rows" : "looking for findings"
    context.notice = Notice("\(what) was stopped", .warning)
    if task == findings.task {
      findings.result = .failure(CoreDataError(.cancelled, "looking for findings was stopped"))
      findings.task = nil
      tellFindings(&context)
    }
    (self.task, impactTask) = (nil, nil)
    return [.cancel(task)]
  }

  /// Finds lines as the search is typed.
  mutating func search(_ text: String, in context: inout Context) -> [Effect] {
    searched = text
    refilter()
    list.setHeight(DiffLayout(self, context).list.height)
    let matches = self.matches
    if let next = matches.first(where: { $0 >= list.selected }) ?? matches.first {
      list.select(next)
    }
    return []
  }

  func bindings(_ context: Context) -> [Binding] {
    let isSearching = !searched.isEmpty
    let noChange =
      isSearching
      ? (matches.isEmpty ? "“\(searched)” is nowhere" : nil)
      : lines.contains(where: \.isChanged) ? nil : "nothing differs"
    let what = isSearching ? "match" : "change"
    let command = self.command(context)
    let noLine = selectedLine == nil ? "there is nothing to choose" : nil
    let isEntity = selectedLine.map { $0.property == nil } ?? false
    let rows = focus == .meaning ? concernedRows(context) : nil
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
      Binding(
        ["m"], "mapping", does("planCompared") { $0.plan(in: &$1) },
        unless: context.known.noStore),
      findingsBinding(context),
      Binding(
        ["o"], "other versions",
        shows("chooseVersion") {
          VersionsLayer(
            .compareFrom(likely: [$0.to, $1.planned.to]), count: $1.versions.count,
            selected: $0.from ?? $1.versions.storesIndex ?? 0)
        },
        unless: context.versionsTask == nil ? nil : "still looking for versions",
        command: command),
      Binding(
        ["/"], "search",
        shows("search") { screen, _ in SearchLayer(.screen, former: screen.searched) },
        unless: noLine),
      Binding(
        [.escape], "end the search",
        changes("endSearch") {
          if $0.searched.isEmpty { $0.focus = .lines }
          $0.searched = ""
          $0.refilter()
        },
        unless: isSearching || focus == .meaning ? nil : "no search yet",
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
      CopyLayer.binding(copies(context)),
      moving { $0.move($1, in: &$2) },
    ]
  }

  mutating func willAct(_ context: Context) {
    list.setHeight(DiffLayout(self, context).list.height)
  }

  private mutating func move(_ key: Key, in context: inout Context) -> [Effect] {
    if focus == .meaning {
      scrollMeaning(key, DiffLayout(self, context), context)
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

  private mutating func open(in context: inout Context) -> [Effect] {
    guard let line = selectedLine else { return [] }
    if focus == .meaning, let rows = concernedRows(context) { return rows.show(in: &context) }
    if line.property == nil {
      setFolded(!folded.contains(line.entity))
    } else {
      showDetails(of: line, in: &context)
    }
    return []
  }

  /// The plan is of what is looked at, where the store can go there.
  private func plan(in context: inout Context) -> [Effect] {
    guard let to, context.versions.element(from)?.isStores == true, context.planned.to != to,
      to != from
    else { return context.go(to: .mapping) }
    context.screen = .mapping
    return context.on(MappingScreen.self) { $0.choose(to, in: &$1) }
  }

  /// The rows that the change of the selected line touches, the gravest first.
  private func concernedRows(_ context: Context) -> ConcernedRows? {
    guard let line = selectedLine, line.isChanged else { return nil }
    let own = (impacts ?? []).filter { $0.entity == line.entity && $0.property == line.property }
    let gravest = own.filter { $0.severity == .failure } + own.filter { $0.severity == .loss }
    return gravest.lazy.compactMap { ConcernedRows($0, context) }.first
  }

  private mutating func scrollMeaning(_ key: Key, _ layout: DiffLayout, _ context: Context) {
    let inside = meaningInside(layout)
    let count = meaningLines(context, width: inside.width).count
    var list = List(count: count, height: inside.height)
    list.scroll(by: meaningOffset)
    list.scrollPage(key, count: count, height: inside.height)
    meaningOffset = list.offset
  }

  private mutating func showDetails(of line: DiffLine, in context: inout Context) {
    var paragraphs: [DetailsLayer.Paragraph] = []
    let names = [from, to].map { context.versions.element($0)?.name ?? "" }
    for (name, side) in zip(names, [line.left, line.right]) {
      paragraphs.append(.init(name, .title))
      paragraphs.append(
        .init(side.map { "  \($0.name)  \($0.text)" } ?? "  —", side == nil ? .dim : .text))
    }
    paragraphs.append(.init(""))
    paragraphs += DiffMeaning(self, context, details: true).sentences.map {
      .init($0.text, $0.role)
    }
    var layer = DetailsLayer(line.place, paragraphs)
    layer.rows = concernedRows(context)
    context.show(layer)
  }
}
