import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Core Data’s walk over a model")
struct ModelWalkTests {
  /// What is not as a sample says, as sentences.
  private static func mistakes(_ sample: NameSample) -> [String] {
    var mistakes: [String] = []
    func compare<Value: Equatable>(_ what: String, _ made: Value?, _ expected: Value?) {
      guard made != expected else { return }
      mistakes.append("model \(sample.number), \(what): \(made as Any), not \(expected as Any)")
    }
    let numbers = StoreSchema.freshNumbers(of: sample.model)
    compare("entity IDs", numbers, sample.entityIDs)
    let walk = ModelWalk(sample.model, numbers: numbers)
    var made: [String: [String]] = [:]
    for table in walk.tables {
      made[table.name] =
        ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
        + table.columns.map { "\($0.name) \($0.type)" }
    }
    for join in walk.joins { made[join.name] = join.columns.map { $0 + " INTEGER" } }
    for name in Set(made.keys).union(sample.tables.keys).sorted() {
      compare(name, made[name], sample.tables[name])
    }
    for (entity, bits) in sample.changeBits {
      compare("bits of \(entity)", walk.changeBits(of: entity).compactMap(name), bits)
    }
    return mistakes
  }

  /// A bit as the samples name it; `nil` for a to-many, which they leave out.
  private static func name(_ bit: ModelWalk.ChangeBit) -> String? {
    guard case .column(let column) = bit else { return nil }
    if case .attribute(_, let name) = column.content { return name }
    return "_" + column.name
  }

  @Test("25 generated models have the tables, columns, join tables and history bits of the rules")
  func samples() {
    #expect(NameSample.own.count == 25)
    #expect(NameSample.own.flatMap(Self.mistakes) == [])
  }

  @Test(
    "and so have 331 of the fixtures", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() {
    let samples = NameSample.fixtures
    #expect(samples.count == 331)
    #expect(samples.flatMap(Self.mistakes) == [])
  }

  @Test("a new store has these tables, columns and join tables")
  func created() throws {
    let samples = Fixtures.isAvailable ? NameSample.fixtures : NameSample.own
    for sample in TestScale.some(40, of: samples) {
      let folder = try TemporaryFolder()
      let path = folder.path("New.sqlite")
      try StoreCreation.create(at: path, model: sample.model, uuid: "A-B-C")
      let store = try Store(path: path)
      #expect(store.warnings == [])
      let made = store.database.tables.filter {
        sample.tables[$0.key] != nil || $0.key.dropFirst(2).first?.isNumber == true
      }
      #expect(
        made.mapValues { $0.map { "\($0.name) \($0.type)" } }
          == sample.tables.mapValues {
            $0.map { $0.replacing(" PRIMARY KEY", with: "") }
          }, "model \(sample.number)")
    }
  }

