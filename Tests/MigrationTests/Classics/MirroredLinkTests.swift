import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// A link between a to-one and its to-many is told by the mappings of both sides, each in its turn:
/// where only one of them is heard, or a policy speaks in between, it must come out as if both were
/// written.
@Suite("Links that both sides tell")
struct MirroredLinkTests {
  static let text = """
    Author
      name String
      books ->>> Book.author
      boss -> Author.staff
      staff ->> Author.boss
    Book
      name String
      author -> Author.books
      shop -> Shop.stock
    Shop
      name String
      stock ->> Book.shop
    """

  static let all = ["Author", "Book", "Shop"].map {
    "{ source: '\($0)', destination: '\($0)', policy: '\($0)' }"
  }.joined(separator: ", ")

  /// Two authors, one the other's boss, with three books in an order of their own, in two shops.
  static func lines(
    _ policies: [String: EntityMigrationPolicy.Type], in folder: TemporaryFolder
  ) throws -> [String] {
    let models = (try Classics.model("1", text), try Classics.model("2", text + "\n  tax String"))
    let path = try Classics.store(models.0, in: folder) { writer in
      let ann = try writer.insert("Author", attributes: ["name": .string("Ann")])
      let bo = try writer.insert(
        "Author", attributes: ["name": .string("Bo")], toOne: ["boss": ann])
      let near = try writer.insert("Shop", attributes: ["name": .string("near")])
      let far = try writer.insert("Shop", attributes: ["name": .string("far")])
      for (index, author) in [ann, bo, ann].enumerated() {
        try writer.insert(
          "Book", attributes: ["name": .string("\(index)")],
          toOne: ["author": author, "shop": index == 0 ? near : far],
          positions: ["author": 2 - index])
      }
    }
    var all: [String: EntityMigrationPolicy.Type] = [
      "Author": EntityMigrationPolicy.self, "Book": EntityMigrationPolicy.self,
      "Shop": EntityMigrationPolicy.self,
    ]
    all.merge(policies) { $1 }
    return try Classics.migrate(path, to: models.1, Self.all, policies: all)
  }

  static let linked = [
    "Author/p1 name=Ann books→[Book/p3 Book/p1] boss→∅ staff→[Author/p2]",
    "Author/p2 name=Bo books→[Book/p2] boss→Author/p1 staff→[]",
    "Book/p1 name=0 author→Author/p1 shop→Shop/p1",
    "Book/p2 name=1 author→Author/p2 shop→Shop/p2",
    "Book/p3 name=2 author→Author/p1 shop→Shop/p2",
    "Shop/p1 name=near tax=∅ stock→[Book/p1]", "Shop/p2 name=far tax=∅ stock→[Book/p2 Book/p3]",
  ]

  /// What differs from ``linked``.
  static func changes(
    _ policies: [String: EntityMigrationPolicy.Type]
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    return try lines(policies, in: folder).filter { !linked.contains($0) }
  }

