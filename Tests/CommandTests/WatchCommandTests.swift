import Testing

@testable import Commands
@testable import Comparison
@testable import ManagedStore
@testable import StoreTables
@testable import Watching

@Suite("watch")
struct WatchCommandTests {
  private typealias JSON = DumpFixtureTests.JSON

  /// What is printed for one save.
  private func printed(
    _ title: String, isJSON: Bool, count: Int = 2, saves: Int? = 1
  ) throws -> String {
    var bytes: [UInt8] = []
    let console = Console(isTerminal: true, out: { bytes += $0 }, err: { bytes += $0 })
    let writer = SaveWriter(console, isJSON: isJSON)
    var save = ObservedSave(time: 730_000_000, saves: saves)
    save.transactions = [
      HistoryTransaction(number: 12, timestamp: 730_000_000, author: "app", process: "Recipes")
    ]
    var counted = ComparisonSummary.EntityCount(entity: "Recipe")
    counted.updated = count
    save.counts = [counted]
    let id = ObjectID(entity: "Recipe", key: 12)
    save.changes = [
      ObjectChange(
        kind: .update, a: id, b: id, label: title,
        attributes: [
          .init(
            path: ["title"], old: .init(value: .value(.string("Leak soup"))),
            new: .init(value: .value(.string(title))))
        ], relationships: [])
    ]
    try writer.write(save)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "a save is a block: who saved, how many objects, their old and new values, and how many more")
  func block() throws {
    let text = try printed("Leek soup", isJSON: false, count: 9981)
    let lines = text.split(separator: "\n")
    #expect(lines.first?.hasSuffix(" · app, Recipes · 9,981 changed") == true, "\(text)")
    #expect(
      lines.dropFirst() == [
        "~ Recipe/p12  Leek soup", "    title: “Leak soup” → “Leek soup”", "… and 9,980 more",
      ], "\(text)")
    #expect(try printed("x", isJSON: false, saves: 3).contains(" · 3 saves · "))
    #expect(try printed("x", isJSON: false, saves: nil).contains(" · one save or more · "))
  }

  @Test(
    "objects that come before their save are printed behind its line", arguments: [false, true])
  func held(isJSON: Bool) throws {
    var bytes: [UInt8] = []
    let console = Console(out: { bytes += $0 }, err: { _ in })
    let writer = SaveWriter(console, isJSON: isJSON)
    func change(_ key: Int64) -> ObjectChange {
      let id = ObjectID(entity: "Recipe", key: key)
      return ObjectChange(
        kind: .update, a: id, b: id, label: "x", attributes: [], relationships: [])
    }
    // Those of a save that never came.
    for key in 1...9 as ClosedRange<Int64> { try writer.hold(change(key)) }
    writer.forgetHeld()
    // More than are held in memory.
    let count = 5000
    for key in 2...Int64(count) { try writer.hold(change(key)) }
    #expect(bytes.isEmpty)
    var save = ObservedSave(time: 730_000_000, saves: 1)
    var counted = ComparisonSummary.EntityCount(entity: "Recipe")
    counted.updated = count + 7
    (save.counts, save.passed, save.changes) = ([counted], count - 1, [change(1)])
    try writer.write(save)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 1 + count + (isJSON ? 0 : 1))
    #expect(lines.first?.contains(isJSON ? "\"more\":7" : "5,007 changed") == true)
    let objects = lines.dropFirst().prefix(count)
    for (place, line) in objects.enumerated() {
      #expect(
        line.contains(isJSON ? "\"b\":\"Recipe/p\(place + 1)\"" : "~ Recipe/p\(place + 1)  x"))
    }
    if !isJSON { #expect(lines.last == "… and 7 more") }
  }

  @Test("text of a store steers no terminal", arguments: [false, true])
  func hostile(isJSON: Bool) throws {
    let text = try printed("\u{1B}[2J\u{202E}x", isJSON: isJSON)
    #expect(!text.unicodeScalars.contains { $0.value == 27 || $0.value == 0x202E })
  }

  @Test("the article on formats shows lines with the members that are printed")
  func article() throws {
    var bytes: [UInt8] = []
    let console = Console(out: { bytes += $0 }, err: { _ in })
    let writer = SaveWriter(console, isJSON: true)
    writer.begin("Recipes.sqlite")
    writer.write(.gone)
    let others = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    let head = try #require(
      try printed("Leek soup", isJSON: true).split(separator: "\n").first.map(String.init))
    for (name, line) in [
      ("watch", others.first), ("save", head), ("notice", others.last),
    ] as [(String, String?)] {
      let line = try #require(line)
      let printed = try Captured.decoded(JSON.self, from: Array(line.utf8))
      let shown = try FormatsArticle.example("{\"\(name)\"")
      #expect(shown.keys == printed.keys)
      #expect(shown[name]?.keys == printed[name]?.keys, "\(name)")
    }
  }

  @Test("what does not fit the store is wrong usage; a store that is not there is unreadable")
  func usage() throws {
    let shelves = try Shelves()
    #expect(Captured("watch", shelves.a, "--where", "pages == 1").status == .usage)
    #expect(Captured("watch", shelves.a, "Boook").status == .usage)
    #expect(Captured("watch", shelves.a, "Book", "--where", "pagez == 1").status == .usage)
    #expect(Captured("watch", shelves.folder.path("None.sqlite")).status == .unreadable)
  }
}
