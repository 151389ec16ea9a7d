import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// With a mapping model NSMigrationManager validates every object in the end, also one that nothing changed.
@Suite("Every object against every rule, with a mapping model")
struct ValidatedMappingTests {
  private static func model(isNew: Bool) throws -> Model {
    var item = Entity("Item")
    func attribute(
      _ name: String, _ type: AttributeType,
      _ rules: (inout Attribute.Validation) -> Void = { _ in }
    ) -> Attribute {
      var attribute = Attribute(name, type, optional: true)
      rules(&attribute.validation)
      return attribute
    }
    item.attributes = [
      attribute("count", .integer32) { ($0.minimum, $0.maximum) = ("5", "10") },
      attribute("day", .date) { ($0.minimum, $0.maximum) = ("100", "200") },
      attribute("name", .string) { ($0.minimum, $0.maximum) = ("2", "4") },
      attribute("code", .string) { $0.pattern = "[a-z]+" }, Attribute("needed", .string),
    ]
    if isNew { item.attributes.append(attribute("added", .string)) }
    var parts = Relationship("parts", to: "Item", inverse: "whole", toMany: true, optional: true)
    (parts.minCount, parts.maxCount) = (2, 3)
    item.relationships = [
      parts, Relationship("whole", to: "Item", inverse: "parts", optional: true),
    ]
    return try Model(entities: [item])
  }

  private static let sound: [String: AttributeValue] = [
    "count": .integer(7), "day": .date(150), "name": .string("abc"), "code": .string("abc"),
    "needed": .string("x"),
  ]

  private static func plan(
    _ kind: MappingModel.Kind, in folder: TemporaryFolder,
    _ values: [String: AttributeValue], parts: Int = 0
  ) throws -> MigrationPlan {
    let path = folder.path("Items.sqlite")
    let source = try model(isNew: false)
    let writer = try StoreWriter(creating: path, model: source)
    for _ in 0..<2 { try writer.insert("Item", attributes: sound) }
    let broken = try writer.insert(
      "Item", attributes: sound.merging(values) { $1 }.filter { $0.value != .null })
    for _ in 0..<parts { try writer.insert("Item", attributes: sound, toOne: ["whole": broken]) }
    try writer.finish()
    let store = try Store(path: path)
    let destination = try model(isNew: true)
    var mapping = try MappingInference.mapping(from: source, to: destination)
    mapping.kind = kind
    return try store.plan(
      steps: [
        MigrationStep(
          from: "1", to: "2", source: store.model, destination: destination, mapping: mapping)
      ])
  }

  @Test(
    "an object that breaks a rule is refused with its code; without a mapping model it is told or passes",
    arguments: [
      ("count", AttributeValue.integer(4), 1620), ("count", .integer(11), 1610),
      ("day", .date(99), 1640), ("day", .date(201), 1630), ("name", .string("a"), 1670),
      ("name", .string("abcde"), 1660), ("code", .string("A1"), 1680), ("needed", .null, 1570),
    ])
  func values(property: String, value: AttributeValue, code: Int) throws {
    let folder = try TemporaryFolder()
    let plan = try Self.plan(.mapping, in: folder, [property: value])
    #expect(plan.failures.map(\.code.rawValue) == [code])
    #expect(plan.failures.map(\.rows) == [1])
    #expect(plan.failures.first?.property == property)
    #expect(plan.failures.first?.first == [ObjectID(entity: "Item", key: 3)])
    #expect(!plan.canRun)
    let before = try folder.contents()
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    #expect(error?.code?.rawValue == code && error?.kind == .refused)
    #expect(try folder.contents() == before)
    // Nothing asks a lightweight migration; what was missing before is told by all.
    for kind in [MappingModel.Kind.inferred, .recipe] {
      let folder = try TemporaryFolder()
      let plan = try Self.plan(kind, in: folder, [property: value])
      #expect(plan.failures == [] && plan.canRun)
      #expect(plan.checks.map(\.code.rawValue) == (code == 1570 ? [1570] : []))
      _ = try StoreMigration.run(plan)
    }
  }

