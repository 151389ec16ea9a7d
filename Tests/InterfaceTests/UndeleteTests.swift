import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Rescue

@Suite("Undelete and repair on screen 5")
struct UndeleteTests {
  /// The last piece of rescue work that was asked for.
  private static func work(_ session: Session) throws -> (id: TaskID, work: RescueWork) {
    for effect in session.effects.reversed() {
      if case .rescue(let id, let work) = effect { return (id, work) }
    }
    throw CoreDataError(.failed, "nothing was begun")
  }

  /// A session in which deleted rows were looked for.
  private static func found(_ keys: String...) throws -> Session {
    var session = try Session(width: 120, height: 30)
    for key in keys { try session.send(key) }
    try session.send("u")
    let (id, work) = try Self.work(session)
    #expect(work == .search(thenShow: false))
    try session.send(.answer(id, .found(SampleStore.remains())))
    return session
  }

  @Test("u looks for what was deleted, and the table tells how much there is")
  func search() throws {
    let session = try Self.found("5")
    #expect(session.state.notice?.text.hasPrefix("381 deleted objects, 1,458 older") == true)
    let text = session.screen().description
    #expect(text.contains("deleted      older") && text.contains("381      1,455"), "\(text)")
    #expect(session.state.log.entries.contains { $0.text == "A note of the search." })
  }

  @Test("D looks first, and then Browse shows what was deleted, each row with its origin")
  func shown() throws {
    var session = try Session(width: 120, height: 30)
    try session.send("j", "D")
    let (id, work) = try Self.work(session)
    #expect(work == .search(thenShow: true))
    try session.send(.answer(id, .rescuing(.single("reading pages", 0.25, elapsed: 1))))
    #expect(session.screen().description.contains("looking for deleted objects"))
    try session.send(.answer(id, .found(SampleStore.remains())))
    #expect(session.state.screen == .browse && session.state.remains.isShown)
    #expect(session.effects.contains(.readRemains(true)))
    let text = session.screen().description
    for part in [
      "Recipes.sqlite: deleted and older", "Deleted and older", "origin", "deleted  -wal frame 1",
      "older  -wal frame 3", "Recipe/p1 ─ deleted",
    ] {
      #expect(text.contains(part), "“\(part)” is not in\n\(text)")
    }
    // The same filter as ever, over the other rows.
    try session.send("/")
    for key in "serves > 2" { try session.send(key == " " ? "Space" : String(key)) }
    try session.send("⏎")
    #expect(session.state.browse.table?.filter == "serves > 2")
    try session.send("D")
    #expect(session.effects.contains(.readRemains(false)) && !session.state.remains.isShown)
    #expect(session.state.browse.table?.filter == nil)
    #expect(session.state.store?.fileName == "Recipes.sqlite")
    #expect(!session.screen().description.contains("origin"))
    try session.send("D")
    #expect(session.state.browse.table?.filter == "serves > 2", "as it was left")
    // The other screens are about the store itself.
    try session.send("2")
    #expect(!session.state.remains.isShown && session.state.screen == .diff)
  }

  @Test("the store read again is looked through again")
  func forgotten() throws {
    var session = try Self.found("5")
    try session.send("D", "^R")
    #expect(!session.state.remains.isShown && session.state.remains.remains == nil)
    #expect(session.state.store?.fileName == "Recipes.sqlite")
    #expect(!session.screen().description.contains("origin"))
    #expect(session.state.saved.view.browse.entity != nil)
  }

