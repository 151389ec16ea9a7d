import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import StoreTables

/// Expressions and what NSExpression makes of them for one object, written by hand: the one answer
/// that filters, derived attributes and mappings must all give.
enum ExpressionTable {
  struct Example: Sendable, CustomTestStringConvertible {
    var format: String
    var value: Value
    /// A filter compares a date with a date.
    var isDate = false
    var testDescription: String { format }

    init(_ format: String, _ value: Value) {
      self.format = format
      self.value = value
    }

    static func date(_ format: String, _ seconds: Double) -> Example {
      var example = Example(format, .real(seconds))
      example.isDate = true
      return example
    }

    /// The value as a filter compares with it.
    var literal: String {
      switch value {
      case .null: "nil"
      case .integer(let number): String(number)
      case .real(let number): isDate ? "CAST(\(number), \"NSDate\")" : "\(number)"
      case .text(let text): "\"\(text)\""
      case .blob(let bytes): "<\(ByteText.hex(bytes))>"
      }
    }
  }

  /// A condition, which a filter takes by itself and the others as a value.
  private static func holds(_ predicate: String, _ isTrue: Bool = true) -> Example {
    Example("TERNARY(\(predicate), 1, 0)", .integer(isTrue ? 1 : 0))
  }

  static let examples = text + numbers + dates + many + classes + absent + composites + conditions

  /// All of Unicode, no locale; length in UTF-16 units.
  private static let text: [Example] = [
    Example("title", .text("Crème Brûlée 😀 Straße")),
    Example("uppercase:(title)", .text("CRÈME BRÛLÉE 😀 STRASSE")),
    Example("lowercase:(title)", .text("crème brûlée 😀 straße")),
    Example("canonical:(title)", .text("creme brulee 😀 straße")),
    Example("length:(title)", .integer(22)), Example("title.length", .integer(22)),
    Example("length:(uppercase:(title))", .integer(23)),
    Example("title.uppercaseString.length", .integer(23)),
    Example("FUNCTION(title, \"lowercaseString\")", .text("crème brûlée 😀 straße")),
    Example("FUNCTION(lowercase:(title), \"capitalizedString\")", .text("Crème Brûlée 😀 Straße")),
    Example("FUNCTION(title, \"substringToIndex:\", 5)", .text("Crème")),
    Example(
      "FUNCTION(title, \"stringByAppendingString:\", \"'s\")", .text("Crème Brûlée 😀 Straße's")),
    Example("length:(bytes)", .integer(3)), Example("bytes.length", .integer(3)),
    Example("length:(twin.title)", .integer(2)), Example("uppercase:(twin.title)", .text("ІЇ")),
    Example("FUNCTION(twin, \"title\")", .text("ії")),
    Example("FUNCTION(SELF, \"valueForKeyPath:\", \"twin.title\")", .text("ії")),
  ]

  /// An integer divided by an integer is an integer, as NSExpression has it; decimals are decimal.
  private static let numbers: [Example] = [
    Example("serves / 2", .integer(3)), Example("divide:by:(serves, 2)", .integer(3)),
    Example("0 - serves / 2", .integer(-3)), Example("(0 - serves) / 2", .integer(-3)),
    Example("serves / 2.0", .real(3.5)), Example("rating / 2", .real(1.25)),
    Example("serves / rating", .real(2.8)), Example("serves / 0", .null),
    Example("rating / 0", .null), Example("7 / 2", .integer(3)), Example("7 / 2.0", .real(3.5)),
    Example("length:(title) / 4", .integer(5)), Example("parts.@count / 2", .integer(1)),
    Example("parts.@sum.serves / 2", .integer(6)),
    Example("parts.@avg.serves / 2", .real(2.1666666666666665)),
    Example("TERNARY(isDone == YES, isDone, serves) / 2", .integer(0)),
    Example("serves + rating", .real(9.5)), Example("serves * 2 - 1", .integer(13)),
    Example("(serves + isDone) / 3", .integer(2)), Example("isDone + 1", .integer(2)),
    Example("price + 0.2", .real(0.3)), Example("price * 3", .real(0.3)),
    Example("serves * price", .real(0.7)), Example("price / 2", .real(0.05)),
    Example("price + CAST(\"0.2\", \"NSDecimalNumber\")", .real(0.3)),
    Example("price / price", .integer(1)), Example("parts.@sum.price", .real(0.3)),
    Example("parts.@avg.price", .real(0.1)), Example("rating + 0.2", .real(2.7)),
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
  ]

  private static let dates: [Example] = [
    .date("born", 100.5), .date("born + 60", 160.5), Example("born - twin.born", .real(50.5)),
    .date("FUNCTION(born, \"dateByAddingTimeInterval:\", 9.5)", 110),
    .date("CAST(\"2001-01-01T00:01:40Z\", \"NSDate\") - 40", 60),
    Example("born.timeIntervalSince1970", .real(978_307_300.5)),
    holds("born > \"2001-01-01\""), holds("born > now()", false),
    holds("born BETWEEN {CAST(100, \"NSDate\"), CAST(101, \"NSDate\")}"),
  ]

