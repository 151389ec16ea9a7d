import ManagedModel
import Terminal
import Testing

@testable import Interface

/// Walks the list of keys, so that no binding is in it that does nothing, or is told nowhere.
@Suite("Every binding")
struct EveryBindingTests {
  /// Keys that lead from a fresh session to places where different things can be done.
  private static let ways: [Screen: [[String]]] = [
    .browse: [
      [], ["j", "l", "l"], ["l", "l", "l"], ["Tab"], ["Tab", "G"], ["Tab", "G", "⏎"],
      ["Tab", "Tab"], ["Tab", "Tab", "/", "S", "⏎"], ["l", "l", "s"], ["l", "l", "s", "u"],
      ["l", "j", "G"], ["Tab", "j", "j"], ["l", "X"],
    ],
    .diff: [[], ["j"], ["G"], ["c"], ["c", "u"], ["h"], ["j", "h"]],
    .mapping: [[], ["j"], ["Tab"], ["Tab", "G"], ["Tab", "j"], ["k"]],
    .migrate: [[], ["o", "⏎"]],
    .rescue: [[], ["j"], ["Tab"], ["Tab", "Tab"]],
  ]

  private static func session(on screen: Screen, _ keys: [String]) throws -> Session {
    var session = try Session(width: 120, height: 40, plan: SampleStore.plan(losses: nil))
    if screen != .browse { try session.send(String(screen.rawValue)) }
    for key in keys { try session.send(key) }
    if case .find(let id, .themes)? = session.effects.last {
      let themes = ["mono", "paper"].map { ThemeChoice(name: $0, kind: .light, isOwn: false) }
      try session.send(.answer(id, .themes(themes, hasColors: true)))
    }
    return session
  }

  /// Presses each of the bindings' first keys from here.
  ///
  /// - Returns: names of those that changed something.
  private func walk(_ session: Session, _ bindings: [Binding]) throws -> Set<String> {
    var working: Set<String> = []
    for binding in bindings {
      for key in binding.keys {
        var next = session
        next.answers = false
        next.state.notice = nil
        let before = next
        try next.send(.key(key))
        if let reason = binding.reason {
          #expect(next.state.notice?.text.contains(reason) == true, "\(binding.label)")
          continue
        }
        if next.state != before.state || next.effects.count > before.effects.count {
          working.insert(binding.action.name)
        }
      }
    }
    return working
  }

  @Test("does something somewhere on its screen, or says why not", arguments: Screen.allCases)
  func screens(screen: Screen) throws {
    var known: Set<String> = []
    var working: Set<String> = []
    var available: Set<String> = []
    for way in Self.ways[screen] ?? [] {
      let session = try Self.session(on: screen, way)
      // Going to where one is does nothing.
      let bindings = Keymap.bindings(session.state).filter { $0.action != .show(screen) }
      known.formUnion(bindings.map(\.action.name))
      available.formUnion(bindings.filter(\.isAvailable).map(\.action.name))
      working.formUnion(try walk(session, bindings))
    }
    if screen == .migrate { working.formUnion(try walkReceipt()) }
    #expect(available.subtracting(working).isEmpty)
    #expect(!known.isEmpty)
  }

  /// What has been migrated is longer than a low screen.
  private func walkReceipt() throws -> Set<String> {
    var session = try Session(width: 80, height: 12, plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    guard case .migrate(let id, _, _, _)? = session.effects.last else { return [] }
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    return try walk(session, Keymap.bindings(session.state))
  }

  @Test("is on the help page and in the palette", arguments: Screen.allCases)
  func told(screen: Screen) throws {
    var session = try Self.session(on: screen, [])
    try session.send(.resized(Size(width: 160, height: 400)))
    let bindings = Keymap.bindings(session.state)
    try session.send("?")
    let help = session.screen().description
    try session.send("Esc", ":")
    let palette = session.screen().description
    for binding in bindings {
      #expect(help.contains(binding.label) && help.contains(binding.title), "\(binding.title)")
      if binding.action.name != "palette" {
        #expect(palette.contains(binding.title.prefix(30)), "\(binding.title)")
      }
    }
  }

  @Test("is in the table of the article on keys, under its section")
  func article() throws {
    let text = try #require(Snapshot.read(Snapshot.article("Keys")))
    for section in Keymap.allSections(State(storePath: "STORE")) {
      for binding in section.bindings {
        let line = "| \(section.title) | `\(binding.label)` | \(binding.title) |"
        #expect(text.contains(line), "\(line)")
      }
    }
  }

  /// Popups, by the keys that open them on a screen.
  private static let popups: [(screen: Screen, keys: [String])] = [
    (.browse, ["?"]), (.browse, ["?", "/", "s"]), (.browse, [":"]), (.browse, [":", "s", "o"]),
    (.browse, ["T"]), (.browse, ["!"]), (.browse, ["Tab", "Tab", "/", "S"]), (.diff, ["o"]),
    (.diff, ["o", "⏎"]), (.mapping, ["o"]), (.migrate, ["o"]), (.mapping, ["Tab", "a"]),
    (.migrate, ["b"]), (.diff, ["f"]), (.browse, ["C"]),
    (.browse, ["C", "Tab"]), (.mapping, ["Tab", "d"]), (.rescue, ["s", "⏎"]),
  ]

  @Test("of a popup does something, or says why not")
  func layers() throws {
    for popup in Self.popups {
      let session = try Self.session(on: popup.screen, popup.keys)
      guard let layer = session.state.layers.last else { continue }
      let own = layer.content.bindings(session.state.context)
      let working = try walk(session, own)
      for binding in own where binding.isAvailable && !binding.action.isMovement {
        #expect(working.contains(binding.action.name), "\(popup.keys): \(binding.title)")
      }
      // A text too short to scroll has nowhere to move.
    }
  }

  @Test("works nowhere as text: typing in a popup leaves the screen as it is")
  func typing() throws {
    var session = try Self.session(on: .browse, [":"])
    let screen = session.state.screen
    for letter in "q2Tuxs!/" { try session.send(String(letter)) }
    #expect(session.state.screen == screen && session.state.layers.count == 1)
    #expect(!session.effects.contains(.quit))
  }
}
