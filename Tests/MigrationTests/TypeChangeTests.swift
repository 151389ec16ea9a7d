import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// Numbers and truth values become one another as lightweight migration does it.
@Suite("Changes of a number's type")
struct TypeChangeTests {
  private static func model(_ type: AttributeType) throws -> Model {
    var entity = Entity("Measure")
    entity.attributes = [
      Attribute("amount", type, optional: true), Attribute("zone", .string, optional: true),
    ]
    return try Model(entities: [entity])
  }

  private func store(
    in folder: TemporaryFolder, _ type: AttributeType, _ values: [AttributeValue]
  ) throws -> String {
    let path = folder.path("Measures.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model(type))
    for value in values { try writer.insert("Measure", attributes: ["amount": value]) }
    try writer.finish()
    return path
  }

  @Test("values are kept, and the column is that of a fresh store", arguments: Way.allCases)
  func kept(_ way: Way) throws {
    let changes: [(AttributeType, AttributeType, [AttributeValue], [AttributeValue])] = [
      (
        .integer64, .double, [.integer(5), .null, .integer(1 << 60), .integer(.min)],
        [.double(5), .null, .double(0x1p60), .double(-0x1p63)]
      ),
      (.double, .integer32, [.double(5), .double(-7), .null], [.integer(5), .integer(-7), .null]),
      (.float, .boolean, [.double(1), .double(0)], [.boolean(true), .boolean(false)]),
      (.boolean, .float, [.boolean(true), .boolean(false)], [.double(1), .double(0)]),
      (.float, .double, [.double(0.25)], [.double(0.25)]),
      (.double, .float, [.double(0.1)], [.double(0.1)]),
      (.decimal, .double, [.decimal("1.5"), .decimal("7")], [.double(1.5), .double(7)]),
      (.integer16, .decimal, [.integer(12)], [.decimal("12")]),
      (.double, .decimal, [.double(2.25)], [.decimal("2.25")]),
      (.decimal, .integer64, [.decimal("12")], [.integer(12)]),
    ]
    for (old, new, values, expected) in changes {
      let folder = try TemporaryFolder()
      let path = try store(in: folder, old, values)
      let plan = try way.plan(Store(path: path), to: Self.model(new))
      #expect(plan.losses == [] && plan.checks == [], "\(old) → \(new)")
      _ = try StoreMigration.runAndRead(plan)
      let store = try Store(path: path)
      let rows = try store.rows(RowQuery(entity: "Measure", limit: 10, properties: ["amount"])).rows
      #expect(rows.map(\.values) == expected.map { [.value($0)] }, "\(old) → \(new), \(way)")
      let fresh = folder.path("Fresh.sqlite")
      try StoreCreation.create(at: fresh, model: Self.model(new), uuid: "X")
      #expect(
        store.database.sql["ZMEASURE"] == (try Store(path: fresh)).database.sql["ZMEASURE"],
        "\(old) → \(new), \(way)")
    }
  }

  @Test("what does not fit or loses a fraction is refused with its rows", arguments: Way.allCases)
  func misfits(_ way: Way) throws {
    let changes: [(AttributeType, AttributeType, [AttributeValue], rows: [Int64])] = [
      (.double, .integer32, [.double(1), .double(1.5), .double(1e10)], [2, 3]),
      (.double, .integer64, [.double(0x1p62), .double(0x1p63), .double(-0x1p63)], [2]),
      (.float, .boolean, [.double(2), .double(1), .double(0.5)], [1, 3]),
      (.integer64, .double, [.integer((1 << 53) + 1), .integer(1 << 53), .integer(.max)], [1, 3]),
      (.integer32, .float, [.integer(16_777_217), .integer(16_777_216), .integer(-3)], [1]),
      (.double, .float, [.double(1e300), .double(1e38)], [1]),
      (.integer64, .integer16, [.integer(40_000), .integer(-32_768)], [1]),
      (.decimal, .integer16, [.decimal("1.25"), .decimal("3")], [1]),
      (
        .decimal, .double, [.decimal("9007199254740993"), .decimal("0.5")], [1]
      ),
      (.double, .decimal, [.double(1e300), .double(1e100)], [1]),
    ]
    for (old, new, values, rows) in changes {
      let folder = try TemporaryFolder()
      let path = try store(in: folder, old, values)
      let plan = try way.plan(Store(path: path), to: Self.model(new))
      guard way != .policies else { continue }
      #expect(
        plan.failures.map(\.first) == [rows.map { ObjectID(entity: "Measure", key: $0) }],
        "\(old) → \(new), \(way)")
      #expect(plan.failures.allSatisfy { $0.code == 134110 && $0.property == "amount" })
      let before = try FileSystem.read(path)
      #expect(throws: CoreDataError.self) { _ = try StoreMigration.runAndRead(plan) }
      #expect(try FileSystem.read(path) == before)
    }
  }

  @Test("what Core Data may take otherwise is said, and other changes are refused")
  func caveats() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder, .integer32, [.integer(1)])
    func notes(_ type: AttributeType) throws -> [String] {
      try Store(path: path).plan(to: Self.model(type), names: ("1", "2")).notes
        .filter { $0.hasPrefix("Measure.amount changes its type") }
    }
    #expect(try notes(.double) == [])
    #expect(try notes(.float).first?.contains("assumed") == true)
    #expect(try notes(.decimal).first?.contains("may refuse") == true)
    for type: AttributeType in [.string, .date, .binary, .uuid] {
      #expect(throws: CoreDataError.self) {
        _ = try MappingInference.mapping(from: Self.model(.integer32), to: Self.model(type))
      }
    }
    let explained = CompatibilityExplanation(
      hashes: try Self.model(.integer32).versionHashes, source: try Self.model(.integer32),
      model: try Self.model(.decimal))
    #expect(explained.inference == .possible)
    #expect(explained.caveats.count == 1)
  }

  @Test("a default that an earlier step gives must fit the type of a later one")
  func defaultOnTheWay() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Things.sqlite")
    func model(_ attributes: [Attribute]) throws -> Model {
      var entity = Entity("Thing")
      entity.attributes = [Attribute("name", .string, optional: true)] + attributes
      return try Model(entities: [entity])
    }
    let one = try model([])
    var grade = Attribute("grade", .double, optional: true)
    grade.defaultValue = .double(1.5)
    let two = try model([grade])
    let three = try model([Attribute("grade", .integer16, optional: true)])
    let writer = try StoreWriter(creating: path, model: one)
    try writer.insert("Thing")
    try writer.finish()
    func step(_ from: Model, _ to: Model) throws -> MigrationStep {
      MigrationStep(
        from: "a", to: "b", source: from, destination: to,
        mapping: try MappingInference.mapping(from: from, to: to))
    }
    let plan = try Store(path: path).plan(steps: [step(one, two), step(two, three)])
    #expect(plan.failures.map(\.property) == ["grade"])
  }
}
