import ManagedModel
import ManagedStore
import ModelSearch
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(
  "Names and texts in real stores", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureStructureTests {
  /// Photos' model with an attribute more of one entity.
  static func model(of store: Store, adding attribute: String, to entity: String) throws -> Model {
    var entities = store.model.entities
    let index = try #require(entities.firstIndex { $0.name == entity })
    entities[index].attributes.append(Attribute(attribute, .string, optional: true))
    return try Model(entities: entities)
  }

  @Test(
    "an attribute more changes the text of one table of a Photos library and no other",
    arguments: TestScale.some(1, of: [("Asset", "ZGENERICASSET"), ("Keyword", "ZKEYWORD")]),
    TestScale.some(1, of: Way.allCases))
  func photos(_ changed: (entity: String, table: String), _ way: Way) throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Fixtures.path("system/Photos-10.15.7.sqlite"))
    let model = try Self.model(of: store, adding: "strataNote", to: changed.entity)
    let plan = try way.plan(store, to: model)
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let result = try Store(path: folder.path("out.sqlite"))
    #expect(
      try SchemaRows(result).differences(from: SchemaRows(store)) == ["table \(changed.table)"])
    #expect(result.warnings == [])
    let joins = result.schema.joins.map(\.name)
    #expect(joins.contains("Z_26ASSETS"))
    #expect(joins.contains("Z_25ALBUMLISTS"))
    let trees = "SELECT count(*) FROM Z_RT_GenericAsset_boundedByRect"
    #expect(try result.connection.value(trees) == store.connection.value(trees))
    #expect(receipt.verified.contains { $0.what.hasPrefix("tables, indexes") && $0.count > 200 })
  }

  /// All cases with a result of Apple's and no mapping of their own.
  static let cases: [FixtureMigrationTests.Case] = {
    guard let bytes = try? Fixtures.bytes("cases.json"),
      let cases = try? JSONDecoder().decode([FixtureMigrationTests.Case].self, from: Data(bytes))
    else { return [] }
    return cases.filter { $0.apple != nil && $0.mappings.isEmpty }
  }()

  @Test(
    "tables and columns are those of Apple’s store, name for name",
    arguments: TestScale.pairs(cases, [MigrationPlan.Strategy.inPlace, .copy]))
  func apple(_ fixture: FixtureMigrationTests.Case, _ strategy: MigrationPlan.Strategy) throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Fixtures.path(fixture.store))
    let to = try ModelReference(Fixtures.path(fixture.to)).load()
    let plan = try store.plan(
      to: to.model, names: ("before", "after"), archive: to.archive,
      output: folder.path("out.sqlite"),
      through: fixture.via.map { try ModelVersions(readingFrom: Fixtures.path($0)) },
      strategy: strategy)
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.runAndRead(plan, options: options)
    let result = try Store(path: folder.path("out.sqlite"))
    let apple = try Store(path: Fixtures.path(#require(fixture.apple)))
    #expect(result.tablesByName == apple.tablesByName)
  }

  @Test("coredataplus V1 to V2, in place and copying", arguments: [Way.inPlace, .copying])
  func coreDataPlus(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let fixtures = "coredataplus/SampleModel/Fixtures/SampleModel_V"
    let store = try Store(path: Fixtures.path(fixtures + "1.sqlite"))
    let apple = try Store(path: Fixtures.path(fixtures + "2.sqlite"))
    let plan = try way.plan(store, to: apple.model)
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.runAndRead(plan, options: options)
    let result = try Store(path: folder.path("out.sqlite"))
    #expect(result.tablesByName == apple.tablesByName)
  }
}
