import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Searching all entities")
struct StoreSearchTests {
  private static func hits(
    _ store: Store, _ text: String, limit: Int = 100, in entities: [String]? = nil
  ) throws -> [String] {
    var lines: [String] = []
    try store.search(for: text, in: entities, limit: limit) { progress in
      lines += progress.hits.map { "\($0.object) \($0.property): \($0.excerpt)" }
    }
    return lines
  }

  @Test("text is found whatever its case and marks, in every entity")
  func text() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    #expect(
      try Self.hits(store, "soup") == [
        "Recipe/p1 page: https://example.com/soup", "Recipe/p1 title: Carrot soup",
        "Recipe/p2 title: SOUP of the day",
      ])
    #expect(try Self.hits(store, "creme BRULEE") == ["Recipe/p3 title: Crème brûlée"])
    #expect(try Self.hits(store, "brûlée") == ["Recipe/p3 title: Crème brûlée"])
    #expect(try Self.hits(store, "zoe") == ["Person/p3 name: Zoë"])
    #expect(try Self.hits(store, "julia") == ["Author/p2 name: Julia"])
  }

  @Test("numbers, UUIDs and parts of them, references and URIs are found")
  func others() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    #expect(try Self.hits(store, "41") == ["Author/p2 age: 41"])
    #expect(try Self.hits(store, "4.5") == ["Recipe/p1 rating: 4.5"])
    #expect(try Self.hits(store, "12.5") == ["Recipe/p1 price: 12.5"])
    let uuid = ["Recipe/p1 identifier: \(RecipeBox.identifier)"]
    #expect(try Self.hits(store, RecipeBox.identifier.lowercased()) == uuid)
    #expect(try Self.hits(store, "9abc-4def") == uuid)
    #expect(try Self.hits(store, "Person/p2") == ["Author/p2 : Julia"])
    #expect(
      try Self.hits(store, "x-coredata://\(RecipeBox.uuid)/Tag/p1") == ["Tag/p1 : vegan"])
    #expect(try Self.hits(store, "Tag/p99") == [])
  }

  @Test("what is wild in SQL is only text")
  func wild() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    #expect(try Self.hits(store, "100%") == ["Recipe/p5 title: 100% *wild?*"])
    #expect(
      try Self.hits(store, "\"; drop") == ["Recipe/p6 title: O'Brien\"; DROP TABLE ZRECIPE;--"])
    #expect(throws: CoreDataError.self) { try Self.hits(store, "  ") }
  }

  @Test("each entity tells that it is done, and that there is more")
  func progress() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    var reports: [String] = []
    try store.search(for: "e", limit: 2) {
      reports.append("\($0.entity) \($0.done)/\($0.total) \($0.hits.count)\($0.isCut ? "+" : "")")
    }
    #expect(
      reports == [
        "Menu 1/5 0", "Person 2/5 1", "Author 3/5 0", "Recipe 4/5 2+", "Tag 5/5 1",
      ])
  }

  @Test("cancelling stops with an error that says so")
  func cancelling() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Many.sqlite")
    let writer = try StoreWriter(creating: path, model: RecipeBox.model())
    for index in 0..<5_000 {
      try writer.insert("Tag", attributes: ["name": .string("tag \(index)")])
    }
    try writer.finish()
    let store = try Store(path: path)
    do {
      try store.search(for: "zzz", isCancelled: { true }) { _ in }
      Issue.record("it was not cancelled")
    } catch let error as CoreDataError {
      #expect(error.kind == .cancelled)
    }
    // And afterwards the store answers again.
    #expect(try Self.hits(store, "tag 4999") == ["Tag/p5000 name: tag 4999"])
  }

  @Test("an excerpt is a line of at most 200 characters around the text, and harmless")
  func excerpt() throws {
    let needle = try #require(SearchNeedle("NEEDLE"))
    let filler = String(repeating: "hay ", count: 100)
    let excerpt = needle.excerpt(of: filler + "a\u{1B}[31m\n\nneedle\u{202E} here" + filler)
    #expect(excerpt.count <= 200)
    #expect(excerpt.hasPrefix("…"))
    #expect(excerpt.contains(#"a\u{1B}[31m needle\u{202E} here"#))
    #expect(needle.excerpt(of: "needle") == "needle")
  }

  @Test(
    "real stores can be searched and leave no trace",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: ["system/Photos-10.15.7.sqlite", "system/kik.sqlite", "system/netusage.sqlite"])
  func real(fixture: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: fixture)
    let before = try folder.contents()
    let store = try Store(path: path)
    var done = 0
    try store.search(for: "a", limit: 5) { done = $0.done }
    #expect(done == store.entityTables.count)
    #expect(try folder.contents() == before)
  }
}
