import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("strata rows and strata object")
struct RowsCommandTests {
  private func store(in folder: TemporaryFolder) throws -> String {
    var note = Entity("Note")
    note.attributes = [
      Attribute("text", .string, optional: true), Attribute("date", .date, optional: true),
      Attribute("price", .decimal, optional: true),
      Attribute("data", .transformable, optional: true),
      Attribute("score", .double, optional: true),
    ]
    note.relationships = [
      Relationship("parent", to: "Note", inverse: "children", optional: true),
      Relationship("children", to: "Note", inverse: "parent", toMany: true, optional: true),
    ]
    var pin = Entity("Pin")
    pin.relationships = [Relationship("note", to: "Note", optional: true)]
    let path = folder.path("Notes.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Model(entities: [note, pin]),
      uuid: "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C")
    let root = try writer.insert(
      "Note",
      attributes: [
        "text": .string("a, \"b\"\nc"), "date": .date(0), "price": .decimal("12.50"),
        "data": .bytes(PropertyList.binary(.dictionary(["k": .integer(1)]))), "score": .double(1.5),
      ])
    try writer.insert(
      "Note",
      attributes: [
        "text": .string("\u{1B}[2Jé"), "date": .date(.infinity), "score": .double(-.infinity),
      ],
      toOne: ["parent": root])
    try writer.insert(
      "Note", attributes: ["date": .date(1e300), "score": .double(.nan)], toOne: ["parent": root])
    try writer.insert("Pin", toOne: ["note": root])
    try writer.finish()
    return path
  }

