import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import StoreTables

/// Tables whose CREATE statements are gone with the schema.
@Suite("Lost tables")
struct LostTableTests {
  private static func entity(_ name: String, _ attributes: [String] = []) -> Entity {
    var entity = Entity(name)
    entity.attributes = attributes.map { Attribute($0, .string, optional: true) }
    return entity
  }

  private static func salvage(_ store: GrownStore) throws -> (SalvageReport, Connection) {
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    let saved = try Connection(path: output, mode: .immutable)
    #expect(try saved.value("PRAGMA integrity_check")?.text == "ok")
    return (report, saved)
  }

  /// As Apple's engine wrote it: the text of four stores.
  private static let history = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
    CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS);
    CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS);
    CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS);
    CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS);
    CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
    CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC);
    CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
    """

  @Test("history comes back, tables and indexes, as Core Data makes them")
  func history() throws {
    var store = try GrownStore(Model(entities: [Self.entity("Note", ["body"])]))
    try store.change(Self.history)
    try store.change(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 60), (16002, 'TRANSACTION', 0, 20), (16003, 'TRANSACTIONSTRING', 0, 2);
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'app'), (2, 16003, NULL, 'widget');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZPROCESSIDTS, ZTIMESTAMP) SELECT i, 16002, NULL, 1 + i % 2, 1, 700000000.5 + i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO ACHANGE SELECT i, 16001, NULL, i % 2, 1, i, 1 + i % 20, CASE i % 2 WHEN 1 THEN x'80' END FROM n;
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (1, 1, 1, 'b')
      """)
    let names = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    let listed = """
      SELECT name, sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY name
      """
    let before = try Connection(path: store.path, mode: .readOnly)
    let statements = try before.rows(listed)
    let rows = try names.map { try before.rows("SELECT * FROM \($0) ORDER BY Z_PK") }
    before.close()
    #expect(statements.count == 11)
    try store.loseSchema()
    let (report, saved) = try Self.salvage(store)
    #expect(try saved.rows(listed) == statements)
    #expect(try names.map { try saved.rows("SELECT * FROM \($0) ORDER BY Z_PK") } == rows)
    #expect(report.unplaced == 0)
  }

  @Test("tombstones are kept, as many as the rows have")
  func tombstones() throws {
    var store = try GrownStore(Model(entities: [Self.entity("Note", ["body"])]))
    try store.change(
      """
      CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB );
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 2, 1, 7, 1, NULL, 'seven', NULL), (2, 16001, NULL, 2, 1, 8, 1, NULL, 'eight', 'more');
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (1, 1, 1, 'b')
      """)
    try store.loseSchema()
    let (_, saved) = try Self.salvage(store)
    let rows = try saved.rows(
      "SELECT ZENTITYPK, ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE ORDER BY Z_PK")
    #expect(
      rows == [
        [.integer(7), .text("seven"), .null], [.integer(8), .text("eight"), .text("more")],
      ])
  }

  @Test(
    "links that several relationships could have go by the order of the trees; else they are kept and listed",
    arguments: [true, false])
  func undecided(isInOrder: Bool) throws {
    func toMany(_ name: String, to other: String, _ inverse: String) -> Relationship {
      Relationship(name, to: other, inverse: inverse, toMany: true, optional: true)
    }
    var recipe = Self.entity("Recipe", ["title"])
    recipe.relationships = [
      toMany("more", to: "Tag", "moreRecipes"), toMany("tags", to: "Tag", "recipes"),
    ]
    var tag = Self.entity("Tag", ["name"])
    tag.relationships = [
      toMany("moreRecipes", to: "Recipe", "more"), toMany("recipes", to: "Recipe", "tags"),
    ]
    let model = try Model(entities: [recipe, tag])
    let join = try #require(StoreSchema(model: model).joins.first)
    var store = try GrownStore(model)
    let recipes = try #require(StoreSchema(model: model).tables.first { $0.name == "ZRECIPE" })
    try store.change(
      """
      \(isInOrder ? "" : "DROP TABLE ZRECIPE; CREATE TABLE PAD (A); " + recipes.sql + ";")
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
      INSERT INTO ZRECIPE (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 1, 1, 'r' || i FROM n;
      INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, 2, 1, 't' || Z_PK FROM ZRECIPE;
      INSERT INTO \(quoted(join.name)) (\(quoted(join.first)), \(quoted(join.second)))
      SELECT Z_PK, 31 - Z_PK FROM ZRECIPE
      """)
    try store.loseSchema()
    let (report, saved) = try Self.salvage(store)
    guard !isInOrder else {
      let links = try saved.rows(
        "SELECT \(quoted(join.first)), \(quoted(join.second)) FROM \(quoted(join.name)) ORDER BY 1")
      #expect(links == (1...30).map { [.integer($0), .integer(31 - $0)] })
      #expect(report.undecided == 0)
      return
    }
    #expect(report.undecided == 30 && report.isLossy)
    let kept = try saved.rows(
      "SELECT FIRST, SECOND FROM \(SalvagedCopy.undecidedLinks) ORDER BY FIRST")
    #expect(kept == (1...30).map { [.integer($0), .integer(31 - $0)] })
    let tables = try #require(
      try saved.value("SELECT DISTINCT TABLES FROM \(SalvagedCopy.undecidedLinks)")?.text)
    #expect(
      Set(tables.split(separator: " ").map(String.init))
        == Set(StoreSchema(model: model).joins.map(\.name)))
  }

  /// The list of tables takes several pages there, and lost those that name the tables of history.
  @Test(
    "tables of history are made anew also where all of the model's are listed",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func historyAlone() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Pages.sqlite")
    var bytes = try FileSystem.read(
      Fixtures.path("coredataplus/SampleModel2/SampleModel2_V2.sqlite"))
    // The first sector of every eighth page is gone.
    for page in stride(from: 5, through: 37, by: 8) {
      for place in (page - 1) * 4096..<(page - 1) * 4096 + 512 where place < bytes.count {
        bytes[place] = 0
      }
    }
    try FileSystem.write(bytes, to: path)
    let output = folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: path, output: output)
    #expect(report.isLossy)
    let saved = try Connection(path: output, mode: .immutable)
    for (table, rows) in [("ACHANGE", 126), ("ATRANSACTION", 1), ("ATRANSACTIONSTRING", 2)] {
      #expect(try saved.value("SELECT count(*) FROM \(table)") == .integer(Int64(rows)), "\(table)")
    }
  }

  @Test("where its first page is gone, a list of an earlier time on free pages is not the store's")
  func formerList() throws {
    let demo = try DamagedDemo(objects: 700)
    let steps = "SELECT * FROM ZSTEP ORDER BY Z_PK"
    // Without a map of pages nothing says which ones were freed.
    let connection = try Connection(path: demo.path, mode: .create)
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM")
    let before = try connection.rows(steps)
    connection.close()
    let own = try FileSystem.read(demo.path)
    // The table begins where an index is now, and had a column less.
    let earlier = demo.folder.path("Earlier.sqlite")
    try FileSystem.copyOver(demo.path, to: earlier)
    let former = try Connection(path: earlier, mode: .readWrite, isDefensive: false)
    try former.execute(
      """
      PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ', ZTEXT VARCHAR', ''),
      rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'ZSTEP_ZRECIPE_INDEX')
      WHERE name = 'ZSTEP'
      """)
    former.close()
    let old = try FileSystem.read(earlier)
    let changed = own.indices.first { $0 >= 4096 && own[$0] != old[$0] }
    let start = try #require(changed) / 4096 * 4096
    let page = start..<start + 4096
    try demo.change { bytes in
      // The earlier list stands before the one that is in use.
      bytes += own[page]
      bytes.replaceSubrange(page, with: old[page])
      for place in 0..<4096 { bytes[place] = 0 }
    }
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let saved = try Connection(path: output, mode: .immutable).rows(steps)
    #expect(saved == before, "\(saved.count) of \(before.count)")
  }
}
