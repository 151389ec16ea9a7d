import ManagedModel

/// The recipe box's model in four versions, each of which migrates in another way.
package enum DemoModels {
  /// Version name to model, in order. The store is of the first.
  package static func versions() throws -> [(name: String, model: Model)] {
    [
      ("Recipes", try model(first(), "1")),
      // Inferable without a loss.
      ("Recipes 2", try model(second(), "2")),
      // Inferable, but drops an attribute and an entity, and demands a value some rows lack.
      ("Recipes 3", try model(third(), "3")),
      // Not inferable: a type changes, and two entities are merged under a new parent.
      ("Recipes 4", try model(fourth(), "4")),
    ]
  }

  private static func model(_ entities: [Entity], _ identifier: String) throws -> Model {
    try Model(entities: entities, versionIdentifiers: [identifier])
  }

  private static func first() -> [Entity] {
    var recipe = entity(
      "Recipe",
      [
        Attribute("identifier", .uuid), Attribute("title", .string), optional("summary", .string),
        Attribute("createdAt", .date), attribute("serves", .integer16, .integer(4)),
        attribute("minutes", .integer32, .integer(0)), optional("rating", .double),
        attribute("isFavourite", .boolean, .boolean(false)), optional("price", .decimal),
        optional("source", .uri), optional("difficulty", .string), optional("legacyCode", .string),
        with(optional("settings", .transformable)) {
          $0.valueTransformerName = "NSSecureUnarchiveFromData"
        },
        with(optional("photo", .binary)) { $0.allowsExternalBinaryDataStorage = true },
      ],
      [
        one("author", "Person", "recipes"), many("tags", "Tag", "recipes"),
        with(many("steps", "Step", "recipe", ordered: true)) { $0.deleteRule = .cascade },
        with(many("amounts", "Amount", "recipe")) { $0.deleteRule = .cascade },
        many("similarRecipes", "Recipe", "similarTo"),
        many("similarTo", "Recipe", "similarRecipes"), many("goesWith", "Recipe", "goesWith"),
      ])
    recipe.uniquenessConstraints = [["identifier"]]
    recipe.fetchIndexes = [
      FetchIndex(
        "byCreatedAtIndex", elements: [.init(property: "createdAt", isAscending: false)]),
      // What Xcode's compiler adds to an index over one attribute.
      FetchIndex("createdAt", elements: [.init(property: "createdAt")]),
    ]
    let person = entity(
      "Person",
      [
        Attribute("identifier", .uuid), Attribute("name", .string), optional("homepage", .uri),
        optional("born", .date),
      ], [many("recipes", "Recipe", "author"), one("profile", "Profile", "person")])
    let profile = entity(
      "Profile", [optional("bio", .string), attribute("newsletter", .boolean, .boolean(false))],
      [one("person", "Person", "profile")])
    let step = entity(
      "Step", [Attribute("text", .string), optional("minutes", .integer16)],
      [one("recipe", "Recipe", "steps")])
    let ingredient = entity(
      "Ingredient",
      [Attribute("name", .string), optional("unit", .string), optional("energy", .float)],
      [many("amounts", "Amount", "ingredient")])
    // Both name a property `origin`: the second gets a numbered column.
    let produce = entity(
      "Produce", parent: "Ingredient", [optional("origin", .string), optional("season", .string)])
    let spice = entity(
      "Spice", parent: "Ingredient",
      [attribute("heat", .integer16, .integer(0)), optional("origin", .string)])
    let amount = entity(
      "Amount", [Attribute("quantity", .double), optional("note", .string)],
      [one("recipe", "Recipe", "amounts"), one("ingredient", "Ingredient", "amounts")])
    var tag = entity(
      "Tag", [Attribute("name", .string), Attribute("colour", .integer64)],
      [many("recipes", "Recipe", "tags")])
    tag.uniquenessConstraints = [["name"]]
    let draft = entity(
      "Draft",
      [
        Attribute("title", .string), optional("summary", .string), Attribute("createdAt", .date),
        attribute("serves", .integer16, .integer(4)),
      ])
    return [
      amount, draft, ingredient, person, produce, profile, recipe, spice, step, tag,
    ]
  }

  private static func second() -> [Entity] {
    let rating = entity(
      "Rating", [attribute("stars", .integer16, .integer(0)), optional("comment", .string)],
      [one("recipe", "Recipe", "ratings")])
    return changing(first()) { entity in
      switch entity.name {
      case "Recipe":
        rename("serves", to: "servings", in: &entity)
        entity.attributes += [
          attribute("isVegan", .boolean, .boolean(false)), optional("notes", .string),
        ]
        entity.relationships += [
          many("ratings", "Rating", "recipe"), many("favouredBy", "Person", "favourites"),
        ]
      case "Person": entity.relationships.append(many("favourites", "Recipe", "favouredBy"))
      default: break
      }
    } + [rating]
  }

  private static func third() -> [Entity] {
    changing(second().filter { $0.name != "Draft" }) { entity in
      guard entity.name == "Recipe" else { return }
      entity.attributes.removeAll { $0.name == "legacyCode" }
      entity.attributes = entity.attributes.map { attribute in
        with(attribute) { if $0.name == "difficulty" { $0.isOptional = false } }
      }
    }
  }

  private static func fourth() -> [Entity] {
    var document = Entity("Document")
    document.isAbstract = true
    document.attributes = [Attribute("title", .string), Attribute("createdAt", .date)]
    return changing(first()) { entity in
      guard entity.name == "Recipe" || entity.name == "Draft" else { return }
      entity.parent = "Document"
      entity.attributes.removeAll { $0.name == "title" || $0.name == "createdAt" }
      entity.fetchIndexes = []
      entity.attributes = entity.attributes.map { attribute in
        with(attribute) { if $0.name == "rating" { $0.type = .string } }
      }
    } + [document]
  }

  private static func entity(
    _ name: String, parent: String? = nil, _ attributes: [Attribute],
    _ relationships: [Relationship] = []
  ) -> Entity {
    with(Entity(name, parent: parent)) {
      $0.attributes = attributes
      $0.relationships = relationships
    }
  }

  private static func attribute(
    _ name: String, _ type: AttributeType, _ value: AttributeValue
  ) -> Attribute {
    with(Attribute(name, type)) { $0.defaultValue = value }
  }

  private static func optional(_ name: String, _ type: AttributeType) -> Attribute {
    Attribute(name, type, optional: true)
  }

  private static func one(_ name: String, _ entity: String, _ inverse: String) -> Relationship {
    Relationship(name, to: entity, inverse: inverse, optional: true)
  }

  private static func many(
    _ name: String, _ entity: String, _ inverse: String, ordered: Bool = false
  ) -> Relationship {
    Relationship(
      name, to: entity, inverse: inverse, toMany: true, ordered: ordered, optional: true)
  }

  private static func changing(
    _ entities: [Entity], _ change: (inout Entity) -> Void
  ) -> [Entity] {
    entities.map { with($0, change) }
  }

  private static func rename(_ old: String, to new: String, in entity: inout Entity) {
    entity.attributes = entity.attributes.map { attribute in
      with(attribute) {
        guard $0.name == old else { return }
        $0.name = new
        $0.renamingIdentifier = old
      }
    }
  }

  private static func with<T>(_ value: T, _ change: (inout T) -> Void) -> T {
    var copy = value
    change(&copy)
    return copy
  }
}
