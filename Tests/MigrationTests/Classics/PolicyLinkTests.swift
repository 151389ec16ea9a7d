import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// Relationships of every kind, as policies set them and as they carry them.
@Suite("Links that policies make")
struct PolicyLinkTests {
  static let text = """
    Author
      name String
      passport -> Passport.holder
      partner -> Author.partner
      friends ->> Author.friends
      books ->>> Book.author
      favourite -> Thing
      shelf ->> Book
      boss -> Author.staff
      staff ->> Author.boss
    Passport
      number String
      holder -> Author.passport
    Thing
      name String
    Book: Thing
      author -> Author.books
      tags ->>> Tag.books
    Tag
      label String
      books ->>> Book.tags
    """

  static func models() throws -> (Model, Model) {
    (try Classics.model("1", text), try Classics.model("2", text + "\n  colour String"))
  }

  /// Ann and Bo, with everything linked.
  static func store(in folder: TemporaryFolder) throws -> String {
    try Classics.store(models().0, in: folder) { writer in
      let ann = ObjectID(entity: "Author", key: 1)
      let bo = ObjectID(entity: "Author", key: 2)
      let books = (1...3).map { ObjectID(entity: "Book", key: Int64($0)) }
      let passport = ObjectID(entity: "Passport", key: 1)
      try writer.insert(
        "Passport", attributes: ["number": .string("A1")], toOne: ["holder": ann])
      try writer.insert("Passport", attributes: ["number": .string("B2")])
      let red = try writer.insert("Tag", attributes: ["label": .string("red")])
      let blue = try writer.insert("Tag", attributes: ["label": .string("blue")])
      for (index, book) in books.enumerated() {
        try writer.insert(
          book.entity, attributes: ["name": .string("Book \(index)")], toOne: ["author": ann],
          positions: ["author": 2 - index], toMany: ["tags": index == 0 ? [blue, red] : [red]])
      }
      try writer.insert(
        "Author", attributes: ["name": .string("Ann")],
        toOne: ["passport": passport, "partner": bo, "favourite": books[1]],
        toMany: ["friends": [bo], "shelf": [books[0], books[2]]])
      try writer.insert(
        "Author", attributes: ["name": .string("Bo")], toOne: ["partner": ann, "boss": ann])
    }
  }

  static let all = ["Author", "Passport", "Thing", "Book", "Tag"].map {
    "{ source: '\($0)', destination: '\($0)', policy: 'P' }"
  }.joined(separator: ", ")

