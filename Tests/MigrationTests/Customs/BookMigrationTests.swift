import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// What MHWBookToBookPolicy does for the third version: a file for each book and user.
private final class BookToBookPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let book = try manager.makeInstance(of: source, in: mapping)
    guard mapping.userInfo["modelVersion"] == .string("3") else { return }
    for user in try source.objects("users") {
      let file = try manager.insert("File")
      try file.set(source.value("fileURL"), for: "fileURL")
      try file.set(book, for: "book")
      var files = manager.userInfo["files"] as? [Int64: [DestinationObject]] ?? [:]
      files[user.id.key, default: []].append(file)
      manager.userInfo["files"] = files
    }
  }
}

/// What MHWUserToUserPolicy does: users take the files of their books.
private final class UserToUserPolicy: EntityMigrationPolicy {
  override func createRelationships(
    for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let files = manager.userInfo["files"] as? [Int64: [DestinationObject]] ?? [:]
    try destination.add(files[destination.id.key] ?? [], to: "files")
  }
}

/// A store of 2013 without a model in it, in two versions further: authors out of names, files out
/// of books.
@Suite("BookMigration", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct BookMigrationTests {
  static let bundle = "bookmigration/Model.xcdatamodeld"
  static let names = ["Author": "name", "Book": "title"]

  static let authors = """
    { policies: { MHWBookToBookPolicy: {
        relationships: { authors: "self" },
        also: [ { destination: "Author", distinct: "authorName", attributes: { name: "authorName" } } ] } } }
    """

  private static let first = CustomMigration(
    store: "bookmigration/Model1.sqlite", to: bundle + "@Model2", from: bundle + "@Model1",
    mappings: ["bookmigration/Model1_to_Model2.xcmappingmodel"], recipes: [authors])

  /// The app runs two mapping models for the second step, one after the other.
  private static func second(_ store: Store) -> CustomMigration {
    CustomMigration(
      store: store.path, to: bundle + "@Model3",
      mappings: ["", "_User"].map { "bookmigration/Model2_to_Model3\($0).xcmappingmodel" })
  }

  @Test("each author's name becomes one author, who has the books")
  func authors() throws {
    let folder = try TemporaryFolder()
    let result = try Self.first.migrate(in: folder)
    #expect(try result.counts == ["Author": 3, "Book": 4, "User": 3])
    #expect(result.plan.losses == [])
    let after = try NamedStore(result.after, by: Self.names)
    #expect(after.objects["Author/Franz Kafka"]?["books"] == "Book/Metamorphosis, Book/The Trial")
    let before = try NamedStore(result.before, by: Self.names)
    for (name, book) in before.objects where name.hasPrefix("Book/") {
      #expect(after.objects[name]?["authors"] == "Author/" + (book["authorName"] ?? ""))
      #expect(after.objects[name]?["users"] == book["user"])
      #expect(after.objects[name]?["fileURL"] == book["fileURL"])
    }
  }

  @Test("two mapping models for one pair are two passes of one migration")
  func passes() throws {
    let folder = try TemporaryFolder()
    let middle = try Self.first.migrate(in: folder, to: "middle.sqlite").after
    var migration = Self.second(middle)
    migration.allowed = ["Book.users", "User.books"]
    migration.recipes = [
      """
      { policies: { MHWBookToBookPolicy: {
          relationships: { files: "self" },
          also: [ { destination: "File", relationships: { book: "self", user: null } } ] } } }
      """
    ]
    let result = try migration.migrate(in: folder)
    #expect(try result.counts == ["Author": 3, "Book": 4, "File": 4, "User": 3])
    // Each link once, from the side whose name comes first.
    #expect(result.plan.losses.map(\.name) == ["User.books"])
    let (before, after) = try (NamedStore(middle, by: Self.names), NamedStore(result.after))
    let books = try NamedStore(result.after, by: Self.names)
    #expect(
      before.differences(from: books).filter { !$0.hasPrefix("File/") && !$0.hasPrefix("User/") }
        == [])
    for file in after.names(of: "File") {
      let book = try #require(books.objects[file]?["book"])
      #expect(books.objects[file]?["fileURL"] == before.objects[book]?["fileURL"])
    }
  }

  @Test("one of the two alone would lose what the other takes, and says so")
  func onePass() throws {
    let folder = try TemporaryFolder()
    let middle = try Self.first.migrate(in: folder, to: "middle.sqlite").after
    var migration = Self.second(middle)
    migration.mappings.removeFirst()
    #expect(
      try migration.plan(migration.open(in: folder)).losses.map(\.name).sorted() == [
        "Author", "Book",
      ])
  }

  @Test("Swift policies bound to its classes' names link the files with the users, too")
  func swiftPolicies() throws {
    let folder = try TemporaryFolder()
    let middle = try Self.first.migrate(in: folder, to: "middle.sqlite").after
    var migration = Self.second(middle)
    // Read by the policy: what it takes is not known beforehand.
    migration.allowed = ["Book", "User", "User.books"]
    migration.policies["MHWBookToBookPolicy"] = BookToBookPolicy.self
    migration.policies["UserToUser"] = UserToUserPolicy.self
    let result = try migration.migrate(in: folder)
    #expect(try result.counts == ["Author": 3, "Book": 4, "File": 4, "User": 3])
    let after = try NamedStore(result.after, by: Self.names)
    #expect(after.objects["User/p3"]?["files"]?.split(separator: ",").count == 4)
    #expect(after.objects["User/p1"]?["files"] == "")
  }

  @Test("a recipe of its own does all of the second step")
  func wholeRecipe() throws {
    let folder = try TemporaryFolder()
    let middle = try Self.first.migrate(in: folder, to: "middle.sqlite").after
    let digests = try (
      Model.versionHashesDigest(of: middle.model.versionHashes),
      Model.versionHashesDigest(of: CustomMigration.load(Self.bundle + "@Model3").versionHashes)
    )
    let migration = CustomMigration(
      store: middle.path, to: Self.bundle + "@Model3",
      recipes: [
        """
        { from: "\(digests.0)", to: "\(digests.1)", entityMappings: [
          { source: "Book", destination: "File", relationships: { book: "self", user: null } },
          { source: "Book", destination: "Book", relationships: { files: null } },
          { source: "User", destination: "User",
            relationships: { files: { from: "books", through: "BookToFile" } } } ] }
        """
      ])
    let result = try migration.migrate(in: folder)
    #expect(try result.counts == ["Author": 3, "Book": 4, "File": 4, "User": 3])
    #expect(result.plan.losses == [])
    let after = try NamedStore(result.after, by: Self.names)
    #expect(after.objects["User/p3"]?["files"] == "File/p10, File/p11, File/p12, File/p9")
    #expect(after.objects["Book/Cosmos"]?["files"] == "File/p10")
  }
}
