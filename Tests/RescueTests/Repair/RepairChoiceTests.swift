import Files
import ManagedModel
import ManagedStore
import Migration
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("What is a choice is made only where it is asked for")
struct RepairChoiceTests {
  private static func asking(_ kinds: FindingKind...) -> RepairOptions {
    var options = RepairOptions()
    options.kinds = Set(kinds)
    return options
  }

  private static func duplicates(_ patient: Patient) throws {
    try patient.change(
      """
      DROP INDEX Z_Recipe_UNIQUE_identifier;
      UPDATE ZRECIPE SET ZIDENTIFIER = (SELECT ZIDENTIFIER FROM ZRECIPE WHERE Z_PK = 1)
      WHERE Z_PK IN (2, 3)
      """)
  }

  @Test("of equal objects the newest or the oldest stays, and takes over the links of the others")
  func uniqueness() throws {
    for kept in RepairOptions.Kept.allCases {
      let patient = try Patient(objects: 400)
      let steps = try Store(path: patient.path).connection.value(
        "SELECT count(*) FROM ZSTEP WHERE ZRECIPE IN (1, 2, 3)")
      try Self.duplicates(patient)
      // Not unasked.
      #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
      var options = RepairOptions()
      options.kept = kept
      let changes = try patient.repair(options, mending: [.uniqueness])
      let gone = changes.filter { $0.kind == "uniqueness" && $0.property == nil }
      #expect(gone.compactMap(\.key) == (kept == .newest ? [1, 2] : [2, 3]))
      let store = try Store(path: patient.path)
      #expect(
        try store.connection.value(
          "SELECT count(*) FROM ZSTEP WHERE ZRECIPE = \(kept == .newest ? 3 : 1)") == steps)
    }
  }

  @Test("which one stays has to be said")
  func keep() throws {
    let patient = try Patient(objects: 400)
    try Self.duplicates(patient)
    let error = #expect(throws: CoreDataError.self) {
      try StoreRepair.run(path: patient.path, options: Self.asking(.uniqueness))
    }
    #expect(error?.kind == .usage && error?.advice?.names(.keep) == true)
  }

  @Test("references to files that are gone become null where that is asked for by name")
  func externalMissing() throws {
    let patient = try Patient(objects: 1500)
    let folder = StoreFiles(path: patient.path).externalDataFolder
    let names = try FileSystem.list(folder).sorted()
    let name = try #require(names.first)
    FileSystem.remove(folder + "/" + name)
    #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
    let changes = try patient.repair(Self.asking(.externalMissing), mending: [.externalMissing])
    #expect(changes.map(\.old) == [name] && changes.allSatisfy { $0.new == nil })
  }

  @Test("unreferenced files are moved aside, and none is deleted; the store stays")
  func externalOrphaned() throws {
    let patient = try Patient(objects: 1500)
    let folder = StoreFiles(path: patient.path).externalDataFolder
    try FileSystem.write([1, 2, 3], to: folder + "/STRAY")
    let before = try FileSystem.read(patient.path)
    let names = try FileSystem.list(folder).count
    let receipt = try StoreRepair.run(path: patient.path).receipt
    let aside = try #require(receipt.orphanFolder)
    #expect(try FileSystem.read(aside + "/STRAY") == [1, 2, 3])
    #expect(try FileSystem.list(folder).count == names - 1)
    #expect(try FileSystem.read(patient.path) == before && receipt.backupPath == nil)
    #expect(try !Diagnosis(of: patient.path).findings.contains { $0.kind == .externalOrphaned })
  }

  @Test("a file that a backup names is no orphan")
  func backedUp() throws {
    let patient = try Patient(objects: 1500)
    let folder = StoreFiles(path: patient.path).externalDataFolder
    let names = try FileSystem.list(folder).sorted()
    try FileSystem.copyOver(patient.path, to: patient.folder.path("Recipes.backup-1"))
    try patient.change("UPDATE ZRECIPE SET ZPHOTO = NULL")
    _ = try StoreRepair.run(path: patient.path)
    #expect(try FileSystem.list(folder).sorted() == names)
  }

  @Test("an app's own trigger that names what is gone is taken out, and its text is in the list")
  func triggers() throws {
    let patient = try Patient(objects: 400)
    let sql =
      "CREATE TRIGGER AOWN AFTER DELETE ON ZTAG BEGIN INSERT INTO GONE VALUES (OLD.Z_PK); END"
    try patient.change(sql)
    #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
    let changes = try patient.repair(Self.asking(.triggers), mending: [.triggers])
    #expect(changes.map(\.old) == [sql] && changes.map(\.property) == ["AOWN"])
  }

  @Test("with a trigger that cannot run, the rest is mended all the same, and it stays")
  func besideTrigger() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK = 3;
      CREATE TRIGGER AOWN AFTER UPDATE ON ZSTEP BEGIN SELECT appFunction(NEW.Z_PK); END
      """)
    try patient.repair(mending: [.toOneDangling], leaving: [.triggers])
    #expect(try Store(path: patient.path).database.triggers["AOWN"] == "ZSTEP")
  }

  @Test("a trigger whose text holds another statement is refused, and that statement is not run")
  func severalStatements() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK = 3;
      CREATE TRIGGER AOWN AFTER UPDATE ON ZSTEP BEGIN SELECT appFunction(NEW.Z_PK); END;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = sql || '; DELETE FROM ZTAG' WHERE name = 'AOWN'
      """)
    let before = try FileSystem.read(patient.path)
    let error = #expect(throws: CoreDataError.self) {
      _ = try StoreRepair.run(path: patient.path)
    }
    #expect(error?.message.contains("not one CREATE TRIGGER statement") == true)
    #expect(try FileSystem.read(patient.path) == before)
  }

  @Test(
    "of one-to-ones that contradict each other the pair stays that agrees",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func oneToOnes() throws {
    let patient = try Patient(objects: 1500)
    // Of the second, its own profile still says so.
    try patient.change("UPDATE ZPERSON SET ZPROFILE = 1 WHERE Z_PK = 2")
    try #require(try patient.diagnosis().findings.contains { $0.kind == .oneToOne })
    #expect(try !StoreRepair.run(path: patient.path).receipt.isDone)
    let changes = try patient.repair(Self.asking(.oneToOne), mending: [.oneToOne])
    #expect(changes.map(\.key) == [2, 2] && changes.map(\.new) == [nil, "Profile/p2"])
  }

  @Test("what an object of another entity has in the column of a one-to-one is no side of it")
  func otherEntity() throws {
    let patient = try Patient(objects: 400)
    // The third profile is of no entity that a person can have, and what it has there counts for nobody.
    try patient.change(
      """
      UPDATE ZPROFILE SET ZPERSON = NULL WHERE Z_PK IN (1, 2);
      UPDATE ZPERSON SET ZPROFILE = 3 WHERE Z_PK IN (1, 2);
      UPDATE ZPROFILE SET Z_ENT = 999, ZPERSON = 2 WHERE Z_PK = 3
      """)
    let found = try patient.diagnosis().findings.filter { $0.kind == .oneToOne }
    #expect(found.isEmpty, "\(found.map(\.sentence))")
    _ = try StoreRepair.run(path: patient.path, options: Self.asking(.oneToOne))
    let connection = try Connection(path: patient.path, mode: .immutable)
    let kept = try connection.rows("SELECT ZPROFILE FROM ZPERSON WHERE Z_PK IN (1, 2)")
    #expect(kept == [[.integer(3)], [.integer(3)]])
    #expect(try connection.value("SELECT ZPERSON FROM ZPROFILE WHERE Z_PK = 3") == .integer(2))
  }

  @Test("what the store's own triggers compute anew is in the list as well")
  func derived() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Shelves.sqlite")
    let model = try Model(
      contents: Array(
        """
        <model><entity name="Shelf"><attribute name="code" optional="YES" attributeType="String"/>
        <attribute name="size" optional="YES" attributeType="Integer 64" derived="YES"
        derivationExpression="books.@count"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book"
        inverseName="shelf" inverseEntity="Book"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="code"/>
        </uniquenessConstraint></uniquenessConstraints></entity>
        <entity name="Book"><relationship name="shelf" optional="YES" maxCount="1"
        destinationEntity="Shelf" inverseName="books" inverseEntity="Shelf"/></entity></model>
        """.utf8))
    try StoreCreation.create(at: path, model: model, uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    for name in ["Insert", "Update", ""] {
      try connection.defineNullFunction("NSCoreDataDATrigger\(name)UpdatedAffectedObjectValue")
    }
    try connection.execute(
      """
      DROP INDEX Z_Shelf_UNIQUE_code;
      INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZCODE, ZSIZE)
        SELECT 1, Z_ENT, 1, 'A', 0 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Shelf';
      INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZCODE, ZSIZE) SELECT 2, Z_ENT, 1, 'A', 0 FROM ZSHELF;
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZSHELF)
        SELECT n.column1, Z_ENT, 1, n.column2 FROM Z_PRIMARYKEY, (VALUES (1, 1), (2, 1), (3, 2)) n
        WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 3;
      """)
    connection.close()
    var options = RepairOptions()
    options.kept = .oldest
    let repaired = try StoreRepair.run(path: path, options: options)
    var derived: [RepairChange] = []
    try repaired.log?.forEach(of: "derived") { derived.append($0) }
    #expect(
      derived == [
        RepairChange(
          kind: "derived", entity: "Shelf", key: 1, property: "size", old: "2", new: "3")
      ])
  }
}
