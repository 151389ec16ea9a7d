import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Join tables that earlier versions of strata named")
struct JoinNameRepairTests {
  /// `trustedBy` names the table of Client's own many-to-many; two columns would be called Z_3TEAMS, of
  /// which the walk numbers that of Other.
  private static let model = """
    <model>
    <entity name="Client">
      <relationship name="trusted" optional="YES" toMany="YES" ordered="YES" destinationEntity="Client" inverseName="trustedBy"/>
      <relationship name="trustedBy" optional="YES" toMany="YES" destinationEntity="Client" inverseName="trusted"/>
      <relationship name="teams" optional="YES" toMany="YES" destinationEntity="Team" inverseName="clients"/>
    </entity>
    <entity name="Other">
      <relationship name="teams" optional="YES" toMany="YES" destinationEntity="Team" inverseName="others"/>
    </entity>
    <entity name="Team">
      <relationship name="clients" optional="YES" toMany="YES" destinationEntity="Client" inverseName="teams"/>
      <relationship name="others" optional="YES" toMany="YES" destinationEntity="Other" inverseName="teams"/>
    </entity>
    </model>
    """

  /// A store of the model in which something is called otherwise.
  private static func store(in folder: TemporaryFolder, after sql: String) throws -> String {
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(contents: Array(model.utf8)))
    let clients = try (0..<3).map { _ in try writer.insert("Client") }
    let other = try writer.insert("Other")
    try writer.insert("Client", toMany: ["trusted": [clients[2], clients[0]]])
    try writer.insert("Team", toMany: ["clients": [clients[1]], "others": [other]])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    return path
  }

  @Test(
    "doctor finds them, and a repair gives the names of the walk",
    arguments: [
      // The other side's name, as was guessed within one entity.
      (
        "ALTER TABLE Z_1TRUSTEDBY RENAME TO Z_1TRUSTED", 1
      ),
      // The number on the other of two equal columns.
      (
        """
        ALTER TABLE Z_1TEAMS RENAME COLUMN Z_3TEAMS TO Z_3TEAMS1;
        ALTER TABLE Z_2TEAMS RENAME COLUMN Z_3TEAMS1 TO Z_3TEAMS
        """, 2
      ),
    ])
  func named(_ sql: String, _ findings: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try Store(path: Self.store(in: folder, after: ""))
    let (tables, lines) = (whole.database.sql, try StoreDump.lines(whole))
    #expect(whole.warnings == [])
    let other = try TemporaryFolder()
    let path = try Self.store(in: other, after: sql)
    #expect(try StoreDump.lines(at: path) == lines)
    let found = try Diagnosis(of: path).findings.filter { $0.kind == .joinName }
    #expect(found.count == findings)
    var options = RepairOptions()
    options.output = other.path("Mended.sqlite")
    _ = try StoreRepair.run(path: path, options: options)
    let mended = try Store(path: other.path("Mended.sqlite"))
    #expect(mended.database.sql == tables)
    #expect(try StoreDump.lines(mended) == lines)
    #expect(try Diagnosis(of: mended.path).findings.filter { $0.kind == .joinName }.isEmpty)
  }
}
