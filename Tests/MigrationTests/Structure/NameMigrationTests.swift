import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// A property more can rename join tables, order keys and columns that nobody touched: a migration gives the
/// names that Core Data computes of the new model.
@Suite("Names after a migration")
struct NameMigrationTests {
  private static func person(attributes count: Int) throws -> Model {
    var person = Entity("Person")
    person.attributes = (0..<count).map {
      Attribute(($0 < 10 ? "a0" : "a") + String($0), .string, optional: true)
    }
    person.relationships = [
      Relationship("friends", to: "Person", inverse: "friendOf", toMany: true, optional: true),
      Relationship("friendOf", to: "Person", inverse: "friends", toMany: true, optional: true),
    ]
    return try Model(entities: [person])
  }

  /// What the specification says of some numbers of attributes.
  private static let known = [
    2: "Z_1FRIENDS", 3: "Z_1FRIENDOF", 12: "Z_1FRIENDOF", 13: "Z_1FRIENDS", 20: "Z_1FRIENDS",
    25: "Z_1FRIENDOF",
  ]

  private static func migrate(
    _ path: String, to model: Model, _ strategy: MigrationPlan.Strategy
  ) throws -> Store {
    let store = try Store(path: path)
    let mapping = try MappingInference.mapping(from: store.model, to: model)
    let plan = try store.plan(
      steps: [
        MigrationStep(
          from: "1", to: "2", source: store.model, destination: model, mapping: mapping)
      ], strategy: strategy)
    #expect(plan.losses == [] && plan.failures == [])
    store.connection.close()
    _ = try StoreMigration.run(plan)
    return try Store(path: path)
  }

  /// Tables with their columns, but those that every store has.
  private static func tables(_ store: Store) -> [String: [String]] {
    store.database.tables.filter {
      !["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "SQLITE_SEQUENCE"].contains($0.key)
    }.mapValues { $0.map(\.name) }
  }

  private static func fresh(_ model: Model, in folder: TemporaryFolder) throws -> [String: [String]]
  {
    let path = folder.path("Fresh.sqlite")
    try StoreCreation.create(at: path, model: model, uuid: "A-B-C")
    return tables(try Store(path: path))
  }

  @Test(
    "of n attributes and two relationships within one entity, n to n + 1",
    arguments: TestScale.some(8, of: Array(1...30)),
    [MigrationPlan.Strategy.inPlace, .copy])
  func friends(count: Int, strategy: MigrationPlan.Strategy) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Persons.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.person(attributes: count))
    let persons = try (0..<5).map {
      try writer.insert("Person", attributes: ["a00": .string("p\($0)")])
    }
    // No pair is there the other way round: taken for the inverse, every link would be another.
    try writer.insert(
      "Person", attributes: ["a00": .string("x")], toMany: ["friends": Array(persons[0...2])])
    try writer.insert(
      "Person", attributes: ["a00": .string("y")], toMany: ["friends": Array(persons[2...4])])
    try writer.finish()
    let before = try Store(path: path)
    if let name = Self.known[count] { #expect(before.database.contains(name)) }
    func links(_ store: Store) throws -> [String] {
      try StoreDump.lines(store).map { line in
        line.split(separator: " ").filter { !$0.contains("=∅") }.joined(separator: " ")
      }
    }
    let lines = try links(before)
    #expect(lines.contains { $0.contains("friends→[Person/p1 Person/p2 Person/p3]") })
    before.connection.close()
    let model = try Self.person(attributes: count + 1)
    let after = try Self.migrate(path, to: model, strategy)
    if let name = Self.known[count + 1] { #expect(after.database.contains(name)) }
    #expect(after.warnings == [])
    #expect(try links(after) == lines)
    let fresh = try Self.fresh(model, in: folder)
    let made = Self.tables(after)
    #expect(made.mapValues { $0.sorted() } == fresh.mapValues { $0.sorted() })
    if strategy == .copy { #expect(made == fresh) }
  }

  @Test(
    "of generated models, every tenth, to a version with a property more",
    arguments: TestScale.some(1, of: [MigrationPlan.Strategy.inPlace, .copy]))
  func samples(strategy: MigrationPlan.Strategy) throws {
    let samples =
      Fixtures.isAvailable
      ? NameSample.fixtures.filter { $0.number % 10 == 2 }
      : NameSample.own.filter { $0.number % 3 == 0 }
    #expect(samples.count >= 9)
    var renamed = 0
    for sample in samples {
      let folder = try TemporaryFolder()
      let path = folder.path("Sample.sqlite")
      let writer = try StoreWriter(creating: path, model: sample.model)
      for entity in sample.model.entities where !entity.isAbstract {
        for _ in 0..<3 { try writer.insert(entity.name) }
      }
      try writer.finish()
      let former = Self.tables(try Store(path: path))
      // A row in each join table, each end another, so that ends that change places show.
      let joins = try Store(path: path).schema.joins
      do {
        let connection = try Connection(path: path, mode: .readWrite)
        for join in joins {
          try connection.execute(
            "INSERT INTO \(quoted(join.name)) (\(quoted(join.first)), \(quoted(join.second))) VALUES (1, 2)"
          )
        }
        connection.close()
      }
      let model = try Self.enlarged(sample.model)
      let lines = try Self.links(at: path)
      let after = try Self.migrate(path, to: model, strategy)
      let fresh = try Self.fresh(model, in: folder)
      let made = Self.tables(after)
      #expect(
        made.mapValues { $0.sorted() } == fresh.mapValues { $0.sorted() }, "model \(sample.number)")
      if strategy == .copy { #expect(made == fresh, "model \(sample.number)") }
      if Set(former.keys) != Set(made.keys) { renamed += 1 }
      #expect(try Self.links(at: path) == lines, "model \(sample.number)")
      #expect(after.warnings == [])
    }
    // Else the test would show nothing of names that change.
    if Fixtures.isAvailable { #expect(renamed > 0) }
  }

  /// The model with an attribute more: where one renames a table, that.
  private static func enlarged(_ model: Model) throws -> Model {
    let names = Set(StoreSchema(model: model).joins.map(\.name))
    var first: Model?
    for place in model.entities.indices where model.entities[place].parent == nil {
      for attribute in ["zz", "added", "q1", "other"] {
        var entities = model.entities
        entities[place].attributes.append(Attribute(attribute, .string, optional: true))
        guard
          let made = try? Model(
            entities: entities, versionIdentifiers: model.versionIdentifiers)
        else { continue }
        if Set(StoreSchema(model: made).joins.map(\.name)) != names { return made }
        if first == nil { first = made }
      }
    }
    return try #require(first)
  }

  /// What relationships lead to, object by object.
  private static func links(at path: String) throws -> [String] {
    try StoreDump.lines(at: path).map { line in
      line.split(separator: " ").enumerated().filter { $0 == 0 || $1.contains("→") }.map {
        String($1)
      }.joined(separator: " ")
    }
  }
}
