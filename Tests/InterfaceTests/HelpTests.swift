import Terminal
import Testing

@testable import Interface

@Suite("The help page")
struct HelpTests {
  @Test("/ narrows it while typing, Escape widens it first and closes it then")
  func search() throws {
    var session = try Session(width: 100, height: 60)
    try session.send("?", "/", "c", "o", "l", "u", "m", "n")
    let text = session.screen().description
    #expect(text.contains("column left") && !text.contains("forward"))
    try session.send("⏎", "Esc")
    #expect(session.screen().description.contains("forward"))
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }

  @Test(
    "it finds keys by what somebody asks",
    arguments: [("happened", "history of this object"), ("backup", "what changed")])
  func words(asked: String, title: String) throws {
    var session = try Session(width: 100, height: 60)
    try session.send("?", "/")
    for letter in asked { try session.send(String(letter)) }
    #expect(session.screen().description.contains(title))
  }

  @Test("it begins with the keys of the screen and tells command lines")
  func first() throws {
    var session = try Session()
    try session.send("2", "?")
    #expect(session.screen().row(2).contains("Diff"))
    #expect(session.screen().description.contains("strata diff"))
  }

  @Test("what is wrong with the configuration stands at its top")
  func problems() throws {
    var session = try Session()
    session.state.configurationProblems = ["config.json line 3: there is no “muose”"]
    try session.send("?")
    #expect(session.screen().row(2).contains("Configuration"))
    #expect(session.screen().row(3).contains("! config.json line 3"))
  }

  @Test("messages are narrowed by paragraphs")
  func messages() throws {
    var session = try Session()
    session.state.tell(.init(.failed, "the disk is full", hint: "Remove something."))
    try session.send("/", "r", "e", "m", "o", "v", "e", "⏎")
    let text = session.screen().description
    #expect(text.contains("Remove something") && !text.contains("disk is full"))
  }

  @Test("a key that the screen has its own use for is listed with that one only")
  func own() throws {
    var session = try Session(width: 100, height: 200)
    session.state.layers = []
    try session.send("5", "?")
    let lines = session.screen().description.split(separator: "\n").map(String.init)
    let everywhere = try #require(lines.firstIndex { $0.contains("Everywhere") })
    let next = try #require(lines[(everywhere + 1)...].firstIndex { $0.contains("Browse") })
    let own = lines[..<everywhere].filter { $0.contains(" u ") }
    #expect(own.count == 1 && own[0].contains("undelete"), "\(own)")
    #expect(!lines[everywhere..<next].contains { $0.contains("undo what was done last") })
    var browse = try Session(width: 100, height: 200)
    try browse.send("?")
    #expect(browse.screen().description.contains("undo what was done last"))
  }
}
