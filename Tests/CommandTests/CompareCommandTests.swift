import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Two stores of books, which tests make and change.
private struct Shelves {
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
  fileprivate subscript(_ name: String) -> Self? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  fileprivate var array: [Self] { if case .array(let all) = self { all } else { [] } }

  fileprivate var keys: Set<String> {
    if case .object(let members) = self { Set(members.keys) } else { [] }
  }

  /// The element of an array that is of an entity.
  fileprivate func of(_ entity: String) -> Self? {
    array.first { $0["entity"] == .string(entity) }
  }
}

@Suite("compare")
struct CompareCommandTests {
  private let shelves: Shelves

  init() throws { shelves = try Shelves() }

  @Test("a store and its copy are equal (0), and neither is changed")
  func equal() throws {
    let contents = try shelves.folder.contents()
    let told = shelves.compare()
    #expect(told.status == .done, "\(told.err)")
    #expect(told.lines.last == "✓ all objects are equal", "\(told.out)")
    let lines = try shelves.lines()
    #expect(lines.status == .done && lines.changes.isEmpty)
    #expect(lines.summary["bookkeeping"] == .array([]))
    #expect(try shelves.folder.contents() == contents)
  }

  @Test("a changed value is told with what it was and what it is (1), and nothing else")
  func changed() throws {
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZTITLE = 'Leak soup', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
    let lines = try shelves.lines()
    #expect(lines.status == .no)
    #expect(
      lines.changes == [
        .object([
          "change": .string("update"), "entity": .string("Book"), "a": .string("Book/p1"),
          "b": .string("Book/p1"), "label": .string("Leak soup"),
          "attributes": .object([
            "title": .object(["old": .string("Leek soup"), "new": .string("Leak soup")])
          ]), "relationships": .object([:]),
        ])
      ])
    // What is counted of saves is bookkeeping.
    #expect(lines.summary["bookkeeping"]?.array.first?["part"] == .string("saves"))
    let table = shelves.compare()
    #expect(table.out.contains("~ Book/p1  Leak soup\n    title: “Leek soup” → “Leak soup”\n"))
    #expect(table.lines.last == "1 object differs")
  }

  @Test("bookkeeping that differs is listed and does not count (0); it can be left out")
  func bookkeeping() throws {
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET Z_OPT = 9; UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 5")
    let told = shelves.compare()
    #expect(told.status == .done)
    #expect(told.out.contains("· saves: "), "\(told.out)")
    #expect(told.out.contains("· primary-key: "), "\(told.out)")
    #expect(!shelves.compare("--ignore", "bookkeeping").out.contains("· "))
  }

  @Test(
    "an object that only one store has is deleted or inserted, and its links are told on both sides"
  )
  func insertedAndDeleted() throws {
    try shelves.add(shelves.b, title: "Pie", pages: 12)
    let tags = try #require(try shelves.table("Book").storage(of: "tags"))
    try shelves.change(
      shelves.b,
      """
      DELETE FROM \(tags.table) WHERE \(tags.owner) = 2; DELETE FROM ZCHAPTER WHERE ZBOOK = 2;
      DELETE FROM ZBOOK WHERE Z_PK = 2
      """)
    let lines = try shelves.lines()
    let books = lines.summary["entities"]?.of("Book")
    #expect(books?["inserted"] == .number(1) && books?["deleted"] == .number(1))
    #expect(books?["updated"] == .number(0))
    let pairing = lines.head["pairing"]?.of("Book")
    #expect(pairing?["by"] == .string("key") && pairing?["grownApart"] == .bool(false))
    #expect(pairing?["unpaired"] == .object(["a": .number(1), "b": .number(1)]))
    let person = lines.changes.first { $0["entity"] == .string("Person") }
    #expect(
      person?["relationships"]?["books"]
        == .object([
          "added": .array([]), "removed": .array([.string("Book/p2")]), "reordered": .bool(false),
        ]), "\(lines.changes)")
    let deleted = lines.changes.first { $0["change"] == .string("delete") }
    #expect(deleted?["b"] == .null)
    #expect(deleted?["attributes"]?["title"]?["old"] == .string("Bread"))
    #expect(deleted?["attributes"]?["title"]?["new"] == .null)
  }

  @Test(
    "stores with two UUIDs are paired by what is unique, identifies or is named, whatever the keys are"
  )
  func renumbered() throws {
    FileSystem.remove(shelves.b)
    try Shelves.write(
      shelves.b, uuid: "AAAAAAAA-6A59-4B37-9D4F-0C5A3E1F2D3C", order: [4, 2, 3, 1, 0])
    let unpaired = try shelves.lines()
    // Nothing identifies a person: the four are counted, and books lead to others.
    #expect(unpaired.head["pairing"]?.of("Person")?["by"] == .string("none"))
    #expect(unpaired.summary["entities"]?.of("Person")?["inserted"] == .number(2))
    let lines = try shelves.lines("--match", "Person=name")
    #expect(lines.head["pairing"]?.of("Book")?["by"] == .string("unique"))
    #expect(lines.head["pairing"]?.of("Book")?["on"] == .array([.string("identifier")]))
    #expect(lines.head["pairing"]?.of("Chapter")?["by"] == .string("attribute"))
    #expect(lines.head["pairing"]?.of("Person")?["by"] == .string("match"))
    #expect(lines.status == .done && lines.changes.isEmpty, "\(lines.changes)")
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 7 WHERE ZTITLE = 'Cake'")
    let changed = try shelves.lines("--match", "Person=name")
    #expect(changed.changes.count == 1)
    #expect(changed.changes.first?["a"] == .string("Book/p5"))
    #expect(changed.changes.first?["b"] == .string("Book/p1"))
  }

  @Test(
    "new objects of two copies with one key are two objects, and the entity may have grown apart")
  func grownApart() throws {
    let base = shelves.folder.path("Base.sqlite")
    try FileSystem.copyOver(shelves.a, to: base)
    try shelves.add(shelves.a, title: "Pie", pages: 1)
    try shelves.add(shelves.b, title: "Tea", pages: 2)
    func counts(_ summary: Shelves.JSON) -> [Shelves.JSON?] {
      ["inserted", "updated", "deleted"].map { summary["entities"]?.of("Book")?[$0] }
    }
    let lines = try shelves.lines()
    #expect(counts(lines.summary) == [.number(1), .number(0), .number(1)])
    #expect(lines.head["pairing"]?.of("Book")?["grownApart"] == .bool(true))
    #expect(shelves.compare().out.contains("! Book may have grown apart: 1 key "))
    // One equal value makes a pair, unless the copy that both come from says otherwise.
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE ZTITLE = 'Tea'")
    #expect(counts(try shelves.lines().summary) == [.number(0), .number(1), .number(0)])
    let settled = try shelves.lines("--base", base)
    #expect(counts(settled.summary) == [.number(1), .number(0), .number(1)])
    FileSystem.remove(base)
    try Shelves.write(base, uuid: "AAAAAAAA-6A59-4B37-9D4F-0C5A3E1F2D3C")
    #expect(shelves.compare("--base", base).status == .usage)
  }

  @Test("an object before one that is the same in both is one object, though no value is equal")
  func sharedKeys() throws {
    func counts() throws -> [Shelves.JSON?] {
      let people = try shelves.lines().summary["entities"]?.of("Person")
      return ["inserted", "updated", "deleted"].map { people?[$0] }
    }
    try shelves.change(shelves.b, "UPDATE ZPERSON SET ZNAME = 'Eve' WHERE Z_PK = 1")
    #expect(try counts() == [.number(0), .number(1), .number(0)])
    // Of the last one nothing tells.
    try shelves.change(shelves.b, "UPDATE ZPERSON SET ZNAME = 'Fay' WHERE Z_PK = 2")
    #expect(try counts() == [.number(2), .number(0), .number(2)])
  }

  @Test("a reference to a key that is two objects leads to another object")
  func splitReferences() throws {
    for (path, name) in [(shelves.a, "Cy"), (shelves.b, "Di")] {
      let person = try shelves.table("Person")
      try shelves.change(
        path,
        """
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (3, \(person.entityID), 1, '\(name)');
        UPDATE ZBOOK SET ZAUTHOR = 3 WHERE Z_PK = 1
        """)
    }
    let lines = try shelves.lines("Book")
    #expect(lines.changes.count == 1)
    #expect(
      lines.changes.first?["relationships"]?["author"]
        == .object([
          "added": .array([.string("Person/p3")]), "removed": .array([.string("Person/p3")]),
          "reordered": .bool(false),
        ]), "\(lines.changes)")
  }

  @Test("an ordered relationship in another order is reordered, and leads to the same")
  func reordered() throws {
    let chapters = try #require(try shelves.table("Book").storage(of: "chapters"))
    let position = try #require(chapters.position)
    try shelves.change(
      shelves.b, "UPDATE \(chapters.table) SET \(position) = -\(position) WHERE ZBOOK = 1")
    let lines = try shelves.lines()
    #expect(lines.changes.count == 1)
    #expect(
      lines.changes.first?["relationships"]
        == .object([
          "chapters": .object([
            "added": .array([]), "removed": .array([]), "reordered": .bool(true),
          ])
        ]))
    // Other numbers for the same order are no difference.
    try shelves.change(
      shelves.b, "UPDATE \(chapters.table) SET \(position) = -\(position) * 2 WHERE ZBOOK = 1")
    #expect(try shelves.lines().status == .done)
  }

  @Test("a link of a many-to-many that is gone is told of both objects")
  func manyToMany() throws {
    let tags = try #require(try shelves.table("Book").storage(of: "tags"))
    try shelves.change(
      shelves.b,
      "DELETE FROM \(tags.table) WHERE \(tags.owner) = 1 AND \(tags.destination) = 2")
    let lines = try shelves.lines()
    #expect(lines.changes.count == 2)
    let book = lines.changes.first { $0["entity"] == .string("Book") }
    let tag = lines.changes.first { $0["entity"] == .string("Tag") }
    #expect(book?["relationships"]?["tags"]?["removed"] == .array([.string("Tag/p2")]))
    #expect(tag?["relationships"]?["books"]?["removed"] == .array([.string("Book/p1")]))
  }

  @Test("--where takes objects that match in A or in B, and no others")
  func predicate() throws {
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZTITLE = 'Leak soup' WHERE Z_PK = 1")
    for title in ["Leek soup", "Leak soup"] {
      let lines = try shelves.lines("Book", "--where", "title == \"\(title)\"")
      #expect(lines.changes.count == 1 && lines.status == .no, "\(title)")
    }
    let other = try shelves.lines("Book", "--where", "title == \"Bread\"")
    #expect(other.changes.isEmpty && other.status == .done)
    #expect(shelves.compare("Book", "--where", "titel == 1").status == .usage)
    #expect(shelves.compare("--where", "title == \"Bread\"").status == .usage)
  }

  @Test("--limit prints fewer changes of each entity, and counts all of them")
  func limit() throws {
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZPAGES = ZPAGES + 1; UPDATE ZTAG SET ZCOLOUR = 2")
    let lines = try shelves.lines("--limit", "2")
    #expect(lines.changes.filter { $0["entity"] == .string("Book") }.count == 2)
    #expect(lines.summary["entities"]?.of("Book")?["updated"] == .number(5))
    #expect(lines.summary["entities"]?.of("Tag")?["updated"] == .number(2))
    #expect(shelves.compare("--limit", "2").out.contains("3 more of Book"))
    #expect(try shelves.lines("--limit", "all").changes.count == 7)
  }

  @Test("entities and properties can be chosen and left out; an unknown name is wrong usage")
  func chosen() throws {
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 1; UPDATE ZTAG SET ZCOLOUR = 2")
    #expect(try shelves.lines("Tag").changes.count == 2)
    #expect(try shelves.lines("--ignore", "Tag").changes.count == 5)
    #expect(try shelves.lines("--ignore", "Book.pages", "--ignore", "Tag.colour").status == .done)
    for words in [
      ["Boook"], ["--ignore", "Book.page"], ["--match", "Book=page"], ["--match", "="],
    ] {
      #expect(Captured(["compare", shelves.a, shelves.b] + words).status == .usage, "\(words)")
    }
  }

  @Test("two versions: renamed properties are followed, what was added is named once")
  func versions() throws {
    let place = try StoreFolder()
    let (before, after) = (try place.add("Before.sqlite"), place.folder.path("After.sqlite"))
    #expect(
      Captured("migrate", before, "--to", place.bundle + "@Recipes 2", "--output", after).status
        == .done)
    let told = Captured("compare", before, after)
    #expect(told.status == .done, "\(told.out)\(told.err)")
    #expect(told.out.contains("  Recipe.serves → Recipe.servings\n"))
    #expect(told.out.contains("  only in B: Recipe.isVegan\n"))
    #expect(told.lines.filter { $0.contains("only in B: Rating") }.count == 1)
    try shelves.change(after, "UPDATE ZRECIPE SET ZSERVINGS = 77 WHERE Z_PK = 3")
    let changed = Captured("compare", before, after, "--format", "ndjson")
    #expect(changed.status == .no)
    #expect(changed.out.contains(#""servings":{"old":"#) && changed.out.contains(#""new":77"#))
    #expect(changed.lines.count == 3)
  }

  @Test(
    "what of a damaged store can be read is compared, and the status says that it is not all (4)")
  func damaged() throws {
    let place = try StoreFolder()
    let (before, after) = (try place.add("Before.sqlite"), try place.add("After.sqlite"))
    #expect(Captured("compare", before, after).status == .done)
    let connection = try Connection(path: after, mode: .readOnly)
    let page = try #require(
      try connection.rows(
        "SELECT pageno FROM dbstat WHERE name = 'ZSTEP' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1"
      ).first?.first?.integer)
    connection.close()
    var bytes = try FileSystem.read(after)
    let start = Int(page - 1) * 4096
    for offset in start..<start + 4096 { bytes[offset] = 0xFF }
    FileSystem.remove(after)
    try FileSystem.write(bytes, to: after)
    let told = Captured("compare", before, after)
    #expect(told.status == .unreadable, "\(told.out)")
    #expect(told.err.contains("Step"), "\(told.err)")
  }

  @Test("text of a store steers no terminal, in no format")
  func hostile() throws {
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZTITLE = char(27) || '[2J' || char(8238) || 'x' WHERE Z_PK = 1")
    for format in ["table", "json", "ndjson", "csv", "markdown"] {
      let told = Captured(
        ["compare", shelves.a, shelves.b, "--format", format], terminal: true)
      #expect(told.status == .no)
      #expect(!told.out.unicodeScalars.contains { $0.value == 27 || $0.value == 8238 }, "\(format)")
    }
  }

  @Test("JSON is one document; CSV and Markdown have a line for each property")
  func formats() throws {
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZTITLE = 'a,b', ZPAGES = 3 WHERE Z_PK = 1")
    let document = try shelves.compare("--json").decoded(Shelves.JSON.self)
    #expect(document.keys == ["compare", "changes", "summary"])
    #expect(document["changes"]?.array.count == 1)
    #expect(
      try Captured("compare", shelves.a, shelves.a, "--json").decoded(Shelves.JSON.self)["changes"]
        == .array([]))
    #expect(
      shelves.compare("--format", "csv").out == """
        entity,key,change,a,b,label,property,old,new\r
        Book,1,update,Book/p1,Book/p1,"a,b",pages,100,3\r
        Book,1,update,Book/p1,Book/p1,"a,b",title,Leek soup,"a,b"\r

        """)
    #expect(shelves.compare("--format", "markdown").out.contains("| title | Leek soup | a,b |"))
  }

  @Test("a long text shows what is around the first difference, or all of it")
  func longText() throws {
    let long = String(repeating: "abcdefghij", count: 30)
    for (path, end) in [(shelves.a, "one"), (shelves.b, "two")] {
      try shelves.change(path, "UPDATE ZBOOK SET ZTITLE = '\(long)\(end)' WHERE Z_PK = 1")
    }
    let told = shelves.compare().out
    #expect(told.contains("“…abcdefghijone” → “…abcdefghijtwo”"), "\(told)")
    #expect(shelves.compare("--whole-values").out.contains("“\(long)one” → “\(long)two”"))
  }

  @Test("diff of two stores says that it compares models, and names compare")
  func diff() {
    let last = Captured("diff", shelves.a, shelves.b).lines.last ?? ""
    #expect(last.contains("models") && last.hasSuffix("strata compare \(shelves.a) \(shelves.b)"))
  }

  @Test("the article on formats shows lines with the members that are printed")
  func article() throws {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
    let article = String(
      decoding: try FileSystem.read(package + "/Sources/strata/strata.docc/Formats.md"),
      as: UTF8.self)
    try shelves.change(
      shelves.b,
      "UPDATE ZBOOK SET ZTITLE = 'Pie' WHERE Z_PK = 1; DELETE FROM ZCHAPTER WHERE Z_PK = 1")
    let lines = try shelves.lines()
    let change = try #require(lines.changes.first { $0["entity"] == .string("Book") })
    for (start, printed) in [
      ("{\"compare\"", Shelves.JSON.object(["compare": lines.head])), ("{\"change\"", change),
      ("{\"summary\"", .object(["summary": lines.summary])),
    ] {
      let range = try #require(article.firstRange(of: "```\n" + start))
      let block = article[range.lowerBound...].dropFirst(4)
      let text = try #require(block.firstRange(of: "\n```")).lowerBound
      let shown = try Captured.decoded(Shelves.JSON.self, from: Array(block[..<text].utf8))
      #expect(shown.keys == printed.keys)
      for key in shown.keys where key != "attributes" && key != "relationships" {
        #expect(shown[key]?.keys == printed[key]?.keys, "\(start) \(key)")
      }
    }
  }
}

