import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration
@testable import Rescue

@Suite("Before a store is changed or made: what will happen, y and n")
struct ConfirmationTests {
  /// A question, reached as a person reaches it.
  enum Question: String, CaseIterable {
    case migrate, cutover, rollBack, repair, salvage, restore, recover

    /// The interface with the question on it.
    func session(width: Int = 80, height: Int = 24) throws -> Session {
      var session = try Session(
        width: width, height: height, plan: SampleStore.plan(losses: []))
      switch self {
      case .migrate: try session.send("4", "⏎")
      case .cutover:
        try session.send("4", "p", "⏎", "y")
        guard case .migrate(let id, _, _, confirms: true)? = session.effects.last else {
          throw CoreDataError(.failed, "nothing was started")
        }
        try session.send(.answer(id, .verified(SampleStore.receipt)))
      case .rollBack:
        try session.send("4", "b")
        guard case .find(let id, .backups)? = session.effects.last else {
          throw CoreDataError(.failed, "no backups are looked for")
        }
        let backup = StoreBackup(
          path: "/tmp/Recipes.backup-1", origin: .migration, bytes: 4_100_000, modified: 0, named: 0
        )
        let contents = StoreBackup.Contents(
          uuid: "A", versionIdentifiers: ["1"], counts: ["Recipe": 7])
        let entry = BackupEntry(
          backup: backup, contents: .success(contents), date: "2024-03-01 13:00")
        try session.send(.answer(id, .backups([entry])))
        try session.send("⏎")
      case .repair:
        session.otherAnswer = { effect in
          guard case .diagnose(let id) = effect else { return nil }
          let finding = Finding(
            .primaryKey, "Z_MAX of Recipe is 1.", count: 1, in: StorePlace(path: "Recipes.sqlite"))
          return [
            .answer(id, .diagnosed(StoreCondition(findings: [finding]))), .answer(id, .held(nil)),
          ]
        }
        try session.send("5", "f", "⏎")
      case .salvage: try session.send("5", "s", "⏎")
      case .restore:
        try session.send("5", "u")
        guard case .rescue(let id, _)? = session.effects.last else {
          throw CoreDataError(.failed, "nothing is looked for")
        }
        try session.send(.answer(id, .found(try SampleStore.remains())))
        try session.send("u", "⏎")
      case .recover: try session.send(.leftovers(ConfirmationTests.leftovers))
      }
      session.effects = []
      return session
    }

    /// Whether it names a backup.
    var keepsBackup: Bool { [.migrate, .cutover, .rollBack, .repair].contains(self) }
  }

  static let leftovers = StoreLeftovers([
    "A migration of this store was interrupted before it changed anything; it left "
      + ".strata-migrating-Recipes.sqlite-abcdef. The next migrate, repair, reset or rollback of it "
      + "removes that."
  ])

  /// The effects that change a store or make one.
  private static func changes(_ session: Session) -> [Effect] {
    session.effects.filter { effect in
      switch effect {
      case .migrate, .confirmCutover(_, true), .rollBack, .recover: true
      case .rescue(_, .search): false
      case .rescue: true
      default: false
      }
    }
  }

  @Test("y does it, once", arguments: Question.allCases)
  func yes(question: Question) throws {
    var session = try question.session()
    try session.send("y")
    #expect(Self.changes(session).count == 1)
    try session.send("y")
    #expect(Self.changes(session).count == 1)
  }

