import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

@Suite("Migrate: the word before the cut-over, the receipt, the way back, the log")
struct MigrateTests {
  private static func running(pausing: Bool = false) throws -> (Session, TaskID) {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4")
    if pausing { try session.send("p") }
    try session.send("⏎", "y")
    guard case .migrate(let id, _, _, let confirms)? = session.effects.last else {
      throw CoreDataError(.usage, "nothing was started")
    }
    #expect(confirms == pausing)
    return (session, id)
  }

  private static func progress(_ done: Int) -> MigrationProgress {
    MigrationProgress(
      parts: [
        .init(
          kind: .copy, title: "copy store", unit: .bytes, done: 2000, total: 2000, seconds: 0.5,
          isFinished: true),
        .init(kind: .entity, title: "Recipe", unit: .rows, done: done, total: 100),
      ], current: 1, elapsed: 1)
  }

  private static func backup(_ name: String) -> BackupEntry {
    BackupEntry(
      backup: StoreBackup(
        path: "/tmp/\(name)", origin: .migration, bytes: 4_100_000, modified: 0, named: 0),
      contents: .success(.init(uuid: "A", versionIdentifiers: ["1"], counts: ["Recipe": 7])),
      date: "2024-03-01 13:00")
  }

  @Test("with p the result waits for y, and its receipt is seen meanwhile")
  func pausing() throws {
    var (session, id) = try Self.running(pausing: true)
    try session.send(.answer(id, .verified(SampleStore.receipt)))
    let text = session.screen().description
    #expect(text.contains("the store is not replaced yet"))
    #expect(text.contains("y replace the store    n discard the result"))
    #expect(text.contains("Recipes.backup-1, 1.2 MB") && text.contains("no additional space"))
    try session.send("1")
    #expect(session.screen().description.contains("▶ waits on 4"))
    try session.send("4", "y")
    #expect(session.effects.last == .confirmCutover(id, true))
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    #expect(session.screen().description.contains("to roll back: b, or"))
  }

