import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Writing new stores")
struct StoreWriterTests {
  private static func model() throws -> Model {
    var book = Entity("Book")
    var cover = Attribute("cover", .binary, optional: true)
    cover.allowsExternalBinaryDataStorage = true
    book.attributes = [
      Attribute("title", .string), Attribute("pages", .integer32, optional: true),
      Attribute("price", .decimal, optional: true), Attribute("isRead", .boolean),
      Attribute("added", .date, optional: true), Attribute("identifier", .uuid, optional: true),
      Attribute("page", .uri, optional: true), cover,
    ]
    book.relationships = [
      Relationship("writer", to: "Person", inverse: "books", optional: true),
      Relationship(
        "shelves", to: "Shelf", inverse: "books", toMany: true, ordered: true, optional: true),
      Relationship("goesWith", to: "Book", inverse: "goesWith", toMany: true, optional: true),
    ]
    book.uniquenessConstraints = [["title"]]
    var person = Entity("Person")
    person.attributes = [Attribute("name", .string)]
    person.relationships = [
      Relationship(
        "books", to: "Book", inverse: "writer", toMany: true, ordered: true, optional: true)
    ]
    var author = Entity("Author", parent: "Person")
    author.attributes = [Attribute("note", .string, optional: true)]
    var reader = Entity("Reader", parent: "Person")
    reader.attributes = [Attribute("note", .string, optional: true)]
    var shelf = Entity("Shelf")
    shelf.relationships = [
      Relationship("books", to: "Book", inverse: "shelves", toMany: true, optional: true)
    ]
    return try Model(entities: [book, person, author, reader, shelf])
  }

  private func objects(_ store: Store, _ entity: String) throws -> [ObjectCursor.Object] {
    let cursor = try ObjectCursor(store, entity: entity)
    var found: [ObjectCursor.Object] = []
    while let object = try cursor.next() { found.append(object) }
    return found
  }

  private func value(
    _ store: Store, _ id: ObjectID, _ property: String
  ) throws -> PropertyValue? {
    let object = try store.object(id)
    return zip(object?.columns ?? [], object?.values ?? []).first { $0.0.name == property }?.1
  }

