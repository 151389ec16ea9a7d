import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Stores whose lightweight migration was deferred")
struct DeferredMigrationTests {
  private static let column = "_DEFERRED_0123456789ABCDEF0123456789ABCDEF__ZOLD"
  private static let key = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

  /// A store of `E { a }` that had `old` before.
  private static func store(in folder: TemporaryFolder, column: String = column) throws -> String {
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: model())
    try writer.insert("E", attributes: ["a": .string("A")])
    try writer.finish()
    var metadata = try Store(path: path).metadata.values
    metadata[key] = .boolean(true)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      "ALTER TABLE ZE ADD COLUMN \(column) VARCHAR; UPDATE ZE SET \(column) = 'gone'")
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(PropertyList.binary(.dictionary(metadata)))])
    connection.close()
    return path
  }

  private static func model(_ more: Attribute...) throws -> Model {
    var entity = Entity("E")
    entity.attributes = [Attribute("a", .string, optional: true)] + more
    return try Model(entities: [entity, Entity("F")])
  }

  @Test("it is current: nothing of it is drift, damage or a loss")
  func current() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.store(in: folder))
    #expect(store.drift == StoreDrift())
    #expect(store.warnings == [])
    #expect(
      store.deferredColumns.map { [$0.table, $0.name, $0.formerName] }
        == [["ZE", Self.column, "ZOLD"]])
    let note = try #require(store.deferral)
    #expect(note.contains("1 column of a removed property is still to be dropped: ZE.ZOLD."))
    #expect(store.notes.contains(note))
    let plan = try store.plan(
      to: Self.model(Attribute("b", .string, optional: true)), names: ("1", "2"))
    #expect(plan.losses == [] && plan.checks == [])
    #expect(plan.notes.contains(note))
  }

  @Test(
    "a migration drops the columns and removes the key", arguments: Way.allCases, [true, false])
  func migrated(way: Way, changesTable: Bool) throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    var entities = try Self.model().entities
    entities[changesTable ? 0 : 1].attributes.append(Attribute("b", .string, optional: true))
    let receipt = try HistoryFollowingTests.migrate(path, to: Model(entities: entities), way)
    #expect(receipt.losses == [])
    let store = try Store(path: path)
    #expect(store.deferredColumns == [] && store.deferral == nil)
    #expect(store.metadata.values[Self.key] == nil)
    #expect(try HistoryTests.text("SELECT ZA FROM ZE", path) == ["A"])
  }

  @Test(
    "a column that is only named like one is a column that the model does not know",
    arguments: [
      "_DEFERRED_0123__ZOLD", "_DEFERRED_0123456789ABCDEF0123456789ABCDEG__ZOLD",
      "_DEFERRED_0123456789ABCDEF0123456789ABCDEF__",
      "_DEFERRED_0123456789ABCDEF0123456789ABCDEF_ZOLD",
    ])
  func others(column: String) throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.store(in: folder, column: column))
    #expect(store.deferredColumns == [])
    #expect(store.drift.unexpectedColumns.map(\.column) == [column])
    // The key alone says so, too.
    #expect(store.deferral?.contains("no column is left") == true)
  }
}
