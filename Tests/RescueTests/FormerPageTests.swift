import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import StoreTables

/// A demo store whose free pages hold rows of another time.
private struct FormerRows {
  let demo: DamagedDemo
  let table: String
  /// Every row's values by key, before rows were deleted.
  let before: [Int64: [Value]]

  /// - Parameters:
  ///   - table: what has rows on pages that were freed.
  ///   - former: what those rows hold, as the columns of a SELECT from the table.
  ///   - condition: which of its rows are deleted, and wiped.
  init(
    of table: String, as former: String, deleting condition: String, objects: Int = 2_000
  ) throws {
    demo = try DamagedDemo(objects: objects)
    self.table = table
    before = try Self.rows(demo.path, table)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    let sql = try #require(
      connection.value("SELECT sql FROM sqlite_master WHERE name = ?", [.text(table)])?.text)
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA secure_delete = OFF")
    try connection.execute(sql.replacing("CREATE TABLE \(table)", with: "CREATE TABLE FORMER"))
    try connection.execute("INSERT INTO FORMER SELECT \(former) FROM \(table); DROP TABLE FORMER")
    try connection.execute("PRAGMA secure_delete = ON; DELETE FROM \(table) WHERE \(condition)")
    connection.close()
  }

  static func rows(_ path: String, _ table: String) throws -> [Int64: [Value]] {
    let connection = try Connection(path: path, mode: .immutable)
    return Dictionary(
      try connection.rows("SELECT * FROM \(table)").map {
        ($0[0].integer ?? 0, Array($0.dropFirst()))
      }
    ) { first, _ in first }
  }

  /// Where each deleted object that was found comes from, by its key.
  func origins(_ undeletion: Undeletion, of entity: String) throws -> [Int64: RowOrigin] {
    var result: [Int64: RowOrigin] = [:]
    for row in try undeletion.store.rows(
      RowQuery(entity: entity, limit: 10_000, properties: [])
    ).rows {
      let origin = try #require(try undeletion.origin(of: row.id))
      if origin.isOfDeleted { result[row.id.key] = origin }
    }
    return result
  }
}

@Suite("Deleted rows that stand on pages of another time")
struct FormerPageTests {
  /// Z_ENT as it was before an entity came that is numbered before these.
  private static let renumbered =
    "Z_PK, Z_ENT - 1, Z_OPT, ZHEAT, ZENERGY, ZNAME, ZUNIT, ZORIGIN, ZSEASON, ZORIGIN1"

