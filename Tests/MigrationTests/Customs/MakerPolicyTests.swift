import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// What CoreDataPlus' own policy class does, as Swift: a Maker of each text, that cars point at.
private final class MakerPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let car = try manager.makeInstance(of: source, in: mapping)
    guard let name = try source.text("maker") else { return }
    var makers = manager.userInfo["makers"] as? [String: DestinationObject] ?? [:]
    if makers[name] == nil {
      let maker = try manager.insert("Maker")
      try maker.set(.string(name), for: "name")
      makers[name] = maker
      manager.userInfo["makers"] = makers
    }
    try car.set(makers[name], for: "createdBy")
  }
}

@Suite(
  "CoreDataPlus V2 → V3, whose policy class makes makers",
  .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct MakerPolicyTests {
  static let mappings = ["Fixtures/V2toV3.cdm", "MappingModels/V2toV3.xcmappingmodel"].map {
    "coredataplus/SampleModel/\($0)"
  }
  static let policy = "REPLACE_AT_RUNTIME.V2to3MakerPolicy"

  /// The class is named by the mappings of three entities; each maker is made once all the same.
  static let recipe = """
    { policies: { "\(policy)": {
        relationships: { createdBy: "self" },
        also: [ { destination: "Maker", distinct: "maker", attributes: { name: "maker" } } ] } } }
    """

  static func migration(_ mapping: String) -> CustomMigration {
    CustomMigration(
      store: "coredataplus/SampleModel/Fixtures/SampleModel_V2.sqlite",
      to: "coredataplus/SampleModel/SampleModel.xcdatamodeld@SampleModel3", mappings: [mapping])
  }

  private static func check(_ result: CustomMigration.Result) throws {
    #expect(
      try result.counts == ["Car": 115, "LuxuryCar": 5, "SportCar": 5, "Person": 20, "Maker": 10])
    let before = try NamedStore(result.before)
    let after = try NamedStore(result.after, by: ["Maker": "name"])
    let cars = before.objects.filter { $0.value["maker"] != nil }
    #expect(cars.count == 125)
    for (name, car) in cars {
      let now = try #require(after.objects[name])
      #expect(now["createdBy"] == "Maker/\(car["maker"] ?? "")")
      #expect(now["previousOwners"] == car["owner"])
    }
    // Each maker knows its cars, and nothing but makers is new or otherwise.
    for name in Set(cars.values.compactMap { $0["maker"] }) {
      let own = cars.filter { $0.value["maker"] == name }.map(\.key).sorted()
      #expect(after.objects["Maker/\(name)"]?["cars"] == own.joined(separator: ", "))
    }
    #expect(
      before.differences(from: after).filter { !$0.hasPrefix("Maker/") } == [])
    #expect(after.names(of: "Maker").count == 10)
  }

  @Test("a recipe stands in for it", arguments: mappings)
  func recipe(_ mapping: String) throws {
    let folder = try TemporaryFolder()
    var migration = Self.migration(mapping)
    migration.recipes = [Self.recipe]
    let result = try migration.migrate(in: folder)
    try Self.check(result)
    #expect(result.plan.losses == [])
    let previews = result.plan.steps.flatMap(\.previews).filter { $0.destination == "Maker" }
    #expect(previews.first?.after == [.init(name: "name", value: "FIAT")])
  }

  @Test("a Swift policy bound to the class name does the same", arguments: mappings)
  func swiftPolicy(_ mapping: String) throws {
    let folder = try TemporaryFolder()
    var migration = Self.migration(mapping)
    migration.policies[Self.policy] = MakerPolicy.self
    try Self.check(try migration.migrate(in: folder))
  }

  @Test("without either it is refused (134170), and told how to bind it", arguments: mappings)
  func refused(_ mapping: String) throws {
    let folder = try TemporaryFolder()
    let migration = Self.migration(mapping)
    let store = try migration.open(in: folder)
    let error = #expect(throws: CoreDataError.self) { try migration.plan(store) }
    #expect(error?.code == 134170)
    #expect(error?.message.contains(Self.policy) == true)
    #expect(error?.hint?.contains("policies: { \"\(Self.policy)\": … }") == true)
    #expect(error?.hint?.contains("EntityMigrationPolicy") == true)
  }
}
