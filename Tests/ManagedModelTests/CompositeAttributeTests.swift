import TestSupport
import Testing

@testable import ManagedModel

@Suite("composite attributes")
struct CompositeAttributeTests {
  @Test("entities with composite attributes hash as SwiftData's stores say")
  func vectors() throws {
    let hashes = try CompositeSamples.cocktails().versionHashes.mapValues(\.hex)
    #expect(
      hashes["Ingredient"]
        == "4a3b9f32df42aee19eb186b6ad03ad57c96cd3fb4532671a4063da2002cfc61a")
    #expect(
      hashes["CocktailImage"]
        == "e5242d181d1eb8e5b999d0e19f84b74db5c473219db44416e51022dfab605201")
    #expect(
      hashes["IngredientBase"]
        == "b7204663387a5680bdfd9bed01991300dbeccf23d6a9eba4f9902b6341dfac0e")
    #expect(try CompositeSamples.cocktails().unverifiedVersionHashes.isEmpty)
  }

  @Test("a composite attribute's own name and optionality move no hash, its elements' do")
  func elementsAlone() throws {
    let element = Attribute("x", .string)
    let first = try hash("one", optional: false, element)
    #expect(try hash("two", optional: true, element) == first)
    #expect(try hash("one", optional: false, Attribute("y", .string)) != first)
    #expect(try hash("one", optional: false, Attribute("x", .uri)) != first)
    #expect(try hash("one", optional: false, Attribute("x", .string, optional: true)) != first)
  }

  private func hash(
    _ name: String, optional: Bool, _ element: Attribute
  ) throws -> VersionHash? {
    var entity = Entity("A")
    entity.attributes = [CompositeSamples.composite(name, optional: optional, [element])]
    return try Model(entities: [entity]).versionHashes["A"]
  }

  @Test("a composite within a composite is said to hash unproved")
  func nested() throws {
    var entity = Entity("A")
    let inner = CompositeSamples.composite("inner", [Attribute("x", .string)])
    entity.attributes = [CompositeSamples.composite("outer", [inner])]
    let model = try Model(entities: [entity])
    #expect(model.unverifiedVersionHashes["A"]?.contains("within another") == true)
    #expect(model.storedAttributes(of: "A").map(\.name) == ["outer.inner.x"])
  }

  @Test("an element is known by its path, as optional as what is around it")
  func paths() throws {
    var entity = Entity("A")
    var born = Attribute("born", .date)
    born.renamingIdentifier = "birth"
    var author = CompositeSamples.composite(
      "author", optional: true, [Attribute("person", .string), born])
    author.renamingIdentifier = "writer"
    entity.attributes = [author, Attribute("id", .uuid)]
    let model = try Model(entities: [entity, Entity("B", parent: "A")])
    #expect(model.storedAttributes(of: "B").map(\.name) == ["author.person", "author.born", "id"])
    let stored = try #require(model.storedAttribute(named: "author.born", of: "B"))
    #expect(stored.isOptional)
    #expect(stored.canonicalName == "writer.birth")
    #expect(model.declaringEntity(of: "author.born", in: "B") == "A")
    #expect(model.storedAttribute(named: "author", of: "B") == nil)
    #expect(model.storedAttribute(named: "author.id", of: "B") == nil)
  }
}
