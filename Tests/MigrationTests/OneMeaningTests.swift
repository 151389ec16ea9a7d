import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import StoreTables

/// Functions mean the same in a filter, in a derived attribute and in a mapping's expression.
@Suite("One meaning of each function")
struct OneMeaningTests {
  @Test("in a mapping's expression", arguments: TestScale.some(40, of: ExpressionTable.examples))
  func mapped(_ example: ExpressionTable.Example) throws {
    let (store, source) = try ExpressionTable.store()
    let sql = try ExpressionScope(store: store, entity: "Recipe")
      .compile(Expression(format: example.format)).sql
    #expect(try source.values(sql, of: "Recipe").first == example.value, "\(sql)")
  }

  @Test(
    "in a derived attribute's value", arguments: TestScale.some(40, of: ExpressionTable.examples))
  func derived(_ example: ExpressionTable.Example) throws {
    let (store, source) = try ExpressionTable.store()
    let scope = ExpressionScope(
      derivedIn: store.schema, entity: "Recipe", row: "s", schema: "src.")
    let sql = try scope.compile(Expression(format: example.format)).sql
    #expect(try source.values(sql, of: "Recipe").first == example.value, "\(sql)")
  }

  @Test(
    "in a filter, which takes the object by the value",
    arguments: TestScale.some(40, of: ExpressionTable.examples))
  func filtered(_ example: ExpressionTable.Example) throws {
    let (store, _) = try ExpressionTable.store()
    for (sign, isTaken) in [("==", true), ("!=", false)] {
      let filter = try RowFilter(
        "(\(example.format)) \(sign) \(example.literal)", entity: "Recipe", store: store)
      let keys = try store.rows(RowQuery(entity: "Recipe", filter: filter)).rows.map(\.id.key)
      #expect(keys.contains(1) == isTaken, "\(filter.condition.sql)")
    }
  }

  @Test("a new store keeps what a derived attribute comes to")
  func kept() throws {
    var model = try ExpressionTable.model
    let known: [(AttributeType, String, Value)] = [
      (.string, "uppercase:(title)", .text("CRÈME BRÛLÉE 😀 STRASSE")),
      (.string, "canonical:(title)", .text("creme brulee 😀 straße")),
      (.string, "lowercase:(twin.title)", .text("ії")), (.integer64, "parts.@count", .integer(3)),
      (.integer64, "sum:(parts.serves)", .integer(13)), (.string, "max:(parts.title)", .text("c")),
      (.decimal, "parts.@sum.price", .real(0.3)), (.double, "average:(tags.weight)", .real(2.5)),
      (.integer64, "parts.@sum.big", .integer(9_007_199_254_740_995)),
    ]
    var entities = model.entities
    for (index, (type, expression, _)) in known.enumerated() {
      var attribute = Attribute("derived\(index)", type, optional: true)
      attribute.derivation = Attribute.Derivation(expression: expression)
      entities[0].attributes.append(attribute)
    }
    model = try Model(entities: entities)
    let (store, _) = try ExpressionTable.store(of: model)
    let columns = known.indices.map { "ZDERIVED\($0)" }.joined(separator: ", ")
    let row = try store.connection.rows("SELECT \(columns) FROM ZRECIPE WHERE Z_PK = 1").first
    #expect(row == known.map(\.2))
  }

  @Test("a sum beyond the largest integer is a real number, and no error")
  func overflow() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: ExpressionTable.model)
    let root = try writer.insert("Recipe")
    for _ in 0..<3 {
      try writer.insert("Recipe", attributes: ["big": .integer(.max)], toOne: ["whole": root])
    }
    try writer.finish()
    let store = try Store(path: path)
    let filter = try RowFilter("parts.@sum.big > 2e19", entity: "Recipe", store: store)
    #expect(try store.rows(RowQuery(entity: "Recipe", filter: filter)).rows.map(\.id.key) == [1])
    var attribute = Attribute("d", .double)
    attribute.derivation = Attribute.Derivation(expression: "parts.@sum.big")
    let derived = try #require(
      store.schema.derivedExpression(for: attribute, of: "Recipe", schema: "src."))
    let sum = try AttachedStore(store).values(derived.sql, of: "Recipe").first
    #expect(sum == .real(3 * Double(Int64.max)))
  }

  @Test("what has no number or text is told at its place")
  func mistakes() throws {
    let (store, _) = try ExpressionTable.store()
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
}
