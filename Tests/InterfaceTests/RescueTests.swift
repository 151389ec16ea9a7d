import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import Rescue

@Suite("Rescue")
struct RescueTests {
  private static func diagnoses(_ session: Session) -> Int {
    session.effects.count { if case .diagnose = $0 { true } else { false } }
  }

  /// A session in which a salvage was begun.
  private static func salvaging() throws -> (session: Session, id: TaskID) {
    var session = try Session()
    try session.send("5", "s", "⏎", "y")
    guard case .rescue(let id, _)? = session.effects.last else {
      throw CoreDataError(.failed, "nothing was begun")
    }
    return (session, id)
  }

  @Test("of what was deleted the key is named that looks for it")
  func deletions() {
    let finding = Finding(.deletions, "2 keys are out of use.", in: StorePlace(path: "a.sqlite"))
    let lines = FindingText(finding).lines(width: 60).map(\.text.printable)
    #expect(lines.contains("→ u: look for what is left of them"))
    #expect(lines.contains("strata undelete a.sqlite"))
    #expect(finding.severity == .note && !finding.isRepaired)
  }

  @Test("doctor looks at a whole store when the screen is first shown, and once")
  func once() throws {
    var session = try Session()
    #expect(Self.diagnoses(session) == 0)
    try session.send("5", "1", "5")
    #expect(Self.diagnoses(session) == 1)
    try session.send("P")
    #expect(Self.diagnoses(session) == 2)
    try session.send("^R")
    #expect(Self.diagnoses(session) == 3, "the store may be another one")
  }

  @Test("that a key has to wait is said until it need not")
  func refusal() throws {
    var session = try Session()
    try session.send("5")
    session.otherAnswer = { if case .open = $0 { [] } else { nil } }
    try session.send("^R", "s")
    #expect(session.state.notice?.text == "s salvage: the store is being opened")
    try session.send(.clock("12:05"))
    #expect(session.state.notice != nil)
    let task = try #require(session.state.openTask)
    try session.send(.answer(task, .opened(try SampleStore.summary())))
    #expect(session.state.notice == nil)
    // What else is said stays.
    try session.send(.notice(Notice("copied")))
    try session.send(.clock("12:06"))
    #expect(session.state.notice?.text == "copied")
  }

  @Test("a store of which rows are lost opens here, whatever was last in sight")
  func damaged() throws {
    var state = State(storePath: "Recipes.sqlite", size: Size(width: 100, height: 30))
    var saved = SavedSession()
    saved.screen = Screen.diff.rawValue
    state.restore(saved)
    var session = try Session(restoring: state)
    #expect(session.state.screen == .diff)
    state.restore(saved)
    session.state = state
    session.otherAnswer = { effect in
      guard case .open(let id) = effect else { return nil }
      var summary = try SampleStore.summary()
      summary.gap = "rows lost in 9 places"
      return [.answer(id, .opened(summary))]
    }
    try session.send(.start)
    #expect(session.state.screen == .rescue && Self.diagnoses(session) == 1)
    let header = session.screen().row(0)
    #expect(header.contains("✗ rows lost in 9 places") && header.contains("▸5 Rescue"), "\(header)")
    // Looking at the rows afterwards is not undone by reading the store again.
    try session.send("1", "^R")
    #expect(session.state.screen == .browse)
  }

