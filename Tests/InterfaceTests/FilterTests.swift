import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface

@Suite("The filter line")
struct FilterTests {
  /// Types a text as somebody would.
  private func type(_ text: String, in session: inout Session) throws {
    for character in text { try session.send(.key(.character(character))) }
  }

  private func check(_ text: String) throws -> FilterCheck {
    FilterCheck(text, entity: "Recipe", store: try SampleStore.summary())
  }

  private func offers(_ text: String) throws -> [String] {
    Completion(
      text, cursor: text.count, entity: "Recipe", store: try SampleStore.summary()
    ).candidates.map(\.text.trimmed)
  }

  @Test("a filter is applied by Enter, counted, and told in the title")
  func applied() throws {
    var session = try Session()
    try session.send("/")
    try type("serves > 3", in: &session)
    #expect(session.state.browse.table?.filter == nil)
    try session.send("Enter")
    #expect(session.state.browse.table?.filter == "serves > 3")
    #expect(session.screen().row(1).contains("Recipe  10,000 ─ where serves > 3 ─ 100"))
    #expect(session.state.browse.table?.window.rows.first?.id.key == 100)
    #expect(session.screen().description.contains("row 1 of 100"))
  }

  @Test("u takes a filter back, Esc gives one up, and an empty one shows all")
  func undone() throws {
    var session = try Session()
    try session.send("/")
    try type("serves > 3", in: &session)
    try session.send("Enter", "u")
    #expect(session.state.browse.table?.filter == nil)
    try session.send("U", "/", "^U")
    try type("serves < 3", in: &session)
    try session.send("Esc")
    #expect(session.state.browse.table?.filter == "serves > 3")
    try session.send("/", "^U", "Enter")
    #expect(session.state.browse.table?.filter == nil)
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 100)
  }

  @Test("the mistake is marked under its word while it is typed, and Enter says it")
  func mistake() throws {
    var session = try Session()
    try session.send("/")
    try type("titel == \"a\"", in: &session)
    let screen = session.screen()
    let line = try #require(
      (0..<screen.height).first { screen.row($0).contains("where titel") })
    let column = try #require(Array(screen.row(line)).firstIndex(of: "w")) + "where ".count
    #expect(Array(screen.row(line + 1))[column...].starts(with: "^^^^^ "))
    #expect(screen.row(line + 1).contains("Did you mean title?"))
    try session.send("Enter")
    #expect(session.state.notice?.text.contains("no property “titel”") == true)
    #expect(session.state.browse.table?.filter == nil)
  }

  @Test("a name is wrong before its sentence is whole")
  func early() throws {
    guard case .wrong(let error) = try check("serves > 2 AND titel") else {
      Issue.record("nothing was wrong")
      return
    }
    #expect(error.mark?.marked == "titel")
  }

  @Test("what is written as in SQL is said as it is typed")
  func fromSQL() throws {
    guard case .wrong(let error) = try check("title IS NULL") else {
      Issue.record("nothing was wrong")
      return
    }
    #expect(error.mark?.marked == "IS NULL" && error.hint == "Type: title == nil")
  }

  @Test("plain words look for themselves in every text")
  func words() throws {
    #expect(
      try check("carrot soup").text
        == #"title CONTAINS[cd] "carrot" AND title CONTAINS[cd] "soup""#)
    #expect(try check("a").text == #"title CONTAINS[cd] "a""#)
    #expect(
      FilterCheck.predicate(finding: "soup", in: ["title", "notes"])
        == #"title CONTAINS[cd] "soup" OR notes CONTAINS[cd] "soup""#)
    #expect(
      FilterCheck.predicate(finding: "a b", in: ["x", "y"])
        == #"(x CONTAINS[cd] "a" OR y CONTAINS[cd] "a") AND (x CONTAINS[cd] "b" OR y CONTAINS[cd] "b")"#
    )
    #expect(FilterCheck.predicate(finding: "a", in: [String]()) == nil)
  }

  @Test("a whole number alone finds the object with that key, and texts that have it")
  func number() throws {
    #expect(try check("12").text == #"key == 12 OR title CONTAINS[cd] "12""#)
    #expect(try check("p12").text == #"key == 12 OR title CONTAINS[cd] "p12""#)
    for text in ["012", "p012", "p", "p1x", "1.5", "12 soups", "99999999999999999999"] {
      #expect(try check(text).text?.contains("key ==") != true, "\(text)")
    }
    var store = try SampleStore.summary()
    store.columns["Person"] = [RowColumn(name: "key", kind: .attribute(.string))]
    #expect(
      FilterCheck("12", entity: "Person", store: store).text?.contains("key == 12") != true)
    var session = try Session()
    try session.send("/")
    try type("12", in: &session)
    #expect(session.screen().description.contains("⏎ key 12, or any text contains “12”"))
    try session.send("Enter")
    #expect(session.screen().row(1).contains("key 12, or any text contains “12” ─ 100"))
  }

  @Test("a quote that is not closed is closed")
  func quote() throws {
    #expect(try check(#"title contains "soup"#).text == #"title contains "soup""#)
  }

  @Test(
    "what could come next is offered",
    arguments: [
      ("ti", ["title"]),
      ("title co", [#"CONTAINS[cd] ""#]),
      ("title contains[", ["c]", "d]", "cd]"]),
      ("author.na", ["name"]),
      ("author.recipes.@", ["@count"]),
      ("author.recipes.ti", ["title"]),
      ("author == n", ["nil"]),
      ("entity == ", [#""Recipe""#, #""Soup""#]),
      ("serves > 3 a", ["AND"]),
      ("serves BETWEEN {1, 2} ", ["AND", "OR"]),
      ("(serves > 3 OR ti", ["title"]),
      (#"title == "un"#, []),
      ("nothing.", []),
    ])
  func completion(text: String, expected: [String]) throws {
    #expect(try offers(text) == expected)
  }

  @Test("a Boolean is YES or NO, a to-many comes first behind ANY")
  func kinds() throws {
    let store = try SampleStore.summary()
    let soup = Completion("isHot == ", cursor: 9, entity: "Soup", store: store)
    #expect(soup.candidates.prefix(2).map(\.text.trimmed) == ["YES", "NO"])
    let person = Completion("ANY ", cursor: 4, entity: "Person", store: store)
    #expect(person.candidates.first?.text == "recipes")
  }

  @Test(
    "an expression is offered properties, functions and nothing behind a value",
    arguments: [
      ("ti", ["title"]), ("coal", ["coalesce("]), ("author.na", ["name"]), ("title ", []),
      ("'ti", []), ("trim(ti", ["title"]), ("spl", ["split_part("]), ("regex", ["regex_replace("]),
    ])
  func expressions(text: String, expected: [String]) throws {
    let completion = Completion(
      expression: text, cursor: text.count, entity: "Recipe", store: try SampleStore.summary())
    #expect(completion.candidates.map(\.text.trimmed) == expected)
  }

  @Test("Tab takes the first offer, ↓ and Enter another")
  func taking() throws {
    var session = try Session()
    try session.send("/")
    try type("ser", in: &session)
    try session.send("Tab")
    #expect(line(session)?.line.prompt.text == "serves ")
    try session.send("↓", "↓", "↓", "Enter")
    #expect(line(session)?.line.prompt.text == "serves < ")
    try type("4", in: &session)
    try session.send("Enter")
    #expect(session.state.browse.table?.filter == "serves < 4")
  }

  private func line(_ session: Session) -> FilterLayer? {
    session.state.layers.last?.content as? FilterLayer
  }

  @Test("↑ brings former filters back, the newest first, and at last what was typed")
  func former() throws {
    var session = try Session()
    for text in ["serves > 1", "serves > 2"] {
      try session.send("/", "^U")
      try type(text, in: &session)
      try session.send("Enter")
    }
    try session.send("/", "^U")
    try type("x", in: &session)
    try session.send("↑")
    #expect(line(session)?.line.prompt.text == "serves > 2")
    try session.send("↑")
    #expect(line(session)?.line.prompt.text == "serves > 1")
    try session.send("↑")
    #expect(line(session)?.line.prompt.text == "x")
  }

  @Test("a filter that no longer fits is left out and told")
  func unfit() throws {
    var session = try Session()
    var view = ViewState()
    view.browse.entity = "Recipe"
    view.browse.tables["Recipe"] = TableView()
    view.browse.tables["Recipe"]?.filter = "gone == 1"
    _ = session.state.arrange(view)
    #expect(session.state.browse.table?.filter == nil)
    #expect(session.state.notice?.text.contains("the filter was left out") == true)
  }

  @Test("hostile and endless texts are only texts")
  func hostile() throws {
    for text in [
      "\u{1B}[31m", "((((((((((((((((", String(repeating: "a == 1 OR ", count: 5_000), "\"\\",
      "'", "@@@", "title.title.title", "🥕 ≠ 🥔", "{[}]", "ANY ANY",
    ] {
      _ = try check(text)
      _ = try offers(text)
    }
  }
}
