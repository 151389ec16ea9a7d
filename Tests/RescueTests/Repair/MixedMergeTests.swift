import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Equal objects of several entities of one table")
struct MixedMergeTests {
  private static let model = """
    <model>
    <entity name="Person"><attribute name="mail" optional="YES" attributeType="String"/>
    <relationship name="notes" optional="YES" toMany="YES" destinationEntity="Note" inverseName="about" inverseEntity="Note"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="mail"/></uniquenessConstraint></uniquenessConstraints></entity>
    <entity name="Customer" parentEntity="Person"/>
    <entity name="Worker" parentEntity="Person">
    <relationship name="team" optional="YES" maxCount="1" destinationEntity="Team" inverseName="workers" inverseEntity="Team"/>
    <relationship name="leads" optional="YES" toMany="YES" destinationEntity="Team" inverseName="leader" inverseEntity="Team"/>
    <relationship name="skills" optional="YES" toMany="YES" destinationEntity="Skill" inverseName="workers" inverseEntity="Skill"/></entity>
    <entity name="Note"><relationship name="about" optional="YES" maxCount="1" destinationEntity="Person" inverseName="notes" inverseEntity="Person"/></entity>
    <entity name="Skill"><relationship name="workers" optional="YES" toMany="YES" destinationEntity="Worker" inverseName="skills" inverseEntity="Worker"/></entity>
    <entity name="Team"><relationship name="workers" optional="YES" toMany="YES" destinationEntity="Worker" inverseName="team" inverseEntity="Worker"/>
    <relationship name="leader" optional="YES" maxCount="1" destinationEntity="Worker" inverseName="leads" inverseEntity="Worker"/></entity>
    </model>
    """

  /// A worker (1) and a customer (2) of one mail address; the worker leads a team, has a skill and a note.
  private static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("People.sqlite")
    let model = try Model(contents: Array(Self.model.utf8))
    try StoreCreation.create(at: path, model: model, uuid: "A")
    let store = try Store(path: path)
    let join = try #require(store.schema.joins.first)
    func number(_ entity: String) throws -> Int64 { try #require(store.schema.numbers[entity]) }
    let (worker, customer) = (try number("Worker"), try number("Customer"))
    let leader = try #require(store.table(of: "Team")?.storage(of: "leader"))
    let about = try #require(store.table(of: "Note")?.storage(of: "about"))
    func entity(_ column: String?, _ number: Int64) -> String {
      column.map { ", \(quoted($0)) = \(number)" } ?? ""
    }
    let workers = join.entity == "Worker" ? join.first : join.second
    let skills = join.entity == "Worker" ? join.second : join.first
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      DROP INDEX Z_Person_UNIQUE_mail;
      INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZMAIL) VALUES (1, \(worker), 1, 'a'), (2, \(customer), 1, 'a');
      INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZLEADER) VALUES (1, \(try number("Team")), 1, 1);
      UPDATE ZTEAM SET ZLEADER = 1\(entity(leader.entityColumn, worker));
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZABOUT) VALUES (1, \(try number("Note")), 1, 1);
      UPDATE ZNOTE SET ZABOUT = 1\(entity(about.entityColumn, worker));
      INSERT INTO ZSKILL (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(try number("Skill")), 1);
      INSERT INTO \(quoted(join.name)) (\(quoted(workers)), \(quoted(skills))) VALUES (1, 1);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 2;
      """)
    connection.close()
    return path
  }

  @Test(
    "one stays, with the links that its entity can have; the repair verifies",
    arguments: RepairOptions.Kept.allCases)
  func merge(kept: RepairOptions.Kept) throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    var options = RepairOptions()
    options.kept = kept
    let receipt = try StoreRepair.run(path: path, options: options).receipt
    #expect(receipt.isDone)
    let connection = try Connection(path: path, mode: .immutable)
    func value(_ sql: String) throws -> Value? { try connection.value(sql) }
    let key: Int64 = kept == .newest ? 2 : 1
    #expect(try value("SELECT group_concat(Z_PK) FROM ZPERSON") == .text("\(key)"))
    // A note is about any person, a team is led by a worker alone.
    #expect(try value("SELECT ZABOUT FROM ZNOTE") == .integer(key))
    #expect(try value("SELECT ZLEADER FROM ZTEAM") == (kept == .newest ? .null : .integer(1)))
    let store = try Store(path: path)
    let join = try #require(store.schema.joins.first)
    #expect(
      try value("SELECT count(*) FROM \(quoted(join.name))") == .integer(kept == .newest ? 0 : 1))
    #expect(try !Diagnosis(of: path).findings.contains { $0.severity != .note })
  }
}
