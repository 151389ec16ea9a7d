import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import StoreTables

/// Two stores of books, which tests make and change.
struct Shelves {
  typealias JSON = DumpFixtureTests.JSON

  let folder: TemporaryFolder
  let a: String
  let b: String

  static let oneLine = "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C"
  static let titles = ["Leek soup", "Bread", "Stew", "Salad", "Cake"]

  static func model() throws -> Model {
    var book = Entity("Book")
    book.attributes = [
      Attribute("identifier", .uuid), Attribute("title", .string, optional: true),
      Attribute("pages", .integer32, optional: true), Attribute("isRead", .boolean, optional: true),
      Attribute("cover", .binary, optional: true),
    ]
    book.relationships = [
      Relationship("author", to: "Person", inverse: "books", optional: true),
      Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
      Relationship(
        "chapters", to: "Chapter", inverse: "book", toMany: true, ordered: true, optional: true),
    ]
    book.uniquenessConstraints = [["identifier"]]
    var person = Entity("Person")
    person.attributes = [Attribute("name", .string)]
    person.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string), Attribute("colour", .integer16, optional: true)]
    tag.relationships = [
      Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
    ]
    tag.uniquenessConstraints = [["name"]]
    var chapter = Entity("Chapter")
    chapter.attributes = [Attribute("chapterID", .string), Attribute("heading", .string)]
    chapter.relationships = [
      Relationship("book", to: "Book", inverse: "chapters", optional: true)
    ]
    return try Model(entities: [book, person, tag, chapter])
  }

  private static func identifier(_ number: Int) -> AttributeValue {
    .uuid([UInt8](repeating: 7, count: 15) + [UInt8(number)])
  }

  /// Writes the books in an order, so that their keys differ.
  static func write(_ path: String, uuid: String, order: [Int] = [0, 1, 2, 3, 4]) throws {
    let writer = try StoreWriter(creating: path, model: model(), uuid: uuid)
    let people = try (order.first == 0 ? ["Ada", "Bo"] : ["Bo", "Ada"]).map {
      ($0, try writer.insert("Person", attributes: ["name": .string($0)]))
    }
    let tags = try (order.first == 0 ? ["quick", "cold"] : ["cold", "quick"]).map {
      ($0, try writer.insert("Tag", attributes: ["name": .string($0), "colour": .integer(1)]))
    }
    for number in order {
      let author = people.first { $0.0 == (number % 2 == 0 ? "Ada" : "Bo") }
      let book = try writer.insert(
        "Book",
        attributes: [
          "identifier": identifier(number), "title": .string(titles[number]),
          "pages": .integer(Int64(100 + number)), "isRead": .boolean(false),
        ],
        toOne: author.map { ["author": $0.1] } ?? [:],
        toMany: ["tags": tags.filter { number < 3 || $0.0 == "cold" }.map(\.1)])
      for place in 0..<2 {
        try writer.insert(
          "Chapter",
          attributes: [
            "chapterID": .string("c\(number)-\(place)"), "heading": .string("Heading \(place)"),
          ], toOne: ["book": book], positions: ["book": place])
      }
    }
    try writer.finish()
  }

  /// Two copies of one store.
  init() throws {
    folder = try TemporaryFolder()
    (a, b) = (folder.path("A.sqlite"), folder.path("B.sqlite"))
    try Self.write(a, uuid: Self.oneLine)
    try FileSystem.copyOver(a, to: b)
  }

  func table(_ entity: String) throws -> EntityTable {
    try #require(try Store(path: a).table(of: entity))
  }

  func change(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
  }

  /// Inserts a book with the next key, as an app does.
  func add(_ path: String, title: String, pages: Int) throws {
    let book = try table("Book")
    try change(
      path,
      """
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZISREAD, ZIDENTIFIER)
      SELECT Z_MAX + 1, Z_ENT, 1, '\(title)', \(pages), 0, randomblob(16)
      FROM Z_PRIMARYKEY WHERE Z_ENT = \(book.entityID);
      UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(book.entityID)
      """)
  }

  func compare(_ options: String...) -> Captured {
    Captured(["compare", a, b] + options)
  }

  /// What is said as NDJSON: the first line, the changes, the last line.
  func lines(
    _ options: String...
  ) throws -> (status: CommandStatus, head: JSON, changes: [JSON], summary: JSON) {
    let told = Captured(["compare", a, b] + options + ["--format", "ndjson"])
    #expect(told.out.hasSuffix("\n"), "\(told.err)")
    var lines = try told.lines.map { try Captured.decoded(JSON.self, from: Array($0.utf8)) }
    let head = try #require(lines.first?["compare"])
    let summary = try #require(lines.popLast()?["summary"])
    #expect(summary["status"] == .number(Double(told.status.rawValue)))
    return (told.status, head, Array(lines.dropFirst()), summary)
  }
}

extension DumpFixtureTests.JSON {
  subscript(_ name: String) -> Self? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var array: [Self] { if case .array(let all) = self { all } else { [] } }

  var keys: Set<String> {
    if case .object(let members) = self { Set(members.keys) } else { [] }
  }

  /// The element of an array that is of an entity.
  func of(_ entity: String) -> Self? {
    array.first { $0["entity"] == .string(entity) }
  }
}
