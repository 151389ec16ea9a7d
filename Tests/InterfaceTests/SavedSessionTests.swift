import Terminal
import Testing

@testable import Interface

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("A store is shown as it was left")
struct SavedSessionTests {
  @Test("entity, sort, screen and row come back; the rows have the keys, whatever had them")
  func places() throws {
    var session = try Session()
    try session.send("Tab", "Tab", "G", "Tab", "l", "s", "Tab", "2", "c")
    let saved = session.state.saved
    let data = try JSONEncoder().encode(saved)
    var state = State(
      storePath: "Recipes.sqlite", size: Size(width: 100, height: 30), themeName: "mono")
    state.restore(try JSONDecoder().decode(SavedSession.self, from: data))
    var next = try Session(restoring: state)
    #expect(next.state.screen == .diff)
    #expect(next.state.view == session.state.view)
    try next.send("1")
    #expect(next.state.browse.table?.entity == session.state.browse.table?.entity)
    #expect(session.state.browse.focus == .inspector && next.state.browse.focus == .rows)
    let row = try #require(session.state.browse.table?.window.selectedRow?.id)
    #expect(next.state.browse.table?.window.selectedRow?.id == row)
    try next.send("Tab")
    #expect(next.state.browse.focus == .inspector && next.state.browse.inspector.object == row)
  }

  @Test(
    "what is damaged or of another version comes as it would anew",
    arguments: [
      "{}", #"{"view": 3, "screen": "x"}"#, #"{"view": {"browse": {"entity": 5}}}"#,
      #"{"screen": 77, "pane": -1, "view": {"browse": {"entity": "Nobody"}}}"#,
    ])
  func damaged(json: String) throws {
    var state = State(
      storePath: "Recipes.sqlite", size: Size(width: 100, height: 30), themeName: "mono")
    state.restore(try JSONDecoder().decode(SavedSession.self, from: Data(json.utf8)))
    let session = try Session(restoring: state)
    #expect(session.state.screen == .browse)
    #expect(session.state.browse.table != nil)
  }
}
