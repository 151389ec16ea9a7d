import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Classics: from the first version to the fifth")
struct FiveVersionsTests {
  static func versions() throws -> ModelVersions {
    let texts = [
      """
      Person
        fax String
        fullName String
        nick String
        town String
      """,
      // A renaming that only this version knows, and a loss.
      """
      Person
        fullName String
        alias String was=nick
        town String
      """,
      """
      Person
        alias String
        firstName String
        lastName String
        town String
      """,
      // An entity and a property renamed, a default, and a loss in the middle.
      """
      Human was=Person
        handle String was=alias
        lastName String
        town String
        rank Integer 16 = 7
      """,
      """
      Human
        handle String
        lastName String
        rank Integer 16 = 7
        town -> Town.people
      Town
        name String
        people ->> Human.town
      """,
    ]
    return ModelVersions(
      try texts.enumerated().map { index, text in
        .init(name: "V\(index + 1)", model: try Classics.model("V\(index + 1)", text))
      })
  }

  static func documents() throws -> MappingDocuments {
    var documents = MappingDocuments()
    documents.add(
      try Recipe(
        text: """
          { from: 'V2', to: 'V3', entityMappings: [ { source: 'Person', destination: 'Person',
            attributes: { firstName: "split_part(fullName, ' ', 1)", lastName: "rest_after(fullName, ' ')" } } ] }
          """, path: "2to3.json5"))
    documents.add(
      try Recipe(
        text: """
          { from: 'V4', to: 'V5', entityMappings: [
            { source: 'Human', destination: 'Town', distinct: 'town', attributes: { name: 'town' }, relationships: { people: null } },
            { source: 'Human', destination: 'Human', attributes: { rank: 'rank * 10' },
              relationships: { town: { from: 'self', through: 'HumanToTown' } } } ] }
          """, path: "4to5.json5"))
    return documents
  }

  @Test("one run, one cut over, one backup; each version leaves its mark, and losses are told")
  func chain() throws {
    let folder = try TemporaryFolder()
    let versions = try Self.versions()
    let (first, last) = (versions.versions[0].model, versions.versions[4].model)
    let path = try Classics.store(first, in: folder) { writer in
      for (name, nick, town) in [("Ada Lovelace", "al", "London"), ("Plato", "pl", "Athens")] {
        try writer.insert(
          "Person",
          attributes: [
            "fullName": .string(name), "nick": .string(nick), "town": .string(town),
            "fax": .string("0"),
          ])
      }
      try writer.insert("Person", attributes: ["town": .string("London")])
    }
    let before = try folder.contents()
    let plan = try Store(path: path).plan(
      to: last, names: ("V1", "V5"), source: first, through: versions,
      documents: Self.documents())
    #expect(
      plan.steps.map { "\($0.from)→\($0.to) \($0.mapping.kind.rawValue)" } == [
        "V1→V2 inferred", "V2→V3 recipe", "V3→V4 inferred", "V4→V5 recipe",
      ])
    // The first and the third version drop something each; the third has it from the recipe.
    #expect(
      plan.losses.map { "\($0.name) \($0.values)" } == ["Person.fax 2", "Person.firstName 2"])
    let refused = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(refused?.kind == .refused)
    #expect(try folder.contents() == before)
    var options = MigrationOptions()
    options.allowedLosses = ["Person.fax", "Person.firstName"]
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    #expect(receipt.steps == 4)
    #expect(receipt.to == "V5")
    #expect(
      try StoreDump.lines(at: path) == [
        "Human/p1 handle=al lastName=Lovelace rank=70 town→Town/p1",
        "Human/p2 handle=pl lastName=∅ rank=70 town→Town/p2",
        "Human/p3 handle=∅ lastName=∅ rank=70 town→Town/p1",
        "Town/p1 name=London people→[Human/p1 Human/p3]", "Town/p2 name=Athens people→[Human/p2]",
      ])
    // Of the versions between, nothing is left: the store, and one backup.
    let backup = try #require(receipt.backupPath)
    #expect(try Store(path: backup).metadata.versionHashes == first.versionHashes)
    let names = try FileSystem.list(folder.path).filter {
      $0.hasPrefix("Store.") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
    }
    #expect(names.sorted() == ["Store.backup-1", "Store.sqlite"])
    #expect(try FileSystem.list(folder.path).allSatisfy { !$0.contains("strata") })
  }

  @Test("where a step in the middle cannot be, the plan tells its check, and nothing after it")
  func failingMiddle() throws {
    let folder = try TemporaryFolder()
    let versions = try Self.versions()
    let third = try Classics.model(
      "V3", "Person\n  alias String\n  firstName String!\n  lastName String\n  town String")
    let all = ModelVersions(
      versions.versions.map { $0.name == "V3" ? .init(name: "V3", model: third) : $0 })
    let path = try Classics.store(versions.versions[0].model, in: folder) { writer in
      try writer.insert("Person")
    }
    let plan = try Store(path: path).plan(
      to: versions.versions[4].model, names: ("V1", "V5"), through: all,
      documents: Self.documents())
    #expect(plan.steps.count == 4)
    #expect(
      plan.failures.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows)" } == [
        "134110 Person.firstName 1"
      ])
  }
}