  @Test("where nothing was found that is said, and nothing is offered")
  func nothing() throws {
    var session = try Session()
    try session.send("5", "D")
    var remains = try SampleStore.remains()
    (remains.entities, remains.isWiped) = ([], true)
    try session.send(.answer(try Self.work(session).id, .found(remains)))
    #expect(session.state.screen == .rescue && !session.state.remains.isShown)
    #expect(session.state.notice?.text.contains("hold zeros") == true)
    for key in ["D", "u"] {
      try session.send(key)
      #expect(session.state.notice?.text.contains("hold zeros") == true)
    }
    try session.send("1", "D")
    #expect(
      session.state.notice?.text.contains("hold zeros") == true && !session.state.remains.isShown)
  }

  @Test("D in Browse where nothing was deleted stays in Browse, and says so")
  func nothingInBrowse() throws {
    var session = try Session()
    try session.send("D")
    var remains = try SampleStore.remains()
    remains.entities = []
    try session.send(.answer(try Self.work(session).id, .found(remains)))
    #expect(session.state.screen == .browse && !session.state.remains.isShown)
    #expect(session.state.notice?.text == remains.summary)
  }

  @Test("one, those of a filter, or all are restored into a new store")
  func restoring() throws {
    var session = try Self.found("5")
    try session.send("D", "/")
    for key in "serves > 2" { try session.send(key == " " ? "Space" : String(key)) }
    try session.send("⏎", "g", "B")
    let text = session.screen().description
    for part in [
      "alone", "the deleted objects of Recipe that match the filter",
      "every deleted Recipe that was found (", "Restore into a new store",
    ] { #expect(text.contains(part), "“\(part)” is not in\n\(text)") }
    try session.send("j", "⏎", "⏎", "y")
    let (id, work) = try Self.work(session)
    #expect(
      work
        == .restore(
          RestoreOrder(output: "Recipes-undeleted.sqlite", choice: .all(entity: "Recipe"))))
    #expect(session.state.screen == .rescue && !session.state.remains.isShown)
    try session.send(.failed(id, CoreDataError(.refused, "the file exists already")))
    #expect(session.screen().description.contains("the file exists already"))
    try session.send("2", "⏎", "y")
    let (second, _) = try Self.work(session)
    try session.send(.answer(second, .rescued(.restored(SampleStore.restored, seconds: 2))))
    try Snapshot.expect(session.screen(), named: "restored-120x30")
    try session.send("⏎")
    #expect(session.effects.last == .choose("Recipes-salvaged.sqlite"))
  }

  @Test("u brings all of it back, once it was looked for")
  func all() throws {
    var session = try Self.found("5")
    try session.send("u", "⏎", "y")
    #expect(
      try Self.work(session).work
        == .restore(RestoreOrder(output: "Recipes-undeleted.sqlite", choice: .all(entity: nil))))
  }

  /// A session that shows faults which a repair mends.
  private static func repairable(deletions: Int = 0) throws -> Session {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .diagnose(let id) = effect else { return nil }
      let place = StorePlace(path: "Recipes.sqlite")
      let condition = StoreCondition(
        findings: [
          Finding(.primaryKey, "Z_MAX of Recipe is 1.", count: 1, in: place),
          Finding(.toOneDangling, "2 objects lead nowhere.", entity: "Recipe", count: 2, in: place),
          Finding(.uniqueness, "2 objects are equal.", entity: "Recipe", count: 2, in: place),
        ]
          + (deletions > 0
            ? [Finding(.deletions, "Keys are out of use.", count: deletions, in: place)] : []))
      return [.answer(id, .diagnosed(condition)), .answer(id, .held(SampleStore.holdings))]
    }
    try session.send("5")
    return session
  }

  @Test("deletions come before what a repair takes from them, and their key is named first")
  func deletionsFirst() throws {
    var session = try Self.repairable(deletions: 9)
    let condition = try #require(session.state.rescue.condition)
    #expect(
      condition.findings.map(\.kind) == [.primaryKey, .deletions, .toOneDangling, .uniqueness])
    try session.send("j")
    #expect(session.screen().description.contains("→ u: look for what is left of them"))
    try session.send("j")
    let text = session.screen().description
    let undelete = try #require(text.firstRange(of: "→ u: first"))
    let repair = try #require(text.firstRange(of: "→ f: then"))
    #expect(undelete.lowerBound < repair.lowerBound)
    // Without deletions there is the repair alone.
    var plain = try Self.repairable()
    try plain.send("j")
    #expect(plain.screen().description.contains("→ f: repair it"))
  }

  @Test("how many were deleted at most, then how many of them were found")
  func missed() throws {
    var finding = Finding(
      .deletions, "8 keys are out of use.", count: 8, in: StorePlace(path: "Recipes.sqlite"))
    finding.keys = ["Recipe": 8]
    let condition = StoreCondition(findings: [finding])
    var holding = EntityHolding(entity: "Recipe", live: 655)
    holding.unused = 8
    var table = HoldingTable([holding], condition)
    #expect(table.titles == ["live", "damaged", "lost (at most)", "deleted"])
    #expect(table.numbers(of: holding) == ["655", "0", "0", "≤ 8"])
    let missed = Undeletion.Missed(entity: "Recipe", keys: 8, found: 6, keyless: 0)
    (holding.deleted, holding.older, holding.missed) = (6, 0, missed)
    table = HoldingTable([holding], condition)
    #expect(table.numbers(of: holding) == ["655", "0", "0", "6 of 8", "0"])
    var remains = try SampleStore.remains()
    remains.missed = [missed]
    let text = FindingText(finding, hasDeletions: true, remains: remains).lines(width: 200)
      .map(\.text).joined(separator: "\n")
    #expect(text.contains("2 cannot be recovered") && text.contains("→ u: restore them"), "\(text)")
  }

  @Test("of a store that is read without its -wal nobody knows what is lost")
  func foreignLog() {
    let finding = Finding(
      .walForeign, "12 frames are not applied.", in: StorePlace(path: "Recipes.sqlite"))
    let holding = EntityHolding(entity: "Recipe", live: 655)
    let table = HoldingTable([holding], StoreCondition(findings: [finding]))
    #expect(table.numbers(of: holding) == ["655", "0", "unknown"])
  }

  @Test(
    "f repairs all that needs no decision, one kind, or what is chosen",
    arguments: [
      ([], RepairOrder()), (["j"], RepairOrder(kinds: [.toOneDangling])),
      (["j", "j"], RepairOrder(kinds: [.uniqueness], kept: .newest)),
      (["G"], RepairOrder(kinds: [.uniqueness], kept: .oldest)),
    ] as [([String], RepairOrder)])
  func choices(keys: [String], order: RepairOrder) throws {
    var session = try Self.repairable()
    // The second finding is selected.
    try session.send("j", "f")
    let text = session.screen().description
    #expect(
      text.contains("everything that needs no decision: primary-key, to-one-dangling"), "\(text)")
    for key in keys { try session.send(key) }
    try session.send("⏎", "y")
    #expect(try Self.work(session).work == .repair(order))
  }

  @Test("where objects were deleted, undelete is offered before a repair that takes from them")
  func undeleteFirst() throws {
    var session = try Self.repairable(deletions: 9)
    try session.send("f")
    #expect(session.screen().description.contains("first: look for deleted objects"))
    try session.send("⏎")
    let (id, work) = try Self.work(session)
    #expect(work == .search(thenShow: false))
    try session.send(.answer(id, .found(SampleStore.remains())))
    // Found: the same line restores them.
    try session.send("f", "⏎")
    #expect(session.screen().description.contains("┌ Restore into ─"))
    try session.send("Esc", "f", "G", "⏎", "y")
    #expect(try Self.work(session).work == .repair(RepairOrder(isForced: true)))
  }

  @Test("a repair has the bars of a migration, and ends in a receipt and the store read anew")
  func repair() throws {
    var session = try Self.repairable()
    try session.send("f", "⏎", "y")
    let id = try Self.work(session).id
    let opens = session.effects.count { if case .open = $0 { true } else { false } }
    try session.send(.answer(id, .rescued(.repaired(SampleStore.repaired))))
    try Snapshot.expect(session.screen(), named: "repaired-100x30")
    #expect(session.effects.count { if case .open = $0 { true } else { false } } == opens + 1)
    try session.send("w", "⏎")
    guard
      case .writeReceipt(_, .rescue(.repaired), _, "Recipes-receipt.json", false)? =
        session.effects.last
    else {
      Issue.record("the receipt is not written")
      return
    }
    try session.send("Esc", "⏎")
    #expect(session.state.screen == .browse)
  }

  @Test("f says why there is nothing for it to do")
  func notRepairable() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .diagnose(let id) = effect else { return nil }
      return [.answer(id, .diagnosed(StoreCondition())), .answer(id, .held(nil))]
    }
    try session.send("5", "f")
    #expect(session.state.notice?.text.contains("fix: nothing is wrong") == true)
  }
}
