import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Tables of the model that are missing")
struct MissingTableTests {
  private static let model = """
    <model>
    <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/>
    <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books" inverseEntity="Tag"/></entity>
    <entity name="Tag"><attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="kind" optional="YES" attributeType="String"/>
    <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints></entity>
    </model>
    """

  /// A book, and tables that are gone.
  private static func store(
    in folder: TemporaryFolder, tags: Int = 0
  ) throws -> (path: String, objects: Set<String>) {
    let path = folder.path("Books.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(Self.model.utf8)), uuid: "A")
    let store = try Store(path: path)
    let join = try #require(store.schema.joins.first)
    let connection = try Connection(path: path, mode: .readWrite)
    let objects = Set(
      try connection.rows("SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master")
        .compactMap { $0.first?.text })
    try connection.execute(
      """
      PRAGMA secure_delete = OFF;
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, \(store.schema.numbers["Book"] ?? 0), 1, 'One');
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(tags) WHERE Z_NAME = 'Tag';
      INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
      WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(tags))
      SELECT k, \(store.schema.numbers["Tag"] ?? 0), 1, 'tag ' || k FROM n WHERE k <= \(tags);
      DROP TABLE ZTAG; DROP TABLE \(quoted(join.name));
      """)
    connection.close()
    return (path, objects)
  }

  @Test("those that never held anything are made, with their indexes, where that is asked for")
  func unused() throws {
    let folder = try TemporaryFolder()
    let (path, objects) = try Self.store(in: folder)
    let finding = try #require(
      Diagnosis(of: path).findings.first { $0.kind == .tableMissing })
    #expect(finding.count == 2 && finding.severity == .error)
    #expect(finding.command?.typed == "strata repair \(path) --fix table-missing")
    // Not unasked.
    #expect(try !StoreRepair.run(path: path).receipt.isDone)
    var options = RepairOptions()
    options.kinds = [.tableMissing]
    let receipt = try StoreRepair.run(path: path, options: options).receipt
    #expect(receipt.isDone && receipt.left.isEmpty)
    let connection = try Connection(path: path, mode: .immutable)
    let made = Set(
      try connection.rows("SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master")
        .compactMap { $0.first?.text })
    #expect(made == objects)
    #expect(try !Diagnosis(of: path).findings.contains { $0.severity != .note })
  }

  @Test(
    "one that held objects is refused, with the command that looks for them, unless it is forced")
  func used() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.store(in: folder, tags: 40)
    let findings = try Diagnosis(of: path).findings.filter { $0.kind == .tableMissing }
    #expect(findings.contains { $0.command?.typed == "strata undelete \(path)" && $0.count == 1 })
    #expect(findings.contains { $0.sentence.contains("40 keys") })
    var options = RepairOptions()
    options.kinds = [.tableMissing]
    let error = #expect(throws: CoreDataError.self) {
      try StoreRepair.run(path: path, options: options)
    }
    #expect(error?.kind == .refused)
    #expect(error?.typedHint?.contains("strata undelete \(path)") == true)
    options.isForced = true
    #expect(try StoreRepair.run(path: path, options: options).receipt.isDone)
  }
}
