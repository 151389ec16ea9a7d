import ManagedModel
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Rescue

/// Another program shifted the entity IDs and left columns under the names that they had.
@Suite("Columns under the name of another entity ID")
struct ColumnNameRepairTests {
  /// Food has a subentity, so `favourite` has a column for the entity of what it leads to; `notes` has no
  /// inverse, so each Note has a column for its owner and one for its place.
  private static let model = """
    <model>
    <entity name="Food">
      <attribute name="name" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Fruit" parentEntity="Food"/>
    <entity name="Note">
      <attribute name="owner" optional="YES" attributeType="String"/>
      <attribute name="text" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Person">
      <relationship name="favourite" optional="YES" maxCount="1" destinationEntity="Food"/>
      <relationship name="owner" optional="YES" toMany="YES" ordered="YES" destinationEntity="Note"/>
    </entity>
    </model>
    """

  private static func store(in folder: TemporaryFolder, after sql: String = "") throws -> String {
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(contents: Array(model.utf8)))
    let fruit = try writer.insert("Fruit", attributes: ["name": .string("pear")])
    let notes = try ["first", "second"].map {
      try writer.insert("Note", attributes: ["text": .string($0)])
    }
    try writer.insert(
      "Person", toOne: ["favourite": fruit], toMany: ["owner": [notes[1], notes[0]]])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    return path
  }

  static let cases = [
    ("ALTER TABLE ZPERSON RENAME COLUMN Z1_FAVOURITE TO Z101_FAVOURITE", 1),
    (
      """
      ALTER TABLE ZNOTE RENAME COLUMN Z4OWNER TO Z104OWNER;
      ALTER TABLE ZNOTE RENAME COLUMN Z_FOK_4OWNER TO Z_FOK_104OWNER
      """, 2
    ),
  ]

  @Test("they are read, doctor and explain name them, and a repair renames them", arguments: cases)
  func named(_ sql: String, _ count: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try Store(path: Self.store(in: folder))
    let (tables, lines) = (whole.database.sql, try StoreDump.lines(whole))
    #expect(whole.drift == StoreDrift())
    let other = try TemporaryFolder()
    let path = try Self.store(in: other, after: sql)
    let store = try Store(path: path)
    #expect(try StoreDump.lines(store) == lines)
    #expect(store.drift.columnNames.count == count)
    #expect(store.drift.missingColumns == [] && store.drift.unexpectedColumns == [])
    #expect(try Diagnosis(of: path).findings.filter { $0.kind == .columnName }.count == count)
    var explanation = CompatibilityExplanation(
      hashes: store.metadata.versionHashes, source: store.model, model: store.model)
    explanation.ask(store, source: store.model, model: store.model)
    #expect(explanation.isCarried == false)
    #expect(explanation.checks.count == count)
    var options = RepairOptions()
    options.output = other.path("Mended.sqlite")
    _ = try StoreRepair.run(path: path, options: options)
    let mended = try Store(path: other.path("Mended.sqlite"))
    #expect(mended.database.sql == tables)
    #expect(try StoreDump.lines(mended) == lines)
    #expect(try Diagnosis(of: mended.path).findings.filter { $0.kind == .columnName }.isEmpty)
  }

  @Test("an undeletion keeps them, with what they hold", arguments: cases)
  func undeleted(_ sql: String, _ count: Int) throws {
    let folder = try TemporaryFolder()
    let lines = try StoreDump.lines(Store(path: Self.store(in: folder)))
    let other = try TemporaryFolder()
    let path = try Self.store(in: other, after: sql)
    let output = other.path("Undeleted.sqlite")
    _ = try Restoration(Undeletion(of: path)).run(.all(entity: nil), output: output)
    #expect(try StoreDump.lines(at: output) == lines)
  }

  @Test("a name that two columns could be of decides nothing: the column is missing")
  func ambiguous() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      in: folder,
      after: """
        ALTER TABLE ZPERSON RENAME COLUMN Z1_FAVOURITE TO Z101_FAVOURITE;
        ALTER TABLE ZPERSON ADD COLUMN Z102_FAVOURITE INTEGER
        """)
    let drift = try Store(path: path).drift
    #expect(drift.columnNames == [])
    #expect(drift.missingColumns.map(\.column) == ["Z1_FAVOURITE"])
    #expect(drift.unexpectedColumns.map(\.column) == ["Z101_FAVOURITE", "Z102_FAVOURITE"])
  }

  @Test("an attribute's column is never taken for a relationship's that is missing")
  func attribute() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      in: folder, after: "DROP INDEX ZNOTE_Z4OWNER_INDEX; ALTER TABLE ZNOTE DROP COLUMN Z4OWNER")
    #expect(try Store(path: path).drift.missingColumns.map(\.column) == ["Z4OWNER"])
  }
}