  @Test("the hashes are Core Foundation’s, of long names and of non-ASCII ones")
  func hashes() {
    let long = (0..<30).map { "part\($0)" }.joined()
    #expect(long.utf16.count > 96)
    let names = ["", "a", "_pk", "firstName", "größe", "abcdefghijklmnopqrstuvw", long, long + "x"]
    #expect(
      names.map { NameHash.both($0).early } == [
        0, 1062, 515_045_925, 3_585_514_418,
        3_802_725_400, 54_911_691, 3_465_319_526, 1_822_617_197,
      ])
    #expect(
      names.map { NameHash.both($0).late } == [
        3_686_067_727, 408_203_952, 2_566_762_981, 555_728_483,
        3_322_168_240, 3_762_754_988, 3_152_693_576, 1_558_841_464,
      ])
  }

  @Test("a late table grows when it is full, even by a key that it holds")
  func growth() {
    var table = LateTable()
    let keys = ["_ent", "_pk", "_opt"].enumerated().map { place, name in
      let hashes = NameHash.both(name)
      return WalkKey(place: Int32(place), late: hashes.late, early: hashes.early)
    }
    for key in keys { table.enter(key) }
    let before = table.keys.map(\.place)
    table.enter(keys[0])
    #expect(table.count == 3 && Set(before) == [0, 1, 2])
    #expect(
      table.keys.map(\.place)
        == keys.map(\.place).sorted { a, b in
          keys[Int(a)].late & 7 < keys[Int(b)].late & 7
        })
  }

  @Test("tables of every size have room")
  func sizes() {
    for count in 0..<3000 { #expect(EarlyTable.size(for: count) > count) }
    for count in [4, 8, 9, 843, 844, 100_000, 10_000_000] {
      #expect(EarlyTable.size(for: count) > count)
    }
    let names = (0..<5000).map { "name\($0)" }
    #expect(Set(OrdinaryTable.order(names)) == Set(names))
  }

  @Test("equal names are numbered from the last number on, past names in use")
  func numbers() {
    var names = NumberedNames()
    #expect(
      ["ZFOO", "ZFOO2", "ZFOO", "ZFOO", "ZFOO1", "ZFOO"].map { names.unused($0) }
        == ["ZFOO", "ZFOO2", "ZFOO1", "ZFOO3", "ZFOO1", "ZFOO4"])
  }

  @Test("attributes’ columns are upper case in ASCII alone, all other names in all of Unicode")
  func letters() throws {
    let model = try Model(
      contents: Array(
        """
        <model><entity name="Größe"><attribute name="größe" optional="YES" attributeType="String"/>
        <relationship name="straße" optional="YES" maxCount="1" destinationEntity="Größe"/>
        </entity></model>
        """.utf8))
    let schema = StoreSchema(model: model)
    #expect(schema.tables.map(\.name) == ["ZGRÖSSE"])
    #expect(schema.tables[0].columns.map(\.name) == ["ZSTRASSE", "ZGRößE"])
    #expect(String(repeating: "ß", count: 512).attributeColumnBase.hasPrefix("SS"))
  }

  @Test("composites within composites have a column a leaf, in the composite’s place")
  func composites() throws {
    var inner = Attribute("inner", .composite, optional: true)
    inner.elements = [Attribute("y", .integer64), Attribute("x", .integer64)]
    var outer = Attribute("place", .composite, optional: true)
    outer.elements = [Attribute("x", .integer64), inner, Attribute("note", .string)]
    var entity = Entity("Thing")
    entity.attributes = [Attribute("x", .integer64), outer, Attribute("a", .integer64)]
    let schema = StoreSchema(model: try Model(entities: [entity]))
    #expect(
      schema.tables[0].columns.map(\.name) == ["ZA", "ZX", "ZY", "ZX1", "ZX2", "ZNOTE"])
    #expect(
      schema.tables[0].columns.map(\.content.property.name) == [
        "a", "place.x", "place.inner.y", "place.inner.x", "x", "place.note",
      ])
  }

  @Test(
    "a hierarchy of thousands that inherit thousands has its tables, too, and soon",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func large() throws {
    var root = Entity("Root")
    root.attributes = (0..<3000).map { Attribute("value\($0)", .integer64) }
    root.relationships = [Relationship("all", to: "Root", inverse: "all", toMany: true)]
    let entities = [root] + (0..<3000).map { Entity("Below\($0)", parent: "Root") }
    let schema = StoreSchema(model: try Model(entities: entities))
    #expect(schema.tables.map(\.columns.count) == [3000])
    #expect(schema.joins.map(\.name) == ["Z_1ALL"])
  }

  @Test("no model traps: destinations and inverses that are not there, or do not answer")
  func odd() throws {
    let model = try Model(
      contents: Array(
        """
        <model><entity name="A">
        <relationship name="one" maxCount="1" destinationEntity="Nobody" inverseName="x"/>
        <relationship name="many" toMany="YES" destinationEntity="Nobody"/>
        <relationship name="half" toMany="YES" destinationEntity="B" inverseName="other"/>
        <relationship name="gone" toMany="YES" destinationEntity="B" inverseName="temporary"/>
        <relationship name="name" toMany="YES" destinationEntity="B" inverseName="half"/>
        </entity><entity name="B" parentEntity="A">
        <attribute name="half" attributeType="String"/>
        <relationship name="other" toMany="YES" destinationEntity="A" inverseName="many"/>
        <relationship name="temporary" transient="YES" toMany="YES" destinationEntity="A" inverseName="gone"/>
        </entity></model>
        """.utf8))
    for numbers in [StoreSchema.freshNumbers(of: model), [:], ["B": Int64.max]] {
      let schema = StoreSchema(model: model, numbers: numbers)
      #expect(schema.tables.map(\.name) == ["ZA"])
      for entity in model.entities {
        _ = schema.entityTable(of: entity.name)
        _ = ModelWalk(model, numbers: numbers).changeBits(of: entity.name)
      }
    }
  }
}

@Suite(
  "Names of real stores", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureNamingTests {
  @Test(
    "tables and join tables have the computed names and columns, to the letter",
    arguments: FixtureStoreTests.stores)
  func names(_ path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    let schema = store.schema.expected
    #expect(store.schema.joins == schema.joins)
    for join in schema.joins {
      #expect(store.database.columns(of: join.name) == Set(join.columns), "\(join.name)")
    }
    for table in schema.tables {
      #expect(
        store.database.columns(of: table.name)
          == Set(table.columns.map(\.name)).union(["Z_PK", "Z_ENT", "Z_OPT"]), "\(table.name)")
    }
    let theirs = store.database.tables.keys.filter { name in
      name.hasPrefix("Z_") && name.dropFirst(2).first?.isNumber == true
    }
    #expect(Set(theirs) == Set(schema.joins.map(\.name)))
  }

  @Test(
    "columns that no migration appended are in the computed order",
    arguments: FixtureStoreTests.stores)
  func order(_ path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    for table in store.schema.expected.tables {
      let sql = try #require(store.database.sql[table.name])
      // ALTER TABLE writes before the bracket, without the blank that Core Data leaves there.
      guard sql.hasSuffix(" )"), sql.hasPrefix("CREATE TABLE Z") else { continue }
      #expect(
        store.database.tables[table.name]?.dropFirst(3).map(\.name)
          == table.columns.map(\.name), "\(table.name)")
    }
  }

  @Test("a store that was never migrated has its tables in the computed order of making")
  func making() throws {
    let store = try Store(path: Fixtures.path("wire/store2-3.wiredatabase"))
    let names = try store.connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    ).compactMap { $0[0].text }
    let schema = store.schema.expected
    let made = schema.statements.map {
      switch $0 {
      case .table(let place): schema.tables[place].name
      case .join(let place): schema.joins[place].name
      }
    }
    #expect(Array(names.prefix(made.count)) == made)
  }
}
