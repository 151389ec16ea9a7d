import ManagedModel
import Terminal

/// What a popup is: besides what every component has, when it closes.
///
/// While a layer works it is off the stack, so that it can change the state; what it has become is
/// put back in its place unless it closes.
protocol LayerContent: Component {
  /// It was closed without having chosen anything.
  func closed(in state: inout State) -> [Effect]
  /// Whether an answer has ended its work, so that it closes by itself.
  var isDone: Bool { get }
}

/// What becomes of a layer that did something.
enum LayerOutcome: Sendable, Equatable {
  case stay([Effect] = [])
  case close([Effect] = [])

  var effects: [Effect] {
    switch self {
    case .stay(let effects), .close(let effects): effects
    }
  }
}

extension LayerContent {
  /// What runs for a layer that is gone is of no use.
  func closed(in state: inout State) -> [Effect] {
    var copy = self
    return copy.cancel(in: &state) ?? []
  }

  var isDone: Bool { false }
}

/// A popup over the screen.
struct Layer: Sendable, Equatable {
  let id: Int
  var content: any LayerContent

  static func == (left: Layer, right: Layer) -> Bool {
    left.id == right.id && left.content.isEqual(to: right.content)
  }
}

extension State {
  /// Puts a popup over what is there.
  mutating func show(_ content: some LayerContent) {
    _ = show(content) { _, _ in [] }
  }

  /// Puts a popup over what is there that begins by asking for something.
  mutating func show<Content: LayerContent>(
    _ content: Content, _ begin: (inout Content, inout State) -> [Effect]
  ) -> [Effect] {
    var content = content
    lastLayer += 1
    let id = lastLayer
    let effects = working(as: .layer(id)) { begin(&content, &$0) }
    layers.append(Layer(id: id, content: content))
    return effects
  }

  /// Stops what a layer waits for, the uppermost first; `nil` where none does.
  mutating func cancelInLayers() -> [Effect]? {
    for layer in layers.reversed() {
      if let effects = onLayer(layer.id, { $0.cancel(in: &$1) }) ?? nil { return effects }
    }
    return nil
  }

  /// Has a layer work on the state; `nil` where it is gone.
  mutating func onLayer<Result>(
    _ id: Int, _ work: (inout any LayerContent, inout State) -> Result
  ) -> Result? {
    guard let index = layers.firstIndex(where: { $0.id == id }) else { return nil }
    var layer = layers.remove(at: index)
    let result = working(as: .layer(id)) { work(&layer.content, &$0) }
    if !layer.content.isDone { layers.insert(layer, at: min(index, layers.count)) }
    return result
  }
}
