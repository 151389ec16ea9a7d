import ManagedModel
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

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
      Attribute("x", .float), Attribute("y", .integer32),
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
        == "CREATE INDEX Z_Place_i ON ZPLACE (ZNAME COLLATE BINARY ASC) WHERE \(condition)")
    let old = try Self.schema([index]).indexStatements(IndexStyle(frameworkVersion: 977))
    #expect(old.contains { $0.sql.hasSuffix(" WHERE  \(condition)") })
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
      // What is left of it is the to-one alone.
      FetchIndex("c", elements: [.init(property: "signs"), .init(property: "owner")]),
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

  @Test(
    "a descending to-one has an index of its own, self is the key, and what has no column is left out"
  )
  func partsLeftOut() throws {
    func columns(_ elements: FetchIndex.Element...) throws -> String? {
      try Self.sql(FetchIndex("i", elements: elements)).map { String($0.dropFirst(33)) }
    }
    #expect(
      try columns(.init(property: "owner", isAscending: false)) == "(ZOWNER COLLATE BINARY DESC)")
    #expect(try columns(.init(expression: "self")) == "(Z_PK COLLATE BINARY ASC)")
    #expect(
      try columns(.init(property: "signs"), .init(property: "name"))
        == "(ZNAME COLLATE BINARY ASC)")
  }

  @Test("an element of a composite goes by its own name in the index of its constraint")
  func uniqueElement() throws {
    var entity = Entity("E")
    var composite = Attribute("who", .composite, optional: true)
    composite.elements = [Attribute("mail", .string, optional: true)]
    entity.attributes = [composite, Attribute("x", .string, optional: true)]
    entity.uniquenessConstraints = [["who.mail", "x"]]
    let schema = StoreSchema(model: try Model(entities: [entity]))
    #expect(
      schema.indexStatements().map(\.sql) == [
        "CREATE UNIQUE INDEX Z_E_UNIQUE_mail_x ON ZE (ZMAIL COLLATE BINARY ASC, ZX COLLATE BINARY ASC)"
      ])
  }

  @Test("an ordered many-to-many may ask for two indexes over its order")
  func orderedJoin() throws {
    var list = Entity("List")
    var items = Relationship("items", to: "Item", inverse: "lists", toMany: true, ordered: true)
    items.userInfo = ["NSRelationshipDescriptionOrderKeyIndexOption": "YES"]
    list.relationships = [items]
    var item = Entity("Item")
    item.relationships = [
      Relationship("lists", to: "List", inverse: "items", toMany: true, optional: true)
    ]
    let schema = StoreSchema(model: try Model(entities: [list, item]))
    let join = try #require(schema.joins.first)
    // Seen from the ordered side: lists (2), items (1), and the items' order.
    #expect(
      Set(schema.indexStatements().filter { $0.sql.contains("FOK") }.map(\.sql)) == [
        "CREATE INDEX \(join.name)_Z_2LISTS_Z_1ITEMS_Z_FOK_1ITEMS_INDEX ON \(join.name) (Z_2LISTS, Z_1ITEMS, Z_FOK_1ITEMS)",
        "CREATE INDEX \(join.name)_Z_2LISTS_Z_FOK_1ITEMS_Z_1ITEMS_INDEX ON \(join.name) (Z_2LISTS, Z_FOK_1ITEMS, Z_1ITEMS)",
      ])
  }

  @Test(
    "Xcode's compiler adds an index that is called like its one attribute, and XML leaves it out again"
  )
  func compiled() throws {
    let xml = """
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Mark">\
      <attribute name="date" optional="YES" attributeType="Date"/>\
      <fetchIndex name="byDate"><fetchIndexElement property="date" type="Binary" order="descending"/></fetchIndex>\
      </entity></model>
      """
    let model = try Model(contents: Array(xml.utf8))
    #expect(
      StoreSchema(model: model).indexStatements().map(\.sql) == [
        "CREATE INDEX Z_Mark_byDate ON ZMARK (ZDATE COLLATE BINARY DESC)",
        "CREATE INDEX Z_Mark_date ON ZMARK (ZDATE COLLATE BINARY ASC)",
      ])
    #expect(model.xcdatamodelContents().split(separator: "<fetchIndex ").count == 2)
  }

  @Test("an R-tree follows the rows")
  func tree() throws {
    let index = FetchIndex(
      "area",
      elements: [
        .init(property: "x", kind: .rtree), .init(property: "y", kind: .rtree),
      ])
    let tree = try Self.schema([index]).rtreeIndexes.first
    #expect(
      tree?.sql
        == "CREATE VIRTUAL TABLE Z_Place_area USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN, ZX_MAX, ZY_MIN, ZY_MAX)"
    )
    #expect(
      tree?.triggers.first?.sql
        == "CREATE TRIGGER Z_Place_area_INSERT AFTER INSERT ON ZPLACE FOR EACH ROW BEGIN INSERT OR REPLACE INTO Z_Place_area (Z_PK, ZX_MIN, ZX_MAX, ZY_MIN, ZY_MAX) VALUES (NEW.Z_PK, NEW.ZX, NEW.ZX, NEW.ZY, NEW.ZY) ; END"
    )
    // One that may be empty gets no index.
    #expect(
      try Self.schema([
        FetchIndex("area", elements: [.init(property: "latitude", kind: .rtree)])
      ]).rtreeIndexes.isEmpty)
    let folder = try TemporaryFolder()
    let path = folder.path("Places.sqlite")
    let writer = try StoreWriter(creating: path, model: try Self.schema([index]).model)
    for step in 1...3 {
      try writer.insert(
        "Place",
        attributes: [
          "x": .double(Double(step)), "y": .integer(Int64(step * 10)), "isOpen": .boolean(true),
        ])
    }
    try writer.finish()
    #expect(try Store(path: path).warnings == [])
    let connection = try Connection(path: path, mode: .readWrite)
    try #require(connection.hasRTrees)
    func found() throws -> [Int64] {
      try connection.rows(
        "SELECT Z_PK FROM Z_Place_area WHERE ZX_MIN >= 2 AND ZY_MAX <= 30 ORDER BY 1"
      ).compactMap { $0.first?.integer }
    }
    #expect(try found() == [2, 3])
    try connection.execute("UPDATE ZPLACE SET ZX = 0 WHERE Z_PK = 2")
    try connection.execute(
      "INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (4, 2, 1, 5, 5)")
    #expect(try found() == [3, 4])
    try connection.execute("DELETE FROM ZPLACE WHERE Z_PK = 3")
    #expect(try found() == [4])
  }
}
