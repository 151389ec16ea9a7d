import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// The store of objc.io's Moody, which Apple's engine took through five versions; the book's app
/// did not touch a property that both versions have.
@Suite("Moody, version by version", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct MoodyTests {
  static let bundle = "moody/Moody.xcdatamodeld"
  static let names = [
    "Mood": "remoteID", "Country": "numericISO3166Code", "Continent": "numericISO3166Code",
  ]
  static let mappings = (2...5).map { "moody/Moody \($0)-Moody \($0 + 1).xcmappingmodel" }

  /// Country5ToCountry6Policy makes a continent of each code that countries have.
  static let continents = """
    { policies: { "Migrations.Country5ToCountry6Policy": {
        relationships: { continent: "self" },
        also: [ { destination: "Continent", distinct: "isoContinent",
                  attributes: { numericISO3166Code: "isoContinent" } } ] } } }
    """

  private static func store(_ version: Int) -> String {
    version == 1 ? "moody/Moody.moody" : "moody/Moody \(version).moody"
  }

  private static func apple(_ version: Int, in folder: TemporaryFolder) throws -> NamedStore {
    let path = try folder.copy(fixture: store(version), as: "apple.sqlite")
    return try NamedStore(Store(path: path), by: names)
  }

  @Test("each step comes to what Apple's engine came to", arguments: 1...4)
  func steps(_ version: Int) throws {
    let folder = try TemporaryFolder()
    var migration = CustomMigration(
      store: Self.store(version), to: "\(Self.bundle)@Moody \(version + 1)")
    if version > 1 { migration.mappings = [Self.mappings[version - 2]] }
    // The last one leaves continents out: their codes have gone to the countries.
    if version == 4 { migration.allowed = ["Continent"] }
    let result = try migration.migrate(in: folder)
    #expect(result.plan.steps.map(\.mapping.kind) == [version == 1 ? .inferred : .mapping])
    #expect(result.plan.losses.map(\.name) == (version == 4 ? ["Continent"] : []))
    let ours = try NamedStore(result.after, by: Self.names)
    #expect(ours.differences(from: try Self.apple(version + 1, in: folder)) == [])
    #expect(try result.counts.values.reduce(0, +) == ours.objects.count)
    if version == 1 {
      let report = try StoreVerification.compare(
        before: result.before, after: result.after, mapping: result.plan.steps[0].mapping)
      #expect(report.differences == [])
    }
  }

  @Test("one command goes through all of them, by four mapping models and a stand-in")
  func chain() throws {
    let folder = try TemporaryFolder()
    var migration = CustomMigration(
      store: Self.store(1), to: "\(Self.bundle)@Moody 5", via: Self.bundle,
      mappings: Self.mappings, allowed: ["Continent"])
    let fifth = try migration.migrate(in: folder)
    #expect(fifth.plan.steps.map(\.to) == ["Moody 2", "Moody 3", "Moody 4", "Moody 5"])
    let ours = try NamedStore(fifth.after, by: Self.names)
    #expect(ours.differences(from: try Self.apple(5, in: folder)) == [])

    migration.to = "\(Self.bundle)@Moody 6"
    migration.recipes = [Self.continents]
    let sixth = try migration.migrate(in: folder, to: "sixth.sqlite")
    #expect(
      sixth.plan.steps.map(\.mapping.kind) == [.inferred] + Array(repeating: .mapping, count: 4))
    #expect(try sixth.counts == ["Continent": 2, "Country": 3, "Mood": 4])
    // The fourth version's continents are there again, with their countries, and nothing else moved.
    let last = try NamedStore(sixth.after, by: Self.names)
    let fourth = try Self.apple(4, in: folder)
    #expect(last.differences(from: fourth) == [])
    #expect(
      ours.differences(from: last).filter { !$0.hasPrefix("Continent/") } == [])
    for (name, country) in ours.objects where name.hasPrefix("Country/") {
      #expect(
        last.objects[name]?["continent"] == "Continent/\(country["isoContinent"] ?? "")")
    }
  }

  @Test("its last mapping model needs a stand-in for its class")
  func refused() throws {
    let folder = try TemporaryFolder()
    var migration = CustomMigration(
      store: Self.store(5), to: "\(Self.bundle)@Moody 6", mappings: [Self.mappings[3]])
    let store = try migration.open(in: folder)
    #expect(throws: CoreDataError.self) { try migration.plan(store) }
    migration.recipes = [Self.continents]
    #expect(try migration.migrate(in: folder).counts["Continent"] == 2)
  }

  @Test("between its versions every way is known")
  func matrix() throws {
    let versions = try ModelVersions(readingFrom: Fixtures.path(Self.bundle))
    let documents = try MappingDocuments(paths: Self.mappings.map { Fixtures.path($0) })
    let matrix = try MigrationMatrix(of: versions) {
      try documents.mapping(from: $0, to: $1, names: $2)
    }
    #expect(matrix.names.count == 6)
    for index in 1..<5 { #expect(matrix[index, index + 1] == .direct(.mapping)) }
    #expect(matrix[0, 1] == .direct(.inferred))
  }
}
