import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration
@testable import ModelSearch

@Suite("Diff")
struct DiffTests {
  private static let impacts = [
    ChangeImpact(
      entity: "Draft", rows: 2, message: "would be lost with the entity", samples: ["Draft/p1"],
      severity: .loss),
    ChangeImpact(
      entity: "Recipe", property: "author", rows: 58,
      message: "have missing objects on a mandatory destination relationship",
      samples: ["Recipe/p58"], objects: [ObjectID(entity: "Recipe", key: 58)], severity: .failure,
      code: 134110, hint: "Make Recipe.author optional, or set it in those rows first."),
  ]

  /// The comparison of the sample's versions, its rows counted.
  private func session(width: Int = 120, height: Int = 36) throws -> Session {
    var session = try Session(width: width, height: height)
    try session.send("2")
    for case .ask(let task, .impacts) in session.effects {
      try session.send(.answer(task, .impacts(Self.impacts)))
    }
    return session
  }

  @Test("each change says how many rows it touches, which, and what to do")
  func impacts() throws {
    var session = try session()
    #expect(
      session.screen().description.contains("! 2 objects would be lost with the entity: Draft/p1"))
    try session.send("n", "n", "n", "n")
    let text = session.screen().description
    #expect(text.contains("✗ 58 rows have missing objects on a mandatory destination"))
    #expect(text.contains("(134110): Recipe/p58"))
    #expect(text.contains("→ Make Recipe.author optional"))
  }

  @Test("Enter in what it means, or in the details, goes to the rows that a change touches")
  func concernedRows() throws {
    var session = try session()
    try session.send("n", "n", "n", "n", "Tab", "⏎")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 58)
    #expect(session.state.notice?.text.hasSuffix("2 goes back to Diff") == true)
    try session.send("2", "Tab", "⏎")
    #expect(session.screen().description.contains("⏎ go to the row"))
    try session.send("⏎")
    #expect(session.state.screen == .browse && session.state.layers.isEmpty)
  }

  @Test("rows are counted only of the store's own version")
  func otherVersion() throws {
    var session = try Session()
    try session.send("2", "o", "G", "Enter", "g", "Enter")
    let counted = session.effects.filter { if case .ask(_, .impacts) = $0 { true } else { false } }
    #expect(counted.count == 1, "only the first comparison begins with the store's version")
    try session.send("Tab")
    #expect(session.screen().description.contains("Rows are counted if"))
  }

  @Test("an entity folds and unfolds, all of them with one key")
  func folding() throws {
    var session = try session()
    let all = session.state.diff.lines.count
    try session.send("Right", "Left")
    #expect(session.state.diff.lines.count == all - 1)
    #expect(session.screen().description.contains("▸ Draft"))
    try session.send("⏎")
    #expect(session.state.diff.lines.count == all)
    try session.send("z")
    #expect(session.state.diff.lines.allSatisfy { $0.property == nil })
    try session.send("u")
    #expect(session.state.diff.lines.count == all)
  }

  @Test("while a search is active n goes from match to match, and Escape ends it")
  func search() throws {
    var session = try session()
    try session.send("/", "t", "i", "t", "l", "e", "⏎")
    #expect(session.state.diff.matches.count == 2)
    #expect(session.screen().description.contains("match 1 of 2 for “title”"))
    try session.send("n")
    #expect(session.state.diff.selectedLine?.entity == "Recipe")
    try session.send("Esc")
    #expect(session.state.diff.searched.isEmpty)
    #expect(session.screen().description.contains("change"))
  }

  @Test("what is searched for is found in folded entities too")
  func searchFolded() throws {
    var session = try session()
    try session.send("z", "/", "p", "h", "o", "t", "o")
    #expect(session.state.diff.selectedLine?.property == "photo")
  }

  @Test("Tab gives the keys to the lower pane, which scrolls")
  func lowerPane() throws {
    var session = try session(width: 60, height: 20)
    try session.send("n", "n", "n", "n")
    let selected = session.state.diff.list.selected
    try session.send("Tab", "j")
    #expect(session.state.diff.list.selected == selected)
    #expect(session.state.diff.meaningOffset == 1)
  }

  @Test("Enter on a change opens all that is known of it")
  func details() throws {
    var session = try session()
    try session.send("n", "n", "⏎")
    let text = session.screen().description
    #expect(text.contains("Recipe.portions"))
    #expect(text.contains("serves  Integer 16 optional"))
  }

  @Test("every change that cannot be inferred is marked, with what would let it pass")
  func refused() throws {
    var from = Entity("Dish")
    from.attributes = [Attribute("serves", .string, optional: true), Attribute("n", .string)]
    var to = Entity("Dish")
    to.attributes = [Attribute("serves", .integer16, optional: true), Attribute("n", .boolean)]
    let comparison = Comparison(
      from: try Model(entities: [from]), to: try Model(entities: [to]))
    #expect(comparison.refusals.map(\.property) == ["serves", "n"])
  }

  @Test("m goes to the plan of what is compared")
  func mapping() throws {
    var session = try session()
    try session.send("m")
    #expect(session.state.screen == .mapping)
    #expect(session.state.mapping.to == 1)
  }

  @Test("a version comes by its path, another out of git")
  func otherModels() throws {
    var session = try Session()
    try session.send("2", "o", "p")
    guard case .find(let task, .completions)? = session.effects.last else {
      Issue.record("no completions were asked for")
      return
    }
    try session.send(.answer(task, .completions(["Old.momd", "Older.momd"])))
    try session.send("Tab")
    #expect(session.screen().description.contains("› Old"))
    try session.send("⏎")
    guard case .find(let reading, .models(path: "Old"))? = session.effects.last else {
      Issue.record("nothing was read")
      return
    }
    let old = ModelVersion(
      name: "Old", path: "Old.momd@Old", result: .success(try SampleStore.model(1)))
    try session.send(.answer(reading, .models([old])))
    #expect(session.state.versions.last == old)
    try session.send("r")
    guard case .find(let asking, .revisions(path: "Old.momd"))? = session.effects.last else {
      Issue.record("git was not asked")
      return
    }
    try session.send(
      .answer(
        asking,
        .revisions([
          GitHistory.Commit(id: "0123456789abcdef", date: "2026-01-02", subject: "Rename")
        ])))
    #expect(session.screen().description.contains("0123456789  2026-01-02  Rename"))
    try session.send("⏎")
    let path = try #require(
      session.effects.last.flatMap { effect -> String? in
        if case .find(_, .models(let path)) = effect { path } else { nil }
      })
    #expect(path == "Old.momd@Old@0123456789")
  }

  @Test("a path that is no model is told where it was typed")
  func wrongPath() throws {
    var session = try Session()
    try session.send("2", "o", "p", "x", "⏎")
    let task = try #require(
      session.effects.last.flatMap { effect -> TaskID? in
        if case .find(let task, .models) = effect { task } else { nil }
      })
    let error = CoreDataError(.unreadable, "there is no such file or folder", path: "/a/x")
    try session.send(.failed(task, error))
    #expect(session.screen().description.contains("✗ there is no such file or folder: /a/x"))
  }

  @Test("n goes from change to change and c leaves only those")
  func diff() throws {
    var session = try Session()
    try session.send("2")
    let first = try #require(session.state.diff.selectedLine)
    #expect(first.isChanged)
    try session.send("n")
    let second = try #require(session.state.diff.selectedLine)
    #expect(second.isChanged && second != first)
    try session.send("N")
    #expect(session.state.diff.selectedLine == first)
    try session.send("c")
    #expect(session.state.diff.lines.allSatisfy { $0.isChanged || $0.property == nil })
  }

  @Test("o asks for both versions")
  func versions() throws {
    var session = try Session()
    try session.send("2", "o", "G", "Enter", "g", "Enter")
    #expect(session.state.layers.isEmpty)
    #expect((session.state.diff.from, session.state.diff.to) == (1, 0))
  }

  /// A comparison in which two attributes differ in nothing of the version hash, and one goes.
  private func keptSession(width: Int) throws -> Session {
    var from = Entity("Dish")
    from.attributes = [
      Attribute("name", .string), Attribute("gone", .string, optional: true),
      Attribute("serves", .integer16),
    ]
    var to = Entity("Dish")
    to.attributes = [Attribute("name", .string), Attribute("serves", .integer16)]
    for index in to.attributes.indices { to.attributes[index].userInfo = ["seen": "yes"] }
    var session = try Session(width: width, height: 24)
    session.answers = false
    try session.send("2", "o", "G", "Enter", "g", "Enter")
    let task = session.effects.compactMap { effect -> TaskID? in
      if case .compute(let task, .compare) = effect { task } else { nil }
    }.last
    try session.send(
      .answer(
        try #require(task),
        .compared(Comparison(from: try Model(entities: [from]), to: try Model(entities: [to])))))
    return session
  }

  @Test("a narrow screen has one line for changes that keep the version hash, and c hides it")
  func kept() throws {
    var session = try keptSession(width: 80)
    #expect(session.state.diff.lines.map(\.property) == [nil, "gone", ""])
    #expect(session.screen().description.contains("· 2 changes with the same hash"))
    try session.send("G", "⏎")
    let text = session.screen().description
    #expect(text.contains("“name”") && text.contains("“serves”"), "\(text)")
    try session.send("Esc", "c")
    #expect(session.state.diff.lines.map(\.property) == [nil, "gone"])
    try session.send("c", "/", "s", "e", "r", "v", "e", "s")
    #expect(session.state.diff.selectedLine?.property == "serves")
  }

  @Test("a wide screen has them all")
  func keptWide() throws {
    let session = try keptSession(width: 120)
    #expect(session.state.diff.lines.map(\.property) == [nil, "name", "gone", "serves"])
  }
}
