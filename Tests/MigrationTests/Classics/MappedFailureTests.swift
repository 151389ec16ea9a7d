import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("What mapped migrations refuse")
struct MappedFailureTests {
  static func models(_ second: String) throws -> (Model, Model) {
    (
      try Classics.model(
        "1", "A\n  text String\n  number Integer 64\n  b -> B.all\nB\n  name String\n  all ->> A.b"),
      try Classics.model("2", second)
    )
  }

  static func store(_ model: Model, in folder: TemporaryFolder) throws -> String {
    try Classics.store(model, in: folder) { writer in
      let b = try writer.insert("B", attributes: ["name": .string("b")])
      for (index, text) in ["{\"k\": 1}", "{\"k\": 1}", "no json"].enumerated() {
        try writer.insert(
          "A", attributes: ["text": .string(text), "number": .integer(Int64(index))],
          toOne: index == 2 ? [:] : ["b": b])
      }
    }
  }

  @Test("duplicates that a recipe makes under a constraint are told by the plan")
  func uniqueness() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models("A unique=key\n  key Integer 64\nB\n  name String")
    let path = try Self.store(old, in: folder)
    let plan = try Classics.plan(
      path, to: new,
      "{ source: 'A', destination: 'A', attributes: { key: 'number / 2 + length(text) * 0' }, relationships: {} }"
    )
    #expect(
      plan.failures.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows) \($0.first)" }
        == [
          "134111 A.key 2 [A/p1]"
        ])
    #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
  }

  /// Sets one value everywhere.
  final class Same: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.makeInstance(of: source, in: mapping)
      try object.set(.integer(1), for: "key")
    }
  }

  @Test("those that a policy makes end the run, and nothing was changed")
  func uniquenessByPolicy() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models("A unique=key\n  key Integer 64\nB\n  name String")
    let path = try Self.store(old, in: folder)
    let before = try folder.contents()
    var plan = try Classics.plan(
      path, to: new, "{ source: 'A', destination: 'A', policy: 'P' }", policies: ["P": Same.self])
    // B's links, which nobody takes.
    #expect(plan.losses.map(\.name) == ["B.all"])
    plan.losses = []
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(error?.kind == .refused && error?.code == 134111, "\(error?.description ?? "")")
    #expect(error?.entity == "A" && error?.property == "key")
    #expect(try folder.contents() == before)
  }

  @Test("an expression that gives NULL to a mandatory attribute is told by the plan")
  func mandatory() throws {
    let folder = try TemporaryFolder()
    let (old, new) = try Self.models(
      "A\n  key String!\n  b ->! B.all\nB\n  name String\n  all ->> A.b")
    let path = try Self.store(old, in: folder)
    let plan = try Classics.plan(
      path, to: new,
      "{ source: 'A', destination: 'A', attributes: { key: 'CASE WHEN number > 0 THEN text END' } }"
    )
    #expect(
      plan.failures.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows) \($0.first)" }
        == [
          "134110 A.b 1 [A/p3]", "134110 A.key 1 [A/p1]",
        ])
  }

  @Test("an expression that fails on a row names the mapping, the entity and the property")
  func failing() throws {
    let (old, new) = try Self.models("A\n  key Integer 64\nB\n  name String")
    for (mapping, property) in [
      ("attributes: { key: \"json_extract(text, '$.k')\" }", "key"),
      ("where: \"json_extract(text, '$.k') = 1\"", nil),
      ("distinct: \"json_extract(text, '$.k')\"", nil),
      ("attributes: { key: 'abs(number - 9223372036854775807 - 1)' }", "key"),
    ] as [(String, String?)] {
      let folder = try TemporaryFolder()
      let path = try Self.store(old, in: folder)
      let error = #expect(throws: CoreDataError.self) {
        try Classics.plan(path, to: new, "{ name: 'M', source: 'A', destination: 'A', \(mapping) }")
      }
      #expect(error?.kind == .refused && error?.code == 134110, "\(mapping)")
      #expect(error?.message.hasPrefix("in the mapping “M”: an expression fails: ") == true)
      #expect(error?.entity == "A" && error?.property == property, "\(mapping)")
      #expect(error?.hint?.hasSuffix("The store is unchanged.") == true)
    }
  }

  @Test("the same within a tree names the object's entity")
  func failingTree() throws {
    let (old, new) = try Self.models(
      "A\n  b -> B.all\n  parts ->> Part.a\nB\n  name String\n  all ->> A.b\nPart\n  n Integer 64\n  a -> A.parts"
    )
    let folder = try TemporaryFolder()
    let error = #expect(throws: CoreDataError.self) {
      try Classics.plan(
        Self.store(old, in: folder), to: new,
        "{ name: 'M', source: 'A', destination: 'A', create: [ { destination: 'Part', relationship: 'parts', attributes: { n: \"json_extract(text, '$.k')\" } } ] }"
      )
    }
    #expect(error?.entity == "Part" && error?.property == "n")
  }

  @Test("a policy stands against “create” and “distinct”, and the plan says so")
  func contradiction() throws {
    let (old, new) = try Self.models("A\n  key Integer 64\nB\n  name String")
    let folder = try TemporaryFolder()
    let error = #expect(throws: CoreDataError.self) {
      try Classics.plan(
        Self.store(old, in: folder), to: new,
        "{ source: 'A', destination: 'A', policy: 'P', distinct: 'number' }",
        policies: ["P": Same.self])
    }
    #expect(error?.kind == .usage && error?.message.contains("“distinct”") == true)
  }

  @Test(
    "a result that is not what was planned does not pass verification",
    arguments: [
      "UPDATE ZA SET ZKEY = ZKEY + 1 WHERE Z_PK = 2", "UPDATE ZA SET ZB = NULL WHERE Z_PK = 1",
      "DELETE FROM ZA WHERE Z_PK = 3", "DELETE FROM ZPART WHERE Z_PK = 1",
      "UPDATE ZPART SET ZA = 2 WHERE Z_PK = 1", "UPDATE ZPART SET ZN = 5 WHERE Z_PK = 1",
      "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (9, 2, 1)",
    ])
  func tampering(sql: String) throws {
    let (old, new) = try Self.models(
      "A\n  key Integer 64\n  b -> B.all\n  parts ->> Part.a\nB\n  name String\n  all ->> A.b\nPart\n  n Integer 64\n  a -> A.parts"
    )
    let folder = try TemporaryFolder()
    let path = try Self.store(old, in: folder)
    var plan = try Classics.plan(
      path, to: new,
      """
      { source: 'A', destination: 'A', attributes: { key: 'number * 2' },
        create: [ { destination: 'Part', relationship: 'parts', attributes: { n: 'number' } } ] }
      """)
    #expect(plan.losses.map(\.name) == ["A.text"])
    plan.losses = []
    let receipt = try StoreMigration.runAndRead(plan)
    let mapping = try #require(plan.steps.first?.mapping)
    let backup = try #require(receipt.backupPath)
    func report() throws -> VerificationReport {
      try StoreVerification.compare(
        before: Store(path: backup), after: Store(path: path), mapping: mapping)
    }
    #expect(try report().differences == [])
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    #expect(try report().differences.isEmpty == false, "\(sql)")
  }

  /// Makes one object more.
  final class More: EntityMigrationPolicy {
    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws
    {
      _ = try manager.insert("Pet")
    }
  }

  @Test("where a store has used up all keys, further objects are refused")
  func exhausted() throws {
    let (old, new) = (
      try Classics.model("1", "Cat\n  name String\nDog\n  name String"),
      try Classics.model("2", "Pet\n  name String")
    )
    for mappings in [
      "{ source: 'Cat', destination: 'Pet' }, { source: 'Dog', destination: 'Pet' }",
      "{ source: 'Cat', destination: 'Pet', policy: 'P' }, { source: 'Dog', delete: true }",
    ] {
      let folder = try TemporaryFolder()
      let path = try Classics.store(old, in: folder) { writer in
        try writer.insert("Cat", key: .max, attributes: ["name": .string("Tom")])
        try writer.insert("Dog", attributes: ["name": .string("Rex")])
      }
      let error = #expect(throws: CoreDataError.self) {
        try Classics.migrate(path, to: new, mappings, policies: ["P": More.self])
      }
      #expect(error?.message.contains("there are no keys left") == true)
      #expect(try Store(path: path).metadata.versionHashes == old.versionHashes)
    }
  }
}
