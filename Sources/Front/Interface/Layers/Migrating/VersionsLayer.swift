import ManagedModel
import ManagedStore
import ModelSearch
import Terminal

/// The versions there are, to choose one or two of; others by their path, or out of git.
struct VersionsLayer: LayerContent {
  enum Purpose: Sendable, Equatable {
    /// The second version is likely to be one of these.
    case compareFrom(likely: [Int?])
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

  func bindings(_ context: Context) -> [Binding] {
    let busy = task == nil ? nil : "it is being read"
    switch mode {
    case .versions:
      let path = selectedVersion(context).flatMap { $0.path.isEmpty ? nil : $0.path }
      var bindings = [
        Binding([.enter], "choose", key("choose") { $0.choose(in: &$1) }, unless: busy),
        Binding(["p"], "by path", key("otherPath") { .stay($0.askForPath(in: &$1)) }, unless: busy),
        Binding(
          ["r"], "git revisions", key("revisions") { .stay($0.askGit(in: &$1)) },
          unless: busy ?? (path == nil ? "the version has no file" : nil)),
      ]
      if purpose == .migrateTo {
        let isOn = isThroughVersions
        bindings.append(
          Binding(
            ["v"], isOn ? "migrate directly" : "step through the versions",
            key("throughVersions") { layer, _ in
              layer.isThroughVersions.toggle()
              return .stay()
            },
            unless: chain(context) == nil ? "there is no version in between" : nil))
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
          unless: busy ?? (commits.isEmpty ? "no commit changed it" : nil)),
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
  func chain(_ context: Context) -> [String]? {
    context.planOptions.via == nil ? context.versions.chain(to: list.selected) : []
  }

  private func selectedVersion(_ context: Context) -> ModelVersion? {
    context.versions.element(list.selected)
  }

  /// A key; what went wrong before is no news then.
  private func key(
    _ name: String, _ body: @escaping @Sendable (inout Self, inout Context) -> LayerOutcome
  ) -> Action {
    does(name) { layer, context in
      layer.problem = nil
      return body(&layer, &context)
    }
  }

  private var goesBack: Action {
    key("cancel") { layer, context in
      let stopped = layer.cancel(in: &context) ?? []
      layer.mode = .versions
      return .stay(stopped)
    }
  }

  private mutating func askForPath(in context: inout Context) -> [Effect] {
    // What lies beside a private copy is found without a path.
    let folder =
      context.copy == nil ? selectedVersion(context)?.bundlePath ?? context.storePath : ""
    let start = folder.lastIndex(of: "/").map { String(folder[...$0]) } ?? ""
    mode = .path(Prompt(start), completions: [])
    return complete(start, in: &context)
  }

  private mutating func askGit(in context: inout Context) -> [Effect] {
    guard let version = selectedVersion(context) else { return [] }
    let path = version.bundlePath ?? version.path
    // One that came out of git itself has its revision in its name.
    let name = version.bundlePath == nil ? nil : version.name.prefix { $0 != "@" }
    mode = .revisions(path: path, version: name.map(String.init), [], List())
    return context.ask(&task) { .find($0, .revisions(path: path)) }
  }

  /// Types what all completions have in common.
  private mutating func complete(in context: inout Context) -> [Effect] {
    guard case .path(var prompt, let completions) = mode else { return [] }
    if let longest = PathPrompt.common(completions), longest.count > prompt.text.count {
      prompt = Prompt(longest)
      mode = .path(prompt, completions: completions)
    }
    return complete(prompt.text, in: &context)
  }

  private mutating func read(in context: inout Context) -> [Effect] {
    let path: String
    switch mode {
    case .path(let prompt, _): path = prompt.text
    case .revisions(let bundle, let version, let commits, let list):
      guard let commit = commits.element(list.selected) else { return [] }
      path = bundle + (version.map { "@" + $0 } ?? "") + "@" + commit.id.prefix(10)
    case .versions: return []
    }
    return context.ask(&task) { .find($0, .models(path: path)) }
  }

  private mutating func complete(_ text: String, in context: inout Context) -> [Effect] {
    context.ask(&completing) { .find($0, .completions(path: text)) }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    guard case .path(var prompt, _) = mode else { return [] }
    let text = prompt.text
    prompt.handle(key)
    mode = .path(prompt, completions: [])
    problem = nil
    return prompt.text == text ? [] : complete(prompt.text, in: &context)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
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
      let known = Set(context.versions.map(\.path))
      let new = versions.filter { !known.contains($0.path) }
      let effects = context.add(new)
      list = List(count: context.versions.count, height: context.versions.count)
      let first = new.first(where: \.isCurrent) ?? new.first ?? versions.first
      if let index = context.versions.firstIndex(where: { $0.path == first?.path }) {
        list.select(index)
      }
      return effects
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard !completing.end(task), self.task.end(task) else { return [] }
    if error.kind != .cancelled {
      problem =
        error.message + (error.path.map { ": \($0)" } ?? "")
        + (error.typedHint.map { ". → \($0)" } ?? "")
      if case .revisions = mode { mode = .versions }
    }
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? { task.stop() }

  /// Takes the selected version; comparing asks for the second one.
  private func choose(in context: inout Context) -> LayerOutcome {
    let index = list.selected
    guard let version = selectedVersion(context) else { return .close() }
    if case .failure(let error) = version.result {
      context.show(MessageLayer(error))
      return .stay()
    }
    switch purpose {
    case .compareFrom(let likely):
      context.show(
        VersionsLayer(
          .compareTo(from: index), count: context.versions.count,
          selected: context.versions.partner(of: index, likely: likely)))
      return .close()
    case .compareTo(let from):
      return .close(context.on(DiffScreen.self) { $0.compare(from, index, in: &$1) })
    case .migrateTo:
      let goesThrough = isThroughVersions && chain(context) != nil
      return .close(
        context.on(MappingScreen.self) {
          $0.isThroughVersions = goesThrough
          return $0.choose(index, in: &$1)
        })
    }
  }
}

extension VersionsLayer {
  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch mode {
    case .versions: drawVersions(context, with: theme, in: &grid, rect)
    case .path(let prompt, let completions):
      drawPath(prompt, completions, with: theme, in: &grid, rect)
    case .revisions(_, _, let commits, let list):
      drawRevisions(commits, list, with: theme, in: &grid, rect)
    }
  }

  private func drawVersions(
    _ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let width = max(1, min(64, rect.width - 4))
    var notes = problem.map { Wrapping.lines("✗ " + $0, .error, width: width) } ?? []
    if task != nil { notes.append(("reading …", .dim)) }
    if purpose == .migrateTo, let chain = chain(context) {
      let isOn = isThroughVersions
      let path = chain.isEmpty ? "the versions of --via" : chain.joined(separator: " → ")
      let text = "[\(isOn ? "x" : " ")] through the versions in between (v): \(path)"
      notes += Wrapping.lines(text, isOn ? .text : .dim, width: width)
    }
    if context.versions.count < 2, problem == nil {
      let text = "There is no other version beside the store: p opens one by its path."
      notes += Wrapping.lines(text, .text, width: width)
    }
    let height = max(1, context.versions.count) + (notes.isEmpty ? 0 : notes.count + 1)
    let inside = Popup(title, width, height).draw(in: &grid, rect, theme: theme)
    let noteHeight = min(notes.isEmpty ? 0 : notes.count + 1, max(0, inside.height - 1))
    let rows = Rect(
      x: inside.x, y: inside.y, width: inside.width, height: inside.height - noteHeight)
    list.draw(context.versions, in: &grid, rows, theme: theme) { version, _ in
      var spans = [Span(version.name)]
      if version.isStores { spans.append(Span("  ✓ this store’s version", theme[.success])) }
      if version.isCurrent { spans.append(Span("  current", theme[.dim])) }
      switch version.result {
      case .success(let model):
        let count = NumberText.counted(model.entities.count, "entity", plural: "entities")
        spans.append(Span("  \(count)", theme[.dim]))
      case .failure: spans.append(Span("  ✗ unreadable", theme[.error]))
      }
      // Of several bundles, where it is.
      if let bundle = version.bundlePath ?? (version.path.isEmpty ? nil : version.path),
        bundle != context.versions.lazy.compactMap(\.bundlePath).first
      {
        spans.append(Span("  in \(context.known.named(bundle))", theme[.dim]))
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
