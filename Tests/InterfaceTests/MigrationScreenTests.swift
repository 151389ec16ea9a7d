import Interface
import ManagedModel
import ManagedStore
import Migration
import Terminal
import Testing

@Suite("Diff, Mapping and Migrate")
struct MigrationScreenTests {
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

  @Test("a loss of values is accepted by a key, one of objects by the entity's name")
  func losses() throws {
    var session = try Session()
    try session.send("3", "Tab", "a")
    guard case .allowLoss = session.state.layers.last else {
      Issue.record("the name is not asked for")
      return
    }
    try session.send("⏎")
    #expect(session.state.mapping.allowedLosses.isEmpty)
    for key in ["D", "r", "a", "f", "t", "⏎"] { try session.send(key) }
    #expect(session.state.mapping.allowedLosses == ["Draft"])
    try session.send("a")
    #expect(session.state.mapping.allowedLosses == ["Draft", "Soup.isHot"])
    #expect(
      session.state.mapping.command(session.state)
        == "strata migrate Recipes.sqlite --to 'Recipes.xcdatamodeld@Recipes 2'"
        + " --allow-loss Draft --allow-loss Soup.isHot")
  }

  @Test("Enter refuses with the reason while values would be lost")
  func refused() throws {
    var session = try Session()
    try session.send("4", "⏎")
    #expect(!session.state.migrate.isRunning)
    #expect(session.state.notice?.text.contains("2 objects of Draft would be lost") == true)
  }

  @Test("a migration runs, is told of, ends in a receipt, and the store is opened again")
  func migration() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎")
    guard case .migrate(let id, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send(.progress(id, MigrationProgress(parts: [])))
    #expect(session.state.migrate.isRunning)
    try session.send("q")
    #expect(!session.effects.contains(.quit), "q asks first")
    try session.send("n")
    try session.send(.migrated(id, SampleStore.receipt))
    #expect(session.state.migrate.phase == .done(SampleStore.receipt))
    #expect(
      session.effects.contains { if case .open(let task) = $0 { task != TaskID(1) } else { false } }
    )
  }

  @Test("^C stops the migration, and twice with nothing running quits")
  func interrupting() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎")
    guard case .migrate(let id, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send("^C")
    #expect(session.effects.last == .cancel(id))
    #expect(session.screen().description.contains("the store stays as it was"))
    try session.send(.failed(id, CoreDataError(.cancelled, "cancelled")))
    #expect(!session.state.migrate.isRunning)
    try session.send("^C")
    #expect(!session.effects.contains(.quit))
    try session.send("^C")
    #expect(session.effects.contains(.quit))
  }

  @Test("an error is a popup with what happened and what to try")
  func errors() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎")
    guard case .migrate(let id, _, _)? = session.effects.last else { return }
    try session.send(
      .failed(id, CoreDataError(.failed, code: 134110, "it broke", hint: "Try a copy.")))
    let text = session.screen().description
    #expect(text.contains("error 134110") && text.contains("it broke"))
    #expect(text.contains("→ Try a copy."))
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }
}
