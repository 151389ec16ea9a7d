import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Stores whose tables do not fit their model")
struct StoreDriftTests {
  private static func store(after sql: String, in folder: TemporaryFolder) throws -> Store {
    let path = folder.path("Items.sqlite")
    let writer = try StoreWriter(
      creating: path, model: Model(contents: Array(RawStoreTests.model.utf8)), uuid: "A")
    _ = try writer.insert("Item", attributes: ["title": .string("stone")])
    try writer.finish()
    try Connection(path: path, mode: .readWrite).execute(sql)
    return try Store(path: path)
  }

  @Test("a store that fits has no drift")
  func none() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(after: "SELECT 1", in: folder)
    #expect(store.drift == StoreDrift())
    #expect(store.warnings == [])
  }

  @Test(
    "what is off is said, and the store still opens",
    arguments: [
      (
        "ALTER TABLE ZITEM DROP COLUMN ZWEIGHT",
        "The table ZITEM has no column ZWEIGHT for Item.weight."
      ),
      ("DROP TABLE ZTAG", "The table ZTAG of Tag is missing."),
      (
        "ALTER TABLE ZITEM ADD COLUMN ZEXTRA BLOB",
        "The table ZITEM has a column ZEXTRA (BLOB) that the model does not know."
      ),
      (
        "ALTER TABLE ZTAG DROP COLUMN ZNAME; ALTER TABLE ZTAG ADD COLUMN ZNAME INTEGER",
        "The column ZTAG.ZNAME of Tag.name is declared INTEGER, not VARCHAR."
      ),
      ("DROP TABLE Z_1TAGS", "No join table was found for Item.tags (Z_1TAGS)."),
      (
        "INSERT INTO Z_PRIMARYKEY VALUES (7, 'Ghost', 0, 0)",
        "Z_PRIMARYKEY names an entity Ghost (7) that the model does not have."
      ),
      (
        "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'",
        "The entity Tag has no entity ID in this store's Z_PRIMARYKEY: it is 3, by the model's order and the rows."
      ),
      (
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 WHERE Z_NAME = 'Book'",
        "Z_PRIMARYKEY gives Book the parent ID 3; by the model it is 1."
      ),
      (
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Item'",
        "Z_PRIMARYKEY says that the last key of Item is 0, but 1 is in use."
      ),
    ])
  func said(sql: String, sentence: String) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(after: sql, in: folder)
    #expect(store.drift.sentences.contains(sentence), "\(store.drift.sentences)")
    #expect(store.warnings.contains(sentence))
    _ = try StoreDump.lines(store)
    _ = try store.counts()
    _ = try store.externalData()
  }

  @Test("rows of entities that their table does not have are counted")
  func rows() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(
      after: """
        INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (50, 99), (51, 99), (52, NULL), (53, 2);
        INSERT INTO ZTAG (Z_PK, Z_ENT) VALUES (50, 1);
        """, in: folder)
    #expect(
      try store.rowsOfUnknownEntities() == [
        .init(table: "ZITEM", number: 99, count: 2), .init(table: "ZITEM", number: 0, count: 1),
        .init(table: "ZTAG", number: 1, count: 1),
      ])
  }

  @Test("of a table of one entity all are counted once one is at its beginning or end")
  func manyRows() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(
      after: """
        WITH RECURSIVE k(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM k WHERE n < 5099)
        INSERT INTO ZTAG (Z_PK, Z_ENT) SELECT n, CASE WHEN n % 10 = 0 THEN 99 ELSE 3 END FROM k
        """, in: folder)
    #expect(
      try store.rowsOfUnknownEntities().filter { $0.number == 99 } == [
        .init(table: "ZTAG", number: 99, count: 500)
      ])
    #expect(
      try store.rowsOfUnknownEntities(isExact: true) == store.rowsOfUnknownEntities())
  }

  @Test("so they are without the index on the numbers")
  func rowsWithoutIndex() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(
      after: "DROP INDEX ZITEM_Z_ENT_INDEX; INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (50, 99)",
      in: folder)
    #expect(try store.rowsOfUnknownEntities() == [.init(table: "ZITEM", number: 99, count: 1)])
  }

  @Test("a join table of another name is read, and told: Core Data does not find it")
  func join() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(after: "ALTER TABLE Z_1TAGS RENAME TO Z_9TAGS", in: folder)
    #expect(store.drift.joins.map(\.found) == ["Z_9TAGS"])
    #expect(
      store.drift.sentences == [
        "The links of Item.tags are in the table Z_9TAGS; Core Data looks for Z_1TAGS, and does not open the store. A migration or a repair renames them."
      ])
  }

  @Test("so is one whose column has another name")
  func joinColumn() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(
      after: "ALTER TABLE Z_1TAGS RENAME COLUMN Z_1ITEMS TO Z_9ITEMS", in: folder)
    #expect(store.drift.joins.map(\.columns) == [["Z_1ITEMS"]])
    #expect(store.drift.sentences.first?.contains("Core Data looks for Z_1ITEMS, and") == true)
  }

  @Test(
    "no store that Apple's engine wrote has drifted",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"), arguments: FixtureStoreTests.stores)
  func apple(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    #expect(store.drift.sentences == [])
    #expect(try store.rowsOfUnknownEntities() == [])
  }
}