/// What an independent script makes of two dumps, beside what `compare` says.
@Suite(
  "compare, beside a comparison of dumps",
  .enabled(if: Tool.python3.isAvailable, "python3 is missing"))
struct CompareDumpTests {
  private static let script =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    .joined(separator: "/") + "/Independent/compare.py"

  /// Whether the script finds the same changes.
  private func agrees(_ a: String, _ b: String, in folder: TemporaryFolder) throws -> Bool {
    var paths: [String] = []
    for (name, words) in [
      ("a", ["dump", a]), ("b", ["dump", b]), ("told", ["compare", a, b, "--format", "ndjson"]),
    ] {
      let told = Captured(words)
      let path = folder.path(name + ".ndjson")
      FileSystem.remove(path)
      try FileSystem.write(Array(told.out.utf8), to: path)
      paths.append(path)
    }
    return OtherProgram.run(Tool.python3.path, ["-B", Self.script] + paths) == 0
  }

  @Test("generated changes of one store", arguments: TestScale.some(6, of: Array(0..<40)))
  func generated(seed: Int) throws {
    let place = try StoreFolder()
    let (a, b) = (try place.add("A.sqlite"), try place.add("B.sqlite"))
    var generator = SeededGenerator(seed: UInt64(seed))
    let store = try Store(path: b)
    let connection = try Connection(path: b, mode: .readWrite)
    let tables = store.entityTables.filter { !$0.attributes.isEmpty }
    for _ in 0..<(1 + seed % 12) {
      let table = try #require(tables.randomElement(using: &generator))
      let name = quoted(table.table)
      let some =
        "Z_PK % \(Int.random(in: 2...40, using: &generator)) = 0 AND Z_ENT = \(table.entityID)"
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: try connection.execute("DELETE FROM \(name) WHERE \(some)")
      case 1:
        let columns = table.relationships.compactMap { $0.storage?.toOneColumn }
        guard let column = columns.randomElement(using: &generator) else { continue }
        try connection.execute("UPDATE \(name) SET \(column) = NULL WHERE \(some)")
      case 2:
        let joins = table.relationships.compactMap(\.storage).filter(\.isJoin)
        guard let join = joins.randomElement(using: &generator) else { continue }
        try connection.execute("DELETE FROM \(join.table) WHERE \(join.owner) % 3 = 0")
      default:
        let columns = table.attributes.filter { $0.attribute.type == .string }
        guard let column = columns.randomElement(using: &generator)?.column else { continue }
        try connection.execute("UPDATE \(name) SET \(column) = 'new' || Z_PK WHERE \(some)")
      }
    }
    connection.close()
    #expect(try agrees(a, b, in: place.folder), "seed \(seed)")
    #expect(try agrees(b, a, in: place.folder), "seed \(seed)")
  }

  @Test("the script finds what compare would leave out")
  func script() throws {
    let shelves = try Shelves()
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
    let told = shelves.folder.path("told.ndjson")
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    let dump = shelves.folder.path("b.ndjson")
    FileSystem.remove(dump)
    try FileSystem.write(Array(Captured("dump", shelves.b).out.utf8), to: dump)
    #expect(
      OtherProgram.run(
        Tool.python3.path, ["-B", Self.script, shelves.folder.path("a.ndjson"), dump, told]) == 1)
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
  }

  @Test("stores of two UUIDs, paired by values")
  func values() throws {
    let shelves = try Shelves()
    FileSystem.remove(shelves.b)
    try Shelves.write(
      shelves.b, uuid: "AAAAAAAA-6A59-4B37-9D4F-0C5A3E1F2D3C", order: [3, 4, 1, 2, 0])
    try shelves.change(
      shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK > 3; DELETE FROM ZTAG WHERE Z_PK = 1")
    #expect(try agrees(shelves.a, shelves.b, in: shelves.folder))
  }

  @Test(
    "fixtures of one model, each with each",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    let folder = try TemporaryFolder()
    var stores: [[String: VersionHash]: [String]] = [:]
    let names = Fixtures.paths(endingWith: ".ndjson").map {
      FileSystem.name(of: $0).dropLast(".ndjson".count).replacing("__", with: "/")
    }
    for name in names where FileSystem.isFile(Fixtures.path(name)) {
      // Each is copied by its number: two can have one name.
      let path = try folder.copy(fixture: name, as: "\(stores.count)-\(FileSystem.name(of: name))")
      guard let store = try? Store(path: path), store.modelSource == .store else { continue }
      stores[store.metadata.versionHashes, default: []].append(path)
    }
    for paths in stores.values {
      for a in paths {
        for b in paths where a != b || paths.count == 1 {
          #expect(try agrees(a, b, in: folder), "\(a) \(b)")
        }
      }
    }
  }
}
