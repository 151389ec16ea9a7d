import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface

@Suite("Going along relationships, and to rows by name and number")
struct TrailTests {
  private let person = ObjectID(entity: "Person", key: 2)

  /// The column of that name chosen.
  private func choose(_ name: String, in session: inout Session) throws {
    for _ in 0..<20 where session.state.browse.table?.property?.name != name {
      try session.send("l")
    }
    #expect(session.state.browse.table?.property?.name == name)
  }

  @Test("Enter on a to-one cell goes to the object's row, and ⌫ restores all that was left")
  func toOne() throws {
    var session = try Session()
    try session.send("j", "j", "j", "j", "j")
    try choose("author", in: &session)
    let before = session.screen()
    try session.send("Enter")
    #expect(session.state.browse.table?.entity == "Person")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1)
    #expect(session.screen().row(1).contains("Recipe/p6 › author › Person"))
    let reads = session.effects.filter { !$0.isNaming }.count
    try session.send("Backspace")
    #expect(session.screen().description == before.description)
    // Its rows are there; only the inspector's object is read.
    #expect(session.effects.filter { !$0.isNaming }.count == reads + 1)
    try session.send("]")
    #expect(session.state.browse.table?.entity == "Person")
    #expect(session.state.browse.trail.steps() == ["Recipe/p6", "author"])
  }

