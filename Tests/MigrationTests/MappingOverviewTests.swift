import ManagedModel
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("What a mapping model says")
struct MappingOverviewTests {
  private let before: Model
  private let after: Model
  private let versions: [ModelVersions.Version]

  init() throws {
    (before, after) = try MappingSamples.models()
    versions = [
      .init(name: "One", model: before), .init(name: "Two", model: after),
      .init(name: "Other", model: try Model(entities: [Entity("Note")])),
    ]
  }

  private func compiled() throws -> MappingModelDocument {
    try MappingModelDocument(bytes: MappingSamples.compiled(from: before, to: after))
  }

  @Test("a compiled one states hashes, and its versions are found by them")
  func compiledPair() throws {
    let alone = MappingOverview(try compiled())
    #expect(alone.origin == .hashes && alone.pairs == [] && alone.untaken == nil)
    #expect(alone.entities.map(\.name) == ["PersonToHuman", "CompanyToCompany", "Note"])
    #expect(alone.entities[0].sourceHash == before.versionHashes["Person"])
    #expect(alone.entities[0].destinationHash == after.versionHashes["Human"])
    #expect(alone.entities[0].dropped == nil && alone.entities[0].forgotten == ["rank"])
    let among = MappingOverview(try compiled(), among: versions)
    #expect(among.pairs.map(\.from.name) == ["One"] && among.pairs.map(\.to.name) == ["Two"])
    #expect(MappingOverview(try compiled(), among: [versions[0], versions[2]]).pairs == [])
  }

  @Test("what it carries, drops and forgets is told of the two versions")
  func told() throws {
    let overview = MappingOverview(try compiled(), among: versions)
    let person = try #require(overview.entities.first { $0.name == "PersonToHuman" })
    #expect(person.condition?.contains("age > 17") == true && person.policy == nil)
    let values = Dictionary(uniqueKeysWithValues: person.carried.map { ($0.name, $0) })
    #expect(values["title"]?.value == "name" && values["title"]?.isComputed == false)
    #expect(values["age"]?.isComputed == true)
    #expect(values["employer"]?.through == "CompanyToCompany")
    #expect(person.forgotten == ["rank", "peersOf"])
    #expect(person.dropped == ["active", "balance", "born", "code", "photo", "score"])
    #expect(overview.policies == ["App.CompanyPolicy"])
    #expect(overview.untaken == [] && overview.unmade == ["Note"])
  }

  @Test("one with copies of the models needs none beside it, one without goes by names")
  func document() throws {
    let whole = try MappingModelDocument(
      bytes: MappingSamples.document(models: (before: before, after: after)))
    let overview = MappingOverview(whole)
    #expect(overview.origin == .models)
    #expect(overview.names?.from == before.versionHashesDigest)
    #expect(overview.entities.first?.dropped?.contains("photo") == true)
    let bare = try MappingModelDocument(bytes: MappingSamples.document(models: nil))
    #expect(MappingOverview(bare).origin == .names)
    #expect(MappingOverview(bare, among: versions).pairs.map(\.to.name) == ["Two"])
  }

  @Test("a recipe names its versions; with them, what it leaves to inference is told too")
  func recipe() throws {
    let recipe = try Recipe(
      text: """
        { "from": "One", "to": "Two", "rename": { "Person": "Human" }, "entityMappings": [
          { "source": "Person", "destination": "Human", "attributes": { "title": "upper(name)" } } ] }
        """, path: "One to Two.json5")
    let alone = MappingOverview(recipe)
    #expect(alone.origin == .versions && alone.names?.to == "Two" && alone.entities.count == 1)
    #expect(alone.entities[0].carried.map(\.value) == ["upper(name)"])
    let among = MappingOverview(recipe, among: versions)
    #expect(among.pairs.count == 1 && among.entities.count > 1)
    let human = try #require(among.entities.first { $0.destination == "Human" })
    #expect(human.carried.contains { $0.name == "age" && $0.value == "age" })
    #expect(human.dropped?.contains("name") == false && human.dropped?.contains("photo") == true)
  }
}
