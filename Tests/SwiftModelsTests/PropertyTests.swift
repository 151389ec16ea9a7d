import ManagedModel
import SwiftModels
import Testing

@Suite("Properties out of Swift source")
struct PropertyTests {
  @Test(
    "plain types",
    arguments: [
      ("String", AttributeType.string), ("Bool", .boolean), ("Int", .integer64),
      ("Int64", .integer64), ("Int32", .integer32), ("Int16", .integer16), ("UInt8", .integer64),
      ("Double", .double), ("Float", .float), ("Date", .date), ("Data", .binary), ("UUID", .uuid),
      ("Decimal", .decimal), ("URL", .uri), ("Foundation.Date", .date), ("TimeInterval", .double),
    ])
  func plain(name: String, type: AttributeType) throws {
    let found = try attributes("var a: \(name)\nvar b: \(name)?\nlet c: Optional<\(name)>")
    #expect(
      found == [
        Attribute("a", type), Attribute("b", type, optional: true),
        Attribute("c", type, optional: true),
      ])
  }

  @Test(
    "types that are not written are those of the value",
    arguments: [
      ("1", "Integer 64"), ("-1", "Integer 64"), ("0xFF", "Integer 64"), ("1.5", "Double"),
      ("1e3", "Double"), ("60 * 60 * 1.5", "Double"), ("\"x\"", "String"),
      ("\"a \\(1) b\"", "String"), ("true", "Boolean"), ("UUID()", "UUID"), ("Date()", "Date"),
      ("Date.now", "Date"), ("UUID().uuidString", "String"), ("Kind.first", "Composite"),
      ("Kind.first.rawValue", "String"),
      ("Outer.Inner.one", "Composite"), ("URL(string: \"a\")!", "URI"), ("Data()", "Binary"),
      ("5 as Int16", "Integer 16"), ("[String]()", "Transformable"), ("[1, 2]", "Transformable"),
      ("[\"a\": 1]", "Transformable"), ("Decimal(5)", "Decimal"),
      ("Date(timeIntervalSince1970: 5)", "Date"), ("Array<String>()", "Transformable"),
      ("Dictionary<String, Int>()", "Transformable"),
    ])
  func inferred(value: String, type: String) throws {
    let found = try attributes(
      "var a = \(value)\nvar b: Int",
      besides:
        "enum Kind: String, Codable { case first }\nenum Outer { enum Inner: Int { case one } }")
    #expect(found.map(\.name) == ["a", "b"])
    #expect(found.first?.type.name == type)
    #expect(found.first?.isOptional == false)
  }

  @Test("a type that only a compiler could tell is named with its line")
  func untold() throws {
    let found = try model("@Model class Item {\n  var a = make()\n  var b: Int\n}")
    #expect(found.model.entity(named: "Item")?.attributes.map(\.name) == ["b"])
    #expect(
      found.remarks == [
        "App.swift:2: Item.a was left out: its type is not written, and its value does not show it. The version hash of Item is not the app's"
      ])
  }

  @Test("defaults that are written out")
  func defaults() throws {
    let found = try attributes(
      """
      var a = 1_000, b = -2.5, c = "x", d = false
      var e: Decimal = 0.1
      var f: Int? = nil
      var g = Date()
      var h: Int32 = 0x10
      """)
    #expect(
      found.map(\.defaultValue) == [
        .integer(1000), .double(-2.5), .string("x"), .boolean(false), .decimal("0.1"), nil, nil,
        .integer(16),
      ])
    let version = models("@Model class Item { var a = 1; var g = Date(); var n: Int? = nil }")
      .current
    #expect(version?.classes.first?.computedDefaults == ["g"])
  }

  @Test("what is no property: static, computed, @Transient, closures, tuples, generics, lazy")
  func left() throws {
    let found = try model(
      """
      @Model class Item<T> {
        static var a = 1
        class var b: Int { 1 }
        var c: Int { 1 }
        var d: Int { get { 1 } set { _ = newValue } }
        @Transient var e = 1
        var f: () -> Void
        var g: (Int, String)
        var h: T
        lazy var i = 1
        var (j, k) = (1, 2)
        var kept: Int = 1 { didSet { print(kept) } }
        var watched: Int { willSet { print(1) } }
        private(set) var l: Int
        func m() { var n: Int = 1 }
        init() { let o: Int = 1 }
      }
      """)
    #expect(
      found.model.entity(named: "Item")?.attributes.map(\.name) == ["kept", "watched", "l"])
    #expect(
      found.remarks.map { $0.prefix { $0 != " " } } == [
        "App.swift:1:", "App.swift:7:", "App.swift:8:", "App.swift:9:", "App.swift:10:",
        "App.swift:11:",
      ])
  }

  @Test("collections of values are transformable")
  func collections() throws {
    let found = try attributes(
      "var a: [String]\nvar b: [String: Int]?\nvar c: Set<UUID>\nvar d: [Kind] = []\nvar e: Array<[Int]>",
      besides: "enum Kind: Int, Codable { case one }")
    #expect(found.allSatisfy { $0.type == .transformable })
    #expect(found.map(\.isOptional) == [false, true, false, false, false])
    #expect(found.first?.valueTransformerName == "NSSecureUnarchiveFromData")
    #expect(
      found.map(\.className) == [
        "Array<String>", "Dictionary<String, Int>", "Set<UUID>", "Array<Kind>",
        "Array<Array<Int>>",
      ])
  }

  @Test("a class that is Codable is kept within a collection, which is unproven, and not by itself")
  func codableClasses() throws {
    let found = try model(
      """
      class K: Base { var a: Int = 0 }
      class Base: Codable { var b: Int = 0 }
      class Plain { var c: Int = 0 }
      @Model class Item {
        var a = [K]()
        var b: [String: K]?
        var c: [Locale]
        var d: K
        var e: [Plain]
        var f: [S]
      }
      struct S: Codable { var a: Int }
      """)
    #expect(
      found.model.entity(named: "Item")?.attributes.map(line) == [
        "a: Transformable", "b: Transformable?", "c: Transformable", "f: Transformable",
      ])
    #expect(
      found.remarks.map { $0.hasSuffix("is unproven") } == [true, true, true, false, false])
    #expect(found.remarks.map { $0.hasSuffix("is not the app's") }.count { $0 } == 2)
  }

  @Test("CodingKeys of a struct do not matter")
  func codingKeys() throws {
    let found = try model(
      "struct P: Codable { var a: Int; enum CodingKeys: String, CodingKey { case a = \"x\" } }\n@Model class Item { var p: P }"
    )
    #expect(
      found.model.entity(named: "Item")?.attributes.map(line) == ["p: Composite { a: Integer 64 }"])
    #expect(found.remarks.isEmpty)
  }

  @Test(
    "a default that is another each time",
    arguments: [
      ("UUID = UUID()", .uuid), ("UUID = .init()", .uuid), ("UUID? = Foundation.UUID()", .uuid),
      ("String = UUID().uuidString", .uuid), ("Date = Date()", .now), ("Date = .now", .now),
      ("Date = Date.now", .now), ("Int = Int.random(in: 0..<9)", .integer(0...8)),
      ("Int16 = .random(in: 1...6)", .integer(1...6)),
      ("Int = Int.random(in: 0..<limit)", .unknown), ("Double = .random(in: 0...1)", .unknown),
      ("Date = Calendar.current.startOfDay(for: Date())", .unknown),
      ("Date = Date.now.addingTimeInterval(60)", .unknown),
      ("Date = .distantPast", nil), ("Date = Date(timeIntervalSince1970: 0)", nil),
      ("Data = Data()", nil), ("String = \"now\"", nil), ("Int = 5", nil), ("Date? = nil", nil),
      ("Kind = Kind.first", nil),
    ] as [(String, EvaluatedDefault.Kind?)])
  func evaluated(property: (source: String, kind: EvaluatedDefault.Kind?)) throws {
    let found = try attributes(
      "var x: \(property.source)", besides: "enum Kind: String { case first }")
    #expect(found.first?.evaluatedDefault?.kind == property.kind)
    if property.kind != nil { #expect(found.first?.defaultValue == nil) }
  }

  @Test("options of @Attribute")
  func options() throws {
    let found = try model(
      """
      @Model class Item {
        @Attribute(.unique, originalName: "former", hashModifier: "v2") var a: String
        @Attribute(.externalStorage, .preserveValueOnDeletion) var b: Data?
        @Attribute(.spotlight, .allowsCloudEncryption) var c: String
        @Attribute(.ephemeral) var d: Int
        @Attribute(.transformable(by: ColorTransformer.self)) var e: UIColor?
        @Attribute(.transformable(by: "Named")) var f: UIColor
        @Attribute(hashModifier: nil) var g: Int
      }
      """)
    let item = try #require(found.model.entity(named: "Item"))
    var (a, b) = (Attribute("a", .string), Attribute("b", .binary, optional: true))
    var (c, d) = (Attribute("c", .string), Attribute("d", .integer64))
    (a.renamingIdentifier, a.versionHashModifier) = ("former", "v2")
    (b.allowsExternalBinaryDataStorage, b.preservesValueInHistoryOnDeletion) = (true, true)
    (c.isIndexedBySpotlight, c.allowsCloudEncryption) = (true, true)
    d.isTransient = true
    var e = Attribute("e", .transformable, optional: true)
    (e.valueTransformerName, e.className) = ("ColorTransformer", "UIColor")
    var f = Attribute("f", .transformable)
    (f.valueTransformerName, f.className) = ("Named", "UIColor")
    #expect(item.attributes == [a, b, c, d, e, f, Attribute("g", .integer64)])
    #expect(item.uniquenessConstraints == [["a"]])
    #expect(found.remarks.isEmpty)
  }

  @Test("#Unique and #Index")
  func macros() throws {
    let item = try #require(
      try model(
        """
        @Model final class Item {
          #Unique<Item>([\\.a], [\\.b, \\Item.c])
          #Index<Item>([\\.a], [\\.a, \\.b])
          var a: Int; var b: Int; var c: Int
        }
        """
      ).model.entity(named: "Item"))
    #expect(item.uniquenessConstraints == [["a"], ["b", "c"]])
    #expect(
      item.fetchIndexes == [
        FetchIndex("SwiftDataIndexOnBinarya", elements: [.init(property: "a")]),
        FetchIndex(
          "SwiftDataIndexOnBinaryab", elements: [.init(property: "a"), .init(property: "b")]),
      ])
  }

  @Test("enums, structs and colours are composite")
  func composites() throws {
    let found = try attributes(
      """
      var raw: Kind; var number: Level?; var plain: Shape; var place: Place
      var maybe: Place?; var color: Color.Resolved; var inner: Nested?
      enum Level: Int, Codable { case low = 1, high }
      struct Nested: Codable { var x: Int }
      """,
      besides: """
        enum Kind: String, Codable { case a, b; static let all = 1; var name: String { "" } }
        enum Shape: Codable { case round, flat }
        struct Place: Codable {
          var street: String
          let number: Int?
          var lines: [String]
          static let none = 1
          var whole: String { street }
          func f() {}
        }
        """)
    #expect(
      found.map(line) == [
        "raw: Composite { raw: String? }", "number: Composite? { number: Integer 64? }",
        "plain: Composite { round: String?, flat: String? }",
        "place: Composite { street: String, number: Integer 64?, lines: Binary }",
        "maybe: Composite? { street: String?, number: Integer 64?, lines: Binary? }",
        "color: Composite { linearRed: Float, linearGreen: Float, linearBlue: Float, opacity: Float }",
        "inner: Composite? { x: Integer 64? }",
      ])
    #expect(found.first?.userInfo == ["EnumType": "Kind"])
  }

  @Test("typealiases are followed, also round in a circle")
  func aliases() throws {
    let found = try model(
      """
      typealias Money = Decimal
      typealias Prices = [Money]
      typealias A = B
      typealias B = A
      enum Types { typealias ID = UUID }
      @Model class Item { var a: Money; var b: Prices?; var c: Types.ID; var d: A; typealias E = Int; var e: E }
      """)
    #expect(
      found.model.entity(named: "Item")?.attributes.map(line) == [
        "a: Decimal", "b: Transformable?", "c: UUID", "e: Integer 64",
      ])
    #expect(found.remarks.count == 1)
  }

  @Test("a type that is nowhere is named, and the rest is read")
  func missing() throws {
    let found = try model("@Model class Item {\n  var a: Ghost?\n  var b: Int\n}")
    #expect(found.model.entity(named: "Item")?.attributes.map(\.name) == ["b"])
    #expect(
      found.remarks == [
        "App.swift:2: Item.a was left out: the type “Ghost” is not in these files. The version hash of Item is not the app's"
      ])
    #expect(found.model.warnings == found.remarks)
  }

  @Test("a property under #if is taken, and said so; of two the first")
  func conditions() throws {
    let found = try model(
      "#if canImport(SwiftData)\n@Model class Item {\n#if os(iOS)\n  var a: Int\n#else\n  var a: String\n#endif\n}\n#endif"
    )
    #expect(found.model.entity(named: "Item")?.attributes.map(line) == ["a: Integer 64"])
    #expect(
      found.remarks == [
        "App.swift:4: Item.a exists under #if only; it was taken",
        "App.swift:6: Item.a is declared again; the first one was taken",
      ])
  }
}
