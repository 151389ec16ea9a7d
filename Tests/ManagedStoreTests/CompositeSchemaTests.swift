import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Tables of composite attributes")
struct CompositeSchemaTests {
  private func columns(_ model: Model, _ root: String) throws -> [String] {
    try #require(StoreSchema(model: model).table(ofRoot: root)).columns.map {
      "\($0.name) \($0.type)"
    }
  }

  @Test("elements of one block stand in the order in which the composite lists them")
  func listedOrder() throws {
    #expect(
      try columns(CompositeSamples.cocktails(), "CocktailImage") == [
        "ZLINEARRED FLOAT", "ZLINEARGREEN FLOAT", "ZLINEARBLUE FLOAT", "ZOPACITY FLOAT",
        "ZLINEARRED1 FLOAT", "ZLINEARGREEN1 FLOAT", "ZLINEARBLUE1 FLOAT", "ZOPACITY1 FLOAT",
        "ZDRINKLAYER VARCHAR", "ZGLASSBACKLAYER VARCHAR", "ZGLASSREFLECTION VARCHAR",
        "ZICELAYER VARCHAR", "ZINNERRIM VARCHAR", "ZSTRAW VARCHAR", "ZGARNISHES BLOB",
        "ZINDRINKCOMPONENTS BLOB",
      ])
  }

  @Test("an element stands in the block of its type where its composite's name belongs")
  func blocks() throws {
    #expect(
      try columns(CompositeSamples.cocktails(), "IngredientBase") == [
        "ZISCUSTOM INTEGER", "ZCATEGORY VARCHAR", "ZINFO VARCHAR", "ZNAME VARCHAR",
        "ZPREPINGREDIENTNAME VARCHAR", "ZID BLOB", "ZPREPRECIPE BLOB", "ZFLAVORS BLOB",
        "ZPROFILES BLOB", "ZSTYLES BLOB", "ZBOOZE BLOB", "ZNA BLOB",
      ])
  }

  @Test("an attribute beside an element of its name has the numbered column")
  func clash() throws {
    let schema = StoreSchema(model: try CompositeSamples.library())
    let item = try #require(schema.entityTable(of: "Item"))
    #expect(item.column(of: "author.id") == "ZID")
    #expect(item.column(of: "id") == "ZID1")
    #expect(item.column(of: "back.linearRed") == "ZLINEARRED")
    #expect(item.column(of: "front.linearRed") == "ZLINEARRED1")
    let magazine = try #require(schema.entityTable(of: "Magazine"))
    #expect(magazine.column(of: "author.person") == "ZPERSON")
    #expect(magazine.column(of: "editor.person") == "ZPERSON1")
    #expect(magazine.column(of: "editor.id") == "ZID2")
    #expect(magazine.column(of: "author") == nil)
    #expect(schema.assumptions.isEmpty)
  }

  @Test("a store's own id is not the id of its composite")
  func values() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let store = try Store(path: path)
    #expect(store.warnings.isEmpty)
    #expect(store.modelMatches)
    let raw = try store.connection.rows("SELECT ZID, ZID1, ZID2 FROM ZITEM ORDER BY Z_PK")
    #expect(
      raw == [
        [.integer(7), .integer(100), .null], [.null, .integer(101), .null],
        [.null, .integer(102), .integer(9)],
      ])
    let first = try #require(try store.object(ObjectID(entity: "Item", key: 1)))
    let values = Dictionary(
      uniqueKeysWithValues: zip(first.columns.map(\.name), first.values))
    #expect(values["id"] == .value(.integer(100)))
    #expect(values["author.id"] == .value(.integer(7)))
    #expect(values["author.person"] == .value(.string("Ann")))
    #expect(values["front.opacity"] == .value(.double(0.5)))
  }

  @Test("what no store of Apple's proved is said when the store is opened")
  func assumptions() throws {
    var entity = Entity("A")
    let inner = CompositeSamples.composite("inner", [Attribute("x", .string, optional: true)])
    entity.attributes = [CompositeSamples.composite("outer", [inner])]
    var other = Entity("B")
    other.attributes = [CompositeSamples.composite("zone", [Attribute("a", .integer16)])]
    other.relationships = [Relationship("a", to: "A", optional: true)]
    let folder = try TemporaryFolder()
    let path = folder.path("Nested.sqlite")
    try StoreCreation.create(
      at: path, model: Model(entities: [entity, other]),
      uuid: "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C")
    let warnings = try Store(path: path).warnings
    #expect(warnings.contains { $0.contains("A.outer has a composite attribute within it") })
    #expect(warnings.contains { $0.contains("B.zone.a and the relationship of that name") })
  }
}
