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
}

extension SearchableLayer {
  /// The key that begins narrowing, for the layer's own list.
  var searchBinding: Binding {
    Binding(
      ["/"], "find",
      asks("search") { layer, state in
        state.show(SearchLayer(.layer, former: layer.filter))
        return []
      })
  }

  var copyBinding: Binding {
    Binding(
      ["y"], "copy",
      asks("copy") { layer, state in
        let (text, title) = layer.copied(state)
        return CopyLayer.send(text, title, in: &state)
      })
  }

  var movement: Binding {
    scrolling { $0.list.scrollPage($1, count: $0.count($2), height: $2.body.height - 2) }
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
