import ManagedModel
import Terminal
import Testing

@testable import Comparison
@testable import Interface
@testable import ManagedStore
@testable import Merging
@testable import StoreTables

@Suite("Two stores into one, from the list of changes")
struct MergeLayerTests {
  private static func id(_ key: Int64) -> ObjectID { ObjectID(entity: "Recipe", key: key) }

  private static func text(_ text: String) -> ObjectChange.Value {
    ObjectChange.Value(value: .value(.string(text)))
  }

  private static func conflict(_ key: Int64, _ winner: MergeReport.Winner) -> MergeReport.Conflict {
    MergeReport.Conflict(
      change: ObjectChange(
        kind: .update, a: id(key), b: id(key), label: "Leek soup",
        attributes: [
          .init(path: ["title"], old: text("Leak soup \(key)"), new: text("Leek soup \(key)"))
        ], relationships: []), winner: winner)
  }

  /// What a merge would come to.
  private static func report(_ order: MergeOrder) -> MergeReport {
    var report = MergeReport(
      oldPath: order.other, newPath: "Recipes.sqlite",
      basePath: order.base.isEmpty ? nil : order.base)
    var recipe = MergeReport.EntityCount(
      entity: "Recipe", pairing: EntityPairing(entity: "Recipe", by: .key))
    (recipe.old, recipe.new, recipe.paired, recipe.changed) = (12, 14, 10, 3)
    (recipe.added, recipe.returned, recipe.renumbered, recipe.total) = (2, 1, 2, 16)
    report.entities = [recipe]
    guard !order.base.isEmpty || order.matches == "key" else {
      report.entities[0].pairing.by = .none
      report.unpaired = report.entities
      return report
    }
    let winner: MergeReport.Winner =
      order.preferences == "new" ? .new : order.preferences == "old" ? .old : .undecided
    for key in 1...2 { report.add(conflict(Int64(key), winner)) }
    (report.isMirrored, report.transaction) = (true, 8)
    report.notes = ["a/b_ckAssets was not copied: it belongs to the mirror."]
    report.deletionSource = .base
    if !order.output.isEmpty { report.outputPath = order.output }
    return report
  }

  /// A session in which another file was compared, and `M` was pressed.
  private static func session(width: Int = 80, height: Int = 24) throws -> Session {
    var session = try Session(width: width, height: height)
    session.otherAnswer = { effect in
      switch effect {
      case .find(let id, .backups): [.answer(id, .backups([]))]
      case .find(let id, .siblings): [.answer(id, .siblings([]))]
      case .find(let id, .recentStores):
        [
          .answer(
            id,
            .recentStores([RecentStore(path: "Old.sqlite", opened: "yesterday", model: "Recipes")]))
        ]
      case .find(let id, .completions(let path)):
        [.answer(id, .completions([path + "ackup.sqlite"]))]
      case .compare(let id, let path):
        [.answer(id, .differs(StoreDifferences(path: path, counts: [], changes: [], notes: [])))]
      case .merge(let id, let order):
        [.answer(id, .doing("pairing objects")), .answer(id, .merged(report(order)))]
      default: nil
      }
    }
    try session.send("C", "Tab", "⏎", "M")
    return session
  }

  private static func orders(_ session: Session) -> [MergeOrder] {
    session.effects.compactMap { if case .merge(_, let order) = $0 { order } else { nil } }
  }

  @Test("a preview is made at once, and what is refused says which line helps")
  func refused() throws {
    var session = try Self.session()
    #expect(Self.orders(session) == [MergeOrder(other: "Old.sqlite")])
    let text = session.screen().description
    #expect(text.contains("✗ nothing pairs the objects of Recipe: 12 in OLD, 14 in NEW"))
    #expect(text.contains("“base”") && text.contains("“paired by”"), "\(text)")
    #expect(!text.contains("--"))
    try session.send("M")
    #expect(session.state.notice?.text.contains("objects are not paired") == true)
    try Snapshot.expect(session.screen(), named: "merge-unpaired-80x24")
  }

