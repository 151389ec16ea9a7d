import Files
import ManagedModel
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Facts of a store")
struct StoreFactTests {
  @Test("the files that are there are told with their sizes")
  func files() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    try FileSystem.write([1, 2, 3], to: folder.path("Recipes.sqlite-shm"))
    try FileSystem.makeDirectory(folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA"))
    try FileSystem.write([1, 2], to: folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA/A"))
    let files = store.files.list()
    #expect(files.map(\.role) == [.main, .logIndex, .support])
    #expect(files.map(\.bytes).dropFirst() == [3, 2])
    #expect(files.last?.files == 1)
    #expect(files.allSatisfy { ($0.modified ?? 0) > 0 })
  }

  @Test("the header tells pages and encoding")
  func header() throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA user_version = 7")
    connection.close()
    let store = try Store(path: path)
    let header = try store.databaseHeader()
    #expect(header.pages * header.pageSize == FileSystem.status(path)?.size)
    #expect(header.encoding == "UTF-8")
    #expect(header.userVersion == 7)
    #expect(header.writer?.hasPrefix("3.") == true)
  }

  @Test("numbers and greatest keys of all entities")
  func numbers() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let lines = try store.entityNumbers().map {
      "\($0.number) \($0.name) \($0.parent) \($0.maximum) \($0.greatestKey.map { "\($0)" } ?? "-")"
    }
    #expect(
      lines == [
        "1 Menu 0 1 1", "2 Person 0 3 3", "3 Author 2 0 -", "4 Recipe 0 7 7", "5 Tag 0 3 3",
      ])
  }

  @Test("external files: missing ones first, with the object that names them")
  func externalFiles() throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.run(
      "UPDATE ZRECIPE SET ZPHOTO = ? WHERE Z_PK = 2", [.blob([2] + Array("GONE".utf8) + [0])])
    try connection.run(
      "UPDATE ZRECIPE SET ZPHOTO = ? WHERE Z_PK = 3", [.blob([2] + Array("THERE".utf8) + [0])])
    connection.close()
    let place = folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.makeDirectory(place)
    try FileSystem.write([1, 2, 3, 4], to: place + "/THERE")
    try FileSystem.write([1], to: place + "/LOST")
    let (files, report) = try Store(path: path).externalFiles()
    #expect(
      files == [
        ExternalFile(
          name: "GONE", state: .missing, bytes: 0, object: ObjectID("Recipe/p2"), property: "photo"),
        ExternalFile(name: "LOST", state: .orphaned, bytes: 1),
        ExternalFile(
          name: "THERE", state: .referenced, bytes: 4, object: ObjectID("Recipe/p3"),
          property: "photo"),
      ])
    #expect(report == ExternalDataReport(referenced: 2, missing: ["GONE"], orphaned: ["LOST"]))
    #expect(try Store(path: path).externalData() == report)
  }

  /// The columns as apps that read these tables publish them.
  private static let cloudKit = """
    CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZNEEDSLOCALDELETE INTEGER, ZNEEDSUPLOAD INTEGER, ZRECORDZONE INTEGER, ZCKRECORDNAME VARCHAR );
    CREATE TABLE ANSCKRECORDZONEMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLASTFETCHDATE TIMESTAMP, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR );
    CREATE TABLE ANSCKEVENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCLOUDKITEVENTTYPE INTEGER, ZCOUNTAFFECTEDOBJECTS INTEGER, ZCOUNTFINISHEDOBJECTS INTEGER, ZERRORCODE INTEGER, ZSUCCEEDED INTEGER, ZENDEDAT TIMESTAMP, ZSTARTEDAT TIMESTAMP, ZERRORDOMAIN VARCHAR );
    INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1, 5, 1, 0, 0, 1, 1, 'a'), (2, 1, 1, 5, 2, 1, 0, 1, 1, 'b'),
      (3, 1, 1, 4, 1, NULL, NULL, NULL, 1, 'c'), (4, 1, 1, 4, 2, 1, 1, 0, 1, 'd');
    INSERT INTO ANSCKRECORDZONEMETADATA VALUES (1, 1, 1, 700000000, '__defaultOwner__', 'com.apple.coredata.cloudkit.zone');
    INSERT INTO ANSCKEVENT VALUES (1, 1, 1, 0, 0, 0, 0, 1, 10.5, 10, NULL), (2, 1, 1, 1, 4, 4, 0, 1, 12.5, 11, NULL),
      (3, 1, 1, 2, 1, 0, 2, 0, 14, 13, 'CKErrorDomain');
    """

  @Test("CloudKit: zones, what waits, the last runs and their errors")
  func cloudKit() throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(Self.cloudKit)
    connection.close()
    let state = try #require(try Store(path: path).cloudKitState())
    #expect(
      state.entities == [
        .init(entity: "Author", records: 0, objects: [.neverExported: 1]),
        .init(entity: "Menu", records: 0, objects: [.neverExported: 1]),
        .init(entity: "Person", records: 0, objects: [.neverExported: 2]),
        .init(entity: "Recipe", records: 2, objects: [.synced: 2, .neverExported: 5]),
        .init(
          entity: "Tag", records: 2,
          objects: [.pendingUpload: 1, .pendingDelete: 1, .neverExported: 1]),
      ])
    #expect((state.backlog.pendingUploads, state.backlog.pendingDeletes) == (1, 1))
    #expect(
      state.zones == [
        .init(
          name: "com.apple.coredata.cloudkit.zone", owner: "__defaultOwner__", records: 4,
          lastFetch: 700_000_000)
      ])
    #expect(
      state.events == [
        .init(
          kind: .export, start: 13, end: 14, succeeded: false, objects: 0, error: "CKErrorDomain 2"),
        .init(kind: .import, start: 11, end: 12.5, succeeded: true, objects: 4),
        .init(kind: .setup, start: 10, end: 10.5, succeeded: true, objects: 0),
      ])
    #expect(state.lastImport == 12.5)
    #expect(state.lastExport == nil)
  }

  @Test("what waits for CloudKit: records, links, and what of history was not looked at")
  func cloudKitBacklog() throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let uuid = try Store(path: path).metadata.uuid
    func backlog(_ sql: String, _ values: [Value] = []) throws -> CloudKitBacklog? {
      let connection = try Connection(path: path, mode: .readWrite)
      values.isEmpty ? try connection.execute(sql) : try connection.run(sql, values)
      connection.close()
      return try Store(path: path).cloudKit()
    }
    #expect(try Store(path: path).cloudKit() == nil)
    var expected = CloudKitBacklog()
    (expected.pendingUploads, expected.pendingDeletes) = (1, 1)
    #expect(try backlog(Self.cloudKit) == expected)
    expected.pendingLinks = 2
    #expect(
      try backlog(
        """
        CREATE TABLE ANSCKMIRROREDRELATIONSHIP ( Z_PK INTEGER PRIMARY KEY, ZISUPLOADED INTEGER );
        INSERT INTO ANSCKMIRROREDRELATIONSHIP VALUES (1, 0), (2, 1), (3, NULL);
        """) == expected)
    (expected.unanalysedTransactions, expected.analysedChanges) = (3, 1)
    #expect(
      try backlog(
        """
        CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY );
        CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY );
        INSERT INTO ATRANSACTION VALUES (4), (5), (9);
        CREATE TABLE ANSCKHISTORYANALYZERSTATE ( Z_PK INTEGER PRIMARY KEY );
        INSERT INTO ANSCKHISTORYANALYZERSTATE VALUES (1);
        CREATE TABLE ANSCKMETADATAENTRY ( Z_PK INTEGER PRIMARY KEY, ZKEY VARCHAR, ZTRANSFORMEDVALUE BLOB );
        """) == expected)
    var archive = KeyedArchiveWriter()
    let entries = archive.dictionary(
      [(uuid, 5), ("other", 2)].map { (archive.string($0.0), archive.add(.integer($0.1))) })
    let token = archive.add(
      class: ["_NSPersistentHistoryToken", "NSPersistentHistoryToken", "NSObject"],
      ["NSPersistentHistoryTokenDictionary": entries])
    expected.unanalysedTransactions = 1
    #expect(
      try backlog(
        "INSERT INTO ANSCKMETADATAENTRY VALUES (1, 'NSCloudKitMirroringDelegateLastHistoryTokenKey', ?)",
        [.blob(archive.bytes(root: token))]) == expected)
    // What is no archive names no transaction, and that is said.
    (expected.unanalysedTransactions, expected.isTokenUnreadable) = (3, true)
    #expect(
      try backlog("UPDATE ANSCKMETADATAENTRY SET ZTRANSFORMEDVALUE = ?", [.blob([1])]) == expected)
  }

  @Test("tables of CloudKit without their columns are told as an empty state")
  func strangeCloudKit() throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("CREATE TABLE ANSCKEVENT (X); CREATE TABLE ANSCKRECORDMETADATA (Y)")
    connection.close()
    #expect(try Store(path: path).cloudKitState() == CloudKitState())
  }
}
