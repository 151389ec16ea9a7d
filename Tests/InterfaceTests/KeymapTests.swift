import Terminal
import Testing

@testable import Interface

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
    try session.send("I")
    #expect(session.state.notice?.text == "I warnings: no warnings")
  }

  @Test("O leaves the store for another one")
  func otherStore() throws {
    var session = try Session(width: 80, height: 24)
    try session.send("O")
    #expect(session.effects.last == .choose(nil))
  }

  @Test("Esc drops the filter of the rows, and u brings it back; words are told as words")
  func filter() throws {
    var session = try Session(width: 120, height: 30)
    try session.send("/", "s", "o", "u", "p", "⏎")
    #expect(session.screen().description.contains("any text contains “soup”"))
    #expect(session.screen().description.contains("all rows"))
    let filter = session.state.browse.table?.filter
    try session.send("Esc")
    #expect(session.state.browse.table?.filter == nil)
    try session.send("u")
    #expect(session.state.browse.table?.filter == filter && filter != nil)
  }
}
