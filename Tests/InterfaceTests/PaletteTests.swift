import Terminal
import Testing

@testable import Interface

@Suite("The palette")
struct PaletteTests {
  @Test("it does what it shows, on the screen that it belongs to")
  func running() throws {
    var session = try Session()
    try session.send("^P")
    for letter in "only cha" { try session.send(letter == " " ? "Space" : String(letter)) }
    #expect(session.screen().description.contains("Diff        only changes"))
    try session.send("⏎")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.screen == .diff)
    #expect(session.state.diff.showsOnlyChanges)
  }

  @Test("what cannot be done is there with its reason, and Enter tells it")
  func reasons() throws {
    var session = try Session()
    try session.send(":", "w", "a", "r", "n")
    #expect(session.screen().description.contains("(there are none)"))
    try session.send("⏎")
    #expect(session.state.notice?.text == "warnings: there are none")
    #expect(session.state.layers.count == 1)
  }

  @Test("what was called last is first the next time")
  func memory() throws {
    var session = try Session()
    try session.send(":", "o", "n", "l", "y", "⏎", ":")
    #expect(
      session.screen().row(4).contains("everything")
        || session.screen().row(4).contains("only changes"))
  }

  @Test("an entity is gone to by its name")
  func entity() throws {
    var session = try Session()
    try session.send("2", ":", "p", "e", "r", "s", "o", "n", "⏎")
    #expect(session.state.screen == .browse)
    #expect(session.state.browse.table?.entity == "Person")
  }

  @Test("undoing from the palette is no change of its own")
  func undo() throws {
    var session = try Session()
    try session.send("l", "l", "s", ":", "u", "n", "d", "o", "⏎")
    #expect(session.state.browse.table?.sort.property == nil)
    #expect(session.state.notice?.text == "undone: sort of Recipe")
    try session.send("U")
    #expect(session.state.browse.table?.sort.property != nil)
  }

  @Test("nothing found is told")
  func nothing() throws {
    var session = try Session()
    try session.send(":", "q", "q", "q", "⏎")
    #expect(session.state.notice?.text.contains("no action found") == true)
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }
}
