import ManagedModel
import Terminal

/// Two versions of the model side by side.
package struct DiffScreen: Sendable, Equatable {
  /// Indices in the state's versions.
  package var from: Int?
  package var to: Int?
  package private(set) var comparison: Comparison?
  package private(set) var showsOnlyChanges = false
  package private(set) var lines: [DiffLine] = []
  package var list = List()
  private var allLines: [DiffLine] = []
  private var task: TaskID?

  package init() {}

  var isComparing: Bool { task != nil }

  package var selectedLine: DiffLine? {
    lines.indices.contains(list.selected) ? lines[list.selected] : nil
  }

  private mutating func refilter() {
    let selected = selectedLine
    lines = showsOnlyChanges ? DiffLine.onlyChanges(allLines) : allLines
    list.setCount(lines.count)
    if let selected, let index = lines.firstIndex(of: selected) { list.select(index) }
  }
}

extension DiffScreen {
  static func bindings(_ state: State) -> [Binding] {
    let diff = state.diff
    let noChange =
      diff.lines.contains(where: \.isChanged) ? nil : "nothing differs"
    let command = diff.command(state)
    return [
      Binding([.character("n")], "next change", .nextChange, unless: noChange),
      Binding(
        [.character("N")], "previous change", .previousChange, unless: noChange, footer: false),
      Binding(
        [.character("c")], diff.showsOnlyChanges ? "everything" : "only changes", .onlyChanges),
      Binding(
        [.character("o")], "other versions", .chooseVersion,
        unless: state.versions.count > 1 ? nil : MappingScreen.noVersions, command: command),
      Binding([.character("m")], "mapping", .show(.mapping)),
      Keymap.movement,
    ]
  }

  private func command(_ state: State) -> String {
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

  var view: DiffView {
    var view = DiffView()
    view.showsOnlyChanges = showsOnlyChanges
    return view
  }

  static func arrange(_ view: DiffView, in state: inout State) -> [Effect] {
    state.diff.showsOnlyChanges = view.showsOnlyChanges
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
    let showsOnlyChanges = state.diff.showsOnlyChanges
    let old = state.diff.task.map { [Effect.cancel($0)] } ?? []
    state.diff = DiffScreen()
    state.diff.showsOnlyChanges = showsOnlyChanges
    state.diff.from = from
    state.diff.to = to
    let task = state.newTask()
    state.diff.task = task
    return old + [.compare(task, from: source, to: destination)]
  }

  static func take(_ message: Message, in state: inout State) -> [Effect] {
    guard case .compared(let task, let comparison) = message, task == state.diff.task else {
      return []
    }
    state.diff.task = nil
    state.diff.comparison = comparison
    state.diff.allLines = DiffLine.lines(of: comparison.difference)
    state.diff.refilter()
    if let first = state.diff.lines.firstIndex(where: \.isChanged) {
      state.diff.list.setHeight(DiffLayout(state.body).list.height)
      state.diff.list.select(first)
    }
    return []
  }

  static func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]? {
    guard task == state.diff.task else { return nil }
    state.diff.task = nil
    if error.kind != .cancelled { state.show(MessageLayer(error)) }
    return []
  }

  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    state.diff.list.setHeight(DiffLayout(state.body).list.height)
    switch action {
    case .navigate: state.diff.list.handle(key)
    case .onlyChanges:
      state.diff.showsOnlyChanges.toggle()
      state.diff.refilter()
    case .nextChange, .previousChange: state.diff.jump(forward: action == .nextChange)
    case .chooseVersion:
      state.show(
        VersionsLayer(.compareFrom, count: state.versions.count, selected: state.diff.from ?? 0))
    case .show(let screen):
      state.screen = screen
      return state.entered()
    default: break
    }
    return []
  }

  /// Goes to the next line that differs, around the end.
  private mutating func jump(forward: Bool) {
    let changed = lines.indices.filter { lines[$0].isChanged }
    let next =
      forward
      ? changed.first { $0 > list.selected } ?? changed.first
      : changed.last { $0 < list.selected } ?? changed.last
    if let next { list.select(next) }
  }
}
