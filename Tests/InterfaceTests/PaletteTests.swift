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
    #expect(session.screen().description.contains("(no warnings)"))
    try session.send("⏎")
    #expect(session.state.notice?.text == "warnings: no warnings")
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

  @Test(
    "an object is gone to as somebody says it",
    arguments: ["recipe 12", "Recipe p12", "RECIPE/12", "Recipe/p12"])
  func object(text: String) throws {
    let state = try Session().state
    let found = PaletteEntries(state).found(text, in: state.store)
    #expect(found.first?.section == "Object" && found.first?.title == "Recipe/p12", "\(found)")
    for wrong in ["recipe", "recipe twelve", "recipe 0", "noodle 12", "recipe 1 2"] {
      #expect(
        !PaletteEntries(state).found(wrong, in: state.store).contains { $0.section == "Object" })
    }
  }

  @Test(
    "what writes a picture to a file is found by its words", arguments: ["photo", "save picture"])
  func picture(text: String) throws {
    let state = try Session().state
    let found = PaletteEntries(state).found(text, in: state.store)
    #expect(found.prefix(3).contains { $0.title == "write to a file" }, "\(found.map(\.title))")
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

  @Test("an object that was typed while the store was being opened is gone to once it is open")
  func early() throws {
    var session = try Session()
    let store = session.state.store
    session.state.store = nil
    try session.send(":")
    for letter in "Recipe/p12" { try session.send(String(letter)) }
    session.state.store = store
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("no action found") != true)
    #expect(session.state.layers.isEmpty)
  }
}
