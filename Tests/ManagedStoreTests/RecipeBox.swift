import ManagedModel
import TestSupport

@testable import ManagedStore
@testable import StoreTables

/// A small store with every kind of property, for tests that look things up.
enum RecipeBox {
  static func model() throws -> Model {
    var recipe = Entity("Recipe")
    var photo = Attribute("photo", .binary, optional: true)
    photo.allowsExternalBinaryDataStorage = true
    recipe.attributes = [
      Attribute("title", .string, optional: true), Attribute("serves", .integer16, optional: true),
      Attribute("rating", .double, optional: true), Attribute("price", .decimal, optional: true),
      Attribute("isDone", .boolean, optional: true), Attribute("createdAt", .date, optional: true),
      Attribute("identifier", .uuid, optional: true), Attribute("page", .uri, optional: true),
      Attribute("extra", .transformable, optional: true), photo,
    ]
    recipe.relationships = [
      Relationship("author", to: "Person", inverse: "recipes", optional: true),
      Relationship("tags", to: "Tag", inverse: "recipes", toMany: true, optional: true),
      Relationship("goesWith", to: "Recipe", inverse: "goesWith", toMany: true, optional: true),
    ]
    var person = Entity("Person")
    person.attributes = [
      Attribute("name", .string), Attribute("age", .integer16, optional: true),
    ]
    person.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "author", toMany: true, optional: true)
    ]
    var author = Entity("Author", parent: "Person")
    author.attributes = [Attribute("pen", .string, optional: true)]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string), Attribute("weight", .integer32, optional: true)]
    tag.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "tags", toMany: true, optional: true)
    ]
    // Points at a recipe that does not know of it.
    var menu = Entity("Menu")
    menu.attributes = [Attribute("day", .string, optional: true)]
    menu.relationships = [
      Relationship("main", to: "Recipe", optional: true),
      Relationship("others", to: "Recipe", toMany: true, optional: true),
    ]
    return try Model(entities: [recipe, person, author, tag, menu])
  }

  static let uuid = "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C"
  static let identifier = "12345678-9ABC-4DEF-8123-456789ABCDEF"

  static func store(in folder: TemporaryFolder) throws -> Store {
    let path = folder.path("Recipes.sqlite")
    let writer = try StoreWriter(creating: path, model: model(), uuid: uuid)
    let ann = try writer.insert(
      "Person", attributes: ["name": .string("Ann"), "age": .integer(30)])
    let julia = try writer.insert(
      "Author",
      attributes: ["name": .string("Julia"), "age": .integer(41), "pen": .string("J")])
    let zoe = try writer.insert("Person", attributes: ["name": .string("Zoë")])
    let tags = try [("vegan", 5), ("quick", 1), ("autumn", 3)].map { name, weight in
      try writer.insert("Tag", attributes: ["name": .string(name), "weight": .integer(weight)])
    }
    func date(_ text: String) -> AttributeValue {
      .date(CoreDataDate.seconds(written: text) ?? 0)
    }
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("Carrot soup"), "serves": .integer(4), "rating": .double(4.5),
        "price": .decimal("12.50"), "isDone": .boolean(true),
        "createdAt": date("2024-03-01T12:00:00Z"),
        "identifier": .uuid(UUIDText.bytes(identifier) ?? []),
        "page": .uri("https://example.com/soup"), "photo": .bytes([0xFF, 0xD8, 0xFF, 0xE0]),
      ], toOne: ["author": ann], toMany: ["tags": [tags[0], tags[1]]])
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("SOUP of the day"), "serves": .integer(2), "rating": .double(3),
        "price": .decimal("0.1"), "isDone": .boolean(false),
        "createdAt": date("2024-03-04T08:12:30Z"), "extra": .bytes([1, 2, 3]),
      ], toOne: ["author": julia],
      toMany: ["goesWith": [ObjectID(entity: "Recipe", key: 1)]])
    try writer.insert(
      "Recipe", attributes: ["title": .string("Crème brûlée"), "serves": .integer(6)],
      toMany: ["tags": [tags[2]]])
    try writer.insert(
      "Recipe",
      attributes: [
        "rating": .double(1), "price": .decimal("12345678901234567890.123456789"),
        "isDone": .boolean(true), "createdAt": .date(.infinity),
      ], toOne: ["author": zoe], toMany: ["tags": tags])
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("100% *wild?*"), "serves": .integer(4), "rating": .double(-2),
        "price": .decimal("-5"), "isDone": .boolean(false), "createdAt": date("1999-12-31"),
      ], toOne: ["author": julia], toMany: ["tags": [tags[1]]])
    try writer.insert(
      "Recipe",
      attributes: [
        "title": .string("O'Brien\"; DROP TABLE ZRECIPE;--"), "serves": .integer(0),
        "rating": .double(0), "price": .decimal("0"),
      ], toOne: ["author": ann], toMany: ["tags": [tags[0]]])
    try writer.insert("Recipe", attributes: ["title": .string(""), "serves": .integer(8)])
    try writer.insert(
      "Menu", attributes: ["day": .string("Monday")],
      toOne: ["main": ObjectID(entity: "Recipe", key: 1)],
      toMany: ["others": [2, 3].map { ObjectID(entity: "Recipe", key: $0) }])
    try writer.finish()
    return try Store(path: path)
  }
}
