import ManagedModel
import Terminal

/// What a popup is: besides what every component has, when it closes.
///
/// While a layer works it is off the stack; what it has become is restored in its place unless it
/// closes.
protocol LayerContent: Component {
  /// It was closed without having chosen anything.
  func closed(in context: inout Context) -> [Effect]
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
  func closed(in context: inout Context) -> [Effect] {
    var copy = self
    return copy.cancel(in: &context) ?? []
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
    _ content: Content, _ begin: (inout Content, inout Context) -> [Effect]
  ) -> [Effect] {
    let (effects, context) = lend(to: .state) { $0.show(content, begin) }
    return effects + fulfil(context)
  }

  /// Stops what a layer waits for, the uppermost first; `nil` where none does.
  mutating func cancelInLayers() -> [Effect]? {
    for layer in layers.reversed() {
      if let effects = onLayer(layer.id, { $0.cancel(in: &$1) }) { return effects }
    }
    return nil
  }

  /// Has a layer work, off the stack; `nil` where it is gone.
  mutating func onLayer(
    _ id: Int, _ work: (inout any LayerContent, inout Context) -> [Effect]?
  ) -> [Effect]? {
    guard let index = layers.firstIndex(where: { $0.id == id }) else { return nil }
    var layer = layers.remove(at: index)
    let (effects, context) = lend(to: .layer(id)) { work(&layer.content, &$0) }
    if !layer.content.isDone { layers.insert(layer, at: index) }
    let more = fulfil(context)
    return effects.map { $0 + more } ?? (more.isEmpty ? nil : more)
  }
}

/// A popup with a list, of which Enter takes the selected line.
protocol ChoosingLayer: LayerContent {
  var list: List { get set }
  /// Rows that the list has room for; `nil` where it has room for all.
  func room(_ context: Context) -> Int?
  /// Takes the selected line.
  mutating func choose(in context: inout Context) -> LayerOutcome
}

extension ChoosingLayer {
  func room(_ context: Context) -> Int? { nil }

  var chooses: Action { does("choose") { $0.choose(in: &$1) } }
  var movement: Binding { scrolling { $0.list.handle($1, height: $0.room($2)) } }
}

/// A popup that waits for one piece of work at a time.
protocol WaitingLayer: LayerContent {
  var task: TaskID? { get set }
  /// Takes an answer to what it waits for.
  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect]
  /// What it waited for failed.
  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect]
}

extension WaitingLayer {
  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    guard task == self.task else { return [] }
    if answer.isLast { self.task = nil }
    return take(answer, in: &context)
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    self.task.end(task) ? fail(error, in: &context) : []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    context.show(MessageLayer(error))
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? { task.stop() }
}

/// A popup that shows in its own lines why there is no answer, or no whole one.
protocol TellingLayer: WaitingLayer {
  var error: CoreDataError? { get set }
  /// What it says when its work was called off.
  var stopped: String { get }
}

extension TellingLayer {
  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    self.error = error
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    guard let effects = task.stop() else { return nil }
    error = CoreDataError(.cancelled, stopped)
    return effects
  }
}

/// A popup of text to be read: it scrolls, its lines can be narrowed with `/`, and it is copied as a
/// whole.
protocol SearchableLayer: LayerContent {
  var list: List { get set }
  var filter: String { get set }
  /// How many lines there are.
  func count(_ context: Context) -> Int
  /// All of it as plain text, and what that is called.
  func copied(_ context: Context) -> (text: String, title: String)
}

extension SearchableLayer {
  /// The key that begins narrowing, for the layer's own list.
  var searchBinding: Binding {
    Binding(
      ["/"], "find",
      asks("search") { layer, context in
        context.show(SearchLayer(.layer, former: layer.filter))
        return []
      })
  }

  var copyBinding: Binding {
    Binding(
      ["y"], "copy",
      asks("copy") { layer, context in
        let (text, title) = layer.copied(context)
        return CopyLayer.send(text, title, in: &context)
      })
  }

  var movement: Binding {
    scrolling { $0.list.scrollPage($1, count: $0.count($2), height: $2.body.height - 2) }
  }
}

extension Popup {
  /// A popup around an inside of that width and height.
  init(_ title: String, _ width: Int, _ height: Int) {
    self.init(title, size: Size(width: width, height: height))
  }
}
