import ManagedModel
import ManagedStore
import ModelSearch
import Terminal

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
      let text = "No other version lies beside the store: p takes one by its path."
      notes += Wrapping.lines(text, .text, width: width)
    }
    let height = max(1, state.versions.count) + (notes.isEmpty ? 0 : notes.count + 1)
    let inside = Popup(title, size: Size(width: width, height: height))
      .draw(in: &grid, rect, theme: theme)
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
    let inside = Popup(
      title, size: Size(width: width, height: lines.count + 2 + min(10, max(3, completions.count)))
    ).draw(in: &grid, rect, theme: theme)
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
    let inside = Popup(title, size: Size(width: width, height: max(1, commits.count)))
      .draw(in: &grid, rect, theme: theme)
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
