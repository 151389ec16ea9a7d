import ManagedStore
import Terminal
import Testing

@testable import Interface

@Suite("The mouse")
struct MouseTests {
  /// Where a text stands on the screen.
  private func place(of text: String, in session: Session) throws -> (x: Int, y: Int) {
    let grid = session.screen()
    for y in 0..<grid.height {
      let row = (0..<grid.width).map { grid[$0, y]?.text ?? "" }
      for x in row.indices where row[x...].joined().hasPrefix(text) { return (x, y) }
    }
    throw Missing(text: text)
  }

  private struct Missing: Error { let text: String }

  private func click(
    _ text: String, _ action: Key.MouseAction = .press, in session: inout Session
  ) throws {
    let place = try place(of: text, in: session)
    try session.send(.key(.mouse(action, x: place.x, y: place.y)))
  }

  @Test("a title sorts by its column, a footer key does what it says, a tab leads to its screen")
  func places() throws {
    var session = try Session()
    try click("title", in: &session)
    #expect(session.state.browse.table?.sort.property == "title")
    try click("? keys", in: &session)
    #expect(session.state.layers.count == 1)
    try session.send("Esc")
    try click("2 Diff", in: &session)
    #expect(session.state.screen == .diff)
  }

  @Test("beside a popup closes it, on its line selects, twice opens")
  func popups() throws {
    var session = try Session()
    try session.send("2", "o")
    try click("Recipes 2  current", in: &session)
    #expect(session.state.layers.count == 1)
    try click("Recipes 2  current", .doubleClick, in: &session)
    #expect(session.state.layers.count == 1)
    try session.send(.key(.mouse(.press, x: 0, y: 1)))
    #expect(session.state.layers.isEmpty)
  }

  @Test("what a click changed in the view is undone like what a key did")
  func undo() throws {
    var session = try Session()
    let entity = session.state.browse.table?.entity
    try click("Person", in: &session)
    #expect(session.state.browse.table?.entity == "Person")
    try session.send("u")
    #expect(session.state.browse.table?.entity == entity)
  }

  @Test("the lines between panes are dragged, stay within bounds, and come back with the session")
  func dividers() throws {
    var session = try Session(width: 120, height: 40)
    let place = try place(of: "┬", in: session)
    try session.send(.key(.mouse(.press, x: place.x, y: 10)))
    try session.send(.key(.mouse(.drag, x: 50, y: 10)))
    #expect(try self.place(of: "┬", in: session).x == 50)
    try session.send(.key(.mouse(.release, x: 45, y: 10)))
    #expect(try self.place(of: "┬", in: session).x == 45)
    // Let go, it stays where it is.
    try session.send(.key(.mouse(.drag, x: 60, y: 10)))
    #expect(session.state.saved.dividers.tree == 46)
    try session.send(.key(.mouse(.press, x: 45, y: 5)))
    try session.send(.key(.mouse(.release, x: 0, y: 5)))
    #expect(session.state.dividers.tree == 14)
  }

  @Test("it does nothing on a screen that is too small, nor outside of one")
  func nowhere() throws {
    var session = try Session()
    for point in [(-1, -1), (0, 0), (500, 500), (99, 29)] {
      for action: Key.MouseAction in [
        .press, .doubleClick, .drag, .release, .scrollUp, .scrollDown,
      ] {
        try session.send(.key(.mouse(action, x: point.0, y: point.1)))
      }
    }
    try session.send(.resized(Size(width: 3, height: 2)))
    try session.send(.key(.mouse(.press, x: 1, y: 1)))
    #expect(session.screen().width == 3)
  }
}
