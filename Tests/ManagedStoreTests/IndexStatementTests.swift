import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Indexes of new stores")
struct IndexStatementTests {
  private static func schema(
    _ indexes: [FetchIndex], entityInfo: [String: String] = [:]
  ) throws -> StoreSchema {
    var place = Entity("Place")
    place.attributes = [
      Attribute("latitude", .double, optional: true),
      Attribute("longitude", .double, optional: true),
      Attribute("name", .string, optional: true), Attribute("isOpen", .boolean),
    ]
    place.relationships = [
      Relationship("owner", to: "Owner", inverse: "places", optional: true),
      Relationship("signs", to: "Sign", toMany: true, optional: true),
    ]
    place.fetchIndexes = indexes
    place.userInfo = entityInfo
    var owner = Entity("Owner")
    owner.relationships = [
      Relationship("places", to: "Place", inverse: "owner", toMany: true, optional: true)
    ]
    return StoreSchema(
      model: try Model(
        entities: [place, owner, Entity("Sign"), Entity("Shop", parent: "Place")]))
  }

  private static func sql(_ index: FetchIndex) throws -> String? {
    let schema = try schema([index])
    return schema.indexStatements().first { $0.name == "Z_Place_\(index.name)" }?.sql
  }

  @Test("compound and descending elements keep their order, and entity is Z_ENT")
  func elements() throws {
    let index = FetchIndex(
      "i",
      elements: [
        .init(property: "name", isAscending: false), .init(property: "owner"),
        .init(expression: "entity"), .init(expression: "latitude + 1"),
      ])
    #expect(
      try Self.sql(index)
        == "CREATE INDEX Z_Place_i ON ZPLACE (ZNAME COLLATE BINARY DESC, ZOWNER COLLATE BINARY ASC, Z_ENT COLLATE BINARY ASC, (ZLATITUDE + 1) COLLATE BINARY ASC)"
    )
  }

  @Test(
    "a partial index has its predicate behind WHERE",
    arguments: [
      ("owner != nil", "ZOWNER IS NOT NULL"), ("name == nil", "ZNAME IS NULL"),
      ("isOpen == YES AND latitude > 1.5", "(ZISOPEN = 1 AND ZLATITUDE > 1.5)"),
      ("NOT name == \"it's\"", "NOT (ZNAME = 'it''s')"),
      ("latitude IN {1, 2} OR longitude <= -1", "(ZLATITUDE IN (1, 2) OR ZLONGITUDE <= -1)"),
    ])
  func partial(_ predicate: String, _ condition: String) throws {
    let index = FetchIndex("i", elements: [.init(property: "name")], partialPredicate: predicate)
    #expect(
      try Self.sql(index)
        == "CREATE INDEX Z_Place_i ON ZPLACE (ZNAME COLLATE BINARY ASC) WHERE  \(condition)")
  }

  @Test(
    "an index that cannot be told is left out, and said to be",
    arguments: [
      FetchIndex("i", elements: [.init(expression: "lowercase:(name)")]),
      FetchIndex("i", elements: [.init(expression: "owner.name")]),
      FetchIndex("i", elements: [.init(property: "name")], partialPredicate: "name BEGINSWITH 'a'"),
      FetchIndex("i", elements: [.init(property: "name")], partialPredicate: "ANY owner.x == 1"),
      FetchIndex(
        "i", elements: [.init(property: "latitude", kind: .rtree), .init(property: "name")]),
    ])
  func unknown(_ index: FetchIndex) throws {
    #expect(try Self.sql(index) == nil)
    let schema = try Self.schema([index])
    #expect(schema.rtreeIndexes == [])
    #expect(schema.unmadeIndexes.map(\.index) == ["i"])
  }

  @Test("an index over a to-many or over just a to-one is not needed")
  func needless() throws {
    let schema = try Self.schema([
      FetchIndex("a", elements: [.init(property: "signs")]),
      FetchIndex("b", elements: [.init(property: "owner")]),
    ])
    #expect(schema.unmadeIndexes.isEmpty)
    #expect(
      schema.indexStatements().map(\.name).sorted()
        == ["ZPLACE_ZOWNER_INDEX", "ZPLACE_Z_ENT_INDEX", "ZSIGN_Z2SIGNS_INDEX"])
  }

  @Test("a model may ask for no index over the entity number")
  func omitted() throws {
    let schema = try Self.schema([], entityInfo: ["_NSEntityOmitSubentityColumnIndex": "YES"])
    #expect(!schema.indexStatements().contains { $0.name.hasSuffix("Z_ENT_INDEX") })
  }

  @Test("an R-tree follows the rows")
  func tree() throws {
    let index = FetchIndex(
      "area",
      elements: [
        .init(property: "latitude", kind: .rtree), .init(property: "longitude", kind: .rtree),
      ])
    let folder = try TemporaryFolder()
    let path = folder.path("Places.sqlite")
    let writer = try StoreWriter(creating: path, model: try Self.schema([index]).model)
    for step in 1...3 {
      try writer.insert(
        "Place",
        attributes: ["latitude": .double(Double(step)), "longitude": .double(Double(step * 10))])
    }
    try writer.finish()
    #expect(try Store(path: path).warnings == [])
    let connection = try Connection(path: path, mode: .readWrite)
    try #require(connection.hasRTrees)
    func found() throws -> [Int64] {
      try connection.rows(
        "SELECT Z_PK FROM Z_RT_Place_area WHERE ZLATITUDE_MIN >= 2 AND ZLONGITUDE_MAX <= 30 ORDER BY 1"
      ).compactMap { $0.first?.integer }
    }
    #expect(try found() == [2, 3])
    try connection.execute("UPDATE ZPLACE SET ZLATITUDE = 0 WHERE Z_PK = 2")
    try connection.execute(
      "INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZLATITUDE, ZLONGITUDE) VALUES (4, 2, 1, 5, 5)")
    #expect(try found() == [3, 4])
    try connection.execute("DELETE FROM ZPLACE WHERE Z_PK = 3")
    #expect(try found() == [4])
  }
}