  @Test("the key may be named among the columns; it comes first anyway")
  func key() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let named = Captured(["rows", path, "Note", "--columns", "key,score"])
    #expect(named.status == .done)
    #expect(named.out == Captured(["rows", path, "Note", "--columns", "score"]).out)
    #expect(
      Captured(["rows", path, "Note", "--columns", "key", "--format", "csv"]).out
        == "entity,key\r\nNote,1\r\nNote,2\r\nNote,3\r\n")
  }

  @Test("a table, CSV, JSON and NDJSON of the same rows")
  func formats() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let columns = ["--columns", "text,date,price,parent"]
    #expect(
      Captured(["rows", path, "Note"] + columns).out == """
        key  text      date                  price  parent
          1  a, "b"␊c  2001-01-01T00:00:00Z   12.5  ∅
          2  ␛[2Jé     inf                       ∅  → Note/p1
          3  ∅         1e+300                    ∅  → Note/p1

        """)
    #expect(
      Captured(["rows", path, "Note", "--format", "csv"] + columns).out
        == "entity,key,text,date,price,parent\r\n"
        + "Note,1,\"a, \"\"b\"\"\nc\",2001-01-01T00:00:00Z,12.5,\r\n"
        + "Note,2,\u{1B}[2Jé,inf,,Note/p1\r\nNote,3,,1e+300,,Note/p1\r\n")
    let ndjson = Captured(["rows", path, "Note", "--format", "ndjson"] + columns)
    #expect(ndjson.lines.count == 3)
    #expect(
      ndjson.lines.first
        == #"{"attributes":{"text":"a, \"b\"\nc","date":0,"price":"12.5"},"entity":"Note","pk":1,"relationships":{"parent":null}}"#
    )
    struct Row: Decodable { let pk: Int }
    #expect(
      try Captured(["rows", path, "Note", "--json"]).decoded([Row].self).map(\.pk) == [1, 2, 3])
    let none = Captured(["rows", path, "Note", "--json", "--where", "FALSEPREDICATE"])
    #expect(try none.decoded([Row].self).isEmpty)
  }

  @Test("a table on a terminal fits it: an object a line, or a property a line")
  func layouts() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    func rows(_ words: String..., width: Int) -> Captured {
      Captured(["rows", path, "Note", "--limit", "2"] + words, terminal: true, width: width)
    }
    let columns = ["--columns", "text,date,score"]
    #expect(
      Captured(["rows", path, "Note"] + columns, terminal: true, width: 60).lines.first
        == "key  text      date                  score")
    #expect(
      Captured(
        ["rows", path, "Note", "--limit", "2"] + columns, terminal: true, width: 24
      ).out == """
        Note/p1
          text   a, "b"␊c
          date   2001-01-01T00:…
          score  1.5
        Note/p2
          text   ␛[2Jé
          date   inf
          score  -inf

        """)
    // What labels an object comes first, as in the interface; a pipe gets the order it always got.
    let wide = rows("--layout", "wide", width: 20)
    #expect(wide.lines.first == "key  text")
    #expect(wide.err.contains("no room for data, date, price, score, children, parent"))
    #expect(Captured("rows", path, "Note").lines.first?.hasPrefix("key  data") == true)
    #expect(Captured("rows", path, "Note", "--layout", "long").lines.first == "Note/p1")
    let refused = Captured("rows", path, "Note", "--json", "--layout", "long")
    #expect(refused.status == .usage)
  }

  @Test("no row is said, and only where a person reads")
  func none() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let filter = ["--where", "FALSEPREDICATE"]
    #expect(Captured(["rows", path, "Note"] + filter).err == "0 rows\n")
    #expect(Captured(["rows", path, "Note", "--format", "csv"] + filter).err == "")
    #expect(Captured(["rows", path, "Note", "--limit", "0"]).err == "")
  }

  @Test("CSV and Markdown keep text to the last character, unless they go to a terminal")
  func exact() throws {
    let folder = try TemporaryFolder()
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    let path = folder.path("Notes.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [note]))
    for text in ["a\tb", "c\r\nd", "\u{200F}e\u{7}", " f ", "g\u{9B}31m\u{2028}h"] {
      try writer.insert("Note", attributes: ["text": .string(text)])
    }
    try writer.finish()
    let csv = Captured("rows", path, "Note", "--format", "csv")
    #expect(
      csv.out == "entity,key,text\r\nNote,1,a\tb\r\nNote,2,\"c\r\nd\"\r\n"
        + "Note,3,\u{200F}e\u{7}\r\nNote,4, f \r\nNote,5,g\u{9B}31m\u{2028}h\r\n")
    let markdown = Captured("rows", path, "Note", "--format", "markdown")
    #expect(
      markdown.out == """
        | key | text |
        | --: | --- |
        | 1 | a\tb |
        | 2 | c<br>d |
        | 3 | \u{200F}e\u{7} |
        | 4 |  f  |
        | 5 | g\u{9B}31m<br>h |

        """)
    for format in ["csv", "markdown"] {
      let shown = Captured("rows", path, "Note", "--format", format, terminal: true).out
      #expect(shown.contains("a␉b") && shown.contains("⟨U+200F⟩e␇"), "\(shown)")
      #expect(!shown.unicodeScalars.contains("\u{9B}") && shown.contains("⟨U+009B⟩"))
    }
  }

  @Test("JSON of rows, objects and dumps has no character that a terminal obeys")
  func escaped() throws {
    let folder = try TemporaryFolder()
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    let path = folder.path("Notes.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [note]))
    let text = "\u{9B}31m\u{85}\u{2028}\u{2029}\u{202E}\u{2066}\u{200F}\u{61C}\u{1B}\u{7F}é😀"
    try writer.insert("Note", attributes: ["text": .string(text)])
    try writer.finish()
    struct Line: Decodable {
      let attributes: [String: String]
    }
    for words in [
      ["dump", path], ["rows", path, "Note", "--format", "ndjson"],
      ["object", path, "Note/p1", "--json"],
    ] {
      let told = Captured(words)
      #expect(told.status == .done)
      #expect(
        told.out.contains(
          #"\u009b31m\u0085\u2028\u2029\u202e\u2066\u200f\u061c\u001b\u007fé😀"#), "\(told.out)")
    }
    #expect(try Captured("dump", path).decoded(Line.self).attributes["text"] == text)
  }

  @Test("where, sort, limit and offset go together")
  func options() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    func keys(_ words: String...) throws -> [String] {
      let result = Captured(["rows", path, "Note", "--format", "csv", "--columns", ""] + words)
      #expect(result.status == .done, "\(result.err)")
      return result.out.split(whereSeparator: \.isNewline).dropFirst().map {
        String($0.split(separator: ",")[1])
      }
    }
    #expect(try keys("--where", "parent != nil") == ["2", "3"])
    #expect(try keys("--where", "parent != nil", "--offset", "1") == ["3"])
    #expect(try keys("--sort", "date:desc") == ["2", "3", "1"])
    let down = Captured("rows", path, "Note", "--sort", "date:down")
    #expect(down.status == .usage && down.err.contains("date:asc or date:desc"), "\(down.err)")
    #expect(try keys("--sort", "date:desc", "--offset", "1", "--limit", "1") == ["3"])
    #expect(try keys("--sort", "parent") == ["1", "2", "3"])
    #expect(try keys("--sort", "score", "--offset", "9") == [])
    #expect(try keys("--offset", "3") == [])
    #expect(try keys("--where", "ANY children.date > \"2001-01-01\"") == ["1"])
  }

  @Test("a wrong predicate is shown with the word underlined, and its range as JSON")
  func marked() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let text = Captured("rows", path, "Note", "--where", "date != nil AND txt == \"x\"")
    #expect(text.status == .usage)
    #expect(
      text.err == """
        strata: Note has no property “txt”
          date != nil AND txt == "x"
                          ^^^
        Did you mean text?

        """)
    struct Answer: Decodable {
      struct Error: Decodable { let range: [Int] }
      let error: Error
    }
    let json = Captured("rows", path, "Note", "--json", "--where", "txt == 1")
    #expect(try json.decoded(Answer.self).error.range == [0, 3])
  }

  @Test("an object is shown with what it holds and what points at it")
  func object() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let before = try folder.contents()
    #expect(
      Captured("object", path, "Note/p1").out == """
        Note/p1  x-coredata://5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C/Note/p1
          data      Transformable  property list, 50 bytes
                                   dictionary of 1
                                     k: 1
          date      Date           2001-01-01T00:00:00Z
          price     Decimal        12.5
          score     Double         1.5
          text      String         a, "b"
                                   c
          children  →→ Note        2: Note/p2, Note/p3
          parent    → Note         ∅
        referenced by
          Note.parent  2: Note/p2, Note/p3
          Pin.note     Pin/p1  (no inverse)

        """)
    struct Answer: Decodable {
      struct Reference: Decodable {
        let entity: String
        let relationship: String
        let inverse: String?
        let objects: [String]
      }
      let pk: Int
      let uri: String
      let referencedBy: [Reference]
    }
    let uri = "x-coredata://5e9b9b4c-6a59-4b37-9d4f-0c5a3e1f2d3c/Note/p1"
    let json = try Captured("object", path, uri, "--json").decoded(Answer.self)
    #expect(json.pk == 1)
    #expect(json.uri.uppercased() == uri.uppercased())
    #expect(json.referencedBy.map(\.relationship) == ["parent", "note"])
    #expect(json.referencedBy.last?.inverse == nil)
    #expect(json.referencedBy.last?.objects == ["Pin/p1"])
    for (reference, message) in [
      ("Note/p99", "no object"), ("Nothing/p1", "no entity"), ("Note", "names no object"),
      ("x-coredata://00000000-6A59-4B37-9D4F-0C5A3E1F2D3C/Note/p1", "another store"),
    ] {
      let result = Captured("object", path, reference)
      #expect(result.status == .usage)
      #expect(result.err.contains(message), "\(result.err)")
    }
    #expect(try folder.contents() == before)
  }
}