  @Test("carried by the default as a migration without policies carries them")
  func defaults() throws {
    let (one, other) = (try TemporaryFolder(), try TemporaryFolder())
    let new = try Self.models().1
    let path = try Self.store(in: one)
    _ = try StoreMigration.runAndRead(Library.plan(path, to: new))
    let inferred = try StoreDump.lines(at: path)
    #expect(inferred.first?.hasPrefix("Author/p1 name=Ann books→[Book/p3 Book/p2 Book/p1]") == true)
    #expect(
      try Classics.migrate(
        Self.store(in: other), to: new, Self.all, policies: ["P": EntityMigrationPolicy.self])
        == inferred)
    for entity in ["Author", "Passport", "Book", "Tag"] {
      let folder = try TemporaryFolder()
      #expect(
        try Classics.migrate(
          Self.store(in: folder), to: new,
          "{ source: '\(entity)', destination: '\(entity)', policy: 'P' }",
          policies: ["P": EntityMigrationPolicy.self]) == inferred, "a policy for \(entity) only")
    }
  }

  final class Unlinked: EntityMigrationPolicy {
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {}
  }

  @Test("left out where createRelationships is overridden to do nothing")
  func unlinked() throws {
    let folder = try TemporaryFolder()
    let lines = try Classics.migrate(
      Self.store(in: folder), to: Self.models().1, Self.all, policies: ["P": Unlinked.self])
    #expect(lines.count == 9)
    #expect(lines.allSatisfy { !$0.contains("/p", after: "→") })
  }

  /// Links everything anew, by hand.
  final class Linking: EntityMigrationPolicy {
    override func endRelationshipCreation(
      for mapping: EntityMapping, manager: MigrationManager
    )
      throws
    {
      guard mapping.source == "Tag" else { return }
      func made(_ entity: String) throws -> [DestinationObject] {
        try manager.destinationInstances(
          forEntityMappingName: "\(entity)To\(entity)",
          sourceInstances: manager.sourceObjects(of: entity))
      }
      let (authors, passports) = (try made("Author"), try made("Passport"))
      let (books, tags) = (try made("Book"), try made("Tag"))
      let (ann, bo) = (authors[0], authors[1])
      // One to one: whoever had either is left alone.
      try bo.set(passports[0], for: "passport")
      try ann.set(nil, for: "partner")
      // Its own inverse, many to many, seen from either side.
      let cy = try manager.insert("Author")
      try cy.set(.string("Cy"), for: "name")
      try cy.add([ann, bo], to: "friends")
      try ann.add([cy], to: "friends")
      // One to many from both sides, and in order: what comes is last.
      try cy.add([books[0]], to: "books")
      try books[2].set(cy, for: "author")
      try cy.set(ann, for: "boss")
      // To an entity with subentities, and without inverse.
      try ann.set(books[0], for: "favourite")
      try bo.add([books[2]], to: "shelf")
      // Many to many.
      try books[1].add([tags[1]], to: "tags")
    }
  }

  static let linked = [
    "Author/p1 name=Ann books→[Book/p2] boss→∅ favourite→Book/p1 friends→[Author/p2 Author/p3] partner→∅ passport→∅ shelf→[Book/p1] staff→[Author/p2 Author/p3]",
    "Author/p2 name=Bo books→[] boss→Author/p1 favourite→∅ friends→[Author/p1 Author/p3] partner→∅ passport→Passport/p1 shelf→[Book/p3] staff→[]",
    "Author/p3 name=Cy books→[Book/p1 Book/p3] boss→Author/p1 favourite→∅ friends→[Author/p1 Author/p2] partner→∅ passport→∅ shelf→[] staff→[]",
    "Passport/p1 number=A1 holder→Author/p2", "Passport/p2 number=B2 holder→∅",
    "Book/p1 name=Book 0 author→Author/p3 tags→[Tag/p2 Tag/p1]",
    "Book/p2 name=Book 1 author→Author/p1 tags→[Tag/p1 Tag/p2]",
    "Book/p3 name=Book 2 author→Author/p3 tags→[Tag/p1]",
    "Tag/p1 colour=∅ label=red books→[Book/p1 Book/p2 Book/p3]",
    "Tag/p2 colour=∅ label=blue books→[Book/p1 Book/p2]",
  ]

  @Test("set by hand, of every kind, over those that the mapping tells", arguments: [true, false])
  func byHand(isForAll: Bool) throws {
    let folder = try TemporaryFolder()
    let mappings =
      isForAll
      ? Self.all
      : ["Author", "Passport", "Thing", "Book"].map {
        "{ source: '\($0)', destination: '\($0)' }, "
      }.joined() + "{ source: 'Tag', destination: 'Tag', policy: 'P' }"
    let lines = try Classics.migrate(
      Self.store(in: folder), to: Self.models().1, mappings, policies: ["P": Linking.self])
    #expect(lines.sorted() == Self.linked.sorted())
  }

  /// Sets what is no such relationship.
  final class Mistaken: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let author = try manager.makeInstance(of: source, in: mapping)
      func message(_ body: () throws -> Void) -> String? {
        let error = #expect(throws: CoreDataError.self) { try body() }
        return error?.message
      }
      #expect(
        message { try author.set(nil, for: "books") } == "the relationship is to-many: add to it")
      #expect(
        message { try author.add([author], to: "boss") } == "the relationship is to-one: set it")
      #expect(
        message { try author.set(author, for: "passport") } == "\(author.id) is no Passport")
      #expect(
        message { try author.set(nil, for: "pasport") } == "the entity has no such relationship")
      #expect(message { try author.set(.null, for: "boss") } == "the entity has no such attribute")
      #expect(
        message { _ = try manager.insert("Nobody") } == "the model has no such entity")
      #expect(
        message { _ = try manager.makeInstance(of: SourceObject.other(manager), in: mapping) }
          == "an instance can be created for the current object only")
      #expect(
        message {
          _ = try manager.destinationInstances(forEntityMappingName: "X", sourceInstances: [])
        } == "there is no mapping “X” that takes objects")
    }
  }

  @Test("mistakes are told, and nothing of them is written")
  func mistakes() throws {
    let folder = try TemporaryFolder()
    let lines = try Classics.migrate(
      Self.store(in: folder), to: Self.models().1,
      "{ source: 'Author', destination: 'Author', policy: 'P' }", policies: ["P": Mistaken.self])
    #expect(lines.count == 9)
    #expect(lines[0].contains("passport→Passport/p1"))
  }
}

extension SourceObject {
  fileprivate static func other(_ manager: MigrationManager) throws -> SourceObject {
    try #require(try manager.sourceObjects(of: "Tag").first)
  }
}

extension String {
  fileprivate func contains(_ part: String, after mark: String) -> Bool {
    split(separator: mark).dropFirst().contains { $0.contains(part) }
  }
}
