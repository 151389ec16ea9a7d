import ManagedModel
import ManagedStore
import ModelSearch
import Terminal

/// The versions there are, to choose one or two of; others by their path, or out of git.
struct VersionsLayer: LayerContent {
  enum Purpose: Sendable, Equatable {
    case compareFrom
    case compareTo(from: Int)
    case migrateTo
  }

  /// What the popup shows now.
  enum Mode: Sendable, Equatable {
    case versions
    case path(Prompt, completions: [String])
    /// Commits that changed a bundle or file, and the version in it that was asked for.
    case revisions(path: String, version: String?, [GitHistory.Commit], List)
  }

  var purpose: Purpose
  var list: List
  var mode = Mode.versions
  /// Whether to go through the versions between; said with the choice.
  var isThroughVersions: Bool
  var task: TaskID?
  /// Looks for completions, which nobody has to wait for.
  private var completing: TaskID?
  var problem: String?

  init(_ purpose: Purpose, count: Int, selected: Int, isThroughVersions: Bool = false) {
    (self.purpose, self.isThroughVersions) = (purpose, isThroughVersions)
    list = List(count: count, selected: selected, height: count)
  }

  var title: String {
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

  func bindings(_ state: State) -> [Binding] {
    let busy = task == nil ? nil : "it is being read"
    switch mode {
    case .versions:
      let path = selectedVersion(state).flatMap { $0.path.isEmpty ? nil : $0.path }
      var bindings = [
        Binding([.enter], "choose", key("choose") { $0.choose(in: &$1) }, unless: busy),
        Binding(["p"], "by path", key("otherPath") { .stay($0.askForPath(in: &$1)) }, unless: busy),
        Binding(
          ["r"], "git revisions", key("revisions") { .stay($0.askGit(in: &$1)) },
          unless: busy ?? (path == nil ? "the version is in no file" : nil)),
      ]
      if purpose == .migrateTo {
        let isOn = isThroughVersions
        bindings.append(
          Binding(
            ["v"], isOn ? "go straight" : "go through the versions",
            key("throughVersions") { layer, _ in
              layer.isThroughVersions.toggle()
              return .stay()
            },
            unless: chain(state) == nil ? "there is no version between" : nil))
      }
      return bindings + [
        moving {
          $0.problem = nil
          $0.list.handle($1, count: $2.versions.count)
          return []
        },
        closing(),
      ]
    case .path(let prompt, _):
      return [
        Binding(
          [.enter], "read", key("confirm") { .stay($0.read(in: &$1)) },
          unless: busy ?? (prompt.text.isEmpty ? "type a path first" : nil)),
        Binding([.tab], "complete", key("complete") { .stay($0.complete(in: &$1)) }),
        Binding([.escape], "back", goesBack),
      ]
    case .revisions(_, _, let commits, _):
      return [
        Binding(
          [.enter], "read that revision", key("confirm") { .stay($0.read(in: &$1)) },
          unless: busy ?? (commits.isEmpty ? "there is none" : nil)),
        moving {
          $0.problem = nil
          guard case .revisions(let path, let version, let commits, var list) = $0.mode else {
            return []
          }
          list.handle($1, height: min(commits.count, $2.body.height - 2))
          $0.mode = .revisions(path: path, version: version, commits, list)
          return []
        },
        Binding([.escape, "q"], "back", goesBack),
      ]
    }
  }

  /// The path through the versions between: none are named where `--via` names them.
  func chain(_ state: State) -> [String]? {
    state.planOptions.via == nil ? state.versions.chain(to: list.selected) : []
  }

  private func selectedVersion(_ state: State) -> ModelVersion? {
    state.versions.element(list.selected)
  }

  /// A key; what went wrong before is no news then.
  private func key(
    _ name: String, _ body: @escaping @Sendable (inout Self, inout State) -> LayerOutcome
  ) -> Action {
    does(name) { layer, state in
      layer.problem = nil
      return body(&layer, &state)
    }
  }

  private var goesBack: Action {
    key("cancel") { layer, state in
      let stopped = layer.cancel(in: &state) ?? []
      layer.mode = .versions
      return .stay(stopped)
    }
  }

  private mutating func askForPath(in state: inout State) -> [Effect] {
    // What lies beside a private copy is found without a path.
    let folder = state.copy == nil ? selectedVersion(state)?.bundlePath ?? state.storePath : ""
    let start = folder.lastIndex(of: "/").map { String(folder[...$0]) } ?? ""
    mode = .path(Prompt(start), completions: [])
    return complete(start, in: &state)
  }

  private mutating func askGit(in state: inout State) -> [Effect] {
    guard let version = selectedVersion(state) else { return [] }
    let path = version.bundlePath ?? version.path
    // One that came out of git itself has its revision in its name.
    let name = version.bundlePath == nil ? nil : version.name.prefix { $0 != "@" }
    mode = .revisions(path: path, version: name.map(String.init), [], List())
    return state.ask(&task) { .find($0, .revisions(path: path)) }
  }

  /// Types what all completions have in common.
  private mutating func complete(in state: inout State) -> [Effect] {
    guard case .path(var prompt, let completions) = mode else { return [] }
    if let longest = Self.common(completions), longest.count > prompt.text.count {
      prompt = Prompt(longest)
      mode = .path(prompt, completions: completions)
    }
    return complete(prompt.text, in: &state)
  }

  private mutating func read(in state: inout State) -> [Effect] {
    let path: String
    switch mode {
    case .path(let prompt, _): path = prompt.text
    case .revisions(let bundle, let version, let commits, let list):
      guard let commit = commits.element(list.selected) else { return [] }
      path = bundle + (version.map { "@" + $0 } ?? "") + "@" + commit.id.prefix(10)
    case .versions: return []
    }
    return state.ask(&task) { .find($0, .models(path: path)) }
  }

  private mutating func complete(_ text: String, in state: inout State) -> [Effect] {
    state.ask(&completing) { .find($0, .completions(path: text)) }
  }

  /// What all of several texts begin with.
  private static func common(_ texts: [String]) -> String? {
    guard var common = texts.first else { return nil }
    for text in texts.dropFirst() {
      common = String(zip(common, text).prefix { $0 == $1 }.map(\.0))
    }
    return common
  }

  mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    guard case .path(var prompt, _) = mode else { return [] }
    let text = prompt.text
    prompt.handle(key)
    mode = .path(prompt, completions: [])
    problem = nil
    return prompt.text == text ? [] : complete(prompt.text, in: &state)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in state: inout State) -> [Effect] {
    switch answer {
    case .completions(let paths) where task == completing:
      completing = nil
      if case .path(let prompt, _) = mode { mode = .path(prompt, completions: paths) }
    case .revisions(let commits) where task == self.task:
      self.task = nil
      guard case .revisions(let path, let version, _, _) = mode else { return [] }
      let list = List(count: commits.count, height: commits.count)
      mode = .revisions(path: path, version: version, commits, list)
    case .models(let versions) where task == self.task:
      self.task = nil
      mode = .versions
      let known = Set(state.versions.map(\.path))
      let new = versions.filter { !known.contains($0.path) }
      let effects = state.add(new)
      list = List(count: state.versions.count, height: state.versions.count)
      let first = new.first(where: \.isCurrent) ?? new.first ?? versions.first
      if let index = state.versions.firstIndex(where: { $0.path == first?.path }) {
        list.select(index)
      }
      return effects
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect] {
    guard !completing.end(task), self.task.end(task) else { return [] }
    if error.kind != .cancelled {
      problem = error.message + (error.typedHint.map { ". → \($0)" } ?? "")
      if case .revisions = mode { mode = .versions }
    }
    return []
  }

  mutating func cancel(in state: inout State) -> [Effect]? { task.stop() }

  /// Takes the selected version; comparing asks for the second one.
  private func choose(in state: inout State) -> LayerOutcome {
    let index = list.selected
    guard let version = selectedVersion(state) else { return .close() }
    if case .failure(let error) = version.result {
      state.show(MessageLayer(error))
      return .stay()
    }
    switch purpose {
    case .compareFrom:
      state.show(
        VersionsLayer(
          .compareTo(from: index), count: state.versions.count,
          selected: state.versions.partner(of: index, likely: [state.diff.to, state.mapping.to])))
      return .close()
    case .compareTo(let from):
      return .close(state.on(DiffScreen.self) { $0.compare(from, index, in: &$1) })
    case .migrateTo:
      state.mapping.isThroughVersions = isThroughVersions && chain(state) != nil
      return .close(state.on(MappingScreen.self) { $0.choose(index, in: &$1) })
    }
  }
}

extension VersionsLayer {
  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch mode {
    case .versions: drawVersions(state, with: theme, in: &grid, rect)
    case .path(let prompt, let completions):
      drawPath(prompt, completions, with: theme, in: &grid, rect)
    case .revisions(_, _, let commits, let list):
      drawRevisions(commits, list, with: theme, in: &grid, rect)
    }
  }

