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

  @Test(
    "Esc in the search for an entity goes back to the row that was left", arguments: ["zz", "dra"])
  func back(typed: String) throws {
    var session = try Session()
    try session.send("j", "j", "Tab", "Tab", "/")
    for letter in typed { try session.send(String(letter)) }
    let shown = session.state.browse.table?.entity
    #expect(shown == (typed == "dra" ? "Draft" : "Recipe"))
    let asked = session.effects.count
    try session.send("Esc")
    let browse = session.state.browse
    #expect(browse.tree.selected == "Recipe" && browse.tree.filter.isEmpty)
    #expect(browse.table?.entity == "Recipe")
    #expect(browse.table?.window.selectedRow?.id.key == 3)
    #expect(
      !session.effects.dropFirst(asked).contains {
        if case .ask(_, .rows) = $0 { true } else { false }
      })
    try session.send("Tab", "Tab")
    #expect(session.state.browse.focus == .inspector)
  }

  @Test("a search without a match that was kept loses nothing when Esc ends it")
  func keptWithoutMatch() throws {
    var session = try Session()
    try session.send("j", "j", "Tab", "Tab", "/", "z", "z", "⏎")
    #expect(session.screen().description.contains("no entity has that"))
    try session.send("Esc")
    #expect(session.state.browse.tree.selected == "Recipe")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 3)
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
