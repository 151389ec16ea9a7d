import Terminal

/// A popup with a line of text that keys without another meaning go to.
protocol PromptingLayer: LayerContent {
  var prompt: Prompt { get set }
}

extension PromptingLayer {
  mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    prompt.handle(key)
    return []
  }
}