  private func drawVersions(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    var notes = problem.map { Wrapping.lines("✗ " + $0, .error, width: width) } ?? []
    if task != nil { notes.append(("reading …", .dim)) }
    if purpose == .migrateTo, let chain = chain(state) {
      let isOn = isThroughVersions
      let path = chain.isEmpty ? "the versions of --via" : chain.joined(separator: " → ")
      let text = "[\(isOn ? "x" : " ")] through the versions between (v): \(path)"
      notes += Wrapping.lines(text, isOn ? .text : .dim, width: width)
    }
    if state.versions.count < 2, problem == nil {
      let text = "There is no other version beside the store: p opens one by its path."
      notes += Wrapping.lines(text, .text, width: width)
    }
    let height = max(1, state.versions.count) + (notes.isEmpty ? 0 : notes.count + 1)
    let inside = Popup(title, width, height).draw(in: &grid, rect, theme: theme)
    let noteHeight = min(notes.isEmpty ? 0 : notes.count + 1, max(0, inside.height - 1))
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: inside.height - noteHeight)
    list.draw(state.versions, in: &grid, rows, theme: theme) { version, _ in
      var spans = [Span(version.name)]
      if version.isStores { spans.append(Span("  ✓ this store", theme[.success])) }
      if version.isCurrent { spans.append(Span("  current", theme[.dim])) }
      switch version.result {
      case .success(let model):
        let count = NumberText.counted(model.entities.count, "entity", plural: "entities")
        spans.append(Span("  \(count)", theme[.dim]))
      case .failure: spans.append(Span("  ✗ unreadable", theme[.error]))
      }
      // Of several bundles, where it is.
      if let bundle = version.bundlePath ?? (version.path.isEmpty ? nil : version.path),
        bundle != state.versions.lazy.compactMap(\.bundlePath).first
      {
        spans.append(Span("  in \(state.named(bundle))", theme[.dim]))
      }
      return spans
    }
    grid.write(notes, in: inside.droppingRows(rows.height + 1), theme: theme)
  }

  private func drawPath(
    _ prompt: Prompt, _ completions: [String], with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(76, rect.width - 4))
    let help =
      problem.map { "✗ " + $0 }
      ?? ".xcdatamodeld, .momd, .xcdatamodel, .mom, .swift or a store; PATH@VERSION, or PATH@REVISION of git"
    let lines = Wrapping.lines(help, width: width)
    let inside = Popup(title, width, lines.count + 2 + min(10, max(3, completions.count))).draw(
      in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.footerKey])], theme: theme)
    grid.write(lines, in: inside.droppingRows(1), style: theme[problem == nil ? .dim : .error])
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
    let inside = Popup(title, width, max(1, commits.count)).draw(in: &grid, rect, theme: theme)
    guard !commits.isEmpty else {
      let text = task == nil ? "No commit changed it." : "asking git …"
      grid.write(text, at: inside.origin, style: theme[.dim], within: inside.width)
      return
    }
    list.draw(commits, in: &grid, inside, theme: theme) { commit, isSelected in
      [
        theme.span(isSelected, String(commit.id.prefix(10)), .identifier),
        theme.span(isSelected, "  \(commit.date.prefix(10))  ", .date), Span(commit.subject),
      ]
    }
  }
}
