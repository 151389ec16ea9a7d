import Files
import ManagedModel
import Migration
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("verify compares what Core Data and apps keep beside the objects")
struct VerifyBookkeepingTests {
  private let place: StoreFolder
  private let before: String
  private let after: String

  /// A store with history and a table, an index and a trigger of the app's own, and a copy of it.
  init() throws {
    place = try StoreFolder()
    before = try place.add("Before.sqlite")
    after = place.folder.path("stores/After.sqlite")
    try Self.change(
      before,
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZTIMESTAMP FLOAT);
      CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
        ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 0), (2, 16002, 1, 1, 9);
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app');
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, Z_ENT, Z_PK, 1 + (Z_PK > 4), NULL FROM ZTAG WHERE Z_PK <= 8;
      INSERT INTO Z_PRIMARYKEY VALUES
        (16001, 'CHANGE', 0, 8), (16002, 'TRANSACTION', 0, 2), (16003, 'TRANSACTIONSTRING', 0, 1);
      CREATE TABLE APPNOTE (ID INTEGER PRIMARY KEY, TEXT);
      INSERT INTO APPNOTE VALUES (1, 'one'), (2, 'two');
      CREATE INDEX APPTITLE ON ZTAG (Z_OPT);
      CREATE TRIGGER APPTRIGGER AFTER DELETE ON APPNOTE BEGIN SELECT 1; END;
      """)
    try FileSystem.copyOver(before, to: after)
    try FileSystem.makeDirectory(StoreFiles(path: after).externalDataFolder)
    let folder = StoreFiles(path: before).externalDataFolder
    for name in (try? FileSystem.list(folder)) ?? [] {
      try FileSystem.copyOver(
        folder + "/" + name, to: StoreFiles(path: after).externalDataFolder + "/" + name)
    }
  }

  private static func change(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    for name in ["Insert", "Update", ""] {
      try connection.defineNullFunction("NSCoreDataDATrigger\(name)UpdatedAffectedObjectValue")
    }
    try connection.execute(sql)
    connection.close()
  }

  private struct Report: Decodable {
    struct Difference: Decodable {
      var part: String
      var message: String
      var count: Int
    }
    var same: Bool
    var differences: [Difference]
  }

  @Test("a copy is the same, with or without its bookkeeping")
  func same() {
    for options in [[], ["--ignore", "bookkeeping"]] {
      let told = Captured(["verify", before, after] + options)
      #expect(told.status == .done, "\(told.out)\(told.err)")
    }
  }

  @Test("a migrated store is the same but for what the migration leaves in its history")
  func migrated() throws {
    let result = place.folder.path("Migrated.sqlite")
    let run = Captured("migrate", before, "--to", place.bundle, "--output", result)
    #expect(run.status == .done, "\(run.err)")
    let told = Captured("verify", before, result)
    #expect(told.status == .done, "\(told.out)")
    #expect(told.flat.contains("transactions of history 2"), "\(told.out)")
    try Self.change(result, "DELETE FROM ACHANGE WHERE Z_PK = 3; DROP TABLE APPNOTE")
    let other = Captured("verify", before, result)
    #expect(other.status == .no)
    #expect(other.flat.contains("1 change of history is missing or new"), "\(other.out)")
    #expect(other.flat.contains("the table APPNOTE is missing"), "\(other.out)")
  }

  @Test(
    "each difference is named by its part",
    arguments: TestScale.some(
      6,
      of: [
        ("DELETE FROM ACHANGE", "history", "8 changes", true),
        ("DELETE FROM ATRANSACTION WHERE Z_PK = 2", "history", "1 transaction", true),
        (
          "INSERT INTO ATRANSACTION VALUES (3, 16002, 1, 1, 99)", "history",
          "history has 1 new transaction", true
        ),
        ("UPDATE ACHANGE SET ZENTITYPK = 99 WHERE Z_PK = 1", "history", "another ZENTITYPK", true),
        ("UPDATE ACHANGE SET ZCOLUMNS = x'01' WHERE Z_PK = 1", "history", "other properties", true),
        ("DROP TABLE ACHANGE", "history", "ACHANGE", true),
        (
          "UPDATE Z_METADATA SET Z_UUID = '11111111-2222-3333-4444-555555555555'", "uuid",
          "11111111-2222-3333-4444-555555555555", false
        ),
        ("DELETE FROM Z_MODELCACHE", "model-cache", "missing", false),
        ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'", "model-cache", "cannot be read", false),
        (
          "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Nobody' WHERE Z_NAME = 'Tag'", "primary-key", "Z_NAME",
          false
        ),
        (
          "UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_NAME = 'Tag'", "primary-key", "Z_SUPER",
          false
        ),
        (
          "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 5 WHERE Z_NAME = 'Tag'", "primary-key", "Z_MAX",
          true
        ),
        ("UPDATE APPNOTE SET TEXT = 'other' WHERE ID = 2", "other-tables", "APPNOTE", false),
        ("DROP TABLE APPNOTE", "schema", "APPNOTE is missing", false),
        ("ALTER TABLE APPNOTE ADD COLUMN MORE", "schema", "APPNOTE is not the same", false),
        ("DROP INDEX APPTITLE", "schema", "APPTITLE of ZTAG is missing", false),
        ("DROP TRIGGER APPTRIGGER", "schema", "APPTRIGGER is missing", false),
      ] as [(String, String, String, Bool)]))
  func parts(sql: String, part: String, message: String, isBookkeeping: Bool) throws {
    try Self.change(after, sql)
    let told = Captured("verify", before, after, "--to", before, "--json")
    #expect(told.status == .no, "\(told.out)")
    let report = try told.decoded(Report.self)
    #expect(!report.same)
    #expect(
      report.differences.contains { $0.part == part && $0.message.contains(message) },
      "\(told.out)")
    let ignoring = Captured(
      "verify", before, after, "--to", before, "--ignore", "bookkeeping")
    #expect(ignoring.status == (isBookkeeping ? .done : .no), "\(ignoring.out)")
  }

  @Test("metadata of the app, and an index of the model, by name")
  func names() throws {
    let connection = try Connection(path: after, mode: .readWrite)
    var metadata = try StoreMetadata(connection, path: after)
    metadata.values["AppKey"] = .string("new")
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
    let index = try #require(
      Store(path: before).database.indexes.first { $0.key.hasPrefix("Z_") && $0.value == "ZTAG" })
    try connection.execute("DROP INDEX \(quoted(index.key))")
    connection.close()
    let told = Captured("verify", before, after)
    #expect(told.status == .no)
    #expect(told.flat.contains("(AppKey)"), "\(told.out)")
    #expect(told.flat.contains("the index \(index.key) is missing"), "\(told.out)")
  }

  @Test("what is odd in both stores is no difference")
  func odd() throws {
    for path in [before, after] {
      let connection = try Connection(path: path, mode: .readWrite)
      var metadata = try StoreMetadata(connection, path: path)
      metadata.values["NSStoreModelVersionHashesDigest"] = nil
      metadata.values["NSStoreModelVersionChecksumKey"] = nil
      try connection.run(
        "UPDATE Z_METADATA SET Z_PLIST = ?",
        [.blob(PropertyList.binary(.dictionary(metadata.values)))])
      try connection.execute(
        """
        UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_NAME = 'Tag';
        UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'
        """)
      connection.close()
    }
    let model = place.bundle + "@Recipes"
    let told = Captured("verify", before, after, "--to", model, "--from", model)
    #expect(told.status == .done, "\(told.out)\(told.err)")
  }

  @Test("what is ignored has to have a name that is known")
  func unknown() {
    #expect(Captured("verify", before, after, "--ignore", "objects").status == .usage)
  }
}
