import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

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

  @Test("a counter of keys that is too small in both stores is no difference")
  func smallCounter() throws {
    for path in [shelves.a, shelves.b] {
      try shelves.change(path, "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    }
    let told = shelves.compare()
    #expect(told.status == .done && !told.out.contains("· "), "\(told.out)")
    try shelves.change(shelves.b, "UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
    #expect(shelves.compare().out.contains("· primary-key: "))
  }

  @Test(
    "stores of two text encodings are compared by what their texts say",
    arguments: ["UTF-16le", "UTF-16be"])
  func encodings(encoding: String) throws {
    try shelves.change(shelves.a, "UPDATE ZBOOK SET ZTITLE = 'Crème 😀' WHERE Z_PK = 2")
    FileSystem.remove(shelves.b)
    try Connection.transcode(shelves.a, to: shelves.b, encoding)
    let contents = try shelves.folder.contents()
    #expect(shelves.compare().lines.last == "✓ all objects are equal")
    #expect(Captured("compare", shelves.b, shelves.a).lines.last == "✓ all objects are equal")
    #expect(try shelves.folder.contents() == contents)
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZTITLE = 'Crêpe' WHERE Z_PK = 2")
    let lines = try shelves.lines()
    #expect(lines.changes.count == 1 && lines.status == .no)
    #expect(
      lines.changes.first?["attributes"]?["title"]
        == .object(["old": .string("Crème 😀"), "new": .string("Crêpe")]))
  }

  @Test("a reference to an object without a counterpart is another than none")
  func referenceToNone() throws {
    FileSystem.remove(shelves.b)
    try Shelves.write(shelves.b, uuid: "AAAAAAAA-6A59-4B37-9D4F-0C5A3E1F2D3C")
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZAUTHOR = NULL WHERE Z_PK = 1")
    // Nothing pairs people.
    let book = try shelves.lines("Book").changes.first { $0["a"] == .string("Book/p1") }
    #expect(
      book?["relationships"]?["author"]
        == .object([
          "added": .array([]), "removed": .array([.string("Person/p1")]), "reordered": .bool(false),
        ]))
  }

  @Test("what is no file has no hint to look into it")
  func noFile() {
    let told = Captured("compare", "/dev/null", shelves.a)
    #expect(told.status != .done && told.err.contains("not a file"), "\(told.err)")
    #expect(!told.err.contains("Name the store file in it"), "\(told.err)")
    let error = #expect(throws: CoreDataError.self) {
      try StoreFiles(path: shelves.folder.path).check()
    }
    #expect(error?.hint?.contains("Name the store file in it") == true)
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
    // One equal value makes a pair, unless what identifies is another, or the copy that both come from says so.
    try shelves.change(shelves.b, "UPDATE ZBOOK SET ZPAGES = 1 WHERE ZTITLE = 'Tea'")
    #expect(counts(try shelves.lines().summary) == [.number(1), .number(0), .number(1)])
    for path in [shelves.a, shelves.b] {
      try shelves.change(path, "UPDATE ZBOOK SET ZIDENTIFIER = zeroblob(16) WHERE Z_PK = 6")
    }
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
    try shelves.change(after, "UPDATE ZRECIPE SET ZSERVINGS = 77 WHERE Z_PK = 1")
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
    // What was on the page may be there or not.
    for (a, b) in [(before, after), (after, before)] {
      let lines = try Captured("compare", a, b, "--format", "ndjson").lines.map {
        try Captured.decoded(Shelves.JSON.self, from: Array($0.utf8))
      }
      let steps = lines.last?["summary"]?["entities"]?.of("Step")
      #expect(steps?["inserted"] == .number(0) && steps?["deleted"] == .number(0))
      #expect(steps?["unknown"] != .number(0) && steps?["unknown"] != nil, "\(lines)")
      #expect(!lines.contains { $0["change"] != nil }, "\(lines)")
      #expect(lines.last?["summary"]?["status"] == .number(4))
    }
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
    try shelves.change(
      shelves.b,
      "UPDATE ZBOOK SET ZTITLE = 'Pie' WHERE Z_PK = 1; DELETE FROM ZCHAPTER WHERE Z_PK = 1")
    let lines = try shelves.lines()
    let change = try #require(lines.changes.first { $0["entity"] == .string("Book") })
    for (start, printed) in [
      ("{\"compare\"", Shelves.JSON.object(["compare": lines.head])), ("{\"change\"", change),
      ("{\"summary\"", .object(["summary": lines.summary])),
    ] {
      let shown = try FormatsArticle.example(start)
      #expect(shown.keys == printed.keys)
      for key in shown.keys where key != "attributes" && key != "relationships" {
        #expect(shown[key]?.keys == printed[key]?.keys, "\(start) \(key)")
      }
    }
  }
}
