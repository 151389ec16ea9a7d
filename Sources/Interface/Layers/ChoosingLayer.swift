import Terminal

/// A popup with a list, of which Enter takes the selected line.
protocol ChoosingLayer: LayerContent {
  var list: List { get set }
  /// Rows that the list has room for; `nil` where it has room for all.
  func room(_ state: State) -> Int?
  /// Takes the selected line.
  mutating func choose(in state: inout State) -> LayerOutcome
}

extension ChoosingLayer {
  func room(_ state: State) -> Int? { nil }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    if action == .choose { return choose(in: &state) }
    list.handle(key, height: room(state))
    return .stay()
  }
}
