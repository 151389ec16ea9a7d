/// A popup whose lines can be narrowed with `/`.
protocol SearchableLayer: LayerContent {
  var filter: String { get set }
}

extension SearchableLayer {
  /// The key that begins narrowing, for the layer's own list.
  var searchBinding: Binding {
    Binding([.character("/")], "find", .search)
  }

  func search(in state: inout State) -> LayerOutcome {
    state.show(SearchLayer(.layer, former: filter))
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
