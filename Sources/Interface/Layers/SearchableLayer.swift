import Terminal

/// A popup of text to be read: it scrolls, its lines can be narrowed with `/`, and it is copied as a
/// whole.
protocol SearchableLayer: LayerContent {
  var list: List { get set }
  var filter: String { get set }
  /// How many lines there are.
  func count(_ state: State) -> Int
  /// All of it as plain text, and what that is called.
  func copied(_ state: State) -> (text: String, title: String)
  /// Does what no popup of text does.
  func open(in state: inout State) -> LayerOutcome
}

extension SearchableLayer {
  /// The key that begins narrowing, for the layer's own list.
  var searchBinding: Binding { Binding(["/"], "find", .search) }

  func open(in state: inout State) -> LayerOutcome { .stay() }

  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    switch action {
    case .open: return open(in: &state)
    case .search: state.show(SearchLayer(.layer, former: filter))
    case .copy:
      let (text, title) = copied(state)
      return .stay(CopyLayer.send(text, title, in: &state))
    default: list.scrollPage(key, count: count(state), height: state.body.height - 2)
    }
    return .stay()
  }
}

extension State {
  /// What the uppermost popup is narrowed to; `nil` where it has no lines to narrow.
  var layerFilter: String? {
    get { (layers.last?.content as? any SearchableLayer)?.filter }
    set {
      guard var layer = layers.last?.content as? any SearchableLayer, let newValue else { return }
      layer.filter = newValue
      layers[layers.count - 1].content = layer
    }
  }
}