  @Test("a to-many leads to the rows of its objects only, told in the title")
  func toMany() throws {
    var session = try Session()
    try session.send("Tab", "Tab", "k", "Esc")
    #expect(session.state.browse.table?.entity == "Person")
    try choose("recipes", in: &session)
    try session.send("Enter")
    #expect(session.state.browse.table?.entity == "Recipe")
    #expect(
      session.state.browse.table?.related == Relation(ObjectID(entity: "Person", key: 1), "recipes")
    )
    #expect(session.screen().row(1).contains("Person/p1 › recipes  100"))
    // A filter keeps to them.
    try session.send("/")
    for character in "serves > 1" { try session.send(.key(.character(character))) }
    try session.send("Enter")
    #expect(session.state.browse.table?.related != nil)
    // After a choice in the tree all rows are shown.
    try session.send("Tab", "Tab", "k", "j", "Esc")
    #expect(session.state.browse.table?.related == nil)
  }

  @Test("r lists the row's relationships and goes along one")
  func related() throws {
    var session = try Session()
    try session.send("r")
    #expect(session.screen().description.contains("related to Recipe/p1"))
    try session.send("Enter")
    #expect(session.state.browse.inspector.object == person)
    try session.send("[")
    #expect(session.state.browse.table?.entity == "Recipe")
  }

  @Test("a relationship that leads nowhere says so")
  func nothing() throws {
    var session = try Session()
    try session.send("j", "j", "j", "j")
    try choose("author", in: &session)
    try session.send("Enter")
    #expect(session.state.browse.table?.entity == "Recipe")
    #expect(session.state.notice?.text == "Recipe/p5 has no author")
  }

  @Test("the title does not claim that another row was led to")
  func elsewhere() throws {
    var session = try Session()
    try choose("author", in: &session)
    try session.send("Enter", "k")
    #expect(
      session.state.browse.trail.steps(to: ObjectID(entity: "Person", key: 1))
        == ["Recipe/p1", "author", "Person/p2", "…", "Person/p1"])
  }

  @Test(
    "a jump by number is exact anywhere, and keeps to the rows there are",
    arguments: [1, 2, 150, 5_000, 9_999, 10_000])
  func byNumber(row: Int) throws {
    var session = try Session()
    _ = session.state.on(BrowseScreen.self) { $0.goTo(row: row, in: &$1) }
    try session.answerEffects(session.state.on(BrowseScreen.self) { $0.goTo(row: row, in: &$1) })
    #expect(session.state.browse.table?.window.selectedRow?.id.key == Int64(row))
    #expect(session.screen().description.contains("row \(NumberText.grouped(row)) of 10,000"))
    try session.answerEffects(session.state.on(BrowseScreen.self) { $0.goTo(row: 99_999, in: &$1) })
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 10_000)
  }

  @Test("a jump to an object clears a filter that hides it and says so; u brings the filter back")
  func hidden() throws {
    var session = try Session()
    try session.answerEffects(
      session.state.on(BrowseScreen.self) { $0.setFilter("serves > 1", in: &$1) })
    try session.answerEffects(
      session.state.on(BrowseScreen.self) {
        $0.goTo(object: ObjectID(entity: "Recipe", key: 4_711), in: &$1)
      })
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 4_711)
    #expect(session.state.browse.table?.filter == nil)
    #expect(session.state.notice?.text.contains("filter") == true)
    try session.send("u")
    #expect(session.state.browse.table?.filter == "serves > 1")
  }

  @Test("a move past what is loaded lands where it says")
  func far() throws {
    var session = try Session()
    try session.answerEffects(session.state.on(BrowseScreen.self) { $0.move(by: 7_000, in: &$1) })
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 7_001)
    try session.answerEffects(session.state.on(BrowseScreen.self) { $0.move(by: -6_500, in: &$1) })
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 501)
  }

  @Test("^C gives up a sort that takes long, and the rows are in their order again")
  func cancelled() throws {
    var session = try Session()
    try session.send("l", "l")
    session.answers = false
    try session.send("s")
    #expect(session.state.browse.table?.sort.property == "title")
    #expect(session.screen().row(1).contains("Recipe  …"))
    try session.send("^C")
    #expect(session.state.browse.table?.sort == .init())
    guard case .cancel? = session.effects.last else {
      Issue.record("nothing was cancelled")
      return
    }
  }

  @Test("a page that cannot be read is told over the rows, and not asked for again and again")
  func unreadable() throws {
    var session = try Session()
    session.answers = false
    for _ in 0..<160 { try session.send("j") }
    guard
      case .ask(let task, .rows)? = session.effects.last(where: {
        if case .ask(_, .rows) = $0 { true } else { false }
      })
    else {
      Issue.record("nothing was read")
      return
    }
    try session.send(.failed(task, CoreDataError(.unreadable, "the file is damaged")))
    #expect(session.screen().description.contains("✗ the file is damaged"))
    let effects = session.effects.filter { if case .ask(_, .rows) = $0 { true } else { false } }
      .count
    try session.send("j", "j")
    #expect(
      session.effects.filter { if case .ask(_, .rows) = $0 { true } else { false } }.count
        == effects)
    #expect(session.state.browse.table?.window.rows.count == 200)
  }

  @Test("counts and the palette go to rows by number and to objects by name")
  func numbers() throws {
    var session = try Session()
    for key in "05000" { try session.send(.key(.character(key))) }
    try session.send("G")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 5_000)
    for key in "0100" { try session.send(.key(.character(key))) }
    try session.send("k")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 4_900)
    try session.send(":")
    for key in "1234" { try session.send(.key(.character(key))) }
    try session.send("Enter")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1_234)
    try session.send(":")
    for key in "Person/p2" { try session.send(.key(.character(key))) }
    try session.send("Enter")
    #expect(session.state.browse.inspector.object == person)
    try session.send("[")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1_234)
  }

  @Test("a session comes back to its row and filter")
  func restored() throws {
    var session = try Session()
    try session.answerEffects(session.state.on(BrowseScreen.self) { $0.goTo(row: 4_321, in: &$1) })
    let saved = session.state.saved
    var again = try Session()
    again.state.restore(saved)
    try again.send(.start)
    #expect(again.state.browse.table?.entity == "Recipe")
    #expect(again.state.browse.table?.window.selectedRow?.id.key == 4_321)
  }
}

extension Effect {
  /// Whether it only asks what objects are called.
  fileprivate var isNaming: Bool {
    if case .names = self { true } else { false }
  }
}
