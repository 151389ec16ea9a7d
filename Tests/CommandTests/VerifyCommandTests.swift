import Files
import ManagedModel
import Migration
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import StoreTables

@Suite("verify")
struct VerifyCommandTests {
  private let place: StoreFolder
  private let before: String
  private let after: String

  init() throws {
    place = try StoreFolder()
    before = try place.add("Before.sqlite")
    after = place.folder.path("After.sqlite")
    #expect(
      Captured("migrate", before, "--to", place.bundle, "--output", after).status == .done)
  }

  private func change(_ sql: String) throws {
    let connection = try Connection(path: after, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
  }

  @Test("a store and what it became are the same (0), and neither is changed")
  func same() throws {
    let contents = try place.folder.contents()
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .done)
    #expect(told.out.contains("✓ every compared object"))
    #expect(
      Captured("verify", before, after, "--to", place.bundle, "--via", place.bundle).status
        == .done)
    // The second store says itself what the first was to become.
    #expect(Captured("verify", before, after).status == .done)
    #expect(try place.folder.contents() == contents)
  }

  @Test(
    "two stores of one version: a store is the same as itself (0), and not as an emptied one (1)")
  func oneVersion() throws {
    let itself = Captured("verify", after, after, "--to", place.bundle)
    #expect(itself.status == .done, "\(itself.out)")
    #expect(!itself.flat.contains("values compared with the source 0"), "\(itself.out)")
    let copy = place.folder.path("Copy.sqlite")
    try FileSystem.copyOver(after, to: copy)
    let table = try #require(
      try Store(path: after).entityTables.first { try $0.isWholeTable && Self.count($0, after) > 0 }
    )
    try change("DELETE FROM \(table.table)")
    let told = Captured("verify", copy, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.out.contains("✗ \(table.entity)"), "\(told.out)")
    // Nothing says “changed 0” of what differs.
    #expect(told.out.contains("—"))
    #expect(Captured("verify", copy, after).out == told.out)
  }

  private static func count(_ table: EntityTable, _ path: String) throws -> Int64 {
    try Connection(path: path, mode: .immutable)
      .value("SELECT count(*) FROM \(table.table)")?.integer ?? 0
  }

  @Test("an entity that Z_PRIMARYKEY does not know is told (1)")
  func bookkeeping() throws {
    try change(
      "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = (SELECT max(Z_ENT) FROM Z_PRIMARYKEY WHERE Z_ENT < 16000)"
    )
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.flat.contains("Z_PRIMARYKEY has no row for the entity"), "\(told.out)")
  }

  @Test("an index that lets doubles in is told (1)")
  func uniqueness() throws {
    let store = try Store(path: after)
    let index = try #require(
      store.database.sql.first {
        $0.value.hasPrefix("CREATE UNIQUE INDEX") && $0.key.contains("Tag")
      })
    try change(
      "DROP INDEX \(index.key); \(index.value.replacing("CREATE UNIQUE INDEX", with: "CREATE INDEX"))"
    )
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.flat.contains("\(index.key) is not unique any more"), "\(told.out)")
  }

  @Test("a value that was changed is told with its object (1), in JSON too")
  func differs() throws {
    let table = try #require(try Store(path: after).entityTables.first { !$0.attributes.isEmpty })
    let entry = try #require(
      table.attributes.first { $0.attribute.type == .string && !$0.attribute.isDerived })
    try change("UPDATE \(table.table) SET \(entry.column) = 'other' WHERE Z_PK = 1")
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.out.contains("✗ \(table.entity).\(entry.attribute.name)"))
    #expect(told.out.contains("/p1"))
    let json = Captured("verify", before, after, "--to", place.bundle, "--json")
    #expect(json.status == .no)
    #expect(json.out.contains("\"same\":false"))
  }

  @Test("an object that is gone is told (1)")
  func gone() throws {
    let table = try #require(
      try Store(path: after).entityTables.first { table in
        try Store(path: after).counts()[table.entity] ?? 0 > 0
      })
    try change("DELETE FROM \(table.table) WHERE Z_ENT = \(table.entityID)")
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.flat.contains("objects are missing"))
  }

  @Test("a join table that is not called what Core Data looks for is told (1)")
  func joinTable() throws {
    let join = try #require(try Store(path: after).schema.joins.first)
    try change("ALTER TABLE \(join.name) RENAME TO Z_77\(join.relationship.uppercased())")
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.flat.contains("the table \(join.name) is missing"))
  }

  @Test("an index that is gone from a table which nothing changed is told (1)")
  func index() throws {
    let (old, new) = (try Store(path: before), try Store(path: after))
    let index = try #require(
      old.database.indexes.keys.sorted().first { name in
        guard let sql = old.database.sql[name], let table = old.database.indexes[name] else {
          return false
        }
        return new.database.sql[name] == sql && new.database.sql[table] == old.database.sql[table]
      })
    try change("DROP INDEX \(quoted(index))")
    let told = Captured("verify", before, after, "--to", place.bundle)
    #expect(told.status == .no)
    #expect(told.flat.contains("the index \(index) is missing"))
  }

  @Test("a store of another model is an answer, not a failure")
  func otherModel() {
    let told = Captured("verify", before, before, "--to", place.bundle)
    #expect(told.status != .done)
    #expect(told.err.contains("not of the model"))
  }
}
