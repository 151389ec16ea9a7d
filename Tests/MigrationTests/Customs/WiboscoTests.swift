import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("wibosco's colours", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct WiboscoTests {
  static let bundle = "wibosco/CoreDataMigration_Example.xcdatamodeld"
  static let policy = "CoreDataMigration_Example.Post2ToPost3MigrationPolicy"

  /// The class makes a colour of each post's hexadecimal text, under a new UUID as text.
  static let recipe = """
    { policies: { "\(policy)": { create: [
        { destination: "Color", relationship: "color",
          attributes: { colorID: "uuid()", hex: "hexColor" } } ] } } }
    """

  @Test("the first step's mapping model renames an attribute")
  func renaming() throws {
    let folder = try TemporaryFolder()
    let result = try CustomMigration(
      store: "wibosco/CoreDataMigration_Example_1.sqlite",
      to: Self.bundle + "@CoreDataMigration_Example 2",
      mappings: ["wibosco/Migration1to2.xcmappingmodel"]
    ).migrate(in: folder)
    #expect(result.plan.losses == [])
    let (before, after) = try (NamedStore(result.before), NamedStore(result.after))
    #expect(before.objects.count == after.objects.count && before.objects.count > 100)
    #expect(before.differences(from: after) == [])
    #expect(before.objects.allSatisfy { after.objects[$0.key]?["hexColor"] == $0.value["color"] })
  }

  @Test("the second step's makes a colour of each post")
  func colours() throws {
    let folder = try TemporaryFolder()
    let result = try CustomMigration(
      store: "wibosco/CoreDataMigration_Example_2.sqlite",
      to: Self.bundle + "@CoreDataMigration_Example 3",
      mappings: ["wibosco/Migration2to3.xcmappingmodel"], recipes: [Self.recipe]
    ).migrate(in: folder)
    #expect(try result.counts == ["Post": 5979, "Color": 5979])
    #expect(result.plan.losses == [])
    let (before, after) = try (NamedStore(result.before), NamedStore(result.after))
    #expect(before.differences(from: after).filter { !$0.hasPrefix("Color/") } == [])
    var identifiers: Set<String> = []
    for (name, post) in before.objects {
      let colour = try #require(after.objects[after.objects[name]?["color"] ?? ""])
      #expect(colour["hex"] == post["hexColor"] && colour["post"] == name)
      identifiers.insert(colour["colorID"] ?? "")
    }
    // As the class writes them, and as Apple's store of the third version has them.
    #expect(identifiers.count == 5979 && identifiers.allSatisfy { UUIDText.bytes($0) != nil })
  }

  @Test("one command makes both steps")
  func chain() throws {
    let folder = try TemporaryFolder()
    let migration = CustomMigration(
      store: "wibosco/CoreDataMigration_Example_1.sqlite",
      to: Self.bundle + "@CoreDataMigration_Example 4", via: Self.bundle,
      mappings: (1...2).map { "wibosco/Migration\($0)to\($0 + 1).xcmappingmodel" },
      recipes: [Self.recipe])
    let result = try migration.migrate(in: folder)
    #expect(result.plan.steps.map(\.mapping.kind) == [.mapping, .mapping, .inferred])
    #expect(try result.counts == ["Post": 1001, "Color": 1001])
    let (before, after) = try (NamedStore(result.before), NamedStore(result.after))
    for (name, post) in before.objects {
      #expect(after.objects[after.objects[name]?["color"] ?? ""]?["hex"] == post["color"])
      #expect(after.objects[name]?["hide"] == "false")
    }
  }
}