  /// The sum of integers is an integer, and exact; that of nothing is 0.
  private static let many: [Example] = [
    Example("count:(parts)", .integer(3)), Example("sum:(parts.serves)", .integer(13)),
    Example("parts.@sum.big", .integer(9_007_199_254_740_995)),
    Example("twin.parts.@sum.serves", .integer(0)), Example("twin.parts.@avg.serves", .null),
    Example("twin.parts.@count", .integer(0)), Example("twin.parts.@max.title", .null),
    Example("min:(parts.serves)", .integer(2)), Example("max:(parts.title)", .text("c")),
    Example("average:(parts.rating)", .real(2)), Example("parts.rating.@avg", .real(2)),
    Example("parts.title.length.@sum", .integer(3)),
    // A table of links, a chain of two, and a relationship that is its own inverse.
    Example("tags.@count", .integer(2)), Example("tags.@sum.weight", .integer(5)),
    Example("sum:(tags.weight) / 2", .integer(2)), Example("average:(tags.weight)", .real(2.5)),
    Example("parts.tags.@count", .integer(1)), Example("goesWith.@count", .integer(1)),
    Example("goesWith.@max.title", .text("ії")),
    Example("SUBQUERY(tags, $t, $t.weight > 2).@count", .integer(1)),
    Example("SUBQUERY(tags, $t, $t.weight > 2).@sum.weight", .integer(3)),
    Example("count:(SUBQUERY(parts, $p, $p.title == \"b\" OR $p.serves == 6))", .integer(2)),
    Example("sum:({1, serves, 2})", .integer(10)), Example("count:({1, 2})", .integer(2)),
    Example("max:({serves, 50, twin.serves})", .integer(50)),
    Example("average:({1, 2})", .real(1.5)), Example("max:({\"a\", twin.title})", .text("ії")),
    Example("sum:({price, 1})", .real(1.1)), Example("sum:({})", .integer(0)),
  ]

  private static let classes: [Example] = [
    Example("identifier", .blob([UInt8](repeating: 1, count: 16))),
    Example("bytes", .blob([1, 2, 3])),
    Example("identifier.UUIDString", .text("01010101-0101-0101-0101-010101010101")),
    Example("CAST(identifier, \"NSString\")", .text("01010101-0101-0101-0101-010101010101")),
    Example("CAST(serves, \"NSString\")", .text("7")),
    Example("CAST(rating * 2, \"NSString\")", .text("5")),
    Example("CAST(3.0, \"NSString\")", .text("3")), Example("CAST(YES, \"NSString\")", .text("1")),
    Example("CAST(\"7\", \"NSNumber\") / 2", .integer(3)),
    Example("CAST(born, \"NSNumber\")", .real(100.5)),
    Example("CAST(serves, \"NSDecimalNumber\") / 2", .real(3.5)),
    Example("FUNCTION(\"12 apes\", \"integerValue\") + serves", .integer(19)),
    holds("identifier == \"01010101-0101-0101-0101-010101010101\""),
    holds("bytes == <010203>"), holds("image != nil"), holds("twin.image == nil"),
  ]

  /// nil goes through everything that computes; a condition is true or false of it.
  private static let absent: [Example] = [
    Example("nothing", .null), Example("nil", .null), Example("uppercase:(nothing)", .null),
    Example("length:(nothing)", .null), Example("serves + nothing.length", .null),
    Example("serves + nil", .null), Example("twin.twin.title", .null),
    Example("CAST(nothing, \"NSNumber\") + 1", .null),
    Example("TERNARY(nothing == nil, nil, 1)", .null),
    Example("TERNARY(nothing == nil, serves, nil) / 2", .integer(3)),
    holds("nothing == nil"), holds("nothing != \"x\""), holds("NOT nothing == \"x\""),
    holds("twin.serves > 1", false), holds("NOT twin.serves > 1"), holds("nil == nil"),
    holds("nothing LIKE \"*\"", false), holds("twin.serves IN {1, nil}"),
  ]

  private static let composites: [Example] = [
    Example("author.person", .text("Zoë")), Example("uppercase:(author.person)", .text("ZOË")),
    Example("author.number / 2", .integer(4)), Example("twin.author.person", .null),
    Example("author.person.length", .integer(3)), Example("author.desk.room", .text("é1")),
    .date("author.desk.since + 1", 8.5), Example("parts.@max.author.number", .integer(4)),
    Example("parts.author.number.@sum", .integer(4)),
    holds("author != nil"), holds("twin.author == nil"), holds("author.desk == nil", false),
    holds("ANY parts.author.person == \"Ann\""),
  ]

