import Demo
import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("What needs no choice is put right without being asked for more")
struct RepairTests {
  /// SQL that makes a fault, its kind, and how many changes mend it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: FindingKind
    let changes: Int
    var testDescription: String { "\(kind.rawValue): \(sql.prefix(60))" }
  }

  static let faults = [
    Fault(
      sql: "UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK IN (2, 3, 5)", kind: .toOneDangling,
      changes: 3),
    Fault(
      sql: "INSERT INTO Z_8TAGS VALUES (70001, 70002), (70003, 70004)", kind: .joinDangling,
      changes: 2),
    Fault(
      sql: "INSERT INTO Z_8TAGS SELECT Z_PK, 70004 FROM ZRECIPE WHERE Z_PK < 4",
      kind: .joinDangling, changes: 3),
    Fault(
      sql: "INSERT INTO Z_8TAGS VALUES (1, NULL), (NULL, 2), (NULL, NULL), (70001, NULL)",
      kind: .joinNull, changes: 4),
    Fault(
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Recipe'", kind: .primaryKey,
      changes: 1),
    Fault(
      sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", kind: .entityNumbers, changes: 2),
    Fault(
      sql: "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Ghost', 0, 0)", kind: .entityNumbers, changes: 1
    ),
    Fault(
      sql: "UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_NAME = 'Recipe'", kind: .entityNumbers,
      changes: 1),
    Fault(sql: "DELETE FROM Z_METADATA", kind: .metadata, changes: 1),
    Fault(sql: "DROP TABLE Z_METADATA", kind: .metadata, changes: 2),
    Fault(
      sql: "UPDATE Z_METADATA SET Z_PLIST = x'62706C69737430300001'", kind: .metadata, changes: 1),
    Fault(
      sql: "UPDATE ZRECIPE SET Z_ENT = 999 WHERE Z_PK IN (4, 6)", kind: .entityUnknown, changes: 2),
    Fault(sql: "ALTER TABLE Z_8TAGS RENAME TO Z_99TAGS", kind: .joinName, changes: 1),
    Fault(
      sql: "UPDATE ZSTEP SET Z_FOK_RECIPE = NULL WHERE Z_PK = 1", kind: .order, changes: 1),
    Fault(
      sql: "UPDATE ZPROFILE SET ZPERSON = NULL WHERE Z_PK <= 2", kind: .oneToOne, changes: 2),
  ]

  @Test(
    "doctor finds nothing afterwards, and the list tells each change",
    arguments: TestScale.some(5, of: faults))
  func fault(fault: Fault) throws {
    let patient = try Patient(objects: 400)
    try patient.change(fault.sql)
    var options = RepairOptions()
    if fault.kind == .oneToOne {
      // A note: Core Data's own migrations leave such links, and no row is changed unasked.
      #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
      options.kinds = [.oneToOne]
    }
    let changes = try patient.repair(options, mending: [fault.kind])
    if fault.kind == .order {
      #expect(changes.count >= fault.changes)
    } else {
      #expect(changes.count == fault.changes, "\(changes)")
    }
  }

  @Test("the list tells entity, key, property, old and new value")
  func list() throws {
    let patient = try Patient(objects: 400)
    try patient.change("UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK = 3")
    #expect(
      try patient.repair(mending: [.toOneDangling]) == [
        RepairChange(
          kind: "to-one-dangling", entity: "Step", key: 3, property: "recipe",
          old: "Recipe/p88888", new: nil)
      ])
  }

  @Test("the UUID stays where it can be read, and what an app keeps in the metadata")
  func metadata() throws {
    let patient = try Patient(objects: 400)
    let uuid = try Store(path: patient.path).metadata.uuid
    try patient.change("UPDATE Z_METADATA SET Z_PLIST = x'00'")
    try patient.repair(mending: [.metadata])
    #expect(try Store(path: patient.path).metadata.uuid == uuid)
  }

  @Test(
    "a model cache that is gone is made of the model that is given",
    arguments: TestScale.some(
      1,
      of: [
        "DROP TABLE Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0011223344556677'",
        "DROP TABLE Z_MODELCACHE; DELETE FROM Z_METADATA",
      ]))
  func modelCache(sql: String) throws {
    let patient = try Patient(objects: 400)
    var options = RepairOptions()
    options.model = try #require(DemoModels.versions().first).model
    try patient.change(sql)
    try patient.repair(options, mending: [.modelCache])
    #expect(try Store(path: patient.path).modelSource == .store)
  }

  @Test("without a model the rest is mended, and what needs one is told")
  func noModel() throws {
    let patient = try Patient(objects: 400)
    try patient.change("DROP TABLE Z_MODELCACHE; UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    let receipt = try StoreRepair.run(path: patient.path).receipt
    #expect(receipt.kinds.map(\.name) == ["primary-key"])
    #expect(receipt.left.map(\.kind) == [.modelCache])
    let error = #expect(throws: CoreDataError.self) { try StoreRepair.run(path: patient.path) }
    #expect(error?.kind == .refused && error?.message.contains("Z_MODELCACHE") == true)
  }

  @Test("all at once, and only what was asked for")
  func several() throws {
    let patient = try Patient(objects: 400)
    try patient.change(RepairFaults.sql)
    var options = RepairOptions()
    options.kinds = [.primaryKey]
    let receipt = try StoreRepair.run(path: patient.path, options: options).receipt
    #expect(receipt.kinds.map(\.name) == ["primary-key"])
    #expect(
      Set(receipt.left.map(\.kind)) == [.toOneDangling, .joinDangling, .entityNumbers],
      "\(receipt.left.map(\.sentence))")
    try patient.repair(mending: [.toOneDangling, .joinDangling, .entityNumbers])
  }

  @Test("rows of history that lead nowhere are taken out, or their place is emptied")
  func history() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP);
      CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY,
        ZENTITYPK, ZTRANSACTIONID);
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 0), (2, 16002, 1, 9, 0);
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app');
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, Z_ENT, Z_PK, 1 FROM ZINGREDIENT;
      UPDATE ACHANGE SET ZTRANSACTIONID = 7 WHERE Z_PK < 4;
      UPDATE ACHANGE SET ZENTITY = 555 WHERE Z_PK = 9;
      """)
    let changes = try patient.repair(mending: [.history])
    #expect(changes.filter { $0.entity == "ACHANGE" }.count == 4)
    #expect(changes.filter { $0.entity == "ATRANSACTION" }.compactMap(\.key) == [2])
  }

  @Test("of a table of several entities, history tells which a row is of")
  func entityByHistory() throws {
    let patient = try Patient(objects: 1500)
    try patient.change(
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY,
        ZENTITYPK, ZTRANSACTIONID);
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, NULL, 0);
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, Z_ENT, Z_PK, 1 FROM ZINGREDIENT
        WHERE Z_PK <> 2;
      UPDATE ZINGREDIENT SET Z_ENT = 999 WHERE Z_PK < 4;
      """)
    let receipt = try StoreRepair.run(path: patient.path).receipt
    #expect(receipt.kinds.map(\.count) == [2], "\(receipt.kinds)")
    // Nothing tells of the other one.
    #expect(receipt.left.contains { $0.kind == .entityUnknown && $0.count == 1 })
  }

  @Test("what nothing tells becomes of the entity that is named, and the finding says how")
  func entityByName() throws {
    let patient = try Patient(objects: 1500)
    let whole = try Store(path: patient.path)
    let (number, spices) = (whole.schema.numbers["Spice"] ?? 0, try whole.counts()["Spice"])
    try patient.change(
      """
      UPDATE ZINGREDIENT SET Z_ENT = 999 WHERE Z_PK IN (
        SELECT Z_PK FROM ZINGREDIENT WHERE Z_ENT = \(number) ORDER BY Z_PK LIMIT 3)
      """)
    let found = try patient.finding(.entityUnknown)
    #expect(found.count == 3)
    #expect(
      found.command?.typed == "strata repair \(patient.path) --fix entity-unknown --entity ENTITY")
    #expect(["Ingredient", "Produce", "Spice"].allSatisfy { found.advice.text.contains($0) })
    // Nothing is guessed.
    #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
    var options = RepairOptions()
    options.entity = "Spicy"
    let alone = #expect(throws: CoreDataError.self) {
      _ = try StoreRepair.run(path: patient.path, options: options)
    }
    #expect(alone?.kind == .usage && alone?.hint?.contains("entity-unknown") == true)
    options.kinds = [.entityUnknown]
    let unknown = #expect(throws: CoreDataError.self) {
      _ = try StoreRepair.run(path: patient.path, options: options)
    }
    #expect(unknown?.kind == .usage && unknown?.hint == "Did you mean Spice?")
    options.entity = "Spice"
    let receipt = try StoreRepair.run(path: patient.path, options: options).receipt
    #expect(receipt.isDone && receipt.count == 3 && receipt.left.isEmpty)
    #expect(try Store(path: patient.path).counts()["Spice"] == spices)
  }

  @Test("what is wrong with objects that nobody saw before is told afterwards")
  func unseen() throws {
    let patient = try Patient(objects: 400)
    try patient.change("UPDATE ZRECIPE SET Z_ENT = 999, ZTITLE = x'4142' WHERE Z_PK = 4")
    try patient.repair(mending: [.entityUnknown], leaving: [.storageClass])
  }

  @Test("a healthy store is left alone")
  func healthy() throws {
    let patient = try Patient(objects: 400)
    let before = try patient.folder.contents()
    let repaired = try StoreRepair.run(path: patient.path)
    #expect(!repaired.receipt.isDone && repaired.receipt.left == [])
    #expect(try patient.folder.contents() == before)
  }

  @Test("a rehearsal tells the same and changes nothing; --output leaves the original alone")
  func elsewhere() throws {
    let patient = try Patient(objects: 400)
    try patient.change(RepairFaults.sql)
    let before = try patient.folder.contents()
    var options = RepairOptions()
    options.isRehearsal = true
    let rehearsed = try StoreRepair.run(path: patient.path, options: options).receipt
    #expect(rehearsed.isDone && rehearsed.resultPath == nil)
    #expect(try patient.folder.contents() == before)
    options.isRehearsal = false
    options.output = patient.folder.path("Out.sqlite")
    let receipt = try StoreRepair.run(path: patient.path, options: options).receipt
    #expect(receipt.kinds == rehearsed.kinds && receipt.backupPath == nil)
    for (name, bytes) in before { #expect(try patient.folder.contents()[name] == bytes) }
    #expect(try Diagnosis(of: patient.folder.path("Out.sqlite")).alarms == [])
  }

  @Test("rows that the -wal alone holds are in the repaired store")
  func log() throws {
    let demo = try DamagedDemo(objects: 400, isLogged: true)
    let copy = try Connection(path: demo.path, mode: .readWrite)
    try copy.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    copy.keepLogOnClose()
    copy.close()
    let receipt = try StoreRepair.run(path: demo.path).receipt
    #expect(receipt.kinds.map(\.name) == ["primary-key"])
    #expect(try StoreDump.lines(at: demo.path) == demo.lines)
  }
}