  final class Silent: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {}
  }

  @Test("are there where both sides, or either, leave them to the mapping")
  func eitherSide() throws {
    #expect(try Self.changes([:]) == [])
    // What comes before the books, and what comes after them.
    #expect(
      try Self.changes(["Author": Silent.self]) == [
        "Author/p1 name=Ann books→[Book/p3 Book/p1] boss→∅ staff→[]",
        "Author/p2 name=Bo books→[Book/p2] boss→∅ staff→[]",
      ])
    #expect(try Self.changes(["Shop": Silent.self]) == [])
    #expect(try Self.changes(["Book": Silent.self]) == [])
    #expect(
      try Self.changes(["Book": Silent.self, "Shop": Silent.self]) == [
        "Book/p1 name=0 author→Author/p1 shop→∅", "Book/p2 name=1 author→Author/p2 shop→∅",
        "Book/p3 name=2 author→Author/p1 shop→∅", "Shop/p1 name=near tax=∅ stock→[]",
        "Shop/p2 name=far tax=∅ stock→[]",
      ])
  }

  /// Leaves one book's links alone.
  final class Choosy: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard try destination.text("name") != "2" else { return }
      manager.carryRelationships(of: destination)
    }
  }

  @Test("are there of the one object whose to-ones nobody told")
  func allButOne() throws { #expect(try Self.changes(["Book": Choosy.self]) == []) }

  /// Sees what the authors' mapping has set before it, and what no mapping has set yet.
  final class Looking: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let author = try destination.object("author")?.text("name")
      #expect(author == (try destination.text("name") == "1" ? "Bo" : "Ann"))
      if try destination.text("name") == "0" { #expect(try destination.object("shop") == nil) }
      manager.carryRelationships(of: destination)
    }
  }

  @Test("are seen by a policy that looks at them in its turn")
  func lookedAt() throws { #expect(try Self.changes(["Book": Looking.self]) == []) }

  /// Moves the second book to Ann, and to the shop that is near.
  final class Moving: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      manager.carryRelationships(of: destination)
      guard try destination.text("name") == "1" else { return }
      func first(_ entity: String) throws -> DestinationObject? {
        try manager.destinationInstances(
          forEntityMappingName: "\(entity)To\(entity)",
          sourceInstances: manager.sourceObjects(of: entity)
        ).first
      }
      try destination.set(first("Author"), for: "author")
      try destination.set(first("Shop"), for: "shop")
    }
  }

  @Test("set by hand stay where the other side has had its turn, and go where it comes later")
  func setByHand() throws {
    // Last in Ann's order; the shops' own mapping has the last word.
    #expect(
      try Self.changes(["Book": Moving.self]) == [
        "Author/p1 name=Ann books→[Book/p3 Book/p1 Book/p2] boss→∅ staff→[Author/p2]",
        "Author/p2 name=Bo books→[] boss→Author/p1 staff→[]",
        "Book/p2 name=1 author→Author/p1 shop→Shop/p2",
      ])
  }

  /// Makes nothing of Bo and of the shop that is far.
  final class Refusing: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard try !["Bo", "far"].contains(source.text("name")) else { return }
      _ = try manager.makeInstance(of: source, in: mapping)
    }
  }

  @Test("lead to no object that was not made")
  func notMade() throws {
    #expect(
      try Self.changes(["Author": Refusing.self, "Shop": Refusing.self]) == [
        "Author/p1 name=Ann books→[Book/p3 Book/p1] boss→∅ staff→[]",
        "Book/p2 name=1 author→∅ shop→∅", "Book/p3 name=2 author→Author/p1 shop→∅",
      ])
  }

  /// Makes a second object of each, and associates it too.
  final class Doubling: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      _ = try manager.makeInstance(of: source, in: mapping)
      _ = try manager.makeInstance(of: source, in: mapping)
    }
  }

  @Test("are those of both objects that were made of one")
  func madeTwice() throws {
    #expect(
      try Self.changes(["Book": Doubling.self]) == [
        "Author/p1 name=Ann books→[Book/p3 Book/p6 Book/p1 Book/p4] boss→∅ staff→[Author/p2]",
        "Author/p2 name=Bo books→[Book/p2 Book/p5] boss→Author/p1 staff→[]",
        "Book/p4 name=0 author→Author/p1 shop→Shop/p1",
        "Book/p5 name=1 author→Author/p2 shop→Shop/p2",
        "Book/p6 name=2 author→Author/p1 shop→Shop/p2",
        "Shop/p1 name=near tax=∅ stock→[Book/p1 Book/p4]",
        "Shop/p2 name=far tax=∅ stock→[Book/p2 Book/p3 Book/p5 Book/p6]",
      ])
  }

  /// Says of the second book, when the authors are linked, that it comes of the first as well.
  final class Late: EntityMigrationPolicy {
    override func endRelationshipCreation(
      for mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let books = try #require(manager.mappingModel.mapping(named: "BookToBook"))
      let sources = try manager.sourceObjects(of: "Book")
      let made = try manager.destinationInstances(
        forEntityMappingName: books.name, sourceInstances: [sources[1]])
      try manager.associate(sources[0], with: made[0], for: books)
    }
  }

  @Test("follow what is associated before the other side's turn")
  func associatedLate() throws {
    // Of two sources the first is heard, for the author as for the shop.
    #expect(
      try Self.changes(["Author": Late.self]) == [
        "Author/p1 name=Ann books→[Book/p3 Book/p2 Book/p1] boss→∅ staff→[Author/p2]",
        "Author/p2 name=Bo books→[] boss→Author/p1 staff→[]",
        "Book/p2 name=1 author→Author/p1 shop→Shop/p1",
        "Shop/p1 name=near tax=∅ stock→[Book/p1 Book/p2]", "Shop/p2 name=far tax=∅ stock→[Book/p3]",
      ])
  }
}
