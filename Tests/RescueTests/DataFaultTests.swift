import Demo
import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Faults of the data are named and counted")
struct DataFaultTests {
  /// SQL that makes a fault, its kind, and how many objects have it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: FindingKind
    let count: Int
    var severity: Finding.Severity?
    var testDescription: String { "\(kind.rawValue): \(sql.prefix(60))" }
  }

  static let faults = [
    Fault(
      sql: "UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK IN (2, 3, 5)", kind: .toOneDangling,
      count: 3),
    Fault(
      sql: "INSERT INTO Z_8TAGS VALUES (1, NULL), (NULL, 2), (NULL, NULL), (70001, NULL)",
      kind: .joinNull, count: 4),
    Fault(
      sql: "UPDATE ZRECIPE SET ZTITLE = NULL WHERE Z_PK < 5", kind: .mandatory, count: 4),
    Fault(sql: "UPDATE ZRECIPE SET ZTITLE = x'4142' WHERE Z_PK = 7", kind: .storageClass, count: 1),
    Fault(
      sql: "UPDATE ZRECIPE SET ZTITLE = CAST(x'41FF42' AS TEXT) WHERE Z_PK = 7",
      kind: .textEncoding, count: 1),
    Fault(
      sql: "UPDATE ZRECIPE SET ZCREATEDAT = 1e15 WHERE Z_PK = 7", kind: .range, count: 1,
      severity: .note),
    Fault(
      sql: "UPDATE ZRECIPE SET Z_ENT = 999 WHERE Z_PK IN (4, 6)", kind: .entityUnknown, count: 2),
    Fault(
      sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Recipe'", kind: .primaryKey, count: 1),
    Fault(
      sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", kind: .entityNumbers, count: 1),
    Fault(
      sql: "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Ghost', 0, 0)", kind: .entityNumbers, count: 1),
    Fault(sql: "DROP TABLE ZSTEP", kind: .tableMissing, count: 1),
    Fault(sql: "ALTER TABLE ZTAG DROP COLUMN ZCOLOUR", kind: .columnMissing, count: 1),
    Fault(
      sql: "ALTER TABLE ZTAG ADD COLUMN ZOWN BLOB", kind: .columnUnknown, count: 1, severity: .note),
    Fault(
      sql:
        "ALTER TABLE ZTAG ADD COLUMN _DEFERRED_0123456789ABCDEF0123456789ABCDEF__ZOWN BLOB",
      kind: .deferredMigration, count: 1),
    Fault(
      sql: "CREATE TRIGGER AOWN AFTER UPDATE ON ZTAG BEGIN SELECT appFunction(NEW.Z_PK); END",
      kind: .triggers, count: 1),
    Fault(
      sql:
        "CREATE TRIGGER AOWN AFTER DELETE ON ZTAG BEGIN INSERT INTO GONE VALUES (OLD.Z_PK); END",
      kind: .triggers, count: 1),
  ]

  @Test("with the kind and the number", arguments: TestScale.some(5, of: faults))
  func fault(fault: Fault) throws {
    let patient = try Patient(objects: 400)
    try patient.change(fault.sql)
    let found = try patient.finding(fault.kind)
    #expect(found.count == fault.count, "\(found.sentence)")
    #expect(found.severity == fault.severity ?? fault.kind.severity)
    #expect(!found.sentence.isEmpty && found.first.count <= 5)
  }

  @Test(
    "doctor says of a migration what a plan of it says",
    arguments: TestScale.some(5, of: faults.map(\.sql) + ["SELECT 1"])
  )
  func migration(sql: String) throws {
    let patient = try Patient(objects: 200)
    try patient.change(sql)
    let diagnosis = try patient.diagnosis()
    let next = try #require(DemoModels.versions().first { $0.name == "Recipes 2" })
    let store = try Store(path: patient.path)
    let plan = try store.plan(to: next.model, names: ("Recipes", "Recipes 2"))
    // What the data break of the new version's own rules is no fault of the store.
    let ofData: [CoreDataError.Code] = [.migration, .migrationConstraintViolation]
    let own = plan.failures.filter { !ofData.contains($0.code) }
    #expect(diagnosis.migrationChecks == own)
    #expect(plan.failures.isEmpty == diagnosis.migrationChecks.isEmpty, "\(plan.failures)")
  }

  @Test(
    "history without the columns that the model needs for deleted objects is found, and repaired")
  func historyColumns() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    var entity = Entity("E")
    for name in ["a", "b"] {
      var attribute = Attribute(name, .string, optional: true)
      attribute.preservesValueInHistoryOnDeletion = true
      entity.attributes.append(attribute)
    }
    let writer = try StoreWriter(creating: path, model: Model(entities: [entity]))
    try writer.insert("E", attributes: ["a": .string("A")])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB );
      CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR );
      """)
    connection.close()
    let finding = try #require(
      try Diagnosis(of: path).findings.first { $0.kind == .historyColumns })
    #expect(finding.first == ["ZTOMBSTONE1"])
    #expect(finding.command?.typed == "strata repair \(path) --fix history-columns")
    #expect(try StoreRepair.run(path: path).receipt.isDone)
    #expect(try !Diagnosis(of: path).findings.contains { $0.kind == .historyColumns })
    #expect(try Store(path: path).database.columns(of: "ACHANGE").contains("ZTOMBSTONE1"))
  }

  @Test("columns that a deferred migration has still to drop are no fault of the tables")
  func deferred() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      "ALTER TABLE ZTAG ADD COLUMN _DEFERRED_0123456789ABCDEF0123456789ABCDEF__ZOWN BLOB")
    let findings = try Diagnosis(of: patient.path).findings
    #expect(findings.filter { $0.severity != .note }.isEmpty)
    #expect(!findings.contains { $0.kind == .columnUnknown })
    #expect(try patient.finding(.deferredMigration).sentence.contains("ZTAG.ZOWN"))
  }

  @Test("what a migration of the app left beside the store is explained, and stays")
  func leftovers() throws {
    let patient = try Patient(objects: 400)
    let names = [
      ".Recipes.sqlite.migrationdestination_41b5a6b5c6e848c462a8480cd24caef3", "Recipes~.sqlite",
    ]
    for name in names { try FileSystem.copyOver(patient.path, to: patient.folder.path(name)) }
    let found = try Diagnosis(of: patient.path).findings.filter { $0.kind == .migrationLeftover }
    #expect(found.map { $0.sentence.prefix { $0 != " " } } == names.map { $0[...] })
    #expect(found.allSatisfy { $0.severity == .note && $0.command == nil })
    for name in names { #expect(FileSystem.isFile(patient.folder.path(name))) }
    // A file of that name that is no database is no store's backup.
    try FileSystem.write(Array("text".utf8), to: patient.folder.path("Recipes~.sqlite"))
    #expect(
      try Diagnosis(of: patient.path).findings.count { $0.kind == .migrationLeftover } == 1)
  }

  @Test("the first objects are named, and how an app meets the fault")
  func first() throws {
    let patient = try Patient(objects: 400)
    try patient.change("UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK IN (2, 3, 5)")
    let found = try patient.finding(.toOneDangling)
    #expect(found.first == ["Step/p2", "Step/p3", "Step/p5"])
    #expect((found.entity, found.property) == ("Step", "recipe"))
    #expect(found.consequence?.meaning.code == 133000)
    #expect(found.command?.typed == "strata repair \(patient.path) --fix to-one-dangling")
  }

  @Test("links of a many-to-many that lead to nothing")
  func joins() throws {
    let patient = try Patient(objects: 400)
    try patient.change("INSERT INTO Z_8TAGS VALUES (70001, 70002), (70003, 70004)")
    let found = try patient.finding(.joinDangling)
    #expect(found.count == 2)
    #expect(found.entity == "Recipe" && found.property == "tags")
    #expect(found.first == ["Recipe/p70001 – Tag/p70002", "Recipe/p70003 – Tag/p70004"])
  }

  @Test("a join table under another name is read, and told")
  func joinName() throws {
    let patient = try Patient(objects: 400)
    try patient.change("ALTER TABLE Z_8TAGS RENAME TO Z_99TAGS")
    let found = try patient.finding(.joinName)
    #expect(found.first == ["Z_99TAGS"] && found.sentence.contains("Z_8TAGS"))
  }

  @Test("objects that must differ and do not")
  func uniqueness() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      DROP INDEX Z_Recipe_UNIQUE_identifier;
      UPDATE ZRECIPE SET ZIDENTIFIER = (SELECT ZIDENTIFIER FROM ZRECIPE WHERE Z_PK = 1)
      WHERE Z_PK IN (2, 3)
      """)
    let found = try patient.finding(.uniqueness)
    #expect(found.count == 3 && found.first == ["Recipe/p1"])
    #expect(found.command?.typed == "strata repair \(patient.path) --fix uniqueness --keep newest")
  }

  @Test("archives that are cut off")
  func archives() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      UPDATE ZRECIPE SET ZSETTINGS = substr(ZSETTINGS, 1, length(ZSETTINGS) - 30)
      WHERE Z_PK IN (SELECT Z_PK FROM ZRECIPE WHERE ZSETTINGS IS NOT NULL ORDER BY Z_PK LIMIT 2)
      """)
    let found = try patient.finding(.archive)
    #expect(found.count == 2 && found.property == "settings")
  }

  @Test("external files that are missing, empty, or named by nobody")
  func external() throws {
    let patient = try Patient(objects: 1500)
    let files = StoreFiles(path: patient.path).externalDataFolder
    let names = try FileSystem.list(files).sorted()
    try #require(names.count >= 2)
    FileSystem.remove(files + "/" + names[0])
    try FileSystem.write([], to: files + "/" + names[1])
    try FileSystem.write([1, 2, 3], to: files + "/STRAY")
    let found = try patient.diagnosis().findings
    #expect(found.first { $0.kind == .externalMissing }?.count == 1)
    #expect(found.first { $0.kind == .externalSize }?.count == 1)
    let orphaned = found.first { $0.kind == .externalOrphaned }
    #expect(orphaned?.first == ["STRAY"] && orphaned?.severity == .note)
  }

  @Test("places in an ordered relationship that are missing or equal")
  func order() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      UPDATE ZSTEP SET Z_FOK_RECIPE = NULL WHERE Z_PK = 1;
      UPDATE ZSTEP SET Z_FOK_RECIPE = 5 WHERE ZRECIPE = (SELECT max(ZRECIPE) FROM ZSTEP)
      """)
    let found = try patient.diagnosis().findings.filter { $0.kind == .order }
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.entity == "Recipe" && $0.property == "steps" })
    #expect(found.contains { $0.count == 1 && $0.sentence.contains("no order key") })
    #expect(found.contains { ($0.count ?? 0) > 1 && $0.sentence.contains("share") })
  }

  @Test("objects that hold what only another entity of their table has")
  func otherEntity() throws {
    let patient = try Patient(objects: 1500)
    try patient.change(
      "UPDATE ZINGREDIENT SET Z_ENT = 5, ZHEAT = 0 WHERE Z_ENT = 4 AND ZSEASON IS NOT NULL")
    let found = try patient.diagnosis().findings.filter { $0.kind == .entityWrong }
    #expect(!found.isEmpty && found.allSatisfy { $0.severity == .warning })
    #expect(found.contains { $0.command?.typed.contains(" --where 'SELF IN {") == true })
  }

  @Test("one-to-ones whose sides disagree are a note")
  func oneToOnes() throws {
    let patient = try Patient(objects: 1500)
    try patient.change("UPDATE ZPROFILE SET ZPERSON = NULL WHERE Z_PK <= 2")
    let found = try patient.finding(.oneToOne)
    #expect(found.severity == .note && found.count == 2)
    #expect(try patient.diagnosis().alarms.allSatisfy { $0.hasPrefix("mandatory") })
  }

  @Test("history that points nowhere, and entities that it tells otherwise")
  func history() throws {
    let patient = try Patient(objects: 1500)
    try patient.change(
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP);
      CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY,
        ZENTITYPK, ZTRANSACTIONID);
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 0), (2, 16002, 1, 9, 0);
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app');
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, Z_ENT, Z_PK, 1 FROM ZINGREDIENT;
      """)
    let before = try patient.finding(.history)
    #expect(before.count == 1 && before.first == ["ATRANSACTION/p2"])
    try patient.change(
      """
      UPDATE ACHANGE SET ZTRANSACTIONID = 7 WHERE Z_PK < 4;
      UPDATE ZINGREDIENT SET Z_ENT = 3
      WHERE Z_PK = (SELECT min(Z_PK) FROM ZINGREDIENT WHERE Z_ENT = 4);
      """)
    let found = try patient.diagnosis().findings
    #expect(found.contains { $0.kind == .history && $0.count == 3 })
    #expect(
      found.contains { $0.kind == .entityWrong && $0.sentence.contains("than history says") })
  }

  @Test("values that break bounds, patterns and predicates are notes with their own errors")
  func validation() throws {
    let folder = try TemporaryFolder()
    var code = Attribute("code", .string, optional: true)
    code.validation.minimum = "3"
    code.validation.pattern = "[A-Z]+"
    code.validation.predicates = ["SELF BEGINSWITH \"A\"", "length <= 5"]
    var size = Attribute("size", .integer16, optional: true)
    size.validation.maximum = "10"
    var item = Entity("Item")
    item.attributes = [code, size]
    let path = folder.path("Items.sqlite")
    try StoreCreation.create(at: path, model: Model(entities: [item]), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZCODE, ZSIZE) VALUES
      (1, 1, 1, 'ABC', 10), (2, 1, 1, 'AB', 11), (3, 1, 1, 'bcde', NULL), (4, 1, 1, NULL, 1),
      (5, 1, 1, 'ABCDEF', 2);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 5;
      """)
    connection.close()
    let diagnosis = try Diagnosis(of: path)
    #expect(diagnosis.alarms == [])
    let found = diagnosis.findings.filter { $0.kind == .validation }
    #expect(
      Set(found.map { "\($0.consequence?.meaning.code ?? 0) \($0.first.joined(separator: " "))" })
        == [
          "1670 Item/p2", "1680 Item/p3", "1610 Item/p2", "1550 Item/p3", "1660 Item/p5",
        ])
  }
}
