import Terminal

/// The versions there are, to choose one or two of.
package struct VersionsLayer: LayerContent {
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

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter], "choose", .choose),
      Keymap.movement,
      Binding([.escape, .character("q")], "close", .close),
    ]
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    if action == .choose { return choose(in: &state) }
    list.handle(key)
    return .stay()
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
          .compareTo(from: index), count: state.versions.count, selected: state.diff.to ?? index))
      return .close()
    case .compareTo(let from): return .close(DiffScreen.compare(from, index, in: &state))
    case .migrateTo: return .close(MappingScreen.plan(to: index, in: &state))
    }
  }

  package func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
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
