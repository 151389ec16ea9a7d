import Terminal

/// A key with what it does here and now.
///
/// Input, the footer, the help page and the table in the article on keys are made of the same list.
package struct Binding: Sendable, Equatable {
  /// What is pressed; none where only the palette does it.
  package var keys: [Key]
  /// How the keys are shown; the first key's name unless it stands for several.
  package var label: String
  /// What it does, in a few words.
  package var title: String
  /// The same in fewer words, for the footer; `nil` where those are few.
  var shortTitle: String?
  /// What it asks for.
  package var action: Action
  /// Why it cannot be done now, as the rest of a sentence that begins with the title.
  var reason: String?
  /// The command line that does the same.
  package var command: String?
  /// Whether the footer shows it, room allowing.
  var isInFooter: Bool
  /// Other words that the searches of the palette and of the help page find it by.
  var words: String

  init(
    _ keys: [Key], label: String? = nil, _ title: String, short: String? = nil, _ action: Action,
    unless reason: String? = nil, command: String? = nil, footer: Bool = true, words: String = ""
  ) {
    self.keys = keys
    self.label = label ?? keys.first?.name ?? ""
    (self.title, self.action, self.reason, self.command) = (title, action, reason, command)
    (isInFooter, self.words, shortTitle) = (footer, words, short)
  }

  var isAvailable: Bool { reason == nil }

  /// The same on other keys; on none it can still be had from the palette.
  func on(_ keys: [Key]) -> Binding {
    var binding = self
    binding.keys = keys
    binding.label = keys.map(\.name).joined(separator: " ")
    return binding
  }
}

extension [Binding] {
  func binding(for key: Key) -> Binding? { first { $0.keys.contains(key) } }
}

/// What a key does, with the name that the configuration file and `strata keys` know it by; the name
/// stays when titles change.
package struct Action: Sendable, Equatable {
  /// The name of the keys that say themselves where to: arrows, paging, j, k, g, G.
  static let movement = "navigate"
  /// Those keys, where a component takes all of them.
  static let movementKeys: [Key] = [
    .up, .down, "k", "j", .pageUp, .pageDown, .control("b"), .control("f"), .control("u"),
    .control("d"), .space, .home, .end, "g", "G",
  ]
  /// Those that a number typed before the key does so many times.
  private static let repeatable: Set = [
    movement, "leftColumn", "rightColumn", "nextChange", "previousChange", "undo", "redo",
    "nextPane", "previousPane", "back",
  ]

  /// What it is called.
  package let name: String
  let run: @Sendable (inout State, Key) -> [Effect]

  init(key name: String, _ run: @escaping @Sendable (inout State, Key) -> [Effect]) {
    (self.name, self.run) = (name, run)
  }

  init(_ name: String, _ run: @escaping @Sendable (inout State) -> [Effect]) {
    self.init(key: name) { state, _ in run(&state) }
  }

  /// Puts a popup over what is there, where there is something for it to show.
  static func shows(
    _ name: String, _ layer: @escaping @Sendable (State) -> (any LayerContent)?
  ) -> Action {
    Action(name) { state in
      if let layer = layer(state) { state.show(layer) }
      return []
    }
  }

  static func show(_ screen: Screen) -> Action {
    Action(screen.title.lowercased()) { $0.go(to: screen) }
  }

  /// Browse shows what was deleted, or the store again.
  static let remains = Action("remains") { $0.turnRemains() }

  var isMovement: Bool { name == Self.movement }
  var isRepeatable: Bool { Self.repeatable.contains(name) }

  /// Who calls them by one name means the same.
  package static func == (left: Action, right: Action) -> Bool { left.name == right.name }
}

extension Component {
  /// A key that changes the component alone.
  func changes(_ name: String, _ body: @escaping @Sendable (inout Self) -> Void) -> Action {
    Action(name) { state in
      Self.work(on: &state) { component, _ in
        body(&component)
        return .stay()
      }
    }
  }

  /// The keys that move in a list, or scroll a text.
  func moving(
    _ keys: [Key] = Action.movementKeys, label: String = "↑↓ j k g G",
    _ body: @escaping @Sendable (inout Self, Key, inout Context) -> [Effect]
  ) -> Binding {
    let action = Action(key: Action.movement) { state, key in
      Self.work(on: &state) { .stay(body(&$0, key, &$1)) }
    }
    return Binding(keys, label: label, "move", action, footer: false)
  }

  /// The same where nothing is asked for on the way.
  func scrolling(_ body: @escaping @Sendable (inout Self, Key, Context) -> Void) -> Binding {
    moving { component, key, context in
      body(&component, key, context)
      return []
    }
  }
}

extension ScreenContent {
  static func work(
    on state: inout State, _ work: (inout Self, inout Context) -> LayerOutcome
  ) -> [Effect] {
    state.on(Self.self) { screen, context in
      screen.willAct(context)
      let effects = work(&screen, &context).effects
      screen.didAct(context)
      return effects
    }
  }

  /// A key of the screen.
  func does(
    _ name: String, _ body: @escaping @Sendable (inout Self, inout Context) -> [Effect]
  ) -> Action {
    Action(name) { state in Self.work(on: &state) { .stay(body(&$0, &$1)) } }
  }

  /// A key that shows a popup about what the screen shows, where there is something.
  func shows(
    _ name: String, _ layer: @escaping @Sendable (Self, Context) -> (any LayerContent)?
  ) -> Action {
    does(name) { screen, context in
      if let layer = layer(screen, context) { context.show(layer) }
      return []
    }
  }
}

extension LayerContent {
  static func work(
    on state: inout State, _ work: (inout Self, inout Context) -> LayerOutcome
  ) -> [Effect] {
    guard var layer = state.layers.last, var content = layer.content as? Self else { return [] }
    state.layers.removeLast()
    let (outcome, context) = state.lend(to: .layer(layer.id)) { work(&content, &$0) }
    if case .stay = outcome {
      layer.content = content
      state.layers.append(layer)
    }
    return outcome.effects + state.fulfil(context)
  }

  /// A key of the popup.
  func does(
    _ name: String, _ body: @escaping @Sendable (inout Self, inout Context) -> LayerOutcome
  ) -> Action {
    Action(name) { Self.work(on: &$0, body) }
  }

  /// A key of the popup that leaves it open.
  func asks(
    _ name: String, _ body: @escaping @Sendable (inout Self, inout Context) -> [Effect]
  ) -> Action {
    does(name) { .stay(body(&$0, &$1)) }
  }

  /// The keys that close it without having chosen anything; Escape undoes a narrowing first.
  func closing(_ keys: [Key] = [.escape, "q"], _ title: String = "close") -> Binding {
    Binding(keys, title, Self.close)
  }

  static var close: Action {
    Action(key: "close") { state, key in
      guard var layer = state.layers.popLast() else { return [] }
      if key == .escape, layer.narrow(to: "") {
        state.layers.append(layer)
        return []
      }
      let (effects, context) = state.lend(to: .layer(layer.id)) { layer.content.closed(in: &$0) }
      return effects + state.fulfil(context)
    }
  }
}
