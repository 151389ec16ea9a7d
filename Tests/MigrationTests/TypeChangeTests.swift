import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
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

  @Test(
    "what does not fit is a loss by its kind, and stays in the store as it is",
    arguments: Way.allCases)
  func misfits(_ way: Way) throws {
    typealias Kind = NumberMisfit.Kind
    let changes: [(AttributeType, AttributeType, [AttributeValue], [Kind: Int])] = [
      (
        .double, .integer32, [.double(1), .double(1.5), .double(1e10)], [.fraction: 1, .range: 1]
      ),
      (
        .double, .integer64, [.double(0x1p62), .double(0x1p63), .double(-0x1p63), .double(-0.5)],
        [.range: 1, .fraction: 1]
      ),
      // What is read is what is before the point.
      (
        .double, .integer16, [.double(32_767.5), .double(32_768), .double(-32_768.5)],
        [.fraction: 2, .range: 1]
      ),
      (.float, .boolean, [.double(2), .double(1), .double(0.5)], [.range: 1, .fraction: 1]),
      (
        .integer64, .double, [.integer((1 << 53) + 1), .integer(1 << 53), .integer(.max)],
        [.precision: 2]
      ),
      (
        .integer32, .float, [.integer(16_777_217), .integer(16_777_216), .integer(-3)],
        [.precision: 1]
      ),
      (.double, .float, [.double(1e300), .double(1e38)], [.range: 1]),
      (.integer64, .integer16, [.integer(40_000), .integer(-32_768)], [.range: 1]),
      (.decimal, .integer16, [.decimal("1.25"), .decimal("3")], [.fraction: 1]),
      (
        .decimal, .integer64,
        [
          .decimal("1.2345678901234567890123"), .decimal("123456789012345678901234"),
          .decimal("9007199254740993"),
        ], [.fraction: 1, .range: 1]
      ),
      (.decimal, .double, [.decimal("9007199254740993"), .decimal("0.5")], [.precision: 1]),
      (.double, .decimal, [.double(1e300), .double(1e100)], [.range: 1]),
    ]
    for (old, new, values, kinds) in changes {
      let folder = try TemporaryFolder()
      let path = try store(in: folder, old, values)
      let plan = try way.plan(Store(path: path), to: Self.model(new))
      if way == .policies { continue }
      #expect(plan.failures == [], "\(old) → \(new), \(way)")
      #expect(
        Dictionary(
          plan.losses.compactMap { loss in loss.misfit.map { ($0.kind, loss.values) } },
          uniquingKeysWith: +) == kinds, "\(old) → \(new), \(way)")
      #expect(
        plan.losses.allSatisfy {
          $0.name == "Measure.amount" && $0.misfit?.type == new.name && !$0.samples.isEmpty
        }, "\(old) → \(new), \(way)")
      #expect(throws: CoreDataError.self) { _ = try StoreMigration.runAndRead(plan) }
      // As numbers: SQLite keeps 1.0 as 1 in a column of whole numbers. Nothing else is cast.
      func stored() throws -> [[Value]] {
        try Connection(path: path, mode: .readOnly).rows("SELECT ZAMOUNT FROM ZMEASURE").map {
          row in
          row.map { value in
            value.integer.flatMap { Int64(exactly: Double($0)) == $0 ? .real(Double($0)) : nil }
              ?? value
          }
        }
      }
      let before = try stored()
      var options = MigrationOptions()
      options.allowedLosses = ["Measure.amount"]
      _ = try StoreMigration.runAndRead(plan, options: options)
      if new.isInteger { #expect(try stored() == before, "\(old) → \(new), \(way)") }
    }
  }

  @Test("no change among the number types is refused, and every other one is")
  func others() throws {
    for type: AttributeType in [.string, .date, .binary, .uuid] {
      #expect(throws: CoreDataError.self) {
        _ = try MappingInference.mapping(from: Self.model(.integer32), to: Self.model(type))
      }
    }
    let explained = CompatibilityExplanation(
      hashes: try Self.model(.integer32).versionHashes, source: try Self.model(.integer32),
      model: try Self.model(.decimal))
    #expect(explained.inference == .possible)
    #expect(explained.caveats == [])
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
