import Terminal
import Testing

@testable import Interface

@Suite("Keys put elsewhere")
struct KeyRemappingTests {
  private static let sort = KeyRemapping(["Browse": ["sort": [.character("S")]]])

  @Test("the new key does it, the old one does not, and every list of keys shows it")
  func everywhere() throws {
    var session = try Session(width: 120, height: 40)
    session.state.keys = Self.sort
    try session.send("l", "l", "s")
    #expect(session.state.browse.table?.sort.property == nil)
    try session.send("S")
    #expect(session.state.browse.table?.sort.property == "title")
    #expect(session.screen().row(39).contains("S sort"))
    try session.send("?")
    #expect(session.screen().description.contains("S            sort"))
  }

  @Test("the article's table shows the keys as they come")
  func article() {
    #expect(Keymap.markdown().contains("| Browse | `s` | sort |"))
  }

  @Test("an action without a key is in the palette alone")
  func unbound() throws {
    var session = try Session()
    session.state.keys = KeyRemapping(["Everywhere": ["quit": []]])
    try session.send("q")
    #expect(!session.effects.contains(.quit))
    try session.send(":", "q", "u", "i", "t", "⏎")
    #expect(session.effects.contains(.quit))
  }

  @Test("a key that would mean two things is told, and none as the keys come")
  func conflicts() {
    #expect(KeyRemapping().conflicts.isEmpty)
    #expect(Self.sort.conflicts.isEmpty)
    let clash = KeyRemapping(["Browse": ["sort": [.character("T")]]])
    #expect(clash.conflicts.first?.hasPrefix("Browse: T is “sort” and cannot also be") == true)
  }

  @Test("names that there are not are told with what was meant")
  func names() {
    #expect(KeyRemapping.problem(section: "Browse", name: "sort") == nil)
    #expect(
      KeyRemapping.problem(section: "Browse", name: "srot")
        == "Browse has no “srot”; did you mean “sort”?")
    #expect(
      KeyRemapping.problem(section: "Brows")
        == "there is no section “Brows”; did you mean “Browse”?")
    #expect(
      KeyRemapping.problem(section: "Browse", name: "navigate")
        == "the keys that move the cursor cannot be changed")
  }
}
