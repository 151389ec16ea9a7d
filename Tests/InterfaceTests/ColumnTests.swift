import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Columns")
struct ColumnTests {
  private func titles(_ session: Session) -> [String] {
    session.state.browse.table.map { table in table.columns.map(table.title) } ?? []
  }

  @Test("< and > move the chosen column, - hides it, _ brings all back, u undoes each")
  func arranging() throws {
    var session = try Session(width: 200)
    #expect(
      titles(session) == ["key", "entity", "title", "serves", "createdAt", "photo", "author"])
    try session.send("l", "l", ">")
    #expect(
      titles(session) == ["key", "entity", "serves", "title", "createdAt", "photo", "author"])
    #expect(session.state.browse.table?.property?.name == "title")
    try session.send("-")
    #expect(titles(session) == ["key", "entity", "serves", "createdAt", "photo", "author"])
    #expect(session.state.browse.table?.property?.name == "createdAt")
    try session.send("u")
    #expect(titles(session).contains("title"))
    try session.send("U", "_")
    #expect(
      titles(session) == ["key", "entity", "title", "serves", "createdAt", "photo", "author"])
    // None of it read a row again.
    #expect(
      session.effects.filter { if case .ask(_, .rows) = $0 { true } else { false } }.count == 3)
  }

  @Test("+ lists all columns: Space hides and shows, > moves down, Enter goes to one")
  func popup() throws {
    var session = try Session()
    try session.send("+", "j", "Space")
    #expect(titles(session) == ["key", "title", "serves", "createdAt", "photo", "author"])
    #expect(session.screen().description.contains("[ ] entity"))
    try session.send(">", "Esc", "+", "j", "Space", "j", "Enter")
    #expect(titles(session) == ["key", "entity", "serves", "createdAt", "photo", "author"])
    #expect(session.state.browse.table?.column == .entity)
  }

  @Test("a in the columns adds a key path, which is read, exported, undone and kept")
  func keyPath() throws {
    var session = try Session(width: 160)
    try session.send("+", "a")
    for character in "author.nam" { try session.send(.key(.character(character))) }
    #expect(session.screen().description.contains("name"))
    try session.send("Enter")
    // What leads nowhere is not taken.
    #expect(session.state.browse.table?.paths == [])
    try session.send("e", "Enter")
    #expect(session.state.browse.table?.paths == ["author.name"])
    #expect(session.screen().description.contains("[x] author.name"))
    try session.send("Esc")
    #expect(titles(session).last == "author.name")
    let read = session.effects.compactMap { effect -> [String]? in
      switch effect {
      case .ask(_, .place(let query, _)): query.properties
      default: nil
      }
    }
    #expect(read.last?.last == "author.name")
    #expect(session.state.browse.table?.exported.properties?.last == "author.name")
    #expect(session.state.browse.table?.arguments()?.hasSuffix(",author.name") == true)
    // It is nothing of the row: neither sorted by nor shown in full nor followed.
    try session.send("s")
    #expect(session.state.browse.table?.sort.property == nil)
    try session.send("v")
    #expect(session.state.layers.isEmpty)

    let saved = try JSONEncoder().encode(session.state.saved)
    let former = try JSONDecoder().decode(SavedSession.self, from: saved)
    #expect(former.view.browse.tables["Recipe"]?.paths == ["author.name"])
    try session.send("_")
    #expect(session.state.browse.table?.paths == [] && !titles(session).contains("author.name"))
    try session.send("u")
    #expect(session.state.browse.table?.paths == ["author.name"])
    #expect(titles(session).last == "author.name")
  }

  @Test("what a key path leads to is shown as a value, or as a list")
  func keyPathValues() {
    let tags = RowColumn(name: "tags.name", kind: .attribute(.string))
    func text(_ value: PropertyValue) -> String { ValueText(atPath: value, of: tags).text }
    #expect(
      text(.toMany(ToMany(count: 3, values: [.string("vegan"), .null, .string("quick")])))
        == "vegan, ∅, quick")
    #expect(text(.toMany(ToMany(count: 0, values: []))) == "none")
    #expect(text(.value(.string("Ann"))) == "Ann")
    let many = Array(repeating: AttributeValue.integer(1), count: 21)
    #expect(text(.toMany(ToMany(count: 21, values: many))).hasSuffix(", …"))
  }

  @Test("one column must stay visible")
  func last() throws {
    var session = try Session()
    for _ in 0..<10 { try session.send("-") }
    #expect(titles(session).count == 1)
    #expect(session.state.notice?.text.contains("it is the only one") == true)
    #expect(session.screen().size == session.state.size)
  }

  @Test("= keeps columns in sight, with a │ behind them, while the others scroll")
  func frozen() throws {
    var session = try Session(width: 80, height: 24)
    try session.send("l", "l", "=", "l", "l", "l", "l")
    let line = session.screen().row(2)
    #expect(line.contains("title") && line.contains("author"))
    #expect(line.split(separator: "│").count == 3)
    try session.send("h", "h", "h", "h", "=")
    #expect(session.state.browse.table?.frozen == 1)
  }

  @Test("a date at the edge is whole where a text before it can spare the room")
  func date() throws {
    let whole = ValueText(AttributeValue.date(86_400)).text
    #expect(try Session(width: 83, height: 24).screen().row(3).contains(whole))
    // Too little room for both: the text keeps its own, and the day is there.
    let narrow = try Session(width: 80, height: 24).screen().row(3)
    #expect(!narrow.contains(whole) && narrow.contains("Recipe number 1 "))
    #expect(narrow.contains(whole.prefix(10)))
  }

  @Test("{ and } set a width within bounds")
  func widths() throws {
    var session = try Session()
    try session.send("l", "l")
    for _ in 0..<300 { try session.send("}") }
    #expect(session.state.browse.table?.width(.property(0)) == RowTable.widest)
    for _ in 0..<300 { try session.send("{") }
    #expect(session.state.browse.table?.width(.property(0)) == 3)
    #expect(session.screen().size == session.state.size)
  }

  @Test("an arrangement survives being written and read, and an old one still decodes")
  func stored() throws {
    var view = TableView()
    view.sort = "title"
    view.filter = "serves > 3"
    view.related = Relation(ObjectID(entity: "Person", key: 3), "recipes")
    view.order = ["title", "@key"]
    view.hidden = ["photo"]
    view.widths = ["title": 20]
    view.frozen = 2
    var session = try Session()
    var arrangement = ViewState()
    arrangement.browse.entity = "Recipe"
    arrangement.browse.tables = ["Recipe": view]
    _ = session.state.arrange(arrangement)
    #expect(session.state.browse.table?.view.hidden == ["photo"])
    #expect(session.state.browse.table?.view.filter == "serves > 3")
    #expect(titles(session).prefix(2) == ["title", "key"])
    // Columns that the arrangement does not know come last.
    #expect(titles(session).count == 6)
  }
}
