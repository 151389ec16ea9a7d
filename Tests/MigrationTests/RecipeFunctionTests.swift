import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Functions of recipes")
struct RecipeFunctionTests {
  private let connection: Connection

  init() throws {
    connection = try Connection(path: ":memory:", mode: .create)
    try ExternalContent.define(
      on: connection, files: StoreFiles(path: "/nowhere/App.sqlite"), storeUUID: "S")
  }

  private func value(_ sql: String, _ values: [Value] = []) throws -> Value? {
    try connection.value("SELECT \(sql)", values)
  }

  @Test("an archived array is JSON")
  func array() throws {
    let bytes = Diary.archive(["Why?", nil, "a\"b\n"])
    #expect(try value("unarchive(?)", [.blob(bytes)]) == .text(#"["Why?",null,"a\"b\n"]"#))
  }

  @Test("every kind of archived value has its JSON")
  func archives() throws {
    func json(_ make: (inout KeyedArchiveWriter) -> PropertyListValue) throws -> String? {
      var writer = KeyedArchiveWriter()
      let root = make(&writer)
      let json = try value("unarchive(?)", [.blob(writer.bytes(root: root))])
      return json?.text
    }
    #expect(try json { $0.string("x") } == #""x""#)
    #expect(try json { $0.set([$0.add(.integer(7))]) } == "[7]")
    #expect(try json { $0.add(.boolean(true)) } == "true")
    #expect(try json { $0.add(.real(1.5)) } == "1.5")
    #expect(try json { $0.add(.real(.infinity)) } == "null")
    #expect(try json { $0.add(attributeValue: .decimal("1.25")) } == "1.25")
    #expect(try json { $0.add(attributeValue: .date(0)) } == #""2001-01-01T00:00:00Z""#)
    #expect(try json { $0.add(.data([1, 2, 3])) } == #"{"base64":"AQID"}"#)
    #expect(
      try json { $0.add(attributeValue: .uuid(Array(0...15))) }
        == #""00010203-0405-0607-0809-0A0B0C0D0E0F""#)
    #expect(try json { $0.add(attributeValue: .uri("https://a.b")) } == #""https://a.b""#)
    #expect(
      try json { writer in
        writer.dictionary([
          (writer.string("a"), writer.add(.integer(1))),
          (writer.add(.integer(2)), writer.array([])),
        ])
      } == #"{"a":1,"2":[]}"#)
    #expect(
      try json { writer in
        writer.add(
          class: [
            "NSConcreteMutableAttributedString", "NSMutableAttributedString", "NSAttributedString",
            "NSObject",
          ],
          ["NSString": writer.string("rich")])
      } == #""rich""#)
    #expect(
      try json { writer in
        writer.add(class: ["App.Point", "NSObject"], ["x": .integer(1), "y": .real(2)])
      } == #"{"$class":"App.Point","x":1,"y":2.0}"#)
  }

