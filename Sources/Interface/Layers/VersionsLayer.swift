import ManagedModel
import ManagedStore
import Terminal

/// The versions there are, to choose one or two of; others by their path, or out of git.
package struct VersionsLayer: LayerContent {
  package enum Purpose: Sendable, Equatable {
    case compareFrom
    case compareTo(from: Int)
    case migrateTo
  }

  /// What the popup shows now.
  package enum Mode: Sendable, Equatable {
    case versions
    case path(Prompt, completions: [String])
    /// Commits that changed a bundle or file, and the version in it that was asked for.
    case revisions(path: String, version: String?, [GitHistory.Commit], List)
  }

  package var purpose: Purpose
  package var list: List
  package var mode = Mode.versions
  /// Whether to go through the versions between; said with the choice.
  private var isThroughVersions: Bool
  private var task: TaskID?
  /// Looks for completions, which nobody has to wait for.
  private var completing: TaskID?
  private var problem: String?

  init(_ purpose: Purpose, count: Int, selected: Int, isThroughVersions: Bool = false) {
    self.purpose = purpose
    self.isThroughVersions = isThroughVersions
    list = List(count: count, selected: selected, height: max(1, count))
  }

  private var title: String {
    switch mode {
    case .path: return "A model, a bundle or a store by its path"
    case .revisions(let path, _, _, _): return "Commits that changed \(path)"
    case .versions: break
    }
    switch purpose {
    case .compareFrom: return "Compare which version…"
    case .compareTo: return "…with which"
    case .migrateTo: return "Migrate to which version"
    }
  }

  package func bindings(_ state: State) -> [Binding] {
    let busy = task == nil ? nil : "it is being read"
    switch mode {
    case .versions:
      let path = selectedVersion(state).flatMap { $0.path.isEmpty ? nil : $0.path }
      var bindings = [
        Binding([.enter], "choose", .choose, unless: busy),
        Binding([.character("p")], "by path", .otherPath, unless: busy),
        Binding(
          [.character("r")], "git revisions", .revisions,
          unless: busy ?? (path == nil ? "the version is in no file" : nil)),
      ]
      if purpose == .migrateTo {
        let isOn = isThroughVersions
        bindings.append(
          Binding(
            [.character("v")], isOn ? "go straight" : "go through the versions", .throughVersions,
            unless: chain(state) == nil ? "there is no version between" : nil))
      }
      return bindings + [
        Keymap.movement,
        Binding([.escape, .character("q")], "close", .close),
      ]
    case .path(let prompt, _):
      return [
        Binding(
          [.enter], "read", .confirm,
          unless: busy ?? (prompt.text.isEmpty ? "there is no path" : nil)
        ),
        Binding([.tab], "complete", .complete),
        Binding([.escape], "back", .cancel),
      ]
    case .revisions(_, _, let commits, _):
      return [
        Binding(
          [.enter], "read that revision", .confirm,
          unless: busy ?? (commits.isEmpty ? "there is none" : nil)),
        Keymap.movement,
        Binding([.escape, .character("q")], "back", .cancel),
      ]
    }
  }

  private func selectedVersion(_ state: State) -> ModelVersion? {
    state.versions.indices.contains(list.selected) ? state.versions[list.selected] : nil
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    problem = nil
    switch action {
    case .choose: return choose(in: &state)
    case .otherPath:
      let folder = selectedVersion(state)?.bundlePath ?? state.storePath
      let start = folder.lastIndex(of: "/").map { String(folder[...$0]) } ?? ""
      mode = .path(Prompt(start), completions: [])
      return .stay(complete(start, in: &state))
    case .revisions:
      guard let version = selectedVersion(state) else { return .stay() }
      let path = version.bundlePath ?? version.path
      let task = state.newTask()
      self.task = task
      // One that came out of git itself has its revision in its name.
      let name = version.bundlePath == nil ? nil : version.name.prefix { $0 != "@" }
      mode = .revisions(path: path, version: name.map(String.init), [], List())
      return .stay([.revisions(task, path: path)])
    case .throughVersions:
      isThroughVersions.toggle()
      return .stay()
    case .complete:
      guard case .path(var prompt, let completions) = mode else { break }
      if let longest = Self.common(completions), longest.count > prompt.text.count {
        prompt.setText(longest)
        mode = .path(prompt, completions: completions)
      }
      return .stay(complete(prompt.text, in: &state))
    case .confirm: return .stay(read(in: &state))
    case .cancel:
      let stopped = cancel(in: &state) ?? []
      mode = .versions
      return .stay(stopped)
    default:
      if case .revisions(let path, let version, let commits, var list) = mode {
        list.setHeight(max(1, min(commits.count, state.body.height - 2)))
        list.handle(key)
        mode = .revisions(path: path, version: version, commits, list)
      } else {
        list.setCount(state.versions.count)
        list.handle(key)
      }
    }
    return .stay()
  }

  private mutating func read(in state: inout State) -> [Effect] {
    let path: String
    switch mode {
    case .path(let prompt, _): path = prompt.text
    case .revisions(let bundle, let version, let commits, let list):
      guard commits.indices.contains(list.selected) else { return [] }
      path =
        bundle + (version.map { "@" + $0 } ?? "") + "@" + commits[list.selected].id.prefix(10)
    case .versions: return []
    }
    let task = state.newTask()
    self.task = task
    return [.models(task, path: path)]
  }

  private mutating func complete(_ text: String, in state: inout State) -> [Effect] {
    let old = completing.map { [Effect.cancel($0)] } ?? []
    let task = state.newTask()
    completing = task
    return old + [.completions(task, path: text)]
  }

  /// What all of several texts begin with.
  private static func common(_ texts: [String]) -> String? {
    guard var common = texts.first else { return nil }
    for text in texts.dropFirst() {
      common = String(zip(common, text).prefix { $0 == $1 }.map(\.0))
    }
    return common
  }

  package mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    guard case .path(var prompt, _) = mode else { return [] }
    let text = prompt.text
    prompt.handle(key)
    mode = .path(prompt, completions: [])
    problem = nil
    return prompt.text == text ? [] : complete(prompt.text, in: &state)
  }

  package mutating func take(_ message: Message, in state: inout State) -> [Effect]? {
    switch message {
    case .completions(let task, let paths) where task == completing:
      completing = nil
      if case .path(let prompt, _) = mode { mode = .path(prompt, completions: paths) }
    case .revisions(let task, let commits) where task == self.task:
      self.task = nil
      guard case .revisions(let path, let version, _, _) = mode else { return [] }
      mode = .revisions(
        path: path, version: version, commits,
        List(count: commits.count, height: max(1, commits.count)))
    case .models(let task, let versions) where task == self.task:
      self.task = nil
      mode = .versions
      let known = Set(state.versions.map(\.path))
      let new = versions.filter { !known.contains($0.path) }
      let effects = state.add(new)
      list = List(count: state.versions.count, height: max(1, state.versions.count))
      let first = new.first(where: \.isCurrent) ?? new.first ?? versions.first
      if let index = state.versions.firstIndex(where: { $0.path == first?.path }) {
        list.select(index)
      }
      return effects
    default: return nil
    }
    return []
  }

  package mutating func fail(
    _ task: TaskID, _ error: CoreDataError, in state: inout State
  ) -> [Effect]? {
    if task == completing {
      completing = nil
      return []
    }
    guard task == self.task else { return nil }
    self.task = nil
    if error.kind != .cancelled {
      problem = error.message + (error.typedHint.map { ". → \($0)" } ?? "")
      if case .revisions = mode { mode = .versions }
    }
    return []
  }

  package mutating func cancel(in state: inout State) -> [Effect]? {
    guard let task else { return nil }
    self.task = nil
    return [.cancel(task)]
  }

  /// Takes the selected version; comparing asks for the second one.
  private func choose(in state: inout State) -> LayerOutcome {
    let index = list.selected
    guard state.versions.indices.contains(index) else { return .close() }
    if case .failure(let error) = state.versions[index].result {
      state.show(MessageLayer(error))
      return .stay()
    }
    switch purpose {
    case .compareFrom:
      state.show(
        VersionsLayer(
          .compareTo(from: index), count: state.versions.count,
          selected: Self.partner(of: index, state)))
      return .close()
    case .compareTo(let from): return .close(DiffScreen.compare(from, index, in: &state))
    case .migrateTo:
      state.mapping.isThroughVersions = isThroughVersions && chain(state) != nil
      return .close(MappingScreen.choose(index, in: &state))
    }
  }

  /// What a version is compared with first: never itself, where there is another.
  private static func partner(of index: Int, _ state: State) -> Int {
    let versions = state.versions
    let likely = [
      state.diff.to, state.mapping.to, versions.firstIndex(where: \.isCurrent),
      versions.destinationIndex, versions.storesIndex,
    ]
    let others = likely.compactMap { $0 } + Array(versions.indices)
    // A store whose model lies in a file too is there twice.
    return others.first {
      versions.indices.contains($0) && $0 != index && versions[$0].model != nil
        && !(versions[$0].isStores && versions[index].isStores)
    } ?? index
  }

  /// The names of the versions on the way from the store's to the selected one; `nil` where none is
  /// between.
  private func chain(_ state: State) -> [String]? {
    if state.planOptions.via != nil { return [] }
    guard let to = selectedVersion(state), let bundle = to.bundlePath,
      let from = state.versions.storesIndex,
      state.versions[from].bundlePath == bundle
    else { return nil }
    let range = from < list.selected ? from...list.selected : list.selected...from
    let between = range.filter { state.versions[$0].bundlePath == bundle }
    guard between.count > 2 else { return nil }
    let names = between.map { state.versions[$0].name }
    return from < list.selected ? names : names.reversed()
  }

  package func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch mode {
    case .versions: drawVersions(state, with: theme, in: &grid, rect)
    case .path(let prompt, let completions):
      drawPath(prompt, completions, with: theme, in: &grid, rect)
    case .revisions(_, _, let commits, let list):
      drawRevisions(commits, list, with: theme, in: &grid, rect)
    }
  }

  private func drawVersions(
    _ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(64, rect.width - 4))
    var notes: [(String, Theme.Role)] =
      problem.map { Wrapping.lines("✗ " + $0, width: width).map { ($0, .error) } } ?? []
    if task != nil { notes.append(("reading …", .dim)) }
    if purpose == .migrateTo, let chain = chain(state) {
      let isOn = isThroughVersions
      let way = chain.isEmpty ? "the versions of --via" : chain.joined(separator: " → ")
      let text = "[\(isOn ? "x" : " ")] through the versions between (v): \(way)"
      notes += Wrapping.lines(text, width: width).map { ($0, isOn ? .text : .dim) }
    }
    if state.versions.count < 2, problem == nil {
      let text = "No other version lies beside the store: p takes one by its path."
      notes += Wrapping.lines(text, width: width).map { ($0, .text) }
    }
    let height = max(1, state.versions.count) + (notes.isEmpty ? 0 : notes.count + 1)
    let inside = Popup(title, size: Size(width: width, height: height))
      .draw(in: &grid, rect, theme: theme)
    let noteHeight = min(notes.isEmpty ? 0 : notes.count + 1, max(0, inside.height - 1))
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: inside.height - noteHeight)
    var list = list
    list.setCount(state.versions.count)
    list.draw(in: &grid, rows, theme: theme) { row in
      guard state.versions.indices.contains(row) else { return [] }
      let version = state.versions[row]
      var spans = [Span(version.name)]
      if version.isStores { spans.append(Span("  ✓ this store", theme[.success])) }
      if version.isCurrent { spans.append(Span("  current", theme[.dim])) }
      switch version.result {
      case .success(let model):
        let count = model.entities.count
        spans.append(Span("  \(count) " + (count == 1 ? "entity" : "entities"), theme[.dim]))
      case .failure: spans.append(Span("  ✗ unreadable", theme[.error]))
      }
      // Of several bundles, where it is.
      if let bundle = version.bundlePath ?? (version.path.isEmpty ? nil : version.path),
        bundle != state.versions.lazy.compactMap(\.bundlePath).first
      {
        spans.append(Span("  in \(bundle)", theme[.dim]))
      }
      return spans
    }
    for (index, note) in notes.enumerated() where index + 1 < noteHeight {
      grid.write(
        note.0, at: Point(x: inside.x, y: rows.bottom + 1 + index), style: theme[note.1],
        within: inside.width)
    }
  }

  private func drawPath(
    _ prompt: Prompt, _ completions: [String], with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(76, rect.width - 4))
    let help =
      problem.map { "✗ " + $0 }
      ?? ".xcdatamodeld, .momd, .xcdatamodel, .mom or a store; PATH@VERSION, or PATH@REVISION of git"
    let lines = Wrapping.lines(help, width: width)
    let inside = Popup(
      title, size: Size(width: width, height: lines.count + 2 + min(10, max(3, completions.count)))
    ).draw(in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.footerKey])], theme: theme)
    for (index, line) in lines.enumerated() where index + 1 < inside.height {
      grid.write(
        line, at: inside.row(index + 1).origin, style: theme[problem == nil ? .dim : .error],
        within: inside.width)
    }
    for (index, path) in completions.enumerated() {
      let row = lines.count + 2 + index
      guard row < inside.height else { break }
      let left = completions.count - index
      let isLast = row == inside.height - 1 && left > 1
      grid.write(
        isLast ? "… and \(left) more" : "  " + path, at: inside.row(row).origin,
        style: isLast ? theme[.dim] : .plain, within: inside.width)
    }
  }

  private func drawRevisions(
    _ commits: [GitHistory.Commit], _ list: List, with theme: Theme, in grid: inout Grid,
    _ rect: Rect
  ) {
    let width = max(1, min(90, rect.width - 4))
    let inside = Popup(title, size: Size(width: width, height: max(1, commits.count)))
      .draw(in: &grid, rect, theme: theme)
    guard !commits.isEmpty else {
      let text = task == nil ? "No commit changed it." : "asking git …"
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    list.draw(in: &grid, inside, theme: theme) { row in
      guard commits.indices.contains(row) else { return [] }
      let commit = commits[row]
      let isSelected = row == list.selected
      return [
        Span(String(commit.id.prefix(10)), isSelected ? .plain : theme[.identifier]),
        Span("  \(commit.date.prefix(10))  ", isSelected ? .plain : theme[.date]),
        Span(commit.subject),
      ]
    }
  }
}
