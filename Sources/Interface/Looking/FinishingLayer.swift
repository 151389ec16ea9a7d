/// A popup that closes by itself when its work is done.
protocol FinishingLayer: LayerContent {
  var isDone: Bool { get }
}

extension State {
  /// Takes the answer to a question about the store; popups whose work is done by it close.
  mutating func looked(_ message: Message) -> [Effect] {
    let effects = BrowseScreen.takePicture(message, in: &self) ?? takeInLayers(message) ?? []
    layers.removeAll { ($0.content as? any FinishingLayer)?.isDone == true }
    return effects
  }
}
