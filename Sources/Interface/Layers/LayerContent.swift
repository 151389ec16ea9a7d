import ManagedModel
import Terminal

/// What a popup is: its keys, what they do, the answers it waits for, and its look.
///
/// While a layer works it is off the stack, so that it can change the state; what it has become is
/// put back in its place unless it closes.
package protocol LayerContent: Sendable, Equatable {
  func bindings(_ state: State) -> [Binding]
  /// Does what a binding asks for; `.close` never comes here.
  mutating func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome
  /// Takes a key that is bound to nothing: text for a prompt.
  mutating func type(_ key: Key, in state: inout State) -> [Effect]
  /// Takes the answer to one of its own tasks; `nil` when the answer is not for it.
  mutating func take(_ message: Message, in state: inout State) -> [Effect]?
  /// One of its tasks failed; `nil` when the task is not its own.
  mutating func fail(_ task: TaskID, _ error: CoreDataError, in state: inout State) -> [Effect]?
  /// Stops what it is waiting for; `nil` when it waits for nothing.
  mutating func cancel(in state: inout State) -> [Effect]?
  /// It was closed without having chosen anything.
  func closed(in state: inout State) -> [Effect]
  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ body: Rect)
}

/// What becomes of a layer that did something.
package enum LayerOutcome: Sendable, Equatable {
  case stay([Effect] = [])
  case close([Effect] = [])
}

extension LayerContent {
  package mutating func type(_ key: Key, in state: inout State) -> [Effect] { [] }
  package mutating func take(_ message: Message, in state: inout State) -> [Effect]? { nil }
  package mutating func fail(
    _ task: TaskID, _ error: CoreDataError, in state: inout State
  ) -> [Effect]? { nil }
  package mutating func cancel(in state: inout State) -> [Effect]? { nil }
  /// What runs for a layer that is gone is of no use.
  package func closed(in state: inout State) -> [Effect] {
    var copy = self
    return copy.cancel(in: &state) ?? []
  }

  fileprivate func isEqual(to other: any LayerContent) -> Bool { (other as? Self) == self }
}

/// A popup over the screen.
package struct Layer: Sendable, Equatable {
  package var content: any LayerContent

  package static func == (left: Layer, right: Layer) -> Bool {
    left.content.isEqual(to: right.content)
  }
}

extension State {
  /// Puts a popup over what is there.
  mutating func show(_ content: any LayerContent) {
    layers.append(Layer(content: content))
  }

  /// Does what a binding of the uppermost layer asks for.
  mutating func performInLayer(_ action: Action, _ key: Key) -> [Effect] {
    // Escape takes back the narrowing first.
    if action == .close, key == .escape, layerFilter?.isEmpty == false {
      layerFilter = ""
      return []
    }
    guard var layer = layers.popLast() else { return [] }
    if action == .close { return layer.content.closed(in: &self) }
    let depth = layers.count
    switch layer.content.perform(action, key, in: &self) {
    case .close(let effects): return effects
    case .stay(let effects):
      layers.insert(layer, at: min(depth, layers.count))
      return effects
    }
  }

  mutating func typeInLayer(_ key: Key) -> [Effect] {
    withLayer(at: layers.count - 1) { $0.type(key, in: &$1) } ?? []
  }

  /// Offers an answer to the layers, the uppermost first.
  mutating func takeInLayers(_ message: Message) -> [Effect]? {
    firstLayer { $0.take(message, in: &$1) }
  }

  mutating func failInLayers(_ task: TaskID, _ error: CoreDataError) -> [Effect]? {
    firstLayer { $0.fail(task, error, in: &$1) }
  }

  mutating func cancelInLayers() -> [Effect]? {
    firstLayer { $0.cancel(in: &$1) }
  }

  private mutating func firstLayer(
    _ body: (inout any LayerContent, inout State) -> [Effect]?
  ) -> [Effect]? {
    for index in layers.indices.reversed() {
      if let effects = withLayer(at: index, body) { return effects }
    }
    return nil
  }

  private mutating func withLayer(
    at index: Int, _ body: (inout any LayerContent, inout State) -> [Effect]?
  ) -> [Effect]? {
    guard layers.indices.contains(index) else { return nil }
    var layer = layers.remove(at: index)
    let effects = body(&layer.content, &self)
    layers.insert(layer, at: min(index, layers.count))
    return effects
  }
}