  @Test("every kind of value comes back as it was written")
  func values() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("New.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let large = [UInt8](repeating: 7, count: StoreWriter.externalThreshold + 1)
    let values: [String: AttributeValue] = [
      "title": .string("味噌汁"), "pages": .integer(-3), "price": .decimal("12.5"),
      "isRead": .boolean(true), "added": .date(1.5),
      "identifier": .uuid([UInt8](0..<16)), "page": .uri("https://example.org/a?b"),
    ]
    let small = try writer.insert(
      "Book", attributes: values.merging(["cover": .bytes([1, 2, 3])]) { $1 })
    let big = try writer.insert(
      "Book",
      attributes: ["title": .string("b"), "isRead": .boolean(false), "cover": .bytes(large)])
    try writer.finish()

    let store = try Store(path: path)
    #expect(store.modelMatches)
    #expect(store.warnings == [])
    for (name, expected) in values {
      #expect(try value(store, small, name) == .value(expected))
    }
    #expect(
      try value(store, small, "cover")
        == .data(DataValue(location: .row, count: 3, bytes: [1, 2, 3])))
    guard case .data(let data)? = try value(store, big, "cover") else {
      Issue.record("no data")
      return
    }
    #expect(data.count == large.count && data.bytes == large)
    #expect(try store.externalData() == ExternalDataReport(referenced: 1))
    #expect(try value(store, big, "pages") == .value(.null))
  }

  @Test("relationships of every kind come back, in their order and with their entities")
  func relationships() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("New.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let author = try writer.insert(
      "Author", attributes: ["name": .string("A"), "note": .string("of the author")])
    let reader = try writer.insert(
      "Reader", attributes: ["name": .string("R"), "note": .string("of the reader")])
    let shelves = try (0..<3).map { _ in try writer.insert("Shelf") }
    func book(_ title: String, _ position: Int, _ more: [String: [ObjectID]]) throws -> ObjectID {
      try writer.insert(
        "Book", attributes: ["title": .string(title), "isRead": .boolean(false)],
        toOne: ["writer": author], positions: ["writer": position], toMany: more)
    }
    let first = try book("a", 2, ["shelves": [shelves[2], shelves[0], shelves[1]]])
    let second = try book("b", 0, ["goesWith": [first], "shelves": [shelves[0]]])
    let third = try book("c", 1, ["goesWith": [second]])
    try writer.finish()

    let store = try Store(path: path)
    #expect(try value(store, first, "writer") == .toOne(author))
    #expect(try value(store, author, "note") == .value(.string("of the author")))
    #expect(try value(store, reader, "note") == .value(.string("of the reader")))
    #expect(
      try value(store, author, "books")
        == .toMany(ToMany(count: 3, first: [second, third, first])))
    #expect(
      try value(store, first, "shelves")
        == .toMany(ToMany(count: 3, first: [shelves[2], shelves[0], shelves[1]])))
    #expect(
      try value(store, shelves[0], "books") == .toMany(ToMany(count: 2, first: [first, second])))
    #expect(
      try value(store, second, "goesWith") == .toMany(ToMany(count: 2, first: [first, third])))
    #expect(try objects(store, "Person").isEmpty)
  }

  @Test("a finished store is one file in WAL mode with the last keys on the roots")
  func finished() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("New.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    try writer.insert("Author", attributes: ["name": .string("A")])
    try writer.insert("Reader", key: 9, attributes: ["name": .string("R")])
    try writer.finish()
    #expect(try FileSystem.read(path, offset: 18, limit: 2) == [2, 2])
    #expect(try FileSystem.list(folder.path) == ["New.sqlite"])
    let connection = try Connection(path: path, mode: .immutable)
    let keys = try connection.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX > 0")
    #expect(keys == [[.text("Person"), .integer(9)]])
    #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
    let orders = try connection.rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Book%'")
    #expect(orders == [[.text("Z_Book_UNIQUE_title")]])
  }

  @Test("a writer that is not finished leaves nothing behind")
  func abandoned() throws {
    let folder = try TemporaryFolder()
    do {
      let writer = try StoreWriter(creating: folder.path("New.sqlite"), model: Self.model())
      try writer.insert("Shelf")
    }
    #expect(try FileSystem.list(folder.path) == [])
  }

  @Test(
    "what the model does not have is refused as wrong usage",
    arguments: [
      ("Boook", "title", AttributeValue.string("x")), ("Book", "titel", .string("x")),
      ("Book", "title", .integer(1)),
    ])
  func misuse(_ entity: String, _ name: String, _ value: AttributeValue) throws {
    let folder = try TemporaryFolder()
    let writer = try StoreWriter(creating: folder.path("New.sqlite"), model: Self.model())
    let error = #expect(throws: CoreDataError.self) {
      try writer.insert(entity, attributes: [name: value])
    }
    #expect(error?.kind == .usage)
  }

  @Test("a uniqueness constraint that does not hold fails, and an existing file is refused")
  func conflicts() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("New.sqlite")
    do {
      let writer = try StoreWriter(creating: path, model: Self.model())
      for _ in 0..<2 {
        try writer.insert("Book", attributes: ["title": .string("x"), "isRead": .boolean(true)])
      }
      #expect(throws: CoreDataError.self) { try writer.finish() }
    }
    #expect(try FileSystem.list(folder.path) == [])
    try FileSystem.write([1], to: path)
    let error = #expect(throws: CoreDataError.self) {
      try StoreWriter(creating: path, model: Self.model())
    }
    #expect(error?.kind == .refused)
    #expect(try FileSystem.read(path) == [1])
  }
}
