import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// One store that Apple's engine took through a hundred versions of Wire's model.
@Suite(
  "Chains that Apple's engine went too",
  .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
  .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct ChainFixtureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var from: String
    var to: String
    var store: String { "wire/store\(from).wiredatabase" }
    var apple: String { "wire/store\(to).wiredatabase" }
    var testDescription: String { "\(from) → \(to)" }
  }

  static let cases = [
    Case(from: "2-6", to: "2-24-1"), Case(from: "2-28-0", to: "2-46-0"),
    Case(from: "2-6", to: "2-95-0"),
  ]

  static let bundle = "wire/zmessaging.xcdatamodeld"

  private static func version(_ store: String) -> String {
    "zmessaging" + store.replacing("-", with: ".")
  }

  private static func model(_ store: String) throws -> Model {
    try CustomMigration.load(bundle + "@" + version(store))
  }

  private static func migration(_ fixture: Case) throws -> CustomMigration {
    var migration = CustomMigration(
      store: fixture.store, to: bundle + "@" + version(fixture.to), via: bundle)
    let plan = try migration.plan(Store(path: Fixtures.path(fixture.store)))
    migration.allowed = Set(plan.losses.map(\.name))
    return migration
  }

  @Test("one command comes to what Apple's engine came to", arguments: cases)
  func wholeWay(_ fixture: Case) throws {
    let folder = try TemporaryFolder()
    let result = try Self.migration(fixture).migrate(in: folder)
    let apple = try Store(path: Fixtures.path(fixture.apple))
    let differences = try NamedStore(result.after).differences(from: NamedStore(apple))
    // The app asked its server for two users' handles before that store was kept.
    let handles = fixture.from == "2-6" ? ["User/p12", "User/p19"] : []
    #expect(differences.map { $0.prefix { $0 != "." } } == handles.map { $0[...] })
    #expect(differences.allSatisfy { $0.contains(".handle: ∅ ≠ ") })
    #expect(try result.after.counts() == apple.counts())
    for table in apple.database.tables.keys where table.hasPrefix("Z") {
      #expect(
        Set(result.after.database.columns(of: table)) == Set(apple.database.columns(of: table)),
        "\(table)")
    }
  }

  @Test(
    "each version in turn comes to the same as the way that was chosen", arguments: cases)
  func everyVersion(_ fixture: Case) throws {
    let folder = try TemporaryFolder()
    let result = try Self.migration(fixture).migrate(in: folder)
    let versions = try ModelVersions(readingFrom: Fixtures.path(Self.bundle)).versions
    let (first, last) = try (Self.model(fixture.from), Self.model(fixture.to))
    let start = try #require(versions.firstIndex { $0.model == first })
    let end = try #require(versions.firstIndex { $0.model == last })
    let steps = try zip(versions[start...end], versions[(start + 1)...end]).map { one, next in
      MigrationStep(
        from: one.name, to: next.name, source: one.model, destination: next.model,
        mapping: try MappingInference.mapping(from: one.model, to: next.model))
    }
    #expect(steps.count == end - start && steps.count >= 4)
    let plan = try result.before.plan(steps: steps)
    #expect(Set(plan.losses.map(\.name)) == Set(result.plan.losses.map(\.name)))
    #expect(plan.failures == [])
    var options = MigrationOptions()
    options.output = folder.path("steps.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.runAndRead(plan, options: options)
    #expect(try StoreDump.lines(at: folder.path("steps.sqlite")) == StoreDump.lines(result.after))
  }

  @Test(
    "verification finds our result right, and Apple's but for what its app did",
    arguments: cases)
  func verification(_ fixture: Case) throws {
    let folder = try TemporaryFolder()
    let result = try Self.migration(fixture).migrate(in: folder)
    let path = try StoreMigration.path(
      of: result.before,
      result.before.request(
        to: result.after.model, names: ("before", "after"), source: result.before.model,
        through: ModelVersions(readingFrom: Fixtures.path(Self.bundle))))
    let whole = try #require(path.wholeMapping)
    let ours = try StoreVerification.compare(
      before: result.before, after: result.after, mapping: whole)
    #expect(ours.differences == [])
    let apple = try Store(path: Fixtures.path(fixture.apple))
    let theirs = try StoreVerification.compare(before: result.before, after: apple, mapping: whole)
    #expect(theirs.differences.compactMap(\.property) == (fixture.from == "2-6" ? ["handle"] : []))
  }

  @Test("a mandatory to-many that begins empty is told, and refused no more than Apple does")
  func mandatoryToMany() throws {
    let fixture = Self.cases[2]
    let plan = try Self.migration(fixture).plan(Store(path: Fixtures.path(fixture.store)))
    let told = plan.checks.filter { $0.property == "participantRoles" }
    #expect(told.map(\.entity) == ["Conversation", "User"])
    #expect(told.allSatisfy { $0.isWarning && $0.code == 1570 })
    // In Apple's store, which came the same way, they are as empty.
    let apple = try Store(path: Fixtures.path(fixture.apple))
    #expect(apple.model.relationship(named: "participantRoles", of: "User")?.isOptional == false)
    #expect(try apple.counts()["ParticipantRole"] == 0)
  }
}
