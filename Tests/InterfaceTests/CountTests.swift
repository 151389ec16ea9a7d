import Terminal
import Testing

@testable import Interface

@Suite("Numbers before keys")
struct CountTests {
  private func selected(_ session: Session) -> Int? {
    session.state.browse.table?.window.selected
  }

  @Test("012j moves twelve lines, and the number is shown while it is typed")
  func lines() throws {
    var session = try Session()
    try session.send("0", "1", "2")
    #expect(session.screen().description.hasSuffix(" 012"))
    #expect(session.state.screen == .browse)
    try session.send("j")
    #expect(selected(session) == 12)
    try session.send("6", "k")
    #expect(selected(session) == 6)
  }

  @Test("6 to 9 begin a number, 1 to 5 are the screens outside of one")
  func digits() throws {
    var session = try Session()
    try session.send("6", "1", "j")
    #expect(selected(session) == 61)
    try session.send("2")
    #expect(session.state.screen == .diff)
  }

  @Test("Escape drops the number and does nothing else")
  func escape() throws {
    var session = try Session()
    try session.send("Tab")
    let focus = session.state.browse.focus
    try session.send("7", "Esc")
    #expect(session.state.browse.focus == focus)
    try session.send("⇧Tab", "j")
    #expect(selected(session) == 1)
  }

  @Test("a number before G is the line itself")
  func line() throws {
    var session = try Session()
    try session.send("0", "2", "0", "G")
    #expect(selected(session) == 19)
    try session.send("0", "1", "G")
    #expect(selected(session) == 0)
  }

  @Test("columns and changes are counted too")
  func columns() throws {
    var session = try Session()
    try session.send("0", "3", "l")
    #expect(session.state.browse.table?.selectedColumn == 3)
    try session.send("9", "9", "9", "h")
    #expect(session.state.browse.table?.selectedColumn == 0)
  }

  @Test("moving over many entities asks only for the rows of the last one")
  func joined() throws {
    var session = try Session()
    try session.send("Tab", "Tab", "g")
    session.answers = false
    let before = session.effects.count
    try session.send("0", "3", "j")
    let new = session.effects.dropFirst(before)
    let reads = new.count { if case .ask(_, .rows) = $0 { true } else { false } }
    #expect(reads == 1)
  }

  @Test("a number is text where text is typed")
  func text() throws {
    var session = try Session()
    try session.send(":", "5", "5")
    #expect(session.screen().description.contains(":55"))
  }
}
