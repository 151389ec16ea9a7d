import ManagedModel
import ModelSearch
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Stores without a model")
struct RawStoreTests {
  static let model = """
    <model>
    <entity name="Item">
      <attribute name="title" attributeType="String"/>
      <attribute name="weight" optional="YES" attributeType="Double"/>
      <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="items"/>
    </entity>
    <entity name="Book" parentEntity="Item">
      <attribute name="pages" optional="YES" attributeType="Integer 16"/>
    </entity>
    <entity name="Tag">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="items" optional="YES" toMany="YES" destinationEntity="Item" inverseName="tags"/>
    </entity>
    </model>
    """

  private static func store(in folder: TemporaryFolder, after sql: String) throws -> String {
    let path = folder.path("Items.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Model(contents: Array(model.utf8)), uuid: "A")
    _ = try writer.insert("Tag", attributes: ["name": .string("new")])
    _ = try writer.insert(
      "Item", attributes: ["title": .string("stone"), "weight": .double(1.5)])
    _ = try writer.insert("Book", attributes: ["title": .string("Emma"), "pages": .integer(400)])
    try writer.finish()
    try Connection(path: path, mode: .readWrite).execute(sql)
    return path
  }

  @Test("tables and columns are shown under their own names")
  func raw() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.store(in: folder, after: "DROP TABLE Z_MODELCACHE"))
    #expect(store.modelSource == .raw)
    #expect(!store.modelMatches)
    #expect(try store.counts() == ["Item": 1, "Book": 1, "Tag": 1])
    #expect(
      try StoreDump.lines(store) == [
        "Book/p2 ZPAGES=400 ZTITLE=Emma ZWEIGHT=∅",
        "Item/p1 ZPAGES=∅ ZTITLE=stone ZWEIGHT=1.5", "Tag/p1 ZNAME=new",
      ])
    #expect(store.warnings.contains { $0.contains("shown raw") })
    #expect(store.warnings.contains { $0.contains("Z_1TAGS") })
    let page = try store.rows(RowQuery(entity: "Item", sort: .init(property: "ZTITLE")))
    #expect(page.rows.map(\.id.entity) == ["Book", "Item"])
  }

  @Test(
    "odd bookkeeping still opens",
    arguments: [
      ("UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", 3),
      ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Item'", 1),
      (
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 2; UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_ENT = 1",
        3
      ),
      ("INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 0)", 3),
      ("INSERT INTO Z_PRIMARYKEY VALUES (9, 'No\"where', 77, 0)", 4),
      ("DROP TABLE ZTAG", 3),
    ])
  func odd(sql: String, entities: Int) throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.store(in: folder, after: "DROP TABLE Z_MODELCACHE;" + sql))
    #expect(store.modelSource == .raw)
    #expect(store.entityTables.count == entities)
    _ = try StoreDump.lines(store)
    _ = try store.counts()
  }

  @Test("a renamed entity is found by the numbers in its rows")
  func renamed() throws {
    let folder = try TemporaryFolder()
    let store = try Store(
      path: Self.store(
        in: folder,
        after:
          "DROP TABLE Z_MODELCACHE; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Thing' WHERE Z_NAME = 'Item'"
      ))
    #expect(store.table(of: "Thing")?.table == "ZITEM")
    #expect(try store.counts()["Thing"] == 1)
  }

  @Test("a table that is gone is missing by the names in Z_PRIMARYKEY, of a hierarchy one")
  func missingTables() throws {
    let folder = try TemporaryFolder()
    let whole = try Store(path: Self.store(in: folder, after: "DROP TABLE Z_MODELCACHE"))
    #expect(whole.drift.missingTables == [])
    let gone = try TemporaryFolder()
    let store = try Store(
      path: Self.store(in: gone, after: "DROP TABLE Z_MODELCACHE; DROP TABLE ZITEM"))
    // Of Book nothing is missing: its objects are in the table of Item.
    #expect(
      store.drift.missingTables == [.init(entity: "Item", table: "ZITEM", lastKey: 2)])
  }

  @Test("an empty table that belongs to no entity may be the one of an entity with another name")
  func renamedEmpty() throws {
    let folder = try TemporaryFolder()
    let store = try Store(
      path: Self.store(
        in: folder,
        after: """
          DROP TABLE Z_MODELCACHE; DELETE FROM ZTAG;
          UPDATE Z_PRIMARYKEY SET Z_NAME = 'Label' WHERE Z_NAME = 'Tag'
          """))
    #expect(store.drift.missingTables == [])
    #expect(store.warnings.contains { $0.contains("No table was found for the entities Label") })
  }

  @Test("a store that names no entity is refused")
  func empty() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      in: folder, after: "DROP TABLE Z_MODELCACHE; DELETE FROM Z_PRIMARYKEY")
    #expect(throws: CoreDataError.self) { try Store(path: path) }
  }

  @Test(
    "Apple's stores without a model cache open raw",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: ["system/kik.sqlite", "bookmigration/Model1.sqlite"])
  func fixtures(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    #expect(store.modelSource == .raw)
    #expect(store.warnings.contains { $0.contains("shown raw") })
    let counts = try store.counts()
    #expect(try StoreDump.lines(store).count == counts.values.reduce(0, +))
    #expect(counts.values.reduce(0, +) > 0)
  }

  @Test(
    "an old store opens with the model that made it",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func given() throws {
    let model = try ModelReference(
      Fixtures.path("bookmigration/Model.xcdatamodeld") + "@Model1"
    ).load().model
    let store = try Store(path: Fixtures.path("bookmigration/Model1.sqlite"), model: model)
    #expect(store.modelSource == .file && store.modelMatches && store.drift.isEmpty)
    let raw = try Store(path: Fixtures.path("bookmigration/Model1.sqlite"))
    #expect(try store.counts() == raw.counts())
  }
}