  @Test(
    "a store out of a container is never migrated in its place, nor rolled back: it is told how")
  func copy() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    session.state.copy = CopyPlace(
      root: "/tmp/strata-copy.x/copy", prefix: "/data/Backup.zip//", noun: "the archive or folder")
    try session.send("4", "⏎")
    let isStarted = session.effects.contains { if case .migrate = $0 { true } else { false } }
    #expect(!isStarted)
    let text = session.screen().description
    #expect(text.contains("✓  can migrate, into a new file: the command below writes it"))
    #expect(text.contains("Not with ⏎: the archive or folder is never modified."))
    #expect(text.contains("--output FILE"))
    try session.send("b")
    let asksForBackups = session.effects.contains {
      if case .find(_, .backups) = $0 { true } else { false }
    }
    #expect(!asksForBackups)
    #expect(
      session.state.known.named("/tmp/strata-copy.x/copy/a/M.momd@2")
        == "/data/Backup.zip//a/M.momd@2")
    #expect(session.state.known.named("/tmp/other") == "/tmp/other")
    let error = CoreDataError(.unreadable, "gone", path: "/tmp/strata-copy.x/copy/a/A.sqlite")
    #expect(session.state.known.named(error).path == "/data/Backup.zip//a/A.sqlite")
  }

  @Test("commands for a private copy name the model that the store was opened with")
  func model() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    let folder = "/tmp/strata-copy.x/copy"
    session.state.copy = CopyPlace(root: folder, prefix: "/data/", noun: "a binary store")
    try session.send("4")
    #expect(!session.screen().description.contains("--from"))
    session.state.copy = CopyPlace(
      root: folder, prefix: "/data/", noun: "a binary store", model: "My App.momd")
    #expect(session.screen().description.contains("--from 'My App.momd'"))
    #expect(session.state.context.storeArgument.hasSuffix(" --model 'My App.momd'"))
  }

  @Test("what will happen begins with the verdict and scrolls to its end")
  func scrolling() throws {
    let losses = (1...60).map { Loss(entity: "Soup", property: "value\($0)", values: $0) }
    var session = try Session(width: 80, height: 24, plan: SampleStore.plan(losses: losses))
    try session.send("4")
    let first = session.screen().description
    #expect(first.contains("✗  cannot migrate: 1 value of Soup.value1 would be lost"), "\(first)")
    #expect(first.contains("→  m shows it in Mapping"))
    #expect(first.contains("!  60 losses: 1,830 values, 60 not accepted yet"))
    #expect(first.contains("1–20 of "))
    #expect(!first.contains("as a command"))
    #expect(first.split(separator: "\n").last?.hasPrefix(" m mapping") == true)
    try session.send("G")
    #expect(session.screen().description.contains("the old store stays beside it as a backup"))
  }

  @Test("o opens the choice also where there is no other version")
  func choosing() throws {
    var session = try Session()
    session.state.versions = []
    session.state.mapping.to = nil
    try session.send("4", "P")
    #expect(
      session.state.notice?.text
        == "P plan again: no other version of the model was found; o, then p takes one by its path")
    try session.send("o")
    #expect(session.state.layers.last?.content is VersionsLayer)
  }

  @Test("p says that it will stop, not that something was made")
  func pauseNotice() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "p")
    #expect(session.state.notice?.text == "will ask again before the cut-over")
  }

  @Test("a click on migrate asks first, and y migrates")
  func clicking() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4")
    try session.send(.key(.mouse(.press, x: 3, y: 29)))
    #expect(!session.state.migrate.isRunning)
    try session.send("y")
    #expect(session.state.migrate.isRunning)
  }

  @Test("quitting while the result waits says that it is discarded")
  func quittingWhileWaiting() throws {
    var (session, id) = try Self.running(pausing: true)
    try session.send(.answer(id, .verified(SampleStore.receipt)))
    try session.send("1", "q")
    let text = session.screen().description
    #expect(text.contains("verified and waits for the cut-over"), "\(text)")
    #expect(text.contains("discard it and quit"))
    // On Migrate itself q is an answer to its question.
    try session.send("n", "4", "q")
    #expect(session.screen().description.contains("Discard the result?"))
  }

  @Test("a try that was stopped by hand is no failure")
  func stopped() throws {
    var (session, id) = try Self.running()
    try session.send("^C")
    try session.send(.failed(id, CoreDataError(.cancelled, "cancelled")))
    #expect(
      session.screen().description.contains("You stopped the last attempt; the store is unchanged"))
  }

  @Test("Escape asks, and discards the result")
  func discarding() throws {
    var (session, id) = try Self.running(pausing: true)
    try session.send(.answer(id, .verified(SampleStore.receipt)))
    try session.send("Esc", "n")
    #expect(session.state.migrate.phase == .verified(SampleStore.receipt))
    try session.send("Esc", "y")
    #expect(session.effects.last == .confirmCutover(id, false))
    try session.send(.failed(id, CoreDataError(.cancelled, "the result was discarded")))
    #expect(session.state.notice?.text == "the result was discarded; the store is unchanged")
    #expect(session.state.mapping.plan != nil, "it can be tried again at once")
  }

  @Test("the header tells on every screen how far it is, and the end is told there")
  func badge() throws {
    var (session, id) = try Self.running()
    try session.send(.answer(id, .progress(Self.progress(50))))
    for screen in ["1", "2", "3"] {
      try session.send(screen)
      #expect(session.screen().description.contains("▶ 75 %"), "\(screen)")
    }
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    #expect(
      session.state.notice?.text == "migrated to “Recipes 2” and verified; 4 shows the receipt")
    #expect(!session.screen().description.contains("▶ "))
  }

  @Test("the question whether to quit goes when the migration has ended")
  func quitQuestion() throws {
    var (session, id) = try Self.running()
    try session.send("q")
    #expect(session.state.layers.last?.content is ConfirmLayer)
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    #expect(session.state.layers.isEmpty)
    try session.send("q")
    #expect(session.effects.last == .quit)
  }

  @Test("after a receipt Enter browses, and nothing offers to migrate once more")
  func footer() throws {
    var (session, id) = try Self.running()
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    session.state.notice = nil
    let foot = session.screen().description.split(separator: "\n").last ?? ""
    #expect(foot.contains("⏎ browse the result") && foot.contains("b roll back"))
    #expect(!foot.contains("⏎ migrate"))
    try session.send("⏎")
    #expect(session.state.screen == .browse)
  }

  @Test("a receipt is written where a person says, and replaces a file only when asked twice")
  func writing() throws {
    var (session, id) = try Self.running()
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    try session.send("w", "⏎")
    guard case .writeReceipt(let task, let receipt, _, let path, false)? = session.effects.last
    else {
      Issue.record("nothing is written")
      return
    }
    #expect(receipt == .migration(SampleStore.receipt) && path == "Recipes-receipt.json")
    try session.send(.failed(task, CoreDataError(.refused, "the file exists")))
    #expect(session.screen().description.contains("the file exists"))
    try session.send("⏎")
    guard case .writeReceipt(let second, _, _, _, true)? = session.effects.last else {
      Issue.record("it is not replaced")
      return
    }
    try session.send(.answer(second, .wroteReceipt(path: path)))
    #expect(session.state.layers.isEmpty)
    #expect(session.state.notice?.text == "the receipt is in Recipes-receipt.json")
  }

  @Test("b lists the backups, says what is restored, and rolls back after a yes")
  func rollingBack() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "b")
    guard case .find(let task, .backups)? = session.effects.last else {
      Issue.record("no backups are looked for")
      return
    }
    #expect(session.screen().description.contains("looking for backups …"))
    try session.send(
      .answer(task, .backups([Self.backup("Recipes.backup-2"), Self.backup("Recipes.backup-1")])))
    try session.send("j", "⏎")
    let question = session.screen().description
    #expect(question.contains("Restores Recipes.backup-1"), "\(question)")
    #expect(question.contains("7 objects"))
    #expect(question.contains("Recipes.backup-1 is removed"))
    #expect(question.contains("Recipes.undone-1, 1.2 MB"))
    try session.send("y")
    guard case .rollBack(let id, let options)? = session.effects.last else {
      Issue.record("nothing is rolled back")
      return
    }
    #expect(options.from == "/tmp/Recipes.backup-1" && options.keepsPresent)
    try session.send(.answer(id, .progress(Self.progress(50))))
    #expect(session.screen().description.contains("rolling back to Recipes.backup-1"))
    var receipt = StoreRollback.Receipt(
      storePath: "Recipes.sqlite", backup: Self.backup("Recipes.backup-1").backup,
      isBackupRemoved: true, undonePath: "/tmp/Recipes.undone-1",
      contents: .init(uuid: "A", versionIdentifiers: ["1"], counts: ["Recipe": 7]),
      bytes: 4_100_000)
    // Called as the versions beside the store call it.
    receipt.contents.versionHashes = try SampleStore.model(1).versionHashes
    try session.send(.answer(id, .rolledBack(receipt)))
    let text = session.screen().description
    #expect(text.contains("rolled back to Recipes.backup-1, version Recipes 1"))
    #expect(text.contains("the replaced store is kept: /tmp/Recipes.undone-1"))
    #expect(
      session.effects.contains { if case .open(let task) = $0 { task != TaskID(1) } else { false } }
    )
  }

  @Test("! tells what happened when, failures too, and keeps it after the end")
  func log() throws {
    var (session, id) = try Self.running()
    try session.send(.clock("14:02:11"))
    try session.send(.answer(id, .progress(Self.progress(10))))
    try session.send(.clock("14:02:12"))
    try session.send(.answer(id, .progress(Self.progress(20))))
    try session.send(.failed(id, CoreDataError(.failed, code: 13, "the disk is full")))
    try session.send("Esc", "!")
    let text = session.screen().description
    #expect(text.contains("14:02:11 ✓ copy store, 2.0 kB in 500 ms"), "\(text)")
    #expect(text.contains("14:02:12 ✗ the disk is full (13)"))
    #expect(text.split(separator: "\n").count { $0.contains("copy store") } == 1)
  }

  @Test("a store that changed meanwhile is planned for again by P")
  func planAgain() throws {
    var (session, id) = try Self.running()
    var error = CoreDataError(.failed, code: 134110, "the store was changed by another program")
    error.isStale = true
    try session.send(.failed(id, error))
    try session.send("Esc")
    let text = session.screen().description
    #expect(text.contains("P plans again"), "\(text)")
    try session.send("P")
    guard case .plan? = session.effects.last else {
      Issue.record("nothing is planned")
      return
    }
    #expect(session.state.migrate.phase == .ready)
  }

  /// A session whose plan is outlined and not made yet.
  private static func outlined(rows: [String: Int]) throws -> (Session, TaskID) {
    var step = try #require(try SampleStore.plan().steps.first)
    step.rows = rows
    var session = try Session(width: 120, height: 36)
    var task: TaskID?
    session.otherAnswer = { effect in
      guard case .plan(let id, _) = effect else { return nil }
      return [.answer(id, .outlined(PlanOutline([step])))]
    }
    try session.send("4")
    task = session.state.mapping.task
    return (session, try #require(task))
  }

  @Test("while it is planned, the mapping is told and what is counted, and nothing can be started")
  func outline() throws {
    var (session, task) = try Self.outlined(rows: ["IEM_Transform_Recipe": 8_572])
    let text = session.screen().description
    #expect(text.contains("the plan is being made; ^C stops that"), "\(text)")
    #expect(text.contains("8,572 objects so far, counting …; of "), "\(text)")
    #expect(text.contains("counting losses, checking the rows"))
    #expect(!text.contains("no loss") && !text.contains("can migrate"))
    try session.send("⏎")
    #expect(!session.effects.contains { if case .migrate = $0 { true } else { false } })

    try session.send("3")
    let list = session.screen().description
    #expect(list.contains(/Recipe +8,572/), "\(list)")
    #expect(list.contains(/Draft +counting …/), "\(list)")
    // None of its keys has anything to take hold of.
    try session.send("j", "⏎", "a", "Tab", "4")

    try session.send(.answer(task, .planned(try SampleStore.plan())))
    #expect(session.state.mapping.outline == nil)
    let done = session.screen().description
    var whole = try Session(width: 120, height: 36)
    try whole.send("4")
    #expect(done == whole.screen().description)
  }

  @Test("an outline of a plan that was stopped is not shown")
  func stoppedOutline() throws {
    var (session, task) = try Self.outlined(rows: [:])
    let step = try #require(session.state.mapping.outline?.steps.first)
    try session.send("^C")
    #expect(session.state.mapping.outline == nil)
    try session.send(.answer(task, .outlined(PlanOutline([step]))))
    #expect(session.state.mapping.outline == nil)
    #expect(!session.screen().description.contains("counting …"))
  }

  @Test("an outline fits every screen", arguments: [(1, 1), (20, 5), (40, 12), (80, 24)])
  func smallOutline(width: Int, height: Int) throws {
    var (session, _) = try Self.outlined(rows: [:])
    for screen in ["3", "4"] {
      try session.send(screen)
      try session.send(.resized(Size(width: width, height: height)))
      #expect(session.screen().size == Size(width: width, height: height))
    }
  }

  @Test("a store replaced under our feet is told, and read again by ^R")
  func replaced() throws {
    var session = try Session()
    try session.send(.storeChanged(.replaced))
    #expect(session.state.notice?.text.contains("^R reads it") == true)
    #expect(session.screen().description.contains("! replaced: ^R"))
    try session.send("^R")
    guard
      session.effects.contains(where: {
        if case .open(let id) = $0 { id != TaskID(1) } else { false }
      })
    else {
      Issue.record("it is not opened")
      return
    }
    #expect(session.state.known.news.change == nil)
    #expect(!session.screen().description.contains("! replaced"))
  }

  @Test(
    "nothing traps on a tiny screen",
    arguments: [Size(width: 1, height: 1), Size(width: 40, height: 10)])
  func tiny(size: Size) throws {
    var (session, id) = try Self.running(pausing: true)
    session.state.size = size
    _ = session.screen()
    try session.send(.answer(id, .progress(Self.progress(10))))
    _ = session.screen()
    try session.send(.answer(id, .verified(SampleStore.receipt)))
    for key in ["Esc", "n", "!", "Esc"] {
      try session.send(key)
      _ = session.screen()
    }
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    for key in ["w", "Esc", "b"] {
      try session.send(key)
      _ = session.screen()
    }
  }
}
