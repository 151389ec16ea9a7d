import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Persistent history through a migration")
struct HistoryTests {
  /// Entity numbers before: Author 1, Book 2, Manual 3, Novel 4, Chapter 5, Loan 6, Shelf 7.
  /// Afterwards: Aaa (the former Loan) 1, Author 2, Book 3, Novel 4, Chapter 5, Shelf 6.
  static let changes = [
    (
      #"<entity name="Manual" parentEntity="Book">"#
        + #"<attribute name="genre" optional="YES" attributeType="String"/>"# + "</entity>", ""
    ),
    (#"<entity name="Loan">"#, #"<entity name="Aaa" elementID="Loan">"#),
  ]

  /// The tables as Core Data makes them, seen in CartKitSwiftData_v1.sqlite (macOS 26).
  static let tables = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
    CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC);
    CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC);
    INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 8), (16002, 'TRANSACTION', 0, 2), (16003, 'TRANSACTIONSTRING', 0, 1);
    INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'org.example.library');
    INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZBUNDLEIDTS, ZTIMESTAMP, ZQUERYGEN) VALUES (1, 16002, 1, 1, 700000000.5, x'0102'), (2, 16002, 1, 1, 700000001.5, NULL);
    """

  /// One change of every entity, and a deletion of an Author that is gone.
  static let rows = """
    INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 1, NULL), (2, 16001, 1, 0, 2, 3, 1, NULL),
      (3, 16001, 1, 0, 3, 2, 1, NULL), (4, 16001, 1, 1, 4, 1, 1, x'0500'), (5, 16001, 1, 0, 5, 1, 1, NULL),
      (6, 16001, 1, 0, 6, 1, 2, NULL), (7, 16001, 1, 0, 7, 1, 2, NULL), (8, 16001, 1, 2, 1, 99, 2, NULL);
    """

  static func store(in folder: TemporaryFolder) throws -> String {
    let path = try Library.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(tables)
    try connection.execute(rows)
    connection.close()
    return path
  }

  /// The rows of a query, as SQLite's shell would show them.
  static func text(_ sql: String, _ path: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    return try connection.rows(sql).map { row in
      row.map { value in
        switch value {
        case .null: ""
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes): ByteText.hex(bytes)
        }
      }.joined(separator: "|")
    }
  }

  private static func migrated(_ path: String, to output: String) throws -> MigrationReceipt {
    let plan = try Library.plan(path, to: Library.model(replacing: changes))
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.output = output
    return try StoreMigration.runAndRead(plan, options: options)
  }

  @Test("changes follow their entities' new numbers; those of a removed entity go")
  func renumbered() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let output = folder.path("Result.sqlite")
    _ = try Self.migrated(path, to: output)
    let names = try Self.text(
      "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 100 ORDER BY Z_ENT", output)
    #expect(names == ["1|Aaa", "2|Author", "3|Book", "4|Novel", "5|Chapter", "6|Shelf"])
    let changes = try Self.text("SELECT * FROM ACHANGE ORDER BY Z_PK", output)
    #expect(
      changes == [
        "1|16001|1|0|2|1|1|", "2|16001|1|0|3|3|1|", "4|16001|1|1|4|1|1|0500",
        "5|16001|1|0|5|1|1|", "6|16001|1|0|1|1|2|", "7|16001|1|0|6|1|2|",
        "8|16001|1|2|2|99|2|",
      ])
  }

  @Test(
    "transactions, their strings and indexes stay as they are; one transaction more names the old model"
  )
  func kept() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let output = folder.path("Result.sqlite")
    let receipt = try Self.migrated(path, to: output)
    for sql in [
      "SELECT * FROM ATRANSACTION WHERE Z_PK < 3 ORDER BY Z_PK",
      "SELECT * FROM ATRANSACTIONSTRING WHERE Z_PK < 2",
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT >= 16000 ORDER BY Z_ENT",
      """
      SELECT name, sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING')
      ORDER BY name
      """,
    ] {
      let before = try Self.text(sql, path)
      #expect(!before.isEmpty)
      #expect(try Self.text(sql, output) == before)
    }
    #expect(try Self.text("SELECT count(*) FROM ATRANSACTION", output) == ["3"])
    #expect(try Store(path: output).warnings == [])
    // The changes of the Author that go, and what Core Data would delete.
    #expect(receipt.notes.contains { $0.contains("the 1 transaction up to the last") })
    #expect(receipt.notes.contains { $0.contains("2 transactions, 8 changes") })
  }

  @Test("every object that a change names is still the object it named")
  func objects() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let output = folder.path("Result.sqlite")
    _ = try Self.migrated(path, to: output)
    let store = try Store(path: output)
    let named = try Self.text(
      "SELECT ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE < 2", output)
    for line in named {
      let parts = line.split(separator: "|").compactMap { Int64($0) }
      let entity = try #require(store.entityNames[parts[0]])
      #expect(try store.object(ObjectID(entity: entity, key: parts[1])) != nil, "\(line)")
    }
  }

  @Test(
    "real history keeps every row and follows when all numbers shift",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: [
      ("coredataplus/SampleModel2/SampleModel2_V1.sqlite", 5468),
      ("system/knowledgec-10.13.db", 1115), ("cartkit/CartKitSwiftData_v1.sqlite", 1),
    ])
  func real(fixture: String, count: Int) throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: fixture)
    let store = try Store(path: path)
    // A new entity that comes first moves all the others by one.
    let model = try Model(
      entities: store.model.entities + [Entity("AAAA")],
      versionIdentifiers: store.model.versionIdentifiers)
    let output = folder.path("Result.sqlite")
    var options = MigrationOptions()
    options.output = output
    _ = try StoreMigration.runAndRead(
      store.plan(to: model, names: ("1", "2")), options: options)
    let migrated = try Store(path: output)
    func named(_ store: Store, _ path: String) throws -> [String] {
      try Self.text("SELECT ZENTITY, Z_PK, ZENTITYPK, ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK", path)
        .map { line in
          let parts = line.split(separator: "|", omittingEmptySubsequences: false)
          let entity = Int64(parts[0]).flatMap { store.entityNames[$0] } ?? "?"
          return "\(entity) \(parts.dropFirst().joined(separator: "|"))"
        }
    }
    let before = try named(store, path)
    #expect(before.count == count)
    #expect(try named(migrated, output) == before)
    let reserved =
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT >= 16000 ORDER BY Z_ENT"
    #expect(try Self.text(reserved, output) == Self.text(reserved, path))
    let number = "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'AAAA'"
    #expect(try Self.text(number, output) == ["1"])
  }
}
