import ManagedModel
import ManagedStore
import ModelSearch
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// Whether what is said of a chain is what becomes of a store that goes through it.
@Suite("A chain's data")
struct ChainDataTests {
  /// The store's objects after each step was migrated to in turn.
  private static func stepByStep(_ path: String, _ steps: [MigrationStep]) throws -> [String] {
    for step in steps {
      var plan = try Store(path: path).plan(
        to: step.destination, names: (step.from, step.to), source: step.source)
      plan.losses = []
      _ = try StoreMigration.runAndRead(plan)
    }
    return try StoreDump.lines(at: path)
  }

  /// The store's objects after one migration by a mapping that was made of several.
  private static func atOnce(
    _ path: String, _ mapping: MappingModel, from source: Model, to destination: Model
  ) throws -> [String] {
    let store = try Store(path: path)
    var plan = try store.plan(to: destination, names: ("first", "last"), source: source)
    let counts = try store.counts()
    plan.steps[0].mapping = mapping
    plan.steps[0].rows = Dictionary(
      mapping.entityMappings.map { ($0.name, $0.source.flatMap { counts[$0] } ?? 0) }
    ) { first, _ in first }
    plan.losses = []
    plan.checks = []
    _ = try StoreMigration.runAndRead(plan)
    return try StoreDump.lines(at: path)
  }

  @Test("a renaming over two versions keeps the values, which going straight would lose")
  func renamings() throws {
    let author = #"<attribute name="name" optional="YES" attributeType="String"/>"#
    let pages = #"<attribute name="pages" optional="YES" attributeType="Integer 16"/>"#
    let second = try Library.model(replacing: [
      (author, #"<attribute name="pen" elementID="name" optional="YES" attributeType="String"/>"#),
      (pages, #"<attribute name="pages" attributeType="Integer 16" defaultValueString="1"/>"#),
      (#"<entity name="Loan">"#, #"<entity name="Lending" elementID="Loan">"#),
    ])
    let third = try Library.model(replacing: [
      (author, #"<attribute name="alias" elementID="pen" optional="YES" attributeType="String"/>"#),
      (pages, #"<attribute name="pages" attributeType="Integer 32" defaultValueString="2"/>"#),
      (#"<entity name="Loan">"#, #"<entity name="Borrowing" elementID="Lending">"#),
    ])
    let first = try Library.model(Library.version1)
    let versions = MigrationPathTests.versions(first, second, third)
    let path = try MigrationPath.find(
      from: first, to: third, names: ("V 1", "V 3"), through: versions)
    #expect(path.steps.map(\.to) == ["V 2", "V 3"])
    let (one, other) = (try TemporaryFolder(), try TemporaryFolder())
    let lines = try Self.stepByStep(Library.store(in: one), path.steps)
    #expect(lines.contains { $0.hasPrefix("Author/p1 alias=Ann") })
    #expect(lines.count { $0.hasPrefix("Borrowing/") } == 2)
    #expect(
      lines.contains { $0.contains(" pages=1 ") } && !lines.contains { $0.contains(" pages=2 ") })
    let store = try Library.store(in: other)
    #expect(
      try Store(path: store).plan(to: third, names: ("1", "3")).losses.count == 2)
    let whole = try #require(path.wholeMapping)
    let losses = try StepAnalysis(
      MigrationStep(from: "1", to: "3", source: first, destination: third, mapping: whole),
      of: Store(path: store)
    ).losses()
    #expect(losses == [])
    #expect(try Self.atOnce(store, whole, from: first, to: third) == lines)
  }

  @Test(
    "one mapping made of four does to Apple's store what the four do",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func wire() throws {
    let bundle = Fixtures.path("wire/zmessaging.xcdatamodeld")
    let names = ["2.6", "2.7", "2.8", "2.21.1", "2.24.1"].map { "zmessaging" + $0 }
    let models = try names.map { try ModelReference(bundle + "@" + $0).load().model }
    var steps: [MigrationStep] = []
    for index in 1..<names.count {
      steps.append(
        MigrationStep(
          from: names[index - 1], to: names[index], source: models[index - 1],
          destination: models[index],
          mapping: try MappingInference.mapping(from: models[index - 1], to: models[index])))
    }
    let folder = try TemporaryFolder()
    let one = try folder.copy(fixture: "wire/store2-6.wiredatabase", as: "one.sqlite")
    let other = try folder.copy(fixture: "wire/store2-6.wiredatabase", as: "other.sqlite")
    let lines = try Self.stepByStep(one, steps)
    let whole = try #require(MigrationPath(steps: steps).wholeMapping)
    #expect(try Self.atOnce(other, whole, from: models[0], to: models[4]) == lines)
    // Apple's engine went the same way, and came to the same objects; then the app asked its server
    // for two users' handles.
    let apple = try StoreDump.lines(at: Fixtures.path("wire/store2-24-1.wiredatabase")).map {
      $0.replacing("handle=andre", with: "handle=∅").replacing("handle=titus", with: "handle=∅")
    }
    #expect(apple == lines)
  }
}
