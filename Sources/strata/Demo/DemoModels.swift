import ManagedModel

/// The recipe box's model in four versions, each of which migrates in another way.
enum DemoModels {
  /// Version name to model, in order. The store is of the first.
  static func versions() throws -> [(name: String, model: Model)] {
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
    var recipe = Entity("Recipe")
    var photo = Attribute("photo", .binary, optional: true)
    photo.allowsExternalBinaryDataStorage = true
    recipe.attributes = [
      Attribute("identifier", .uuid), Attribute("title", .string),
      Attribute("summary", .string, optional: true), Attribute("createdAt", .date),
      with(Attribute("serves", .integer16)) { $0.defaultValue = .integer(4) },
      with(Attribute("minutes", .integer32)) { $0.defaultValue = .integer(0) },
      Attribute("rating", .double, optional: true),
      with(Attribute("isFavourite", .boolean)) { $0.defaultValue = .boolean(false) },
      Attribute("price", .decimal, optional: true), Attribute("source", .uri, optional: true),
      Attribute("difficulty", .string, optional: true),
      Attribute("legacyCode", .string, optional: true),
      with(Attribute("settings", .transformable, optional: true)) {
        $0.valueTransformerName = "NSSecureUnarchiveFromData"
      },
      photo,
    ]
    recipe.relationships = [
      Relationship("author", to: "Person", inverse: "recipes", optional: true),
      Relationship("tags", to: "Tag", inverse: "recipes", toMany: true, optional: true),
      with(
        Relationship(
          "steps", to: "Step", inverse: "recipe", toMany: true, ordered: true, optional: true)
      ) { $0.deleteRule = .cascade },
      with(Relationship("amounts", to: "Amount", inverse: "recipe", toMany: true, optional: true)) {
        $0.deleteRule = .cascade
      },
      Relationship(
        "similarRecipes", to: "Recipe", inverse: "similarTo", toMany: true, optional: true),
      Relationship(
        "similarTo", to: "Recipe", inverse: "similarRecipes", toMany: true, optional: true),
      Relationship("goesWith", to: "Recipe", inverse: "goesWith", toMany: true, optional: true),
    ]
    recipe.uniquenessConstraints = [["identifier"]]
    recipe.fetchIndexes = [
      FetchIndex(
        "byCreatedAtIndex", elements: [.init(property: "createdAt", isAscending: false)])
    ]

    var person = Entity("Person")
    person.attributes = [
      Attribute("identifier", .uuid), Attribute("name", .string),
      Attribute("homepage", .uri, optional: true), Attribute("born", .date, optional: true),
    ]
    person.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "author", toMany: true, optional: true),
      Relationship("profile", to: "Profile", inverse: "person", optional: true),
    ]

    var profile = Entity("Profile")
    profile.attributes = [
      Attribute("bio", .string, optional: true),
      with(Attribute("newsletter", .boolean)) { $0.defaultValue = .boolean(false) },
    ]
    profile.relationships = [
      Relationship("person", to: "Person", inverse: "profile", optional: true)
    ]

    var step = Entity("Step")
    step.attributes = [
      Attribute("text", .string), Attribute("minutes", .integer16, optional: true),
    ]
    step.relationships = [
      Relationship("recipe", to: "Recipe", inverse: "steps", optional: true)
    ]

    var ingredient = Entity("Ingredient")
    ingredient.attributes = [
      Attribute("name", .string), Attribute("unit", .string, optional: true),
      Attribute("energy", .float, optional: true),
    ]
    ingredient.relationships = [
      Relationship("amounts", to: "Amount", inverse: "ingredient", toMany: true, optional: true)
    ]
    // Both name a property `origin`: the second gets a numbered column.
    var produce = Entity("Produce", parent: "Ingredient")
    produce.attributes = [
      Attribute("origin", .string, optional: true), Attribute("season", .string, optional: true),
    ]
    var spice = Entity("Spice", parent: "Ingredient")
    spice.attributes = [
      with(Attribute("heat", .integer16)) { $0.defaultValue = .integer(0) },
      Attribute("origin", .string, optional: true),
    ]

    var amount = Entity("Amount")
    amount.attributes = [
      Attribute("quantity", .double), Attribute("note", .string, optional: true),
    ]
    amount.relationships = [
      Relationship("recipe", to: "Recipe", inverse: "amounts", optional: true),
      Relationship("ingredient", to: "Ingredient", inverse: "amounts", optional: true),
    ]

    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string), Attribute("colour", .integer64)]
    tag.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "tags", toMany: true, optional: true)
    ]
    tag.uniquenessConstraints = [["name"]]

    var draft = Entity("Draft")
    draft.attributes = [
      Attribute("title", .string), Attribute("summary", .string, optional: true),
      Attribute("createdAt", .date),
      with(Attribute("serves", .integer16)) { $0.defaultValue = .integer(4) },
    ]
    return [
      amount, draft, ingredient, person, produce, profile, recipe, spice, step, tag,
    ]
  }

  private static func second() -> [Entity] {
    var rating = Entity("Rating")
    rating.attributes = [
      with(Attribute("stars", .integer16)) { $0.defaultValue = .integer(0) },
      Attribute("comment", .string, optional: true),
    ]
    rating.relationships = [
      Relationship("recipe", to: "Recipe", inverse: "ratings", optional: true)
    ]
    return changing(first()) { entity in
      switch entity.name {
      case "Recipe":
        rename("serves", to: "servings", in: &entity)
        entity.attributes += [
          with(Attribute("isVegan", .boolean)) { $0.defaultValue = .boolean(false) },
          Attribute("notes", .string, optional: true),
        ]
        entity.relationships += [
          Relationship("ratings", to: "Rating", inverse: "recipe", toMany: true, optional: true),
          Relationship(
            "favouredBy", to: "Person", inverse: "favourites", toMany: true, optional: true),
        ]
      case "Person":
        entity.relationships.append(
          Relationship(
            "favourites", to: "Recipe", inverse: "favouredBy", toMany: true, optional: true))
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
