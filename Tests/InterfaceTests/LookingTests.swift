import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Looking behind the rows")
struct LookingTests {
  private func text(_ session: Session) -> String { session.screen().description }

  @Test("i shows the store in sections; I begins with the warnings")
  func panel() throws {
    var session = try Session()
    try session.send("i")
    #expect(text(session).contains("▸Files"))
    #expect(text(session).contains("1.2 MB"))
    try session.send("Right", "Right")
    #expect(text(session).contains("12 !"))
    try session.send("Right")
    #expect(text(session).contains("! missing"))
    try session.send("Esc", "I")
    // The sample's summary has no warnings: the key says so.
    #expect(session.state.notice?.text.contains("no warnings") == true)
  }

  @Test("a transaction unfolds to its changes, and Enter on one goes to the object")
  func history() throws {
    var session = try Session()
    try session.send("i", "Right", "Right", "Right", "Right")
    #expect(text(session).contains("14:02:11  +3 ~5 −1"))
    try session.send("j", "j", "Enter")
    #expect(text(session).contains("~ Recipe/p3  Leek soup  title, serves"))
    #expect(text(session).contains("− Tag/p7  name was quick"))
    try session.send("j", "Enter")
    #expect(session.state.layers.isEmpty)
    #expect(
      session.effects.contains {
        if case .ask(_, .object(ObjectID(entity: "Person", key: 3))) = $0 { true } else { false }
      })
  }

  @Test("t shows persistent history, and H in it the history of one object, deleted or not")
  func historyOfOne() throws {
    var session = try Session()
    try session.send("t")
    #expect(text(session).contains("14:02:11  +3 ~5 −1"))
    #expect(text(session).contains("author app  context ui"))
    try session.send("H")
    #expect(session.state.notice?.text.contains("select a changed object") == true)
    // The heading of the day and the blank line before it are passed over.
    try session.send("j", "j", "Enter", "j", "j", "H")
    #expect(text(session).contains("Only Recipe/p3  Leek soup"))
    #expect(text(session).contains("~ Recipe/p3  title, serves"))
    #expect(!text(session).contains("Tag/p7"))
    #expect(text(session).contains("History keeps no old values; a backup does: C"))
    try session.send("H", "j", "j", "Enter", "j", "j", "j", "H")
    #expect(text(session).contains("Only Tag/p7"))
    #expect(text(session).contains("− Tag/p7  name was quick"))
  }

  @Test("the footer names H in 80 columns, in a store that keeps history")
  func historyInFooter() throws {
    var session = try Session(width: 80, height: 24)
    var footer: Substring { session.screen().description.split(separator: "\n").last ?? "" }
    #expect(footer.contains("H history"), "\(footer)")
    session.state.known.store?.hasHistory = false
    #expect(!footer.contains("H history") && footer.contains("r related"), "\(footer)")
  }

  @Test("H on a row shows what happened to its object")
  func historyOfRow() throws {
    var session = try Session()
    let row = try #require(session.state.browse.table?.window.selectedRow?.id)
    try session.send("H")
    #expect(text(session).contains("Only \(row)"))
    #expect(
      session.effects.contains {
        if case .ask(_, .transactions(before: nil, of: HistoryScope.object(row), _)) = $0 {
          true
        } else {
          false
        }
      })
    try session.send("Esc", "Tab", "Tab", "H")
    #expect(session.state.notice?.text.contains("select a row first") == true)
  }

  @Test("/ finds what happened to an object by a text, also to a deleted one; Esc shows all again")
  func historyByText() throws {
    var session = try Session()
    try session.send("t", "/", "q", "u", "i", "c", "k")
    #expect(text(session).contains("find › quick"))
    try session.send("⏎")
    let found = text(session)
    #expect(
      found.contains("Only “quick”") && found.contains("− Tag/p7  name was quick"), "\(found)")
    #expect(!found.contains("08:00:00"))
    // The deleted object's own history, by its line.
    try session.send("G", "H")
    #expect(text(session).contains("Only Tag/p7"))
    try session.send("H", "/", "x", "y", "⏎")
    #expect(text(session).contains("History has no change of “xy”."))
    try session.send("Esc")
    #expect(text(session).contains("08:00:00"))
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }

  @Test(
    "history is found by what somebody types who looks for it",
    arguments: ["history", "changes", "persistent history", "transactions"])
  func found(text: String) throws {
    let state = try Session().state
    let found = PaletteEntries(state).found(text, in: state.store)
    #expect(found.prefix(3).contains { $0.title == "persistent history" }, "\(found.map(\.title))")
    var session = try Session(width: 120, height: 60)
    try session.send("?", "/")
    for character in text { try session.send(.key(.character(character))) }
    #expect(self.text(session).contains("persistent history"))
  }

  @Test("headings and blank lines are passed over, down and up again")
  func headings() throws {
    var session = try Session()
    try session.send("t", "j", "j", "j", "Enter")
    let unfolded = text(session)
    #expect(unfolded.contains("▾ 08:00:00"), "\(unfolded)")
    try session.send("k", "Enter")
    #expect(text(session).contains("▾ 14:02:11"))
  }

  @Test("a day names the time zone of its times, whatever parts of a second they have")
  func zones() {
    let transaction = HistoryTransaction(number: 1, timestamp: 0.5)
    let utc = HistoryEntry(transaction) { _ in nil }
    #expect(utc.day == "2001-01-01  UTC" && utc.time == "00:00:00")
    let local = HistoryEntry(transaction) { _ in "2001-01-01 01:00:00 +0100" }
    #expect(local.day == "2001-01-01  UTC+0100" && local.time == "01:00:00")
  }

  @Test("a transaction that a migration left names the version that the store had")
  func migrations() throws {
    var facts = StoreFacts()
    facts.hasHistory = true
    let transaction = HistoryTransaction(
      number: 2, timestamp: 1,
      author: MigratorAuthor(.lightweight, digest: "AbC=", stage: "two").text, process: "App")
    facts.formerVersions = [transaction.formerVersion].compactMap(\.self)
    facts.versionNames = ["AbC=": "Recipes 2"]
    facts.localTimes = [1: "2001-01-01 01:00:01 +0100"]
    let answer = Answer.facts(facts)
    var session = try Session(width: 120)
    session.otherAnswer = { effect in
      switch effect {
      case .ask(let id, .facts): return [.answer(id, answer)]
      case .ask(let id, .transactions):
        let entry = HistoryEntry(transaction: transaction, day: "2001-01-01", time: "01:00:01")
        return [.answer(id, .transactions([entry], labels: [:]))]
      default: return nil
      }
    }
    try session.send("t")
    let screen = text(session)
    #expect(screen.contains("2001-01-01 01:00:01 +0100"))
    #expect(screen.contains("from “Recipes 2”"))
    #expect(screen.contains("lightweight migration  stage two  App"))
    #expect(screen.contains("migrated from “Recipes 2”  process App"))
    #expect(!screen.contains("schemamigrator"))
  }

  @Test("the warnings begin with a model that does not fit, also when the others were read")
  func warnings() throws {
    let misfit = "The version hashes of --model are not those of the store (134100)."
    var session = try Session(width: 120)
    session.state.known.store?.misfit = misfit
    session.state.known.store?.warnings = [misfit]
    // The header names the key, wherever it is.
    #expect(session.screen().row(0).contains("! 1 warning: I"))
    session.state.keys = KeyRemapping(["Everywhere": ["warnings": [.character("Y")]]])
    #expect(session.screen().row(0).contains("! 1 warning: Y"))
    session.state.keys = KeyRemapping(["Everywhere": ["warnings": []]])
    #expect(session.screen().row(0).contains("! 1 warning "))
    session.state.keys = KeyRemapping()
    try session.send("I")
    let screen = text(session)
    #expect(screen.contains("! \(misfit)"))
    #expect(screen.contains("! Z_MAX is below a key that is in use"))
  }

  @Test("an external file's line goes to the object that names it")
  func externalFile() throws {
    var session = try Session()
    try session.send("i", "Right", "Right", "Right", "G", "Enter")
    #expect(session.state.layers.isEmpty)
    #expect(
      session.effects.contains {
        if case .ask(_, .object(ObjectID(entity: "Person", key: 2))) = $0 { true } else { false }
      })
  }

  @Test("F counts the values of the selected column")
  func frequencies() throws {
    var session = try Session()
    try session.send("F")
    #expect(session.state.notice?.text.contains("choose the column") == true)
    try session.send("l", "l", "l", "F")
    let screen = text(session)
    #expect(screen.contains("Recipe.serves"))
    #expect(screen.contains("∅  no value"))
    #expect(screen.contains("60.0 %"))
    #expect(screen.contains("2 to 8, mean 3.500"))
  }

  @Test("a value of filtered rows narrows them further, and never takes their filter away")
  func frequenciesOfSome() throws {
    var session = try Session(width: 120)
    _ = update(&session.state, .key(.escape))
    try session.answerEffects(
      session.state.on(BrowseScreen.self) { $0.setFilter("title != nil", in: &$1) })
    try session.send("l", "l", "l", "F")
    #expect(text(session).contains(", where title != nil"))
    try session.send("Enter")
    #expect(session.state.browse.table?.filter == "(title != nil) AND serves == nil")
  }

  @Test("* searches all entities as hits come in, and Enter goes to one")
  func searching() throws {
    var session = try Session()
    try session.send("*", "A", "n", "n", "Enter")
    #expect(text(session).contains("Person/p2  name  so Ann it is"))
    #expect(text(session).contains("more in Recipe"))
    try session.send("Enter")
    #expect(session.state.layers.isEmpty)
    #expect(
      session.effects.contains {
        if case .ask(_, .object(ObjectID(entity: "Person", key: 2))) = $0 { true } else { false }
      })
  }

  @Test("^C stops a search that is under way, and what it finds afterwards is not shown")
  func stopping() throws {
    var session = try Session()
    session.answers = false
    try session.send("*", "x", "Enter")
    let task = try #require(
      session.effects.compactMap { effect -> TaskID? in
        if case .ask(let id, .search) = effect { id } else { nil }
      }.last)
    try session.send("^C")
    #expect(session.effects.contains(.cancel(task)))
    #expect(text(session).contains("stopped"))
    try session.send(
      .answer(
        task,
        .searching(
          StoreSearchProgress(
            entity: "A", done: 1, total: 1,
            hits: [.init(object: ObjectID(entity: "A", key: 1), property: "p", excerpt: "late")]))))
    #expect(!text(session).contains("late"))
  }

  @Test("a search looks into data when Tab says so, and says what it could not look into")
  func deepSearch() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .ask(let id, .search(_, isDeep: let isDeep)) = effect else { return nil }
      var progress = StoreSearchProgress(entity: "Recipe", done: 2, total: 2)
      progress.isEntityDone = true
      if isDeep {
        (progress.unreadValues, progress.firstUnread) = (2, "Recipe/p7 photo: it is damaged")
      }
      return [.answer(id, .searching(progress))]
    }
    try session.send("*", "x", "Enter")
    #expect(text(session).contains("0 hits; Tab looks into data, too"))
    try session.send("Tab")
    #expect(
      text(session).contains("2 values not searched as a whole: Recipe/p7 photo: it is damaged"))
    let asked = session.effects.compactMap { effect -> Bool? in
      if case .ask(_, .search(_, let isDeep)) = effect { isDeep } else { nil }
    }
    #expect(asked == [false, true])
  }

  @Test("the popup of an export says how many rows and which columns")
  func exportFacts() throws {
    var session = try Session(width: 120)
    try session.send("l", "l", "-", "e")
    #expect(text(session).contains("all 10,000 rows of Recipe"))
    #expect(text(session).contains("6 columns: entity, key, serves, createdAt, photo, author"))
    try session.send("Esc")
    var view = session.state.view
    view.browse.tables["Recipe"] = TableView(
      sort: "serves", isDescending: true, filter: "serves > 3")
    try session.answerEffects(session.state.arrange(view))
    try session.send("e")
    #expect(
      text(session).contains("100 rows of Recipe where serves > 3, by serves descending"))
  }

  @Test(
    "export asks for format and name, asks again before it replaces a file, and says what it wrote")
  func exporting() throws {
    var session = try Session()
    try session.send("e")
    #expect(text(session).contains("Recipe.csv"))
    try session.send("Tab")
    #expect(text(session).contains("Recipe.json"))
    try session.send("Enter")
    #expect(text(session).contains("Enter again replaces it"))
    try session.send("Enter")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.notice?.text == "1,000 rows in Recipe.json, 12 kB")
  }

  @Test(
    "an export and its command line have the columns, the order, the filter and the sort in sight")
  func exportedView() throws {
    var session = try Session(width: 140)
    var view = session.state.view
    view.browse.tables["Recipe"] = TableView(
      sort: "serves", isDescending: true, filter: "serves > 3", related: nil,
      order: ["@key", "serves", "title"], hidden: ["createdAt"], widths: [:], frozen: 1)
    _ = session.state.arrange(view)
    let table = session.state.browse.table
    let columns = table?.shownProperties ?? []
    #expect(columns.prefix(2) == ["serves", "title"] && !columns.contains("createdAt"))
    try session.send("e", "Enter")
    guard case .export(_, let request)? = session.effects.last else {
      Issue.record("nothing is exported")
      return
    }
    #expect(request.query.properties == columns)
    #expect(request.query.sort == RowQuery.Sort(property: "serves", descending: true))
    #expect(request.query.filter?.text == "serves > 3")
    #expect(
      table?.arguments(.csv)
        == "Recipe --format csv --limit all --columns \(columns.joined(separator: ","))"
        + " --where 'serves > 3' --sort serves:desc")
  }

  @Test("a picture is asked for when it is unfolded, and only where there are colours")
  func pictures() throws {
    func asked(_ colors: ColorDepth) throws -> Int {
      var session = try Session()
      session.state.colors = colors
      try session.send("Enter", "j", "j", "j", "Enter")
      return session.effects.count { if case .picture = $0 { true } else { false } }
    }
    #expect(try asked(.ansi8) == 0)
    #expect(try asked(.indexed256) == 1)
  }

  @Test("JSON in a String unfolds as a tree; text that is no UTF-8 says so")
  func values() {
    func lines(_ value: PropertyValue) -> [String] {
      Inspection(
        StoredObject(
          id: ObjectID(entity: "A", key: 1),
          columns: [RowColumn(name: "s", kind: .attribute(.string))], values: [value])
      ).lines.map { "\($0.label)\($0.value.text)" }
    }
    #expect(
      lines(.value(.string(#"{"b": [1, true], "a": null}"#))).dropFirst() == [
        "blist of 2", "01", "1true", "anull",
      ])
    #expect(lines(.value(.string("{not json"))).count == 1)
    #expect(
      lines(.data(DataValue(location: .row, count: 2, bytes: [0x61, 0xFF]))).first
        == "s! not UTF-8: a\u{FFFD}")
  }

  @Test("nothing traps in small places")
  func small() throws {
    for (width, height) in [(40, 10), (60, 20), (41, 11)] {
      for keys in [
        ["i", "Right", "Right", "Right", "Right"], ["*", "x", "Enter"], ["l", "l", "v", "G", "x"],
        ["l", "l", "l", "F"], ["y"], ["e", "Enter"],
      ] {
        var session = try Session(width: width, height: height)
        for key in keys { try session.send(key) }
        #expect(session.screen().height == height)
      }
    }
    let state = State(storePath: "A", size: Size(width: 1, height: 1), themeName: "mono")
    var grid = Grid(width: 1, height: 1)
    draw(state, with: .mono, in: &grid)
  }
}
