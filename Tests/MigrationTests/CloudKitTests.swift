import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("CloudKit's tables through a migration")
struct CloudKitTests {
  /// The tables as devices have them, by what apps that read them publish: entity numbers from
  /// 17001, an object's record found by entity number and key, which are unique together.
  static let tables = """
    CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE INTEGER, ZNEEDSUPLOAD INTEGER, ZPENDINGEXPORTCHANGETYPENUMBER INTEGER, ZPENDINGEXPORTTRANSACTIONNUMBER INTEGER, ZENCODEDRECORDASSET INTEGER, ZRECORDZONE INTEGER, ZSYSTEMFIELDSASSET INTEGER, ZCKRECORDNAME VARCHAR );
    CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK ON ANSCKRECORDMETADATA (ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC);
    CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_ckRecordName_recordZone ON ANSCKRECORDMETADATA (ZCKRECORDNAME COLLATE BINARY ASC, ZRECORDZONE COLLATE BINARY ASC);
    CREATE TABLE ANSCKMETADATAENTRY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, ZSTRINGVALUE VARCHAR, ZTRANSFORMEDVALUE BLOB );
    CREATE TABLE ANSCKHISTORYANALYZERSTATE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER );
    INSERT INTO Z_PRIMARYKEY VALUES (17003, 'NSCKHistoryAnalyzerState', 0, 2), (17009, 'NSCKMetadataEntry', 0, 1), (17012, 'NSCKRecordMetadata', 0, 20);
    INSERT INTO ANSCKMETADATAENTRY VALUES (1, 17009, 1, NULL, NULL, NULL, 'PFCloudKitMetadataModelVersionHashesKey', NULL, x'01');
    INSERT INTO ANSCKHISTORYANALYZERSTATE VALUES (1, 17003, 1, 7, 1), (2, 17003, 1, 3, 3);
    """

  /// A store with a record for each of some objects: entity number and key.
  ///
  /// - Parameters:
  ///   - uploads: how many of them, from the first on, wait to be uploaded.
  ///   - deletes: how many of them, from the last on, wait to be deleted in CloudKit: both flags are set then.
  static func store(
    in folder: TemporaryFolder, records: [(Int, Int)], uploads: Int = 0, deletes: Int = 0
  ) throws -> String {
    let path = try Library.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(tables)
    for (index, record) in records.enumerated() {
      try connection.run(
        """
        INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZNEEDSUPLOAD,
        ZNEEDSCLOUDDELETE, ZNEEDSLOCALDELETE, ZRECORDZONE, ZCKRECORDNAME)
        VALUES (17012, 1, ?, ?, ?, ?, 0, 1, ?)
        """,
        [
          .integer(Int64(record.0)), .integer(Int64(record.1)),
          .integer(index < uploads || index >= records.count - deletes ? 1 : 0),
          .integer(index >= records.count - deletes ? 1 : 0),
          .text("record of \(record.0)/\(record.1)"),
        ])
    }
    connection.close()
    return path
  }

  private static func run(_ path: String) throws -> MigrationReceipt {
    let plan = try Library.plan(path, to: Library.model(replacing: HistoryTests.changes))
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    return try StoreMigration.runAndRead(plan, options: options)
  }

  private static let records =
    "SELECT Z_PK, ZENTITYID, ZENTITYPK, ZCKRECORDNAME FROM ANSCKRECORDMETADATA ORDER BY Z_PK"

