import Terminal
import Testing

@testable import Interface

@Suite("What was arranged can be undone")
struct UndoTests {
  @Test("a sort is undone and done again, with the rows read anew")
  func undo() throws {
    var session = try Session()
    try session.send("l", "l", "s")
    #expect(session.state.browse.table?.sort.property != nil)
    let reads = session.effects.count
    try session.send("u")
    #expect(session.state.browse.table?.sort.property == nil)
    #expect(session.effects.count > reads)
    try session.send("U")
    #expect(session.state.browse.table?.sort.property != nil)
  }

  @Test("an entity is shown as it was left, and u goes back to the one before")
  func entities() throws {
    var session = try Session()
    let first = session.state.browse.table?.entity
    try session.send("l", "l", "s", "Tab", "Tab", "j")
    #expect(session.state.browse.table?.entity != first)
    #expect(session.state.browse.table?.sort.property == nil)
    try session.send("u")
    #expect(session.state.browse.table?.entity == first)
    #expect(session.state.browse.table?.sort.property != nil)
  }

  @Test("moving is nothing to undo")
  func moving() throws {
    var session = try Session()
    let before = session.state.view
    try session.send("j", "G", "g")
    #expect(session.state.view == before)
  }
}
