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

  var chooses: Action { does("choose") { $0.choose(in: &$1) } }
  var movement: Binding { scrolling { $0.list.handle($1, height: $0.room($2)) } }
}
