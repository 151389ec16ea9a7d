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
      guard let version = state.versions.element(row) else { return [] }
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
      guard let commit = commits.element(row) else { return [] }
      let isSelected = row == list.selected
      return [
        Span(String(commit.id.prefix(10)), isSelected ? .plain : theme[.identifier]),
        Span("  \(commit.date.prefix(10))  ", isSelected ? .plain : theme[.date]),
        Span(commit.subject),
      ]
    }
  }
}
