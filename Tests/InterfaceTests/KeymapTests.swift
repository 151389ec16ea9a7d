import Interface
import Terminal
import Testing

@Suite("Keys")
struct KeymapTests {
  @Test("no key means two things on one screen", arguments: Screen.allCases)
  func unique(screen: Screen) throws {
    var session = try Session()
    session.state.screen = screen
    let keys = Keymap.bindings(session.state).flatMap(\.keys)
    #expect(Set(keys).count == keys.count)
  }

  @Test("every binding is on the help page", arguments: Screen.allCases)
  func help(screen: Screen) throws {
    var session = try Session(width: 120, height: 90)
    session.state.screen = screen
    let bindings = Keymap.bindings(session.state)
    try session.send("?")
    let text = session.screen().description
    for binding in bindings {
      #expect(text.contains(binding.label) && text.contains(binding.title))
    }
  }

  @Test("every binding has a name for its key and says what it does")
  func named() throws {
    let session = try Session()
    for section in Keymap.sections(session.state) {
      for binding in section.bindings {
        #expect(!binding.label.isEmpty && !binding.title.isEmpty && !binding.keys.isEmpty)
      }
    }
  }

  @Test("a key that is not available says why")
  func reasons() throws {
    var session = try Session()
    try session.send("w")
    #expect(session.state.notice?.text == "w warnings: there are none")
  }
}