  @Test("base, pairing, conflicts and what was deleted are asked, each with another preview")
  func asked() throws {
    var session = try Self.session()
    try session.send("j", "⏎", "B", "Tab")
    #expect(session.screen().description.contains("base › Backup.sqlite"))
    try session.send("⏎")
    #expect(Self.orders(session).last?.base == "Backup.sqlite")
    let undecided = session.screen().description
    #expect(undecided.contains("2 conflicts to decide: “new”, “old” or"), "\(undecided)")
    try session.send("M")
    #expect(session.state.notice?.text.contains("2 conflicts to decide") == true)
    // The third line chooses, and takes a text.
    try session.send("j", "⏎")
    #expect(Self.orders(session).last?.matches == "key")
    try session.send("⏎", "j", "⏎")
    #expect(Self.orders(session).last?.preferences == "new")
    try session.send("j", "⏎")
    for character in "Recipe, Tag" { try session.send(.key(.character(character))) }
    try session.send("⏎")
    #expect(Self.orders(session).last?.entityNames == ["Recipe", "Tag"])
    #expect(session.screen().description.contains("take over       Recipe, Tag"))
    try session.send("j", "⏎")
    #expect(Self.orders(session).last?.keepsDeleted == true)
    try session.send("k", "k", "=", "^U")
    for character in "Recipe=edited:newest old" { try session.send(.key(.character(character))) }
    try session.send("⏎")
    let last = try #require(Self.orders(session).last)
    #expect(MergeOrder.words(last.preferences) == ["Recipe=edited:newest", "old"])
    try session.send("x")
    #expect(Self.orders(session).last?.isOtherNewer == true)
    let isPreview = Self.orders(session).allSatisfy(\.output.isEmpty)
    #expect(isPreview)
  }

  @Test("M writes the new store, says what became of the objects, and o opens it")
  func merged() throws {
    var session = try Self.session(width: 120, height: 36)
    try session.send("j", "⏎", "B", "Tab", "⏎", "j", "j", "⏎")
    try Snapshot.expect(session.screen(), named: "merge-preview-120x36")
    let preview = session.screen().description
    #expect(preview.contains("✓ can be merged; nothing was written"))
    #expect(preview.contains("the app will upload the 2 added and 3 changed objects"))
    #expect(preview.contains("title: Leak soup 1 → Leek soup 1"))
    try session.send("M")
    #expect(Self.orders(session).last?.output == "Recipes-merged.sqlite")
    #expect(session.state.notice?.text == "merged: Recipes-merged.sqlite")
    let text = session.screen().description
    #expect(text.contains("┌ Merged ") && text.contains("✓ merged: Recipes-merged.sqlite"))
    try session.send("M")
    #expect(session.state.notice?.text.contains("the merge is done") == true)
    try session.send("o")
    #expect(session.effects.contains(.choose("Recipes-merged.sqlite")))
  }

  @Test("what the mirror will upload stands above the conflicts; the table shows every column")
  func warned() throws {
    var session = try Self.session()
    try session.send("j", "⏎", "B", "Tab", "⏎", "j", "j", "⏎")
    let lines = session.screen().description.split(separator: "\n").map(String.init)
    func place(_ text: String) throws -> Int {
      try #require(lines.firstIndex { $0.contains(text) }, "\(text): \(lines)")
    }
    let verdict = try place("✓ can be merged")
    let warning = try place("! NEW is mirrored to iCloud")
    #expect(try verdict < warning && warning < place("2 conflicts: "))
    let title = lines[try place("entity  OLD  NEW")]
    #expect(title.contains("result  paired by"), "\(title)")
    #expect(!title.contains("left out"))
  }

  @Test("both values of a conflict are shown in full")
  func values() throws {
    var session = try Self.session(width: 120, height: 36)
    try session.send("j", "⏎", "B", "Tab", "⏎")
    for _ in 1...12 {
      try session.send("j")
      guard session.state.layers.last?.content is MergeLayer else { break }
      try session.send("⏎")
      guard session.state.layers.last?.content is DetailsLayer else { continue }
      let text = session.screen().description
      #expect(text.contains("− Leak soup 1") && text.contains("+ Leek soup 1"))
      #expect(text.contains("− is OLD’s value"))
      return
    }
    Issue.record("no line shows its values")
  }

  @Test("what cannot be merged says why, and ^C stops a run")
  func failed() throws {
    var session = try Self.session()
    let others = session.otherAnswer
    session.otherAnswer = { effect in
      guard case .merge(let id, let order) = effect else { return try others?(effect) }
      guard order.output.isEmpty, order.isOtherNewer else { return [] }
      return [
        .failed(
          id,
          CoreDataError(
            .refused, "the stores have different versions of the model", path: "Old.sqlite",
            hint: "Migrate one first."))
      ]
    }
    try session.send("x")
    let text = session.screen().description
    #expect(
      text.contains("✗ the stores have different versions") && text.contains("Migrate one first"))
    try session.send("M")
    #expect(session.state.notice?.text.contains("cannot be merged with these choices") == true)
    try session.send("x")
    #expect(session.screen().description.contains("reading both stores …  ^C stops"))
    try session.send("^C")
    #expect(session.screen().description.contains("✗ stopped: nothing was written"))
    try session.send("Esc", "Esc")
    #expect(session.state.layers.isEmpty)
  }
}
