import Migration
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

  @Test("u takes back what was done last: a loss that was accepted before the change of the view")
  func losses() throws {
    var session = try Session(width: 120)
    try session.send("l", "l", "s", "3", "Tab")
    let loss = try #require(
      session.state.mapping.problemList.firstIndex {
        if case .loss(let loss) = $0 { loss.property != nil } else { false }
      })
    session.state.mapping.problems.select(loss)
    let name = try #require(session.state.mapping.selectedLoss?.name)
    try session.send("a")
    #expect(session.state.mapping.allowedLosses == [name])
    try session.send("u")
    #expect(session.state.mapping.allowedLosses.isEmpty)
    #expect(session.state.notice?.text == "undone: accepted the loss of \(name)")
    #expect(session.state.browse.table?.sort.property != nil)
    try session.send("U")
    #expect(session.state.mapping.allowedLosses == [name])
    #expect(session.state.notice?.text == "redone: accepted the loss of \(name)")
    try session.send("u", "u")
    #expect(session.state.notice?.text == "undone: sort of Recipe")
    #expect(session.state.browse.table?.sort.property == nil)
  }

  @Test(
    "a change of the plan is named, and the losses that it had made needless are accepted again")
  func planned() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("3", "A")
    for key in ["a", "l", "l", "⏎"] { try session.send(key) }
    let accepted = session.state.mapping.allowedLosses
    #expect(accepted.count == 2)
    session.plan = try SampleStore.plan(losses: [])
    try session.send("Tab", "d")
    for key in ["D", "r", "a", "f", "t", "⏎"] { try session.send(key) }
    #expect(session.state.mapping.allowedLosses.isEmpty)
    session.plan = try SampleStore.plan()
    try session.send("u")
    #expect(
      session.state.notice?.text == "undone: objects of Draft are deleted on purpose")
    #expect(session.state.mapping.allowedLosses == accepted)
    try session.send("u")
    #expect(session.state.notice?.text == "undone: accepted 2 losses")
  }

  @Test("moving is nothing to undo")
  func moving() throws {
    var session = try Session()
    let before = session.state.view
    try session.send("j", "G", "g")
    #expect(session.state.view == before)
  }
}