  @Test("a plain property list is JSON, other bytes are NULL")
  func plain() throws {
    let list = PropertyList.binary(
      .dictionary(["b": .array([.integer(1), .boolean(false)]), "a": .date(60)]))
    #expect(
      try value("unarchive(?)", [.blob(list)])
        == .text(#"{"a":"2001-01-01T00:01:00Z","b":[1,false]}"#))
    for bytes in [[], [1, 2, 3], Array("bplist00".utf8), Array(list.dropLast(5))] {
      #expect(try value("unarchive(?)", [.blob(bytes)]) == .null)
    }
    #expect(try value("unarchive(NULL)") == .null)
    #expect(try value("unarchive(12)") == .null)
  }

  @Test("a circle ends, and a small archive cannot become a large text")
  func bounds() throws {
    var writer = KeyedArchiveWriter()
    let node = writer.reserve()
    writer.fill(node, class: ["Node", "NSObject"], ["next": node, "name": writer.string("a")])
    #expect(
      ArchiveJSON.text(writer.bytes(root: node)) == #"{"$class":"Node","name":"a","next":null}"#)
    // Thirty arrays, each holding the one before twice.
    var bomb = KeyedArchiveWriter()
    var last = bomb.string("x")
    for _ in 0..<40 { last = bomb.array([last, last]) }
    let bytes = bomb.bytes(root: last)
    // Written out it would be 2^40 letters.
    let took = ProcessorTime.seconds { #expect(ArchiveJSON.text(bytes) == nil) }
    #expect(took < 20)
  }

  static let calls: [(String, Value)] = [
    ("split_part('a,b,c', ',', 2)", Value.text("b")),
    ("split_part('a,b,c', ',', -1)", .text("c")),
    ("split_part('a,b,c', ',', 4)", .text("")),
    ("split_part('a,b,c', ',', -4)", .text("")),
    ("split_part('a,b,c', ',', 0)", .null),
    ("split_part('a,b', '', 1)", .text("a,b")),
    ("split_part('', ',', 1)", .text("")),
    ("split_part('a--b-c', '--', 2)", .text("b-c")),
    ("split_part('aaab', 'aab', 1)", .text("a")),
    ("split_part(NULL, ',', 1)", .null),
    ("split_part('a', NULL, 1)", .null),
    ("split_part(x'00', ',', 1)", .null),
    ("split_part(1.5, '.', 2)", .text("5")),
    ("split_part('a,b', ',', -9223372036854775807 - 1)", .text("")),
    ("split_part('a,b', ',', 9223372036854775807)", .text("")),
    ("split_part('é|ü', '|', 2)", .text("ü")),
    ("rest_after('a b c', ' ')", .text("b c")),
    ("rest_after('abc', ' ')", .null),
    ("rest_after('abc', '')", .null),
    ("rest_after('a ', ' ')", .text("")),
    ("text_or_null('')", .text("")),
    ("text_or_null(1)", .null),
    ("text_or_null(x'41')", .null),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 0)", .integer(1)),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 1)", .text("a")),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 2)", .null),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 3)", .integer(1)),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 4)", .text("[2]")),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 5)", .text("{\"b\": 3}")),
    ("element('[1,\"a\",null,true,[2],{\"b\": 3},1.5]', 6)", .real(1.5)),
    ("element('[1]', 1)", .null), ("element('[1]', -1)", .null), ("element('{}', 0)", .null),
    ("element('[', 0)", .null), ("element(NULL, 0)", .null), ("element('[1]', 'a')", .null),
    ("regex_replace('Ada Lovelace', '(\\w+) (\\w+)', '$2, $1')", .text("Lovelace, Ada")),
    ("regex_replace('aaa', 'a', 'b')", .text("bbb")),
    ("regex_replace('aab', 'a*', 'x')", .text("xxbx")),
    ("regex_replace('a', '(', 'b')", .null),
    ("regex_replace(NULL, 'a', 'b')", .null),
    ("sha256('abc')", .text("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")),
    ("sha256(x'616263') = sha256('abc')", .integer(1)),
    ("sha256(NULL)", .null),
    (
      "hex(uuid_from('6ba7b812-9dad-11d1-80b4-00c04fd430c8'))",
      .text("6BA7B8129DAD11D180B400C04FD430C8")
    ),
    // Python: uuid.uuid5(uuid.NAMESPACE_OID, 'hello')
    ("hex(uuid_from('hello'))", .text("4D71D03FF19B5D9E85239628BA18063C")),
    ("uuid_from(NULL)", .null),
    ("strata_content(x'01AABB')", .blob([0xAA, 0xBB])),
    ("strata_content(x'0241424300')", .null),
    ("strata_content(x'022E2E2F2E2E00')", .null),
    ("strata_content(x'')", .blob([])),
    ("strata_content('text')", .text("text")),
    ("strata_store()", .text("S")),
  ]

  @Test("text functions", arguments: calls)
  func functions(_ sql: String, _ expected: Value) throws {
    #expect(try value(sql) == expected)
  }

  static let dates: [(String, String, Double)] = [
    ("2001-01-01", "yyyy-MM-dd", 0.0), ("20240229", "yyyyMMdd", 730_857_600),
    ("29.2.2024 7:05", "d.M.yyyy H:m", 730_883_100),
    ("2001-01-01T00:00:01.250+0130", "yyyy-MM-dd'T'HH:mm:ss.SSSZ", -5398.75),
    ("2001-01-01T00:00:00-08:00", "yyyy-MM-dd'T'HH:mm:ssZZZZZ", 28_800),
    ("2001-01-01T00:00:00Z", "yyyy-MM-dd'T'HH:mm:ssZZZZZ", 0),
    ("at 2001's", "'at 'yyyy'''s'", 0), ("1600-02-29", "yyyy-MM-dd", -12_649_305_600),
    ("12:30", "HH:mm", -31_577_400), ("0001-01-01", "yyyy-MM-dd", -63_113_904_000),
  ]

  @Test("dates as text are seconds", arguments: dates)
  func parsing(_ text: String, _ pattern: String, _ seconds: Double) throws {
    #expect(try value("parse_date(?, ?)", [.text(text), .text(pattern)]) == .real(seconds))
  }

  @Test(
    "text that is no date of the pattern is NULL",
    arguments: [
      ("2023-02-29", "yyyy-MM-dd"), ("2024-13-01", "yyyy-MM-dd"), ("2024-1-1", "yyyy-MM-dd"),
      ("2024-01-01x", "yyyy-MM-dd"), ("", "yyyy"), ("0000", "yyyy"), ("25", "HH"), ("60", "mm"),
      ("2024", "QQQ"), ("2024", "'open"), ("2024", "yy"), ("+2500", "Z"), ("é", "yyyy"),
    ])
  func noDates(_ text: String, _ pattern: String) throws {
    #expect(try value("parse_date(?, ?)", [.text(text), .text(pattern)]) == .null)
  }

  @Test("seconds are dates as text, and back")
  func formatting() throws {
    let pattern = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSZZZZZ"
    let dates = try DatePattern(pattern)
    for seconds in [0, -0.25, 730_857_600.123456, -63_113_904_000, 1e9 + 0.5] {
      let text = try #require(dates.text(seconds))
      #expect(dates.seconds(text) == seconds, "\(text)")
    }
    #expect(
      try value("format_date(0.999, 'd.M.yyyy H:m:s SSS Z')") == .text("1.1.2001 0:0:0 999 +0000"))
    #expect(try value("format_date(NULL, 'yyyy')") == .null)
    #expect(try value("format_date('x', 'yyyy')") == .null)
    #expect(try value("format_date(1e300, 'yyyy')") == .null)
    #expect(try value("format_date(9e999, 'yyyy')") == .null)
    #expect(try value("format_date(-1e11, 'yyyy')") == .null)
  }

  @Test("any arguments at all give a value")
  func total() throws {
    let values = [
      "NULL", "0", "-1", "9223372036854775807", "-9223372036854775807 - 1", "9e999", "-9e999",
      "1e308", "''", "'a'", "x''", "x'00'", "x'FFFE'", "'[1,2]'", "'yyyy'", "char(0)",
      "CAST(x'FF' AS TEXT)",
    ]
    for name in SQLVocabulary.ours.sorted() + ["strata_content"] {
      let count =
        [
          "split_part": 3, "regex_replace": 3, "element": 2, "rest_after": 2, "parse_date": 2,
          "format_date": 2,
        ][name] ?? 1
      var lists = [""]
      for index in 0..<count {
        lists = lists.flatMap { list in values.map { index == 0 ? $0 : list + ", " + $0 } }
      }
      for list in lists {
        #expect(throws: Never.self, "\(name)(\(list))") { _ = try value("\(name)(\(list))") }
      }
    }
  }

  @Test("long texts are answered soon")
  func long() throws {
    func text(_ count: Int) -> Value { .text(String(repeating: "a", count: count)) }
    let part = Value.text(String(repeating: "a", count: 5_000) + "b")
    let growth = try ProcessorTime.growth(from: 60_000, of: text) { text in
      _ = try value("split_part(?, ?, 2)", [text, part])
      _ = try value("rest_after(?, 'b')", [text])
      #expect(try value("regex_replace(?, '(a+)+b', '')", [text]) != nil)
    }
    #expect(growth < 8)
    // Needs the square of the text: given up.
    #expect(try value("regex_replace(?, 'a.*b|a', '')", [text(1_000_000)]) == .null)
  }
}
