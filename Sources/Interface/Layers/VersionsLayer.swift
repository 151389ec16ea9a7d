import Terminal

/// The versions there are, to choose one or two of.
package struct VersionsLayer: Sendable, Equatable {
  package enum Purpose: Sendable, Equatable {
    case compareFrom
    case compareTo(from: Int)
    case migrateTo
  }

  package var purpose: Purpose
  package var list: List

  init(_ purpose: Purpose, count: Int, selected: Int) {
    self.purpose = purpose
    list = List(count: count, selected: selected, height: max(1, count))
  }

  private var title: String {
    switch purpose {
    case .compareFrom: "Compare which version…"
    case .compareTo: "…with which"
    case .migrateTo: "Migrate to which version"
    }
  }

  /// Takes the selected version; comparing asks for the second one.
  func choose(in state: inout State) -> [Effect] {
    let index = list.selected
    guard state.versions.indices.contains(index) else { return [] }
    if case .failure(let error) = state.versions[index].result {
      state.layers.append(.versions(self))
      state.layers.append(.message(MessageLayer(error)))
      return []
    }
    switch purpose {
    case .compareFrom:
      state.layers.append(
        .versions(
          VersionsLayer(
            .compareTo(from: index), count: state.versions.count,
            selected: state.diff.to ?? index)))
      return []
    case .compareTo(let from): return DiffScreen.compare(from, index, in: &state)
    case .migrateTo: return MappingScreen.plan(to: index, in: &state)
    }
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let inside = Popup(title, size: Size(width: 56, height: max(1, list.count)))
      .draw(in: &grid, rect, theme: theme)
    list.draw(in: &grid, inside, theme: theme) { row in
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
      return spans
    }
  }
}