  /// Live rows show the former entity IDs; where none lives, the columns that only one entity has.
  @Test(
    "rows of before entities had other IDs come back as what they were, and are said to be of another time",
    arguments: ["Z_PK % 4 = 0", "1"])
  func renumbered(condition: String) throws {
    let rows = try FormerRows(of: "ZINGREDIENT", as: Self.renumbered, deleting: condition)
    let gone = rows.before.filter { condition == "1" || $0.key % 4 == 0 }
    let undeletion = try Undeletion(of: rows.demo.path)
    let spices = try #require(undeletion.entities.first { $0.name == "Spice" })
    let produce = try #require(undeletion.entities.first { $0.name == "Produce" })
    #expect(spices.deleted > 0 && produce.deleted > 0)
    #expect(spices.former == spices.deleted && produce.former == produce.deleted)
    #expect(undeletion.entities.allSatisfy { $0.misnumbered == 0 }, "\(undeletion.entities)")
    // A row whose former number is that of another table's entity is not one of that.
    #expect(undeletion.entities.map(\.name) == ["Produce", "Spice"])
    for (entity, found) in [("Spice", spices), ("Produce", produce)] {
      let origins = try rows.origins(undeletion, of: entity)
      #expect(origins.count == found.deleted)
      #expect(
        origins.values.allSatisfy {
          $0.isFormer && $0.isEntityKnown && $0.hasAllValues && !$0.isWhole
        })
    }
    let output = rows.demo.folder.path("Restored.sqlite")
    let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
    #expect(report.former == spices.deleted + produce.deleted)
    let after = try FormerRows.rows(output, rows.table)
    let back = after.filter { gone[$0.key] != nil }
    #expect(back.count == report.former)
    #expect(back.allSatisfy { $0.value == rows.before[$0.key] })
  }

  @Test(
    "where nothing shows what entity a former ID was, the row is listed and not restored unasked")
  func unknownEntity() throws {
    // Of the rows with one ID none has a value that only some entities have; another row contradicts its ID.
    let rows = try FormerRows(
      of: "ZINGREDIENT",
      as:
        "Z_PK, iif(Z_PK = 1, 3, 5), Z_OPT, NULL, ZENERGY, ZNAME, ZUNIT, NULL, NULL, iif(Z_PK = 1, 'y', NULL)",
      deleting: "1")
    let undeletion = try Undeletion(of: rows.demo.path)
    let unknown = undeletion.entities.reduce(0) { $0 + $1.misnumbered }
    #expect(unknown > 0, "\(undeletion.entities)")
    let output = rows.demo.folder.path("Restored.sqlite")
    let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
    let deleted = undeletion.entities.reduce(0) { $0 + $1.deleted }
    #expect(report.restored.values.reduce(0, +) == deleted - unknown)
    #expect(report.restored == ["Spice": 1])
    let spices = try rows.origins(undeletion, of: "Spice").filter { !$0.value.isEntityKnown }
    #expect(spices.count == unknown)
    let key = try #require(spices.keys.min())
    let second = rows.demo.folder.path("Second.sqlite")
    let chosen = try Restoration(undeletion).run(
      .only([ObjectID(entity: "Spice", key: key)]), output: second)
    #expect(chosen.restored == ["Spice": 1] && chosen.former == 1)
  }

  @Test("rows beside earlier states of live objects may be earlier states, and are said to be")
  func earlierStates() throws {
    let rows = try FormerRows(
      of: "ZSTEP",
      as: "Z_PK, Z_ENT, Z_OPT - 1, ZMINUTES, ZRECIPE, Z_FOK_RECIPE, 'once ' || ZTEXT",
      deleting: "Z_PK % 5 = 0")
    let undeletion = try Undeletion(of: rows.demo.path)
    let steps = try #require(undeletion.entities.first { $0.name == "Step" })
    #expect(steps.deleted > 0 && steps.former == steps.deleted, "\(steps)")
    #expect(steps.misnumbered == 0)
    let origins = try rows.origins(undeletion, of: "Step")
    #expect(origins.count == steps.deleted && origins.values.allSatisfy(\.isFormer))
  }

  /// As in stores of Wire's: each ClientMessage has the 0 of an attribute that SystemMessage got later.
  @Test("a default that a migration gave to all rows of a table shows no other entity")
  func defaults() throws {
    let folder = try TemporaryFolder()
    let (path, copy) = (folder.path("Messages.sqlite"), folder.path("Open.sqlite"))
    let model = """
      <model>
      <entity name="ClientMessage" parentEntity="Message"/>
      <entity name="Message"><attribute name="text" optional="YES" attributeType="String"/></entity>
      <entity name="SystemMessage" parentEntity="Message">
        <attribute name="reason" attributeType="Integer 16" defaultValueString="0"/>
      </entity>
      </model>
      """
    try StoreCreation.create(
      at: copy, model: try Model(contents: Array(model.utf8)),
      uuid: "5AD0BC53-7A4C-4A41-8B8D-6D2F5D8C7E10")
    let connection = try Connection(path: copy, mode: .create)
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) \
      INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZREASON, ZTEXT) SELECT i, 2, 1, 0, 'message ' || i FROM n; \
      UPDATE Z_PRIMARYKEY SET Z_MAX = 20; PRAGMA journal_mode = DELETE; \
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; DELETE FROM ZMESSAGE
      """)
    try FileSystem.write(FileSystem.read(copy), to: path)
    try FileSystem.write(FileSystem.read(copy + "-wal"), to: path + "-wal")
    connection.close()
    let undeletion = try Undeletion(of: path)
    #expect(undeletion.entities.map(\.name) == ["ClientMessage"])
    let messages = try #require(undeletion.entities.first)
    #expect(messages.deleted == 20 && messages.former == 0 && messages.misnumbered == 0)
  }

  @Test("rows beside copies of live objects that are as these are of no other time")
  func copies() throws {
    let rows = try FormerRows(of: "ZSTEP", as: "*", deleting: "Z_PK % 5 = 0")
    let steps = try #require(
      try Undeletion(of: rows.demo.path).entities.first { $0.name == "Step" })
    #expect(steps.deleted > 0 && steps.former == 0 && steps.older == 0, "\(steps)")
  }
}

@Suite("What is missed of deleted rows")
struct MissedRowTests {
  @Test("two deleted objects that had the same unique value one after the other are both found")
  func sameUniqueValue() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    // As Core Data declared uniqueness before it made indexes for it.
    let sql = try #require(
      connection.value("SELECT sql FROM sqlite_master WHERE name = 'ZTAG'")?.text)
    let end = try #require(sql.lastIndex(of: ")"))
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; ALTER TABLE ZTAG RENAME TO FORMER; \
      \(sql[..<end]), UNIQUE (ZNAME) ); INSERT INTO ZTAG SELECT * FROM FORMER; \
      DROP TABLE FORMER; VACUUM
      """)
    let name = try connection.value("SELECT ZNAME FROM ZTAG WHERE Z_PK = 3")
    connection.close()
    let copy = demo.path + ".open"
    try FileSystem.copyOver(demo.path, to: copy)
    let logged = try Connection(path: copy, mode: .create)
    try StoreFunctions.define(on: logged)
    try logged.execute(
      """
      PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; \
      CREATE TEMP TABLE kept AS SELECT * FROM ZTAG WHERE Z_PK = 3; UPDATE kept SET Z_PK = 900; \
      DELETE FROM ZTAG WHERE Z_PK = 3; INSERT INTO ZTAG SELECT * FROM kept; \
      UPDATE Z_PRIMARYKEY SET Z_MAX = 900 WHERE Z_NAME = 'Tag'; \
      DELETE FROM ZTAG WHERE Z_PK = 900
      """)
    try FileSystem.write(FileSystem.read(copy), to: demo.path)
    try FileSystem.write(FileSystem.read(copy + "-wal"), to: demo.path + "-wal")
    logged.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }

    let undeletion = try Undeletion(of: demo.path)
    #expect(undeletion.entities.first { $0.name == "Tag" }?.deleted == 2, "\(undeletion.entities)")
    for key in [3, 900] as [Int64] {
      let id = ObjectID(entity: "Tag", key: key)
      #expect(try undeletion.origin(of: id)?.certainty == .certain)
      let own = try undeletion.store.connection.value(
        "SELECT ZNAME FROM ZTAG WHERE Z_PK = ?", [.integer(key)])
      #expect(own == name && own?.text != nil)
    }
    // The new store takes one of them.
    let output = demo.folder.path("Restored.sqlite")
    let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
    #expect(report.restored == ["Tag": 1] && report.refused == ["Tag": [900]])
  }

  @Test("how many keys are in no row and were not found is counted by key")
  func counted() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA secure_delete = OFF; \
      DELETE FROM ZSTEP WHERE Z_PK % 9 = 0; PRAGMA secure_delete = ON; \
      DELETE FROM ZSTEP WHERE Z_PK % 9 = 4
      """)
    let unused = try connection.value(
      """
      SELECT (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Step') - (SELECT count(*) FROM ZSTEP)
      """)?.integer
    connection.close()
    let undeletion = try Undeletion(of: demo.path)
    let steps = try #require(undeletion.entities.first { $0.name == "Step" })
    let missed = try #require(undeletion.missed.first { $0.entity == "Step" })
    #expect(missed.keys == unused.map { Int($0) })
    #expect(missed.found == steps.deleted - steps.keyless && missed.keyless == steps.keyless)
    #expect(missed.found > 0 && missed.most == missed.keys - missed.found)
    // Rows that were wiped are among them in any case.
    #expect(missed.least > 0 && missed.least == missed.most - missed.keyless)
    let output = demo.folder.path("Restored.sqlite")
    let report = try Restoration(undeletion).run(.all(entity: nil), output: output)
    #expect(report.salvage.notes.contains(missed.sentence))
  }
}