  @Test(
    "n, Escape and q are no, and leave no question that y would answer",
    arguments: Question.allCases
  )
  func no(question: Question) throws {
    for key in ["n", "Esc", "q"] {
      var session = try question.session()
      try session.send(key)
      // What waits for the cut-over asks once more before it is discarded; there y discards.
      if question == .cutover { #expect(session.state.layers.count == 1) }
      try session.send("y")
      #expect(Self.changes(session).isEmpty, "\(key)")
      #expect(!session.effects.contains(.quit))
    }
  }

  @Test("Enter, other keys and pasted text are neither", arguments: Question.allCases)
  func neither(question: Question) throws {
    var session = try question.session()
    let layers = session.state.layers
    try session.send("⏎", "⏎", "Space", "x", "Y", "N", "1")
    for text in ["4\n\n", "y", "y\n", "n"] { try session.send(.key(.paste(text))) }
    #expect(Self.changes(session).isEmpty)
    #expect(session.state.layers.map(\.id) == layers.map(\.id))
    if question != .cutover {
      try session.send("y")
      #expect(Self.changes(session).count == 1, "the question still stands")
    }
  }

  @Test("before the folder was looked at y does nothing, however fast it is pressed")
  func unknown() throws {
    for question in Question.allCases where question.keepsBackup && question != .cutover {
      var session = try question.session()
      session.answers = false
      try session.send("n")
      // The popup opens again without an answer.
      switch question {
      case .migrate: try session.send("⏎")
      case .repair: try session.send("f", "⏎")
      default: continue
      }
      #expect(session.screen().description.contains("checking the folder"))
      try session.send("y", "y")
      #expect(Self.changes(session).isEmpty)
      #expect(session.state.notice?.text.contains("the folder is still being checked") == true)
    }
  }

  @Test(
    "4⏎⏎, typed or pasted, changes nothing on any screen", arguments: Screen.allCases)
  func pasted(screen: Screen) throws {
    for plan in [try SampleStore.plan(losses: []), try SampleStore.plan()] {
      var session = try Session(width: 80, height: 24, plan: plan)
      try session.send(String(screen.rawValue))
      try session.send(.key(.paste("4\n\n")))
      #expect(Self.changes(session).isEmpty)
      try session.send("4", "⏎", "⏎", "⏎")
      #expect(Self.changes(session).isEmpty)
      #expect(!session.state.migrate.isRunning)
    }
  }

  @Test("the backup, the room on disk and the two answers are seen", arguments: Question.allCases)
  func facts(question: Question) throws {
    for (width, height) in [(80, 24), (120, 36), (60, 20)] {
      let text = try question.session(width: width, height: height).screen().description
      if question.keepsBackup {
        #expect(text.contains("1.2 MB") && text.contains("Backup"), "\(text)")
      }
      if question != .recover { #expect(text.contains("On disk"), "\(text)") }
      #expect(text.contains("y ") && text.contains("    n "), "\(text)")
    }
    // On the smallest screen the facts come first.
    let small = try question.session(width: 40, height: 10).screen().description
    #expect(small.contains("y ") && small.contains("    n "), "\(small)")
    if question.keepsBackup { #expect(small.contains("-1, 1.2"), "\(small)") }
  }

  @Test("how two of them look", arguments: [Question.migrate, .recover])
  func look(question: Question) throws {
    try Snapshot.expect(
      question.session().screen(), named: "confirm-\(question.rawValue)-80x24")
  }

  @Test("what has no room scrolls")
  func scrolling() throws {
    var session = try Question.rollBack.session(width: 60, height: 12)
    #expect(!session.screen().description.contains("one rename"))
    try session.send("G")
    let text = session.screen().description
    #expect(text.contains("one rename") && text.contains("y roll back"), "\(text)")
  }

  @Test("unreferenced files are moved without a backup, and that is said")
  func filesAlone() throws {
    var session = try Session(width: 80, height: 24)
    session.otherAnswer = { effect in
      guard case .diagnose(let id) = effect else { return nil }
      let finding = Finding(
        .externalOrphaned, "12 files are unreferenced.", count: 12,
        in: StorePlace(path: "Recipes.sqlite"))
      return [
        .answer(id, .diagnosed(StoreCondition(findings: [finding]))), .answer(id, .held(nil)),
      ]
    }
    try session.send("5", "f", "⏎")
    let text = session.screen().description
    #expect(text.contains("Backup   none") && text.contains("no additional space"), "\(text)")
    try session.send("y")
    #expect(Self.changes(session).count == 1)
  }

  @Test("objects that go are not among those that are migrated")
  func lostObjects() throws {
    let losses = [
      Loss(entity: "Draft", values: 62), Loss(entity: "Soup", property: "isHot", values: 1_428),
    ]
    let plan = try SampleStore.plan(losses: losses)
    let state = try Session().state
    let question = Confirmation.migrate(plan, MigrationOptions(), pauses: false, state.known)
    let text = question.lines(nil).map(\.text).joined(separator: "\n")
    #expect(text.contains("Migrates 8,513 of 8,575 objects from"), "\(text)")
    #expect(text.contains("62 objects of Draft"), "\(text)")
  }

  @Test("Enter does not answer the question before the cut-over, which is asked on the screen")
  func enterBeforeCutover() throws {
    var session = try Question.cutover.session()
    let before = session.effects.count
    try session.send("⏎")
    #expect(session.effects.count == before)
  }

  @Test(
    "Enter answers no question, and says which keys do",
    arguments: Question.allCases.filter { $0 != .cutover })
  func enter(question: Question) throws {
    var session = try question.session()
    try #require(session.state.layers.last?.content is ConfirmLayer)
    let before = session.effects.count
    try session.send("⏎")
    #expect(session.effects.count == before)
    let notice = try #require(session.state.notice?.text)
    #expect(notice.contains("y: ") && notice.contains("n: "), "\(notice)")
  }

  @Test("d asks for the entity's name, as a does")
  func deleting() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("3", "Tab")
    session.effects = []
    try session.send("d", "⏎", "y")
    #expect(session.screen().description.contains("deletes the objects of Draft on purpose: 2"))
    #expect(session.state.mapping.currentEdits.isEmpty && session.effects.isEmpty)
    try session.send("Esc", "d")
    for key in ["D", "r", "a", "f", "t"] { try session.send(key) }
    #expect(session.state.mapping.currentEdits.isEmpty)
    try session.send("⏎")
    #expect(session.state.mapping.currentEdits.deletions == ["Draft"])
  }
}

@Suite("What an interrupted run left")
struct RecoveryTests {
  private static func recoveries(_ session: Session) -> [TaskID] {
    session.effects.compactMap { if case .recover(let id) = $0 { id } else { nil } }
  }

  @Test("recovery begins with y, its result is shown, and the store is read again")
  func recovering() throws {
    var session = try ConfirmationTests.Question.recover.session()
    try session.send("y")
    let id = try #require(Self.recoveries(session).first)
    try session.send(.answer(id, .recovered(["An earlier run was interrupted: removed."])))
    #expect(session.state.notice?.text == "An earlier run was interrupted: removed.")
    #expect(session.effects.contains { if case .open = $0 { true } else { false } })
    // What could not be put right is asked about no second time by itself.
    try session.send(.leftovers(ConfirmationTests.leftovers))
    #expect(session.state.layers.isEmpty)
    try session.send("^R")
    try session.send(.leftovers(ConfirmationTests.leftovers))
    #expect(session.state.layers.last?.content is ConfirmLayer)
  }

  @Test("a no says what does it later")
  func declining() throws {
    var session = try ConfirmationTests.Question.recover.session()
    try session.send("n")
    #expect(Self.recoveries(session).isEmpty && session.state.layers.isEmpty)
    #expect(
      session.state.notice?.text
        == "nothing was changed; the next migrate, repair, reset or rollback recovers first")
  }

  @Test("a run that is under way is no question")
  func busy() throws {
    var session = try Session()
    let busy = StoreLeftovers(
      ["Another strata process is working on this store."], isRecoverable: false)
    try session.send(.leftovers(busy))
    #expect(session.state.layers.isEmpty)
    #expect(session.state.notice?.text == "Another strata process is working on this store.")
  }

  @Test("the question waits below a popup that is open, whose text is no answer")
  func below() throws {
    var session = try Session()
    try session.send("Tab", "/")
    try session.send(.leftovers(ConfirmationTests.leftovers))
    try session.send("y")
    #expect(Self.recoveries(session).isEmpty)
    try session.send("Esc", "y")
    #expect(Self.recoveries(session).count == 1)
  }
}