  @Test("a to-many has as many objects as its counts say", arguments: 0...5)
  func counts(parts: Int) throws {
    let folder = try TemporaryFolder()
    let plan = try Self.plan(.mapping, in: folder, [:], parts: parts)
    let expected = parts == 1 ? [1580] : parts > 3 ? [1590] : []
    #expect(plan.failures.map(\.code.rawValue) == expected)
    #expect(plan.canRun == expected.isEmpty)
    if expected.isEmpty { _ = try StoreMigration.run(plan) }
  }

  @Test("what a Swift policy makes is validated when it is made")
  func policies() throws {
    let folder = try TemporaryFolder()
    var plan = try Self.plan(.mapping, in: folder, ["count": .integer(4)])
    let name = try #require(plan.steps.first?.mapping.entityMappings.first?.name)
    plan.policies[name] = EntityMigrationPolicy.self
    plan.checks = []
    let before = try folder.contents()
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    #expect(error?.code?.rawValue == 1620 && error?.property == "count")
    #expect(try folder.contents() == before)
  }

  @Test("what a recipe computes is told against the rules of a save")
  func computed() throws {
    let folder = try TemporaryFolder()
    let plan = try Self.plan(.recipe, in: folder, [:])
    var step = try #require(plan.steps.first)
    let recipe = try Recipe(
      text:
        #"{ from: "1", to: "2", entityMappings: [ { source: "Item", destination: "Item", attributes: { count: "count * 2" } } ] }"#,
      path: "recipe.json5")
    step.mapping = try #require(
      try recipe.mapping(from: step.source, to: step.destination, names: ("1", "2")))
    let again = try Store(path: plan.storePath).plan(steps: [step])
    #expect(again.checks.map(\.code.rawValue) == [1610])
    #expect(again.checks.map(\.rows) == [3])
    #expect(again.canRun)
  }
}

/// What has nothing to do with models and data, and ends a run all the same.
@Suite("What keeps a plan from being carried out now")
struct PlanObstacleTests {
  private static func plan(_ path: String, output: String? = nil) throws -> MigrationPlan {
    try Library.plan(
      path,
      to: Library.model(replacing: [
        (
          #"<attribute name="label""#,
          #"<attribute name="floor" optional="YES" attributeType="Integer 16"/><attribute name="label""#
        )
      ]), output: output)
  }

  @Test("a store that another program uses")
  func held() throws {
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    #expect(try Self.plan(path).canRun)
    let other = try OtherProgram(
      Tool.sqlite3.path, [path, "BEGIN; SELECT count(*) FROM Z_METADATA;", ".shell sleep 3600"])
    defer { other.kill() }
    try other.wait { (try? Self.plan(path).obstacles.isEmpty) == false }
    let plan = try Self.plan(path)
    #expect(!plan.canRun)
    #expect(plan.obstacles.map(\.message).contains { $0.contains("is using the store") })
    #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    #expect(try Self.plan(path, output: folder.path("Out.sqlite")).canRun)
  }

  @Test("a disk with too little room, by the plan's own estimate")
  func space() throws {
    let folder = try TemporaryFolder()
    var plan = try Self.plan(Library.store(in: folder))
    plan.bytesFree = plan.bytesNeeded - 1
    #expect(!plan.canRun)
    #expect(plan.obstacles.map(\.code) == [.migrationManagerDestinationStore])
    #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    plan.bytesFree = plan.bytesNeeded
    #expect(plan.canRun)
  }

  @Test("an output that exists, and one in a folder that does not")
  func output() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    for output in [path, folder.path("none/Out.sqlite")] {
      let plan = try Self.plan(path, output: output)
      #expect(!plan.canRun && plan.obstacles.count >= 1)
    }
  }
}
