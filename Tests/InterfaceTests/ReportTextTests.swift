import ManagedModel
import Reports
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration
@testable import Rescue

@Suite("One report a result: screens, commands and files say the same lines")
struct ReportTextTests {
  private static let reports = [
    Report(SampleStore.receipt), Report(SampleStore.receipt, .rehearsed),
    Report(SampleStore.receipt, .verified), Report(SampleStore.salvaged, seconds: 4),
    Report(SampleStore.restored, seconds: 2), Report(SampleStore.repaired),
  ]

  /// All words in their order, wherever lines are broken.
  private static func words(_ lines: [some StringProtocol]) -> String {
    lines.flatMap { $0.split { $0 == " " || $0 == "\n" || $0 == "│" } }.joined(separator: " ")
  }

  @Test("in whatever width", arguments: reports)
  func same(report: Report) {
    let printed = Self.words(ReportText.lines(report, width: 60).map(\.text))
    #expect(printed == Self.words(ReportText.lines(report, width: 200).map(\.text)))
    #expect(printed == Self.words([ReportText.text(report)]))
    let drawn = ReportView.lines(report, width: 50).flatMap { [$0.sign, $0.text] + $0.numbers }
    #expect(printed == Self.words(drawn))
    #expect(report.sections.count > 1 && !printed.isEmpty)
    // What a library says names no command.
    #expect(!report.lines.contains { $0.text.text.contains("strata ") })
  }

  @Test("what became fewer comes first, and nothing that was not there is compared")
  func fewer() throws {
    var receipt = SampleStore.receipt
    receipt.verified.append(.init(what: "links compared with the source", count: 0))
    let report = Report(receipt)
    let objects = try #require(report.sections.first { $0.title.text == "objects" })
    #expect(objects.lines.first?.text.text == "Draft")
    #expect(!ReportText.text(report).contains("links compared with the source"))
  }

  @Test("a salvage without the store's own -wal does not say that nothing is lost")
  func foreignLog() throws {
    var salvaged = SampleStore.salvaged
    (salvaged.opens, salvaged.tables) = (true, [])
    #expect(!salvaged.isLossy)
    let whole = ReportText.text(Report(salvaged, seconds: 4))
    #expect(whole.contains("✓") && whole.contains("nothing is known to be lost"), "\(whole)")
    // A doubt is no loss, and a row that is known to be lost is more than a doubt.
    var doubtful = salvaged
    doubtful.isPartial = true
    let doubt = ReportText.text(Report(doubtful, seconds: 4))
    #expect(doubt.contains("may not be all") && !doubt.contains("are lost"), "\(doubt)")
    doubtful.unreadable = 1
    #expect(ReportText.text(Report(doubtful, seconds: 4)).contains("some are lost"))
    salvaged.lacksOwnLog = true
    let text = ReportText.text(Report(salvaged, seconds: 4))
    #expect(!text.contains("nothing is known to be lost"), "\(text)")
    #expect(text.contains("without what was only in its own -wal"), "\(text)")
  }

  @Test("an undeletion of a store with losses has no ✓, and does not name itself")
  func restoredWithLosses() throws {
    var salvaged = SampleStore.salvaged
    (salvaged.opens, salvaged.isPartial) = (true, true)
    var restored = Restoration.Report(salvage: salvaged)
    restored.back = ["Recipe": [1, 2, 3]]
    let text = ReportText.text(Report(restored, seconds: 4))
    #expect(text.contains("! 3 deleted objects restored") && !text.contains("Earlier states"))
    restored.salvage.isPartial = false
    restored.salvage.tables = []
    #expect(ReportText.text(Report(restored, seconds: 4)).contains("✓ 3 deleted objects"))
    restored.refused = ["Recipe": [7]]
    #expect(ReportText.text(Report(restored, seconds: 4)).contains("! 3 deleted objects"))
  }

  @Test("the screen after a migration, and the file that w writes from there")
  func receipt() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    guard case .migrate(let id, _, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    let shown = Self.words(
      session.screen().description.split(separator: "\n").filter { $0.hasPrefix("│") })
    try session.send("w", "⏎")
    guard case .writeReceipt(_, _, let text, _, _)? = session.effects.last else {
      Issue.record("the receipt is not written")
      return
    }
    // The screen has its own key besides the command.
    #expect(shown.contains("to roll back: b, or: strata rollback Recipes.sqlite"))
    #expect(shown.replacing("b, or: ", with: "") == Self.words([text]))
    #expect(text == ReportText.text(Report(SampleStore.receipt)))
  }

  @Test("the screen after a salvage, and the file that w writes from there")
  func salvage() throws {
    var session = try Session()
    try session.send("5", "s", "⏎", "y")
    guard case .rescue(let id, _)? = session.effects.last else {
      Issue.record("nothing was begun")
      return
    }
    try session.send(.answer(id, .rescued(.salvaged(SampleStore.salvaged, seconds: 4))))
    let shown = Self.words(
      session.screen().description.split(separator: "\n").filter { $0.hasPrefix("│") })
    let text = ReportText.text(Report(SampleStore.salvaged, seconds: 4))
    let said = shown.replacing("To look for them: u, or: ", with: "To look for them: ")
    #expect(said == Self.words([text]) && said != shown)
  }

  @Test("read aloud, each number has its title, and each line stands alone")
  func spoken() {
    let lines = ReportText.spoken(Report(SampleStore.receipt)).map(\.text)
    #expect(lines.contains("objects:"))
    #expect(lines.contains("− Draft: before 2, after 0, rewritten —"))
    #expect(lines.contains("✓ attribute values: compared 50,000"))
    #expect(lines.contains("to roll back: strata rollback Recipes.sqlite"))
    #expect(lines.allSatisfy { !$0.isEmpty && !$0.contains("  ") })
  }

  @Test("numbers stand below each other, text is broken, and what is pasted stays whole")
  func layout() {
    let report = Report([
      .init([.init(.success, "one two three four five"), .init("a b c d e f g h", as: .code)]),
      .init(
        "objects", columns: ["now"],
        [.init("Recipe", numbers: ["12"]), .init(.added, "Tag", numbers: ["3"])]),
    ])
    #expect(
      ReportText.lines(report, width: 12).map(\.text) == [
        "✓ one two", "  three four", "  five", "a b c d e f g h", "", "  objects  now",
        "  Recipe    12", "+ Tag        3",
      ])
  }
}
