import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import ExampleValues
@testable import Seeding

@Suite("Values of seeded stores")
struct SeedValueTests {
  @Test(
    "every kind of value is sound, with constraints, composites and files", arguments: [1, 300])
  func sound(objects: Int) throws {
    let seeded = try SeededFolder(SeedModels.values(), objects: objects)
    try seeded.expectSound()
    if objects > 1 {
      #expect(seeded.report.externalFiles > 0)
      let report = try Store(path: seeded.path).externalData()
      #expect(report.referenced == seeded.report.externalFiles && report.missing.isEmpty)
    }
  }

  @Test(
    "optional values are missing in some objects, mandatory ones in none; derived ones are computed"
  )
  func missing() throws {
    let seeded = try SeededFolder(SeedModels.values(), objects: 300)
    let count = try seeded.number("SELECT count(*) FROM ZITEM")
    #expect(try seeded.number("SELECT count(*) FROM ZITEM WHERE ZASTRING IS NULL") == 0)
    let empty = try seeded.number("SELECT count(*) FROM ZITEM WHERE ZBSTRING IS NULL")
    #expect(empty > 0 && empty < count)
    #expect(
      try seeded.number("SELECT count(*) FROM ZITEM WHERE ZNAME IS NULL AND ZAGE IS NULL") == 0)
    #expect(
      try seeded.number("SELECT count(*) FROM ZITEM WHERE ZLATITUDE IS NULL AND ZCITY IS NOT NULL")
        == 0)
    #expect(
      try seeded.number(
        """
        SELECT count(*) FROM ZITEM i
        WHERE ZNOTECOUNT IS NOT (SELECT count(*) FROM ZNOTE WHERE ZITEM = i.Z_PK)
        """) == 0)
  }

  @Test("the same seed gives the same objects, another seed others")
  func deterministic() throws {
    let model = try SeedModels.values()
    let one = try SeededFolder(model)
    let two = try SeededFolder(model)
    let other = try SeededFolder(model, seed: 2)
    let lines = try StoreDump.lines(at: one.path)
    #expect(try StoreDump.lines(at: two.path) == lines)
    #expect(try FileSystem.read(two.path) == FileSystem.read(one.path))
    #expect(try StoreDump.lines(at: other.path) != lines)
    #expect(one.report.uuid == two.report.uuid && one.report.uuid != other.report.uuid)
    #expect(
      try one.column("SELECT hex(Z_PLIST) FROM Z_METADATA")
        == two.column("SELECT hex(Z_PLIST) FROM Z_METADATA"))
  }

  struct Rule: Sendable, CustomTestStringConvertible {
    var type: AttributeType
    var minimum: String?
    var maximum: String?
    var pattern: String?
    var predicates: [String] = []
    /// SQL that is true of a value that keeps the rule.
    var holds: String
    var testDescription: String {
      ([type.name, minimum, maximum, pattern].compactMap { $0 } + predicates).joined(separator: " ")
    }
  }

  @Test(
    "rules are kept, and doctor agrees",
    arguments: [
      Rule(type: .integer16, minimum: "7", maximum: "9", holds: "ZVALUE BETWEEN 7 AND 9"),
      Rule(
        type: .integer64, minimum: "-900000000000", maximum: "-800000000000", holds: "ZVALUE < 0"),
      Rule(type: .double, minimum: "0.25", maximum: "0.5", holds: "ZVALUE BETWEEN 0.25 AND 0.5"),
      Rule(type: .decimal, minimum: "1000", holds: "ZVALUE >= 1000"),
      Rule(type: .date, minimum: "0", maximum: "86400", holds: "ZVALUE BETWEEN 0 AND 86400"),
      Rule(type: .string, minimum: "30", maximum: "34", holds: "length(ZVALUE) BETWEEN 30 AND 34"),
      Rule(type: .string, maximum: "3", holds: "length(ZVALUE) <= 3"),
      Rule(
        type: .string, pattern: "[A-Z]{2}-\\d{4}",
        holds: "ZVALUE GLOB '[A-Z][A-Z]-[0-9][0-9][0-9][0-9]'"),
      Rule(
        type: .string, pattern: "(red|green)!?", holds: "ZVALUE IN ('red','green','red!','green!')"),
      Rule(type: .string, predicates: ["SELF IN {\"a\", \"b\"}"], holds: "ZVALUE IN ('a','b')"),
      Rule(type: .string, predicates: ["SELF BEGINSWITH \"x-\""], holds: "ZVALUE LIKE 'x-%'"),
      Rule(
        type: .string, predicates: ["length >= 5 AND length < 8"],
        holds: "length(ZVALUE) IN (5,6,7)"),
      Rule(type: .integer32, predicates: ["SELF > 10 AND SELF <= 12"], holds: "ZVALUE IN (11,12)"),
      Rule(type: .integer32, predicates: ["SELF BETWEEN {3, 4}"], holds: "ZVALUE IN (3,4)"),
      Rule(
        type: .integer16, predicates: ["SELF != 0", "SELF < 2", "SELF >= 0"], holds: "ZVALUE = 1"),
    ])
  func rules(rule: Rule) throws {
    let model = try SeedModels.ruled(rule.type) {
      $0.validation.minimum = rule.minimum
      $0.validation.maximum = rule.maximum
      $0.validation.pattern = rule.pattern
      $0.validation.predicates = rule.predicates
    }
    for edges in [false, true] {
      let seeded = try SeededFolder(model, objects: 120) { $0.hasEdgeCases = edges }
      #expect(try seeded.number("SELECT count(*) FROM ZTHING WHERE NOT (\(rule.holds))") == 0)
      #expect(try seeded.number("SELECT count(*) FROM ZTHING") >= 120)
      #expect(seeded.report.notes == [])
      #expect(try seeded.alarms() == [])
    }
  }

  @Test(
    "a rule that cannot be followed is told, and the object has a value all the same",
    arguments: [
      ("(?<=a)b", nil), (nil, "SELF MATCHES[c] \"a+\""), (nil, "SELF LIKE \"a*\""),
      ("a{40}", "length < 10"),
    ] as [(String?, String?)])
  func ignored(pattern: String?, predicate: String?) throws {
    let model = try SeedModels.ruled(.string) {
      $0.validation.pattern = pattern
      $0.validation.predicates = [predicate].compactMap { $0 }
    }
    let seeded = try SeededFolder(model, objects: 30)
    #expect(
      seeded.report.notes.contains { $0.hasPrefix("Thing.value: ") }, "\(seeded.report.notes)")
    #expect(try seeded.number("SELECT count(*) FROM ZTHING WHERE ZVALUE IS NULL") == 0)
  }

  @Test(
    "what must differ differs, as far as the type and its rules have values",
    arguments: [
      (AttributeType.boolean, nil, 2), (.integer16, "4", 5), (.string, "1", 36),
      (.date, nil, 200), (.double, "1", 200), (.uri, nil, 200), (.transformable, nil, 200),
      (.binary, nil, 200), (.float, nil, 200), (.decimal, "1000", 200),
    ] as [(AttributeType, String?, Int)])
  func unique(type: AttributeType, maximum: String?, expected: Int) throws {
    var entity = Entity("Thing")
    entity.attributes = [
      SeedModels.change(Attribute("value", type)) {
        $0.validation.minimum = maximum == nil || type == .string ? nil : "0"
        $0.validation.maximum = maximum
      }
    ]
    entity.uniquenessConstraints = [["value"]]
    let seeded = try SeededFolder(Model(entities: [entity]), objects: 200)
    try seeded.expectSound()
    #expect(try seeded.number("SELECT count(DISTINCT ZVALUE) FROM ZTHING") == expected)
  }

  @Test("patterns that must differ differ", arguments: ["[A-C][0-9]", "(ab|cd){1,3}x?", "\\w{8}"])
  func uniquePatterns(pattern: String) throws {
    var entity = Entity("Thing")
    entity.attributes = [
      SeedModels.change(Attribute("code", .string)) { $0.validation.pattern = pattern }
    ]
    entity.uniquenessConstraints = [["code"]]
    let seeded = try SeededFolder(Model(entities: [entity]), objects: 28)
    try seeded.expectSound()
    #expect(try seeded.number("SELECT count(*) FROM ZTHING") == 28)
  }

  @Test(
    "names tell what a text is about",
    arguments: [
      ("email", "User", TextTopic.email), ("firstName", "User", .firstName),
      ("name", "User", .fullName), ("name", "Tag", .word), ("name", "Recipe", .title),
      ("homepageURL", "User", .link), ("iconURL", "User", .link), ("fileName", "Asset", .fileName),
      ("remoteIdentifier_data", "User", .code), ("countryCode", "Place", .countryCode),
      ("bodyText", "Message", .paragraph), ("sha256", "Asset", .digest),
      ("statusRaw", "Order", .state), ("note", "Order", .sentence),
    ])
  func topics(property: String, entity: String, topic: TextTopic) {
    #expect(TextTopic(property, of: entity) == topic)
  }

  @Test("a name is taken apart into its words")
  func words() {
    #expect(NameWords("firstName").words == ["first", "name"])
    #expect(NameWords("URLString").words == ["url", "string"])
    #expect(NameWords("remote_id2").words == ["remote", "id2"])
    #expect(NameWords("_").words == [])
  }
}
