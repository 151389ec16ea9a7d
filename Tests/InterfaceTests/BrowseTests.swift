import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Browse")
struct BrowseTests {
  @Test("the first paint waits for neither rows nor counts")
  func firstPaint() throws {
    var state = State(
      storePath: "Recipes.sqlite", size: Size(width: 100, height: 30), themeName: "")
    let open = update(&state, .start)
    #expect(open == [.open(TaskID(1))])
    let effects = update(&state, .answer(TaskID(1), .opened(try SampleStore.summary())))
    #expect(effects.count == 3)
    var grid = Grid(state.size)
    draw(state, with: .mono, in: &grid)
    #expect(grid.row(2).contains("…"))
  }

  @Test("s sorts up, then down, then by key again")
  func sorting() throws {
    var session = try Session()
    try session.send("l", "s")
    let sorts = ["s", "s"].map { key -> RowQuery.Sort? in
      let sort = session.state.browse.table?.sort
      try? session.send(key)
      return sort
    }
    // The second column is the entity, since Recipe has a subentity.
    #expect(sorts == [.init(), .init()])
    #expect(session.state.notice?.text.contains("cannot be sorted") == true)
    try session.send("l", "s")
    #expect(session.state.browse.table?.sort == .init(property: "title"))
    try session.send("s")
    #expect(session.state.browse.table?.sort == .init(property: "title", descending: true))
    try session.send("s")
    #expect(session.state.browse.table?.sort == .init())
  }

  @Test("Enter follows a relationship and Backspace comes back to its line")
  func following() throws {
    var session = try Session()
    try session.send("Enter", "End", "Enter")
    #expect(session.state.browse.inspector.object == ObjectID(entity: "Person", key: 2))
    #expect(session.screen().description.contains("Recipe/p1 › author › Person/p2"))
    // The second line is the to-many: unfold it and follow one of its objects.
    try session.send("j", "l", "j", "Enter")
    #expect(session.state.browse.inspector.object == ObjectID(entity: "Recipe", key: 3))
    try session.send("Backspace", "Backspace")
    #expect(session.state.browse.inspector.object == ObjectID(entity: "Recipe", key: 1))
    #expect(session.state.browse.inspector.list.selected == 4)
    try session.send("Backspace")
    #expect(session.state.notice?.text.contains("no relationship was followed") == true)
  }

  @Test("a line that was found by its name shows what is below it when it is unfolded")
  func unfoldingFound() throws {
    var session = try Session()
    try session.send("Enter", "j", "j", "j")
    let line = try #require(session.state.browse.inspector.selectedLine)
    try session.send("/")
    for letter in line.label { try session.send(String(letter)) }
    try session.send("Enter")
    #expect(session.state.browse.inspector.filter == line.label)
    #expect(session.state.browse.inspector.shown.allSatisfy { $0.depth == 0 })
    try session.send("Enter")
    let inspector = session.state.browse.inspector
    #expect(inspector.filter.isEmpty && inspector.selectedLine?.id == line.id)
    #expect(inspector.shown.contains { $0.depth > 0 })
  }

  @Test("answers to what was forgotten are ignored")
  func forgotten() throws {
    var session = try Session()
    session.answers = false
    try session.send("Tab", "Tab", "k", "k")
    let rows = session.effects.compactMap { effect -> (TaskID, RowQuery)? in
      if case .ask(let id, .rows(let query)) = effect { (id, query) } else { nil }
    }
    let (stale, _) = try #require(rows.dropLast().last)
    let before = session.state
    try session.send(.answer(stale, .rows(SampleStore.page(RowQuery(entity: "Recipe")))))
    #expect(session.state == before)
    // And the work for them is called off.
    #expect(session.effects.contains(.cancel(stale)))
  }

  @Test("Tab goes past the inspector where there is no object to show")
  func emptyInspector() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .ask(let id, .rows(let query)) = effect, query.entity != "Recipe" else {
        return nil
      }
      return [.answer(id, .rows(RowPage(entity: query.entity, columns: [], rows: [])))]
    }
    try session.send("Tab")
    #expect(session.state.browse.focus == .inspector)
    try session.send("Tab", "k")
    #expect(session.state.browse.focus == .entities)
    #expect(session.state.browse.table?.entity == "Person")
    #expect(session.state.browse.inspector.object == nil)
    try session.send("Tab")
    #expect(session.state.browse.focus == .rows)
    try session.send("Tab")
    #expect(session.state.browse.focus == .entities)
  }

  @Test("a missing external file is told in words")
  func missingFile() throws {
    let session = try Session()
    #expect(session.screen().description.contains("! file missing"))
  }

  @Test("the tree shows what a subentity adds")
  func counts() throws {
    let session = try Session()
    #expect(session.state.browse.counts["Recipe"] == 10_000)
    #expect(session.state.browse.counts["Soup"] == 1_428)
  }

  @Test("a keyed archive, JSON and bytes unfold in the inspector")
  func unfolding() {
    let json = Array(#"{"a": 1}"#.utf8)
    let column = RowColumn(name: "settings", kind: .attribute(.transformable))
    func lines(_ bytes: [UInt8]) -> Int {
      Inspection(
        StoredObject(
          id: ObjectID(entity: "A", key: 1), columns: [column],
          values: [.data(DataValue(location: .row, count: bytes.count, bytes: bytes))])
      ).lines.count
    }
    #expect(lines(json) == 2)
    #expect(lines([0, 1, 2, 3]) == 2)
    #expect(lines([]) == 1)
    let list = PropertyList.binary(.dictionary(["theme": .string("dark"), "size": .integer(3)]))
    // The dictionary itself is on the property's line.
    #expect(lines(list) == 3)
  }
}
