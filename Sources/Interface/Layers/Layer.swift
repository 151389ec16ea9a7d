import Terminal

/// A popup over the screen.
package enum Layer: Sendable, Equatable {
  case help(HelpLayer)
  case message(MessageLayer)
  case confirm(ConfirmLayer)
  case versions(VersionsLayer)
  case allowLoss(AllowLossLayer)

  var bindings: [Binding] {
    switch self {
    case .help, .message:
      [
        Keymap.movement,
        Binding([.escape, .character("q"), .enter, .character("?")], "close", .close),
      ]
    case .confirm(let layer):
      [
        Binding([.character("y")], layer.yes, .confirm),
        Binding([.escape, .character("n"), .character("q")], label: "n", layer.no, .close),
      ]
    case .versions:
      [
        Binding([.enter], "choose", .choose),
        Keymap.movement,
        Binding([.escape, .character("q")], "close", .close),
      ]
    case .allowLoss(let layer):
      [
        Binding(
          [.enter], "accept", .confirm, unless: layer.isConfirmed ? nil : "type the word first"),
        Binding([.escape], "close", .close),
      ]
    }
  }

  /// Does what a binding of the uppermost layer asks for.
  static func perform(_ action: Action, _ key: Key, in state: inout State) -> [Effect] {
    guard let layer = state.layers.popLast() else { return [] }
    if action == .close { return [] }
    switch layer {
    case .help(var layer):
      layer.move(key, in: state)
      state.layers.append(.help(layer))
    case .message(var layer):
      layer.move(key, in: state)
      state.layers.append(.message(layer))
    case .confirm(let layer):
      return action == .confirm ? layer.confirmed(in: &state) : []
    case .versions(var layer):
      if action == .choose { return layer.choose(in: &state) }
      layer.list.handle(key)
      state.layers.append(.versions(layer))
    case .allowLoss(let layer):
      if action == .confirm { return MappingScreen.allow(layer.loss, in: &state) }
      state.layers.append(.allowLoss(layer))
    }
    return []
  }

  /// A key that is bound to nothing: text for a prompt.
  static func type(_ key: Key, in state: inout State) {
    guard case .allowLoss(var layer)? = state.layers.last else { return }
    layer.prompt.handle(key)
    state.layers[state.layers.count - 1] = .allowLoss(layer)
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch self {
    case .help(let layer): layer.draw(state, with: theme, in: &grid, rect)
    case .message(let layer): layer.draw(with: theme, in: &grid, rect)
    case .confirm(let layer): layer.draw(with: theme, in: &grid, rect)
    case .versions(let layer): layer.draw(state, with: theme, in: &grid, rect)
    case .allowLoss(let layer): layer.draw(with: theme, in: &grid, rect)
    }
  }
}