  @Test("of a store that does not open there is this screen alone")
  func unopened() throws {
    var session = try Session()
    session.state = State(storePath: "Recipes.sqlite", size: Size(width: 100, height: 30))
    session.otherAnswer = { effect in
      guard case .open(let id) = effect else { return nil }
      var condition = SampleStore.condition
      condition.findings.removeAll { $0.kind != .cutOff }
      condition.isComplete = false
      return [
        .answer(id, .unopened(CoreDataError(.unreadable, "the file is cut off"), condition))
      ]
    }
    try session.send(.start)
    let text = session.screen().description
    for part in [
      "✗ does not open", "cut-off", "66 of 640 pages", "s salvages what can still be read",
      "Values and links were not checked",
    ] {
      #expect(text.contains(part), "“\(part)” is not in\n\(text)")
    }
    for key in ["1", "2", "3", "4"] {
      try session.send(key)
      #expect(session.state.screen == .rescue)
      #expect(session.state.notice?.text.contains("the store does not open") == true)
    }
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("s salvages it first") == true)
    // It may have been put right meanwhile.
    session.otherAnswer = nil
    try session.send("^R")
    #expect(session.state.store != nil && session.state.refusal == nil)
    try session.send("1")
    #expect(session.state.screen == .browse)
  }

  @Test("Enter goes to the rows that a finding is about, and says so where there are none")
  func rows() throws {
    var session = try Session()
    try session.send("5", "⏎")
    #expect(session.state.notice?.text.contains("is about the file") == true)
    try session.send("j", "⏎")
    #expect(session.state.screen == .browse)
    #expect(
      session.state.browse.table?.filter == #"SELF IN {"Recipe/p5", "Recipe/p12"}"#,
      "both are known by name")
    #expect(session.state.notice?.text.contains("5 goes back to Rescue") == true)
    try session.send("5", "j", "⏎")
    #expect(session.state.browse.table?.filter == "title == nil")
    try session.send("5", "Tab", "Tab", "⏎")
    #expect(session.state.screen == .browse && session.state.browse.table?.entity == "Recipe")
  }

  @Test("y copies the command that helps")
  func copying() throws {
    var session = try Session()
    try session.send("5", "y", "⏎")
    #expect(
      session.effects.last
        == .copy("strata salvage Recipes.sqlite --output Recipes-salvaged.sqlite"))
    try session.send("Tab", "Tab", "y", "⏎")
    guard case .copy(let table)? = session.effects.last else {
      Issue.record("nothing was copied")
      return
    }
    #expect(table.hasPrefix("entity\tlive\tdamaged\tlost (at most)\nRecipe\t8,572\t≤ 14\t747"))
  }

  @Test("a salvage asks where to, has a bar, and ends in a report that leads to the new store")
  func salvage() throws {
    var (session, id) = try Self.salvaging()
    #expect(
      session.effects.last
        == .rescue(id, .salvage(SalvageOrder(output: "Recipes-salvaged.sqlite"))))
    try session.send(.answer(id, .rescuing(.single("reading pages", 0.5, elapsed: 2))))
    try Snapshot.expect(session.screen(), named: "salvaging-100x30")
    #expect(session.screen().row(0).contains("▶ salvage 50 %"))
    try session.send("q")
    #expect(session.screen().description.contains("The salvage is running. Quitting stops it"))
    try session.send("n", "1")
    try session.send(.answer(id, .rescued(.salvaged(SampleStore.salvaged, seconds: 4))))
    #expect(session.state.notice?.text.contains("5 shows the report") == true)
    try session.send("5")
    try Snapshot.expect(session.screen(), named: "salvaged-100x30")
    try session.send("w", "⏎")
    guard
      case .writeReceipt(_, .rescue(let receipt), let text, "Recipes-report.json", false)? =
        session.effects.last
    else {
      Issue.record("the report is not written")
      return
    }
    #expect(receipt == .salvaged(SampleStore.salvaged, seconds: 4))
    // In the words of the screen, each line of it.
    #expect(text.contains("\n! ") && text.contains("at most 46 objects lost"))
    #expect(text.hasSuffix("\n") && !text.contains("\u{1B}"))
    try session.send("Esc", "Esc")
    // Closed, it can be had again; and a second store is offered another name.
    #expect(!session.screen().description.contains("at most 46 objects lost"))
    try session.send("s")
    #expect(session.screen().description.contains("Recipes-salvaged-2.sqlite"))
    try session.send("Esc", "r")
    #expect(session.screen().description.contains("at most 46 objects lost"))
    try session.send("⏎")
    #expect(session.effects.last == .choose("Recipes-salvaged.sqlite"))
    try session.send("!")
    let log = session.screen().description
    #expect(log.contains("at most 46 objects lost (keys p4920–p4965)"))
    #expect(log.contains("Metadata was made anew"))
  }

  @Test("against a -wal that is older than the store, the main file alone is salvaged")
  func withoutLog() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .diagnose(let id) = effect else { return nil }
      let older = Finding(
        .walOlder, "The -wal is older than the store.", in: StorePlace(path: "Recipes.sqlite"))
      return [.answer(id, .diagnosed(StoreCondition(findings: [older])))]
    }
    try session.send("5", "s")
    #expect(session.screen().description.contains("without the -wal"))
    try session.send("⏎", "y")
    guard case .rescue(_, .salvage(let order))? = session.effects.last else {
      Issue.record("nothing was begun")
      return
    }
    #expect(order.ignoresLog)
  }

  @Test("of a -wal of another store a person says whether it is laid over the main file")
  func foreignLog() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .diagnose(let id) = effect else { return nil }
      let foreign = Finding(
        .walForeign, "The main file alone has 12 rows; with the -wal there are 15.",
        in: StorePlace(path: "Recipes.sqlite"))
      return [.answer(id, .diagnosed(StoreCondition(findings: [foreign])))]
    }
    try session.send("5", "s")
    #expect(session.screen().description.contains("without the -wal"))
    try session.send("Tab")
    #expect(session.screen().description.contains("with the -wal,"))
    try session.send("⏎", "y")
    guard case .rescue(_, .salvage(let order))? = session.effects.last else {
      Issue.record("nothing was begun")
      return
    }
    #expect(!order.ignoresLog && order.isLogForeign)
  }

  @Test("^C stops a salvage, and the findings are there again")
  func cancelling() throws {
    var (session, id) = try Self.salvaging()
    try session.send("^C")
    #expect(session.effects.last == .cancel(id))
    #expect(session.screen().description.contains("stopping"))
    try session.send(.failed(id, CoreDataError(.cancelled, "cancelled")))
    #expect(session.state.rescue.phase == .findings && session.state.work == nil)
    #expect(session.screen().description.contains("nothing was left of the new store"))
  }

  @Test("a file that is there, and a model that is needed, are asked for again")
  func again() throws {
    var (session, id) = try Self.salvaging()
    try session.send(.failed(id, CoreDataError(.refused, "the file exists already")))
    #expect(session.screen().description.contains("the file exists already"))
    try session.send("⏎", "y")
    guard case .rescue(let second, .salvage(let order))? = session.effects.last else {
      Issue.record("it was not begun again")
      return
    }
    #expect(order.output == "Recipes-salvaged-2.sqlite")
    try session.send(
      .failed(
        second,
        CoreDataError(.unreadable, "the schema is gone", advice: "Give it with \(.model).")))
    #expect(session.screen().description.contains("Which model made the store?"))
    for key in ["M", "⏎", "y"] { try session.send(key) }
    guard case .rescue(let third, .salvage(let whole))? = session.effects.last else {
      Issue.record("it was not begun with the model")
      return
    }
    #expect(whole == SalvageOrder(output: "Recipes-salvaged-2.sqlite", model: "M"))
    try session.send(.failed(third, CoreDataError(.unreadable, "nothing can be read")))
    #expect(session.screen().description.contains("nothing can be read"))
    #expect(session.state.work == nil)
  }

  @Test("a model that is needed to tell what was deleted is asked for, too")
  func modelOfSearch() throws {
    var session = try Session()
    try session.send("5", "u")
    guard case .rescue(let id, _)? = session.effects.last else {
      Issue.record("nothing was begun")
      return
    }
    try session.send(
      .failed(id, CoreDataError(.unreadable, "no model", advice: "Give it with \(.model).")))
    for key in ["M", "⏎"] { try session.send(key) }
    guard case .rescue(_, .search(thenShow: false, model: "M"))? = session.effects.last else {
      Issue.record("it was not begun again")
      return
    }
  }

  @Test("of a store in a container the command names the container, and nothing is put right in it")
  func container() throws {
    var session = try Session()
    session.state = State(storePath: "App.zip//Recipes.sqlite")
    session.state.copy = CopyPlace(
      root: "/tmp/x", prefix: "App.zip//", noun: "the archive or folder")
    session.state.size = Size(width: 100, height: 30)
    try session.send(.start)
    session.answers = false
    try session.send("5")
    let task = try #require(session.state.rescue.lookTask)
    let place = StorePlace(path: "/tmp/x/Recipes.sqlite")
    let kinds: [FindingKind] = [.cutOff, .toOneDangling, .deletions, .walMissing]
    try session.send(
      .answer(
        task,
        .diagnosed(StoreCondition(findings: kinds.map { Finding($0, "It is so.", in: place) }))))
    let findings = try #require(session.state.rescue.condition?.findings)
    let commands = findings.compactMap { $0.command?.typed }
    #expect(
      commands.contains("strata salvage App.zip//Recipes.sqlite --output Recipes-salvaged.sqlite"))
    #expect(
      commands.contains(
        "strata repair App.zip//Recipes.sqlite --fix to-one-dangling --output Recipes-repaired.sqlite"
      ), "\(commands)")
    for finding in findings {
      let told = FindingText(finding, isOfCopy: true).lines(width: 200).map(\.text)
      // Nobody can type the copy's path, and the key that writes into the store is refused.
      #expect(!told.contains { $0.contains("/tmp/x") || $0.contains("→ f") }, "\(told)")
    }
    try session.send("f")
    #expect(session.state.notice?.text.contains("is never modified") == true)
  }

  @Test("no migration begins while the store is looked at, or salvaged")
  func together() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3")
    session.answers = false
    try session.send("5", "4", "⏎")
    #expect(session.state.notice?.text.contains("5 Rescue is still checking") == true)
    session.answers = true
    try session.send("5", "^C", "s", "⏎", "y", "4", "⏎")
    #expect(session.state.notice?.text.contains("the salvage is running") == true)
    #expect(!session.state.migrate.isRunning)
  }

  @Test(
    "the new store is beside the old one",
    arguments: [
      ("Recipes.sqlite", "Recipes-salvaged.sqlite"), ("/a.b/Store", "/a.b/Store-salvaged"),
      ("x/.store", "x/.store-salvaged"), ("../My store.db", "../My store-salvaged.db"),
    ])
  func names(path: String, output: String) {
    let state = State(storePath: path)
    #expect(state.context.newStore("salvaged") == output)
    var inside = state
    inside.copy = CopyPlace(root: "/tmp/x", prefix: "App.zip//", noun: "the archive or folder")
    #expect(!inside.context.newStore("salvaged").contains("/"))
    // Of an XML store it is of the SQLite type, and beside it.
    inside.copy?.whole = CopyPlace.WholeFile(
      type: "XML", file: StoreFile(role: .main, path: path, bytes: 1, modified: nil))
    inside.copy?.isContained = false
    let made = inside.context.newStore("salvaged")
    #expect(made.hasSuffix("-salvaged.sqlite") && made.contains("/") == path.contains("/"))
  }

  @Test("objects that can be read in part alone are damaged, and with other faults at most so many")
  func partial() throws {
    let recipe = EntityHolding(entity: "Recipe", live: 3)
    var part = recipe
    part.damaged = 1
    #expect(HoldingTable([part], nil).numbers(of: part) == ["3", "1", "0"])
    #expect(HoldingTable([part], SampleStore.condition).numbers(of: part) == ["3", "≤ 15", "0"])
    #expect(HoldingTable([part], nil).isConcerned(part))
    #expect(!HoldingTable([recipe], nil).isConcerned(recipe))
  }

  @Test("what nobody can count is said to be unknown, and sums do not run over")
  func losses() {
    var holding = EntityHolding(entity: "A", live: 1)
    holding.lose(0)
    #expect(holding.lost == nil)
    holding.lose(.max)
    #expect(holding.lost == .atMost(.max))
    holding.lose(1)
    #expect(holding.lost == .unknown)
    holding.lose(3)
    #expect(holding.lost == .unknown)
  }
}
