import Terminal
import Testing

@testable import Interface

@Suite("Searching what is shown")
struct SearchTests {
  @Test("/ narrows the entities while it is typed, with the parents of what fits; Esc gives up")
  func search() throws {
    var session = try Session()
    try session.send("Tab", "Tab", "/", "s", "o", "u")
    #expect(session.state.browse.table?.entity == "Recipe")
    #expect(!session.screen().description.contains("Draft"))
    #expect(session.screen().description.contains("Soup"))
    try session.send("Esc")
    #expect(session.screen().description.contains("Draft"))
  }

  @Test("/ in the inspector leaves the properties that have the text, row after row, until Esc")
  func properties() throws {
    var session = try Session()
    try session.send("Tab", "/", "s", "e", "r", "v", "⏎")
    let screen = session.screen().description
    #expect(screen.contains("serves  Integer 16") && !screen.contains("createdAt  Date"))
    #expect(screen.contains("─ /serv"))
    try session.send("Esc", "j", "Tab")
    #expect(session.screen().description.contains("createdAt  Date"))
  }

  @Test(
    "a search takes words in any order, and capitals only where one was typed",
    arguments: [
      ("Carrot soup", "soup carr", true), ("Carrot soup", "Soup", false), ("ÄRGER", "ärg", true),
      ("soup", "soups", false), ("anything", "", true), ("aab", "ab", true),
    ])
  func match(line: String, text: String, isMatch: Bool) {
    #expect(TextMatch(text).matches(line) == isMatch)
  }
}
