import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Seeding

@Suite("A seeded store like another")
struct SeedLikenessTests {
  private static func model() throws -> Model {
    var author = Entity("Author")
    author.attributes = [
      Attribute("name", .string, optional: true), Attribute("salary", .integer64, optional: true),
      Attribute("isActive", .boolean), Attribute("born", .date, optional: true),
    ]
    author.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    var book = Entity("Book")
    book.attributes = [Attribute("title", .string)]
    book.relationships = [
      Relationship("author", to: "Author", inverse: "books", optional: true),
      Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string)]
    tag.relationships = [
      Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [author, book, tag])
  }

  /// 40 authors, 30 of them with a name, 10 active; 200 books; 5 tags, four on each book.
  private static func source(_ path: String) throws -> Store {
    let writer = try StoreWriter(creating: path, model: model())
    for index in 0..<40 {
      var values: [String: AttributeValue] = ["isActive": .boolean(index < 10)]
      if index % 4 != 0 { values["name"] = .string("Secret person number \(index) of the bank") }
      values["salary"] = .integer(41_307 + Int64(index))
      values["born"] = .date(-300_000_000 + Double(index))
      try writer.insert("Author", attributes: values)
    }
    let tags = try (0..<5).map {
      try writer.insert("Tag", attributes: ["name": .string("Hidden \($0)")])
    }
    for index in 0..<200 {
      try writer.insert(
        "Book", attributes: ["title": .string("Confidential title \(index)")],
        toOne: index < 100
          ? ["author": ObjectID(entity: "Author", key: Int64(index % 40 + 1))] : [:],
        toMany: ["tags": Array(tags.prefix(4))])
    }
    try writer.finish()
    return try Store(path: path)
  }

  @Test("has its counts and shares, and none of its values")
  func like() throws {
    let folder = try TemporaryFolder()
    let source = try Self.source(folder.path("Source.sqlite"))
    let likeness = try StoreLikeness(measuring: source)
    let seeded = try SeededFolder(Self.model()) {
      $0.objects = nil
      $0.likeness = likeness
    }
    try seeded.expectSound()
    #expect(try Store(path: seeded.path).counts() == ["Author": 40, "Book": 200, "Tag": 5])
    func share(_ condition: String, _ table: String) throws -> Int {
      try 100 * seeded.number("SELECT count(*) FROM \(table) WHERE \(condition)")
        / seeded.number("SELECT count(*) FROM \(table)")
    }
    #expect((8...45).contains(try share("ZNAME IS NULL", "ZAUTHOR")))
    #expect((8...45).contains(try share("ZISACTIVE", "ZAUTHOR")))
    #expect((45...55).contains(try share("ZAUTHOR IS NULL", "ZBOOK")))
    let store = try Store(path: seeded.path)
    let tags = try #require(store.schema.storage(of: "tags", in: "Book"))
    #expect((500...1000).contains(try seeded.number("SELECT count(*) FROM (\(tags.allLinks()))")))
    #expect(
      try seeded.number("SELECT count(*) FROM ZAUTHOR WHERE ZSALARY NOT BETWEEN 20000 AND 50000")
        == 0)
    #expect(
      try seeded.number("SELECT count(*) FROM ZAUTHOR WHERE length(ZNAME) NOT BETWEEN 25 AND 45")
        == 0)
    let values = try StoreDump.lines(source).joined()
    #expect(values.contains("Secret") && values.contains("Confidential"))
    for line in try StoreDump.lines(at: seeded.path) {
      #expect(!["Secret", "bank", "Confidential", "Hidden"].contains(where: line.contains))
    }
  }

  @Test("takes as many objects as are asked for, in the same shares")
  func scaled() throws {
    let folder = try TemporaryFolder()
    let likeness = try StoreLikeness(measuring: Self.source(folder.path("Source.sqlite")))
    let seeded = try SeededFolder(Self.model(), objects: 2450) { $0.likeness = likeness }
    let counts = try Store(path: seeded.path).counts()
    #expect(counts.values.reduce(0, +) == 2450)
    #expect((380...420).contains(counts["Author"] ?? 0))
  }

  @Test("what it measures has round numbers only")
  func rounded() throws {
    let folder = try TemporaryFolder()
    let likeness = try StoreLikeness(measuring: Self.source(folder.path("Source.sqlite")))
    #expect(likeness.values["Author"]?["salary"]?.range == 20_000...50_000)
    #expect(likeness.values["Author"]?["name"]?.emptyPercent == 25)
    #expect(likeness.values["Author"]?["name"]?.lengths.allSatisfy { $0 % 5 == 0 } == true)
    #expect(likeness.values["Author"]?["isActive"]?.truePercent == 25)
    #expect(likeness.links["Book"]?["author"]?.emptyPercent == 50)
    #expect(likeness.links["Book"]?["tags"] == .init(emptyPercent: 0, mean: 4, most: 5))
  }
}
