import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

/// DuckDuckGo made each version's store anew, of the same bookmarks: named by their identifiers
/// they are one tree.
@Suite("DuckDuckGo's bookmarks", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct BookmarksTests {
  @Test(
    "over versions the tree, its order and the favourites stay, in Apple's schema",
    arguments: [(1, 3, ["BookmarkEntity.isFavorite"]), (3, 5, [])])
  func versions(_ from: Int, _ to: Int, _ lost: [String]) throws {
    let folder = try TemporaryFolder()
    let result = try CustomMigration(
      store: "bookmarks/Bookmarks_V\(from).sqlite",
      to: "bookmarks/BookmarksModel.xcdatamodeld@BookmarksModel \(to)", allowed: Set(lost)
    ).migrate(in: folder)
    #expect(result.plan.losses.map(\.name) == lost)
    let path = try folder.copy(fixture: "bookmarks/Bookmarks_V\(to).sqlite", as: "apple.sqlite")
    let apple = try Store(path: path)
    #expect(try result.counts == apple.counts().filter { $0.value > 0 })
    let names = ["BookmarkEntity": "uuid"]
    // The app sets the time of a change when it makes the objects.
    #expect(
      try NamedStore(result.after, by: names).differences(
        from: NamedStore(apple, by: names), ignoring: ["modifiedAt"]) == [])
    for table in apple.database.tables.keys where table.hasPrefix("Z") {
      #expect(
        Set(result.after.database.columns(of: table)) == Set(apple.database.columns(of: table)),
        "\(table)")
    }
    // One of them is what Xcode's compiler adds to an index over one attribute.
    let indexes = Set(apple.database.indexes.keys.filter { $0.hasPrefix("Z") })
    #expect(indexes.contains("Z_BookmarkEntity_isPendingDeletion"))
    #expect(Set(result.after.database.indexes.keys.filter { $0.hasPrefix("Z") }) == indexes)
    let report = try StoreVerification.compare(
      before: result.before, after: result.after, mapping: result.plan.steps[0].mapping)
    #expect(report.differences == [])
  }
}
