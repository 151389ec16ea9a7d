import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

@Suite("Copying from every screen")
struct CopyTests {
  /// The text that went to the clipboard last.
  private func copied(_ session: Session) -> String? {
    if case .copy(let text)? = session.effects.last { text } else { nil }
  }

  @Test("Diff copies its line with both sides, or what it means")
  func diff() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("2", "/", "p", "o", "r", "t", "⏎", "y", "y")
    #expect(copied(session)?.hasPrefix("~ Recipe.portions: serves Integer 16") == true)
    try session.send("y", "j", "⏎")
    #expect(copied(session)?.contains("its renaming identifier “serves”") == true)
  }

  @Test("Mapping copies the mapping with its properties, and the command lines")
  func mapping() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "y", "⏎")
    #expect(copied(session)?.contains("portions  ← $source.serves") == true)
    try session.send("y", "j", "⏎")
    #expect(
      copied(session)
        == "strata migrate Recipes.sqlite --to 'Recipes.xcdatamodeld@Recipes 2'")
  }

  @Test("the popup of the SQL copies all statements")
  func statements() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "S")
    guard case .compute(let task, .statements)? = session.effects.last else {
      Issue.record("the statements were not asked for")
      return
    }
    try session.send(
      .answer(
        task, .statements([MigrationStatement(step: 1, part: "Recipe", sql: "DROP TABLE ZDRAFT")])))
    try session.send("y")
    #expect(copied(session) == "-- Recipe\nDROP TABLE ZDRAFT;\n")
    #expect(session.state.layers.count == 1, "it stays to be read")
  }

  @Test("Migrate copies its command line, and the receipt as JSON when there is one")
  func receipt() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "y", "⏎")
    #expect(copied(session)?.hasPrefix("strata migrate Recipes.sqlite --to ") == true)
    try session.send("⏎", "y")
    guard case .migrate(let task, _, _, _)? = session.effects.last else {
      Issue.record("nothing runs")
      return
    }
    try session.send(.answer(task, .migrated(SampleStore.receipt)))
    session.effects = []
    try session.send("y", "⏎")
    let asked = session.effects.contains {
      if case .copyText(_, .json, .receipt(SampleStore.receipt)) = $0 { true } else { false }
    }
    #expect(asked)
  }

  @Test("the log and the help page are copied as they are read")
  func popups() throws {
    var session = try Session()
    try session.send("!", "y")
    #expect(copied(session)?.contains("opened Recipes.sqlite") == true)
    try session.send("Esc", "?", "/", "r", "o", "l", "l", "⏎", "y")
    #expect(copied(session)?.contains("b  roll back  strata rollback Recipes.sqlite") == true)
    #expect(copied(session)?.contains("quit") == false)
  }

  @Test("yy copies the value, the menu its other forms")
  func copying() throws {
    var session = try Session()
    try session.send("l", "l", "y", "y")
    #expect(
      session.effects.contains {
        if case .copy(let text) = $0 { text.hasPrefix("value of") } else { false }
      })
    #expect(session.state.layers.isEmpty)
    #expect(session.state.notice?.text.contains("sent to the terminal's clipboard") == true)
    try session.send("y", "j", "Enter")
    #expect(
      session.effects.contains {
        if case .copy(let text) = $0 { text.hasPrefix("json of") } else { false }
      })
    try session.send("y", "G", "Enter")
    #expect(session.effects.contains(.copy("strata object Recipes.sqlite Recipe/p1")))
  }

  @Test("a value too large for a terminal is not sent, and that is said")
  func tooLarge() throws {
    var session = try Session()
    session.answers = false
    try session.send("l", "l", "y", "y")
    let task = try #require(
      session.effects.compactMap { effect -> TaskID? in
        if case .copyText(let id, _, _) = effect { id } else { nil }
      }.last)
    try session.send(.answer(task, .copied(String(repeating: "x", count: 100_001))))
    #expect(!session.effects.contains { if case .copy = $0 { true } else { false } })
    #expect(session.state.notice?.text.contains("too much") == true)
  }
}