  @Test("records follow their objects' new entity numbers; those of a removed entity go")
  func renumbered() throws {
    let folder = try TemporaryFolder()
    // No key occurs twice, so that no order of work can collide.
    let path = try Self.store(
      in: folder, records: [(1, 2), (2, 6), (3, 5), (4, 1), (5, 3), (6, 11), (7, 12)])
    _ = try Self.run(path)
    #expect(
      try HistoryTests.text(Self.records, path) == [
        "1|2|2|record of 1/2", "2|3|6|record of 2/6", "4|4|1|record of 4/1",
        "5|5|3|record of 5/3", "6|1|11|record of 6/11", "7|6|12|record of 7/12",
      ])
    #expect(
      try HistoryTests.text("SELECT * FROM ANSCKHISTORYANALYZERSTATE", path) == ["1|17003|1|6|1"])
  }

  @Test("objects of different entities with one key keep their records, whatever the order")
  func sameKeys() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      in: folder, records: [(1, 1), (2, 1), (4, 1), (5, 1), (6, 1), (7, 1)])
    // Row by row, 1 becomes 2 while the former 2 is still there.
    _ = try Self.run(path)
    #expect(
      try HistoryTests.text(Self.records, path) == [
        "1|2|1|record of 1/1", "2|3|1|record of 2/1", "3|4|1|record of 4/1",
        "4|5|1|record of 5/1", "5|1|1|record of 6/1", "6|6|1|record of 7/1",
      ])
  }

  @Test("keys of objects, and everything else of CloudKit's, stay as they are")
  func kept() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, records: [(1, 2), (7, 12)])
    let keys = try StoreDump.lines(at: path).filter { !$0.hasPrefix("Manual/") }.compactMap {
      $0.split(separator: " ").first.map { String($0).replacing("Loan/", with: "Aaa/") }
    }
    let sql = [
      "SELECT * FROM ANSCKMETADATAENTRY",
      "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT >= 17000 ORDER BY Z_ENT",
      "SELECT name, sql FROM sqlite_master WHERE tbl_name LIKE 'ANSCK%' ORDER BY name",
      "SELECT Z_UUID FROM Z_METADATA",
    ]
    let before = try sql.map { try HistoryTests.text($0, path) }
    _ = try Self.run(path)
    #expect(try sql.map { try HistoryTests.text($0, path) } == before)
    let after = try StoreDump.lines(at: path).compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    #expect(Set(after) == Set(keys))
    #expect(try Store(path: path).warnings == [])
  }

  @Test("rows that wait to be sent are told by the plan and by the receipt")
  func pending() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      in: folder, records: [(1, 2), (2, 6), (4, 1), (7, 12)], uploads: 3, deletes: 1)
    let cloud = try #require(try Store(path: path).cloudKit())
    #expect(cloud.pendingUploads == 3)
    let plan = try Library.plan(path, to: Library.model(replacing: HistoryTests.changes))
    let note = try #require(plan.notes.first { $0.contains("CloudKit") })
    #expect(note.contains("3 records wait to be uploaded"))
    #expect(note.contains("Mirroring must be off"))
    #expect(cloud.pendingDeletes == 1)
    #expect(note.contains("1 record waits to be deleted in iCloud"))
    // Two rows of the removed entity, one a record's and one the analyser's; all other numbers change.
    #expect(
      plan.notes.contains {
        $0.contains("1 row of removed entities is deleted, 4 rows are renumbered")
      })
    #expect(try Self.run(path).notes.contains(note))
  }

  @Test(
    "the mirroring is told to fetch everything again where a table changes", arguments: Way.allCases
  )
  func zoneFetch(way: Way) throws {
    let folder = try TemporaryFolder()
    func model(_ attributes: [Attribute]) throws -> Model {
      var entity = Entity("E")
      entity.attributes = attributes
      return try Model(entities: [entity])
    }
    let path = folder.path("Mirrored.sqlite")
    let writer = try StoreWriter(
      creating: path, model: model([Attribute("a", .integer16, optional: true)]))
    try writer.insert("E", attributes: ["a": .integer(1)])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(Self.tables)
    connection.close()
    var mandatory = Attribute("a", .integer16)
    mandatory.defaultValue = .integer(0)
    try HistoryFollowingTests.migrate(path, to: model([mandatory]), way)
    let key = StoreMetadata.zoneFetchKey
    #expect(try Store(path: path).metadata.values[key] == nil)
    try HistoryFollowingTests.migrate(
      path, to: model([mandatory, Attribute("b", .string, optional: true)]), way)
    #expect(try Store(path: path).metadata.values[key] == .dictionary([:]))
    #expect(key == "PFCloudKitMetadataNeedsZoneFetchAfterClientMigrationKey")
  }

  @Test(
    "numbers that change are told to the mirroring as well; a store that is not mirrored has no such key"
  )
  func zoneFetchOfNumbers() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, records: [(1, 2)])
    _ = try Self.run(path)
    #expect(try Store(path: path).metadata.values[StoreMetadata.zoneFetchKey] == .dictionary([:]))
    let other = try TemporaryFolder()
    let plain = try Library.store(in: other)
    _ = try Self.run(plain)
    #expect(try Store(path: plain).metadata.values[StoreMetadata.zoneFetchKey] == nil)
  }

  @Test("renaming in a mirrored store: the plan, the receipt and explain say that the app cannot")
  func renaming() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, records: [(1, 2)])
    let model = try Library.model(replacing: [
      (
        #"<attribute name="nickname""#, #"<attribute name="pet" elementID="nickname""#
      ), (#"<entity name="Loan">"#, #"<entity name="Aaa" elementID="Loan">"#),
    ])
    let plan = try Library.plan(path, to: model)
    let note = try #require(plan.notes.first { $0.contains("134110") })
    #expect(note.contains("Author.nickname to Author.pet"))
    #expect(note.contains("Loan to Aaa"))
    #expect(note.contains("Records in iCloud keep the old names"))
    func caveats(isMirrored: Bool) throws -> [String] {
      let store = try Store(path: path)
      return CompatibilityExplanation(
        hashes: store.metadata.versionHashes, source: store.model, model: model,
        isMirrored: isMirrored
      ).caveats
    }
    #expect(try caveats(isMirrored: true).contains(note))
    #expect(try !caveats(isMirrored: false).contains(note))
    #expect(try StoreMigration.runAndRead(plan).notes.contains(note))
  }

  @Test("a store without CloudKit's tables says nothing of it")
  func absent() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    #expect(try Store(path: path).cloudKit() == nil)
    #expect(try Self.run(path).notes.filter { $0.contains("CloudKit") } == [])
  }
}
