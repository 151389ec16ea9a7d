import ManagedModel
import ManagedStore

/// Models and stores with composite attributes, as SwiftData makes them.
public enum CompositeSamples {
  /// A composite attribute of those elements.
  public static func composite(
    _ name: String, optional: Bool = false, _ elements: [Attribute]
  ) -> Attribute {
    var attribute = Attribute(name, .composite, optional: optional)
    attribute.elements = elements
    return attribute
  }

  /// Four floats, as SwiftData keeps a `Color.Resolved`.
  public static func color(_ name: String) -> Attribute {
    composite(
      name,
      ["linearRed", "linearGreen", "linearBlue", "opacity"].map { Attribute($0, .float) })
  }

  /// Three entities of a cocktail app whose hashes and tables by Apple are known.
  public static func cocktails() throws -> Model {
    var ingredient = Entity("Ingredient")
    ingredient.attributes = [
      Attribute("id", .uuid),
      composite("unit", [Attribute("unit", .string, optional: true)]),
      Attribute("value", .double),
    ]
    ingredient.relationships = [Relationship("ingredientBase", to: "IngredientBase")]
    var image = Entity("CocktailImage")
    image.attributes =
      [color("backgroundColor"), color("drinkColor")]
      + ["drinkLayer", "glassBackLayer", "glassReflection", "innerRim"].map {
        Attribute($0, .string)
      }
      + ["iceLayer", "straw"].map { Attribute($0, .string, optional: true) }
      + ["garnishes", "inDrinkComponents"].map { Attribute($0, .transformable, optional: true) }
    var base = Entity("IngredientBase")
    base.attributes = [
      composite("category", [Attribute("category", .string, optional: true)]),
      Attribute("info", .string, optional: true), Attribute("isCustom", .boolean),
      Attribute("name", .string),
      composite(
        "prep", optional: true,
        [
          Attribute("id", .uuid, optional: true),
          Attribute("prepIngredientName", .string, optional: true),
          Attribute("prepRecipe", .binary, optional: true),
        ]),
      composite(
        "tags", optional: true,
        ["flavors", "profiles", "styles", "booze", "nA"].map {
          Attribute($0, .binary, optional: true)
        }),
    ]
    base.uniquenessConstraints = [["name"]]
    return try Model(entities: [ingredient, image, base])
  }

  /// Books and magazines: an `id` of a composite beside the entity's own, composites in a parent and
  /// in a subentity with elements of one name, an enum, a colour twice.
  public static func library() throws -> Model {
    var item = Entity("Item")
    item.attributes = [
      composite(
        "author", optional: true,
        [
          Attribute("person", .string, optional: true), Attribute("id", .integer64, optional: true),
          Attribute("born", .date, optional: true), Attribute("score", .decimal, optional: true),
        ]),
      Attribute("id", .integer64), Attribute("title", .string),
      composite("kind", [Attribute("kind", .string, optional: true)]),
      color("back"), color("front"),
    ]
    item.relationships = [
      Relationship("shelf", to: "Shelf", inverse: "items", optional: true)
    ]
    var magazine = Entity("Magazine", parent: "Item")
    magazine.attributes = [
      composite(
        "editor", optional: true,
        [
          Attribute("person", .string, optional: true), Attribute("id", .integer64, optional: true),
          Attribute("isChief", .boolean, optional: true),
        ])
    ]
    var shelf = Entity("Shelf")
    shelf.attributes = [Attribute("name", .string)]
    shelf.relationships = [
      Relationship("items", to: "Item", inverse: "shelf", toMany: true, optional: true)
    ]
    return try Model(entities: [item, magazine, shelf])
  }

  /// Two books and a magazine on a shelf; the second book has no author.
  public static func writeLibrary(to path: String) throws {
    let writer = try StoreWriter(creating: path, model: library())
    let shelf = try writer.insert("Shelf", attributes: ["name": .string("Top")])
    func color(_ name: String, _ values: [Double]) -> [(String, AttributeValue)] {
      zip(["linearRed", "linearGreen", "linearBlue", "opacity"], values).map {
        ("\(name).\($0)", .double($1))
      }
    }
    func all(_ values: [(String, AttributeValue)]) -> [String: AttributeValue] {
      Dictionary(values) { first, _ in first }
    }
    try writer.insert(
      "Item",
      attributes: all(
        [
          ("author.person", .string("Ann")), ("author.id", .integer(7)),
          ("author.born", .date(0)), ("author.score", .decimal("1.5")),
          ("id", .integer(100)), ("title", .string("Soup")), ("kind.kind", .string("book")),
        ] + color("back", [0.25, 0.5, 0.75, 1]) + color("front", [1, 0, 0, 0.5])),
      toOne: ["shelf": shelf])
    try writer.insert(
      "Item",
      attributes: all(
        [
          ("id", .integer(101)), ("title", .string("Bread")), ("kind.kind", .string("book")),
        ] + color("back", [0, 0, 0, 1]) + color("front", [0, 0, 0, 1])))
    try writer.insert(
      "Magazine",
      attributes: all(
        [
          ("author.person", .string("Zoë")), ("editor.person", .string("Bea")),
          ("editor.id", .integer(9)), ("editor.isChief", .boolean(true)),
          ("id", .integer(102)), ("title", .string("Weekly")), ("kind.kind", .string("weekly")),
        ] + color("back", [0, 0, 0, 1]) + color("front", [0, 0, 0, 1])),
      toOne: ["shelf": shelf])
    try writer.finish()
  }
}
