import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

/// Functions mean the same in a filter, in a derived attribute and in a mapping's expression.
@Suite("One meaning of each function")
struct OneMeaningTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var format: String
    var value: Value
    var testDescription: String { format }

    init(_ format: String, _ value: Value) {
      self.format = format
      self.value = value
    }
  }

  static let examples: [Example] = [
    // Text: all of Unicode, no locale; length in UTF-16 units.
    Example("uppercase:(title)", .text("CRÈME BRÛLÉE 😀 STRASSE")),
    Example("lowercase:(title)", .text("crème brûlée 😀 straße")),
    Example("canonical:(title)", .text("creme brulee 😀 straße")),
    Example("length:(title)", .integer(22)), Example("title.length", .integer(22)),
    Example("length:(uppercase:(title))", .integer(23)),
    Example("uppercase:(nothing)", .null), Example("length:(nothing)", .null),
    Example("length:(bytes)", .integer(3)), Example("bytes.length", .integer(3)),
    Example("length:(twin.title)", .integer(2)), Example("uppercase:(twin.title)", .text("ІЇ")),
    // Numbers: an integer divided by an integer is an integer, as NSExpression has it.
    Example("serves / 2", .integer(3)), Example("divide:by:(serves, 2)", .integer(3)),
    Example("0 - serves / 2", .integer(-3)), Example("(0 - serves) / 2", .integer(-3)),
    Example("serves / 2.0", .real(3.5)), Example("rating / 2", .real(1.25)),
    Example("serves / rating", .real(2.8)), Example("serves / 0", .null),
    Example("rating / 0", .null), Example("7 / 2", .integer(3)), Example("7 / 2.0", .real(3.5)),
    Example("length:(title) / 4", .integer(5)), Example("parts.@count / 2", .integer(1)),
    Example("parts.@sum.serves / 2", .integer(6)),
    Example("parts.@avg.serves / 2", .real(2.1666666666666665)),
    Example("serves + rating", .real(9.5)), Example("serves * 2 - 1", .integer(13)),
    Example("serves + nothing.length", .null), Example("isDone + 1", .integer(2)),
    Example("price + 0.2", .real(0.3)), Example("price * 3", .real(0.3)),
    Example("price / price", .integer(1)), Example("parts.@sum.price", .real(0.3)),
    Example("modulus:by:(serves, 4)", .integer(3)), Example("abs:(0 - serves)", .integer(7)),
    Example("abs:(rating - 5)", .real(2.5)), Example("chs:(serves)", .integer(-7)),
    Example("sqrt:(16)", .real(4)), Example("floor:(rating)", .real(2)),
    Example("ceiling:(rating)", .real(3)), Example("trunc:(0 - rating)", .real(-2)),
    Example("ln:(1)", .real(0)), Example("log:(1000)", .real(3)), Example("exp:(0)", .real(1)),
    Example("serves ** 2", .real(49)), Example("bitwiseAnd:with:(serves, 5)", .integer(5)),
    Example("bitwiseOr:with:(serves, 8)", .integer(15)),
    Example("bitwiseXor:with:(serves, 5)", .integer(2)),
    Example("leftshift:by:(serves, 1)", .integer(14)),
    Example("rightshift:by:(serves, 1)", .integer(3)),
    Example("onesComplement:(serves)", .integer(-8)),
    // Dates and seconds.
    Example("born + 60", .real(160.5)), Example("born - twin.born", .real(50.5)),
    // Of many: the sum of integers is an integer, and exact; that of nothing is 0.
    Example("count:(parts)", .integer(3)), Example("sum:(parts.serves)", .integer(13)),
    Example("parts.@sum.big", .integer(9_007_199_254_740_995)),
    Example("twin.parts.@sum.serves", .integer(0)), Example("twin.parts.@avg.serves", .null),
    Example("min:(parts.serves)", .integer(2)), Example("max:(parts.title)", .text("c")),
    Example("average:(parts.rating)", .real(2)),
    // Classes.
    Example("CAST(serves, \"NSString\")", .text("7")),
    Example("CAST(rating * 2, \"NSString\")", .text("5")),
    Example("CAST(3.0, \"NSString\")", .text("3")),
    Example("CAST(\"7\", \"NSNumber\") / 2", .integer(3)),
    Example("CAST(born, \"NSNumber\")", .real(100.5)),
    Example("CAST(identifier, \"NSString\")", .text("01010101-0101-0101-0101-010101010101")),
    // Either of two.
    Example("TERNARY(uppercase:(title) BEGINSWITH \"CRÈME\", serves / 2, 0)", .integer(3)),
  ]

  @Test("in a filter's value and in a mapping's expression", arguments: examples)
  func values(_ example: Example) throws {
    let (store, source) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Recipe")
    let mapped = try scope.compile(Expression(format: example.format)).sql
    #expect(try source.values(mapped, of: "Recipe").first == example.value, "\(mapped)")
    let filter = try EmbeddedFilter(
      expression: Self.computed(example.format), entity: "Recipe", store: store, row: "s",
      schema: "src.")
    #expect(
      try source.values(filter.literalSQL, of: "Recipe").first == example.value, "\(filter.sql)")
  }

  @Test("and a filter that compares with the value takes the object", arguments: examples)
  func filters(_ example: Example) throws {
    let (store, _) = try Self.store()
    let text =
      switch example.value {
      case .null: "nil"
      case .integer(let number): String(number)
      case .real(let number): "\(number)"
      case .text(let text): "\"\(text)\""
      case .blob: ""
      }
    // A date is compared with a date.
    let isDate = example.format == "born + 60"
    let filter = try RowFilter(
      "\(Self.computed(example.format)) == \(isDate ? "CAST(\(text), \"NSDate\")" : text)",
      entity: "Recipe", store: store)
    #expect(
      try store.rows(RowQuery(entity: "Recipe", filter: filter)).rows.contains { $0.id.key == 1 })
  }

  /// A constant alone is no value that SQL computes.
  private static func computed(_ format: String) -> String {
    format.hasPrefix("CAST(3.0") ? "TERNARY(TRUEPREDICATE, \(format), \"\")" : format
  }

  @Test(
    "in a derived attribute",
    arguments: [
      ("uppercase:(title)", Value.text("CRÈME BRÛLÉE 😀 STRASSE")),
      ("lowercase:(title)", .text("crème brûlée 😀 straße")),
      ("canonical:(title)", .text("creme brulee 😀 straße")),
      ("uppercase:(twin.title)", .text("ІЇ")), ("parts.@count", .integer(3)),
      ("sum:(parts.serves)", .integer(13)), ("max:(parts.title)", .text("c")),
    ])
  func derived(expression: String, value: Value) throws {
    let (store, source) = try Self.store()
    var attribute = Attribute("d", .string)
    attribute.derivation = Attribute.Derivation(expression: expression)
    let sql = try #require(
      store.schema.derivedExpression(for: attribute, of: "Recipe", schema: "src."))
    #expect(try source.values(sql, of: "Recipe").first == value, "\(sql)")
    let mapped = try ExpressionScope(store: store, entity: "Recipe")
      .compile(Expression(format: expression)).sql
    #expect(try source.values(mapped, of: "Recipe").first == value)
  }

  @Test("a sum beyond the largest integer is a real number, and no error")
  func overflow() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model)
    let root = try writer.insert("Recipe")
    for _ in 0..<3 {
      try writer.insert("Recipe", attributes: ["big": .integer(.max)], toOne: ["whole": root])
    }
    try writer.finish()
    let store = try Store(path: path)
    let filter = try RowFilter("parts.@sum.big > 2e19", entity: "Recipe", store: store)
    #expect(try store.rows(RowQuery(entity: "Recipe", filter: filter)).rows.map(\.id.key) == [1])
  }

  @Test("what has no number or text is told at its place")
  func mistakes() throws {
    let (store, _) = try Self.store()
    for (text, marked) in [
      ("sqrt:(title) == 1", "title"), ("uppercase:(serves) == \"7\"", "serves"),
      ("length:(serves) == 1", "serves"), ("title + title == \"x\"", "title + title"),
      ("random:(5) == 1", "random:"), ("twin + 1 == 2", "twin"),
    ] {
      let error = #expect(throws: CoreDataError.self) {
        try RowFilter(text, entity: "Recipe", store: store)
      }
      #expect(error?.kind == .usage && error?.mark != nil, "\(text)")
      if text.hasPrefix("sqrt") || text.hasPrefix("uppercase") {
        #expect(error?.mark?.marked == marked)
      }
    }
  }

  private static var model: Model {
    get throws {
      var recipe = Entity("Recipe")
      recipe.attributes = [
        Attribute("title", .string, optional: true), Attribute("nothing", .string, optional: true),
        Attribute("serves", .integer16, optional: true),
        Attribute("big", .integer64, optional: true), Attribute("rating", .double, optional: true),
        Attribute("price", .decimal, optional: true), Attribute("isDone", .boolean, optional: true),
        Attribute("born", .date, optional: true), Attribute("bytes", .binary, optional: true),
        Attribute("identifier", .uuid, optional: true),
      ]
      recipe.relationships = [
        Relationship("twin", to: "Recipe", inverse: "twinOf", optional: true),
        Relationship("twinOf", to: "Recipe", inverse: "twin", toMany: true, optional: true),
        Relationship("whole", to: "Recipe", inverse: "parts", optional: true),
        Relationship("parts", to: "Recipe", inverse: "whole", toMany: true, optional: true),
      ]
      return try Model(entities: [recipe])
    }
  }

  private static func store() throws -> (Store, AttachedStore) {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: model)
    let whole = ObjectID(entity: "Recipe", key: 1)
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("Crème Brûlée 😀 Straße"), "serves": .integer(7), "rating": .double(2.5),
        "price": .decimal("0.1"), "isDone": .boolean(true), "born": .date(100.5),
        "bytes": .bytes([1, 2, 3]), "identifier": .uuid([UInt8](repeating: 1, count: 16)),
      ], toOne: ["twin": ObjectID(entity: "Recipe", key: 2)])
    try writer.insert("Recipe", attributes: ["title": .string("ії"), "born": .date(50)])
    for (title, serves, rating, big) in [
      ("a", Int64(2), 1.0, Int64(9_007_199_254_740_993)), ("b", 5, 2.0, 1), ("c", 6, 3.0, 1),
    ] {
      try writer.insert(
        "Recipe",
        attributes: [
          "title": .string(title), "serves": .integer(serves), "rating": .double(rating),
          "big": .integer(big), "price": .decimal("0.1"),
        ], toOne: ["whole": whole])
    }
    try writer.finish()
    let store = try Store(path: path)
    // Both are open: the files may lose their names.
    return (store, try AttachedStore(store))
  }
}
