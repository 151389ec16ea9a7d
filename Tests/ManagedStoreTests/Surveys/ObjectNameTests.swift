import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("What objects are called")
struct ObjectNameTests {
  private func id(_ entity: String, _ key: Int64) -> ObjectID { ObjectID(entity: entity, key: key) }

  @Test("objects are called by the attribute that says so, and subentities by their parent's")
  func found() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let names = try store.names(of: [id("Person", 1), id("Author", 2), id("Menu", 1), id("Tag", 9)])
    #expect(names[id("Person", 1)] == "Ann")
    #expect(names[id("Author", 2)] == "Julia")
    #expect(names[id("Tag", 9)] == nil)
  }

  @Test("a choice holds for subentities, also that of the key alone and that of a number")
  func chosen() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let people = [id("Person", 1), id("Author", 2)]
    let ages = try store.names(of: people, by: ObjectLabels(choices: ["Person": "age"]))
    #expect(ages == [people[0]: "30", people[1]: "41"])
    #expect(try store.names(of: people, by: ObjectLabels(choices: ["Person": ""])) == [:])
    let pens = try store.names(of: people, by: ObjectLabels(choices: ["Author": "pen"]))
    #expect(pens == [people[0]: "Ann", people[1]: "J"])
    // An attribute that is gone is none.
    let gone = try store.names(of: people, by: ObjectLabels(choices: ["Person": "nick"]))
    #expect(gone[people[0]] == "Ann")
  }

  @Test("a to-many tells its first objects by name")
  func many() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let recipe = id("Recipe", 1)
    let request = LabelRequest(
      objects: [], owners: [.init(id: recipe, relationships: ["tags", "nothing"])])
    let found = try store.names(for: request, within: .seconds(60))
    let first = try #require(found.firsts[recipe]?["tags"])
    #expect(!first.isEmpty && first.count <= Store.namedOfMany)
    #expect(first.allSatisfy { found.names[$0] != nil })
  }

  @Test("without time there are no names, and no error")
  func noTime() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let request = LabelRequest(objects: [id("Person", 1)])
    #expect(try store.names(for: request, within: .zero).names == [:])
  }

  @Test(
    "an own String labels before an element of a composite, and one that says more before others",
    arguments: [
      (["email", "title", "name"], [], "name"), (["email", "title"], [], "title"),
      (["author.name", "note"], [], "note"), (["author.born", "author.name"], [], "author.name"),
      (["author.name", "cocktailName", "a"], ["a"], "cocktailName"),
      (["a", "code", "email"], ["code"], "code"), (["a", "email"], [], "email"),
      (["name", "shortTitle"], ["shortTitle"], "name"), (["street", "town"], [], "street"),
      ([], [], nil),
    ] as [([String], [String], String?)])
  func order(strings: [String], unique: [String], label: String?) throws {
    var entity = Entity("Cocktail")
    for name in strings {
      let parts = name.split(separator: ".").map(String.init)
      guard parts.count == 2 else {
        entity.attributes.append(Attribute(name, .string))
        continue
      }
      let index = entity.attributes.firstIndex { $0.name == parts[0] } ?? entity.attributes.count
      if index == entity.attributes.count {
        entity.attributes.append(CompositeSamples.composite(parts[0], []))
      }
      entity.attributes[index].elements.append(Attribute(parts[1], .string))
    }
    entity.uniquenessConstraints = unique.map { [$0] }
    let model = try Model(entities: [entity])
    let table = StoreSchema(model: model).entityTable(of: "Cocktail")
    #expect(table.flatMap { ObjectLabels().attribute(of: $0, in: model) } == label)
  }
}