  private static let conditions: [Example] = [
    holds("uppercase:(title) BEGINSWITH \"CRÈME\""), holds("title BEGINSWITH[cd] \"CREME B\""),
    holds("title CONTAINS \"Brulee\"", false), holds("title CONTAINS[d] \"Brulee\""),
    holds("title ENDSWITH[c] \"STRAßE\""), holds("title LIKE \"Cr?me*\""),
    holds("title LIKE[cd] \"CREME*straße\""), holds("title MATCHES \"Cr.me .*\""),
    holds("title MATCHES[cd] \"creme brulee .+\""), holds("twin.title ==[c] \"ІЇ\""),
    holds("twin.title IN[c] {\"x\", \"ІЇ\"}"), holds("serves BETWEEN {7, 7}"),
    holds("serves IN {1, 7}"), holds("price == 0.1"), holds("price == \"0.10\""),
    holds("rating > serves", false), holds("isDone == YES AND serves != 8"),
    holds("ANY tags.name == \"ë\""), holds("ALL tags.weight > 2", false),
    holds("NONE tags.weight > 3"), holds("\"b\" IN parts.title"),
    holds("twin == \"Recipe/p2\""), holds("twin.entity.name == \"Recipe\""),
    holds("SUBQUERY(parts, $p, $p.serves > serves).@count == 0"), holds("TRUEPREDICATE"),
  ]

  static var model: Model {
    get throws {
      var recipe = Entity("Recipe")
      var image = Attribute("image", .binary, optional: true)
      image.allowsExternalBinaryDataStorage = true
      recipe.attributes = [
        Attribute("title", .string, optional: true), Attribute("nothing", .string, optional: true),
        Attribute("serves", .integer16, optional: true),
        Attribute("big", .integer64, optional: true), Attribute("rating", .double, optional: true),
        Attribute("price", .decimal, optional: true), Attribute("isDone", .boolean, optional: true),
        Attribute("born", .date, optional: true), Attribute("bytes", .binary, optional: true),
        Attribute("identifier", .uuid, optional: true), image,
        CompositeSamples.composite(
          "author",
          [
            Attribute("person", .string, optional: true),
            Attribute("number", .integer64, optional: true),
            CompositeSamples.composite(
              "desk",
              [
                Attribute("room", .string, optional: true),
                Attribute("since", .date, optional: true),
              ]),
          ]),
      ]
      recipe.relationships = [
        Relationship("twin", to: "Recipe", inverse: "twinOf", optional: true),
        Relationship("twinOf", to: "Recipe", inverse: "twin", toMany: true, optional: true),
        Relationship("whole", to: "Recipe", inverse: "parts", optional: true),
        Relationship("parts", to: "Recipe", inverse: "whole", toMany: true, optional: true),
        Relationship("goesWith", to: "Recipe", inverse: "goesWith", toMany: true, optional: true),
        Relationship("tags", to: "Tag", inverse: "recipes", toMany: true, optional: true),
      ]
      var tag = Entity("Tag")
      tag.attributes = [
        Attribute("name", .string, optional: true), Attribute("weight", .integer16, optional: true),
      ]
      tag.relationships = [
        Relationship("recipes", to: "Recipe", inverse: "tags", toMany: true, optional: true)
      ]
      return try Model(entities: [recipe, tag])
    }
  }

  /// The first object is what the examples are about; its twin is the second, its parts the others.
  static func store(of model: Model? = nil) throws -> (Store, AttachedStore) {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: model ?? Self.model)
    let whole = ObjectID(entity: "Recipe", key: 1)
    let tags = try [("ë", Int64(2)), ("f", 3)].map { name, weight in
      try writer.insert("Tag", attributes: ["name": .string(name), "weight": .integer(weight)])
    }
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("Crème Brûlée 😀 Straße"), "serves": .integer(7), "rating": .double(2.5),
        "price": .decimal("0.1"), "isDone": .boolean(true), "born": .date(100.5),
        "bytes": .bytes([1, 2, 3]), "identifier": .uuid([UInt8](repeating: 1, count: 16)),
        "image": .bytes([9]), "author.person": .string("Zoë"), "author.number": .integer(8),
        "author.desk.room": .string("é1"), "author.desk.since": .date(7.5),
      ], toOne: ["twin": ObjectID(entity: "Recipe", key: 2)],
      toMany: ["tags": tags, "goesWith": [ObjectID(entity: "Recipe", key: 2)]])
    try writer.insert("Recipe", attributes: ["title": .string("ії"), "born": .date(50)])
    for (title, serves, rating, big) in [
      ("a", Int64(2), 1.0, Int64(9_007_199_254_740_993)), ("b", 5, 2.0, 1), ("c", 6, 3.0, 1),
    ] {
      var attributes: [String: AttributeValue] = [
        "title": .string(title), "serves": .integer(serves), "rating": .double(rating),
        "big": .integer(big), "price": .decimal("0.1"),
      ]
      if title == "a" {
        attributes["author.person"] = .string("Ann")
        attributes["author.number"] = .integer(4)
      }
      try writer.insert(
        "Recipe", attributes: attributes, toOne: ["whole": whole],
        toMany: title == "a" ? ["tags": [tags[0]]] : [:])
    }
    try writer.finish()
    let store = try Store(path: path)
    // Both are open: the files may lose their names.
    return (store, try AttachedStore(store))
  }
}
