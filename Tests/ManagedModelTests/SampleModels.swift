@testable import ManagedModel

/// Models the tests make themselves.
enum SampleModels {
  /// A bit of everything that both forms of a model can hold.
  static func rich() throws -> Model {
    var asset = Entity("Asset")
    asset.isAbstract = true
    asset.className = "LibraryAsset"
    asset.userInfo = ["colour": "a \"red\" <one> & more\nsecond line"]
    var title = Attribute("title", .string)
    title.defaultValue = .string("")
    title.validation.minimum = "1"
    title.validation.maximum = "200"
    title.validation.pattern = "[A-Z].*"
    title.isIndexed = true
    var price = Attribute("price", .decimal, optional: true)
    price.defaultValue = .decimal("-12.05")
    var rating = Attribute("rating", .integer16)
    rating.defaultValue = .integer(-3)
    rating.renamingIdentifier = "stars"
    var thumbnail = Attribute("thumbnail", .binary, optional: true)
    thumbnail.allowsExternalBinaryDataStorage = true
    thumbnail.preservesValueInHistoryOnDeletion = true
    thumbnail.versionHashModifier = "2"
    var tags = Attribute("tagCount", .integer64, optional: true)
    tags.derivation = Attribute.Derivation(expression: "tags.@count")
    asset.attributes = [price, rating, tags, thumbnail, title]
    asset.relationships = [
      Relationship(
        "tags", to: "Tag", inverse: "assets", toMany: true, ordered: true, optional: true)
    ]
    asset.uniquenessConstraints = [["title", "rating"]]
    asset.fetchIndexes = [
      FetchIndex(
        "byTitle",
        elements: [
          FetchIndex.Element(property: "title"),
          FetchIndex.Element(property: "rating", isAscending: false),
        ], partialPredicate: "rating > 2 AND title != nil"),
      FetchIndex("byLower", elements: [FetchIndex.Element(expression: "lowercase:(title)")]),
    ]
    var photo = Entity("Photo", parent: "Asset")
    var taken = Attribute("taken", .date)
    taken.defaultValue = .date(0.25)
    var identifier = Attribute("identifier", .uuid)
    identifier.defaultValue = .uuid(Array(0..<16))
    var link = Attribute("link", .uri, optional: true)
    link.defaultValue = .uri("https://example.org/?a=1&b=2")
    var hidden = Attribute("hidden", .boolean)
    hidden.defaultValue = .boolean(true)
    var scale = Attribute("scale", .double)
    scale.defaultValue = .double(1.5)
    var cache = Attribute("cache", .undefined, optional: true)
    cache.isTransient = true
    photo.attributes = [cache, hidden, identifier, link, scale, taken]
    var similar = FetchedProperty("similar")
    similar.entity = "Photo"
    similar.predicate = "title == $FETCH_SOURCE.title"
    photo.fetchedProperties = [similar]
    var tag = Entity("Tag")
    tag.renamingIdentifier = "Label"
    tag.attributes = [Attribute("name", .string)]
    var assets = Relationship("assets", to: "Asset", inverse: "tags", toMany: true, optional: true)
    assets.deleteRule = .cascade
    assets.maxCount = .max
    var twin = Relationship("twin", to: "Tag", inverse: "twin", optional: true)
    twin.deleteRule = .deny
    tag.relationships = [assets, twin]
    tag.compoundIndexes = [["name"]]
    return try Model(
      entities: [asset, photo, tag], versionIdentifiers: ["1.2"],
      configurations: ["Cloud": ["Asset", "Photo"]],
      fetchRequests: [
        FetchRequestTemplate("good", entity: "Photo", predicate: "rating >= $minimum")
      ])
  }
}
