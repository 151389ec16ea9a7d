import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite(
  "Stores that Apple's engine wrote", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureStoreTests {
  static let stores = TestScale.some(
    12,
    of: [".sqlite", ".wiredatabase", ".moody", ".db"].flatMap { Fixtures.paths(endingWith: $0) }
      // No model cache: they open raw, see RawStoreTests.
      .filter { !$0.hasSuffix("kik.sqlite") && !$0.hasSuffix("bookmigration/Model1.sqlite") })

  @Test("the model in a store hashes as its metadata says", arguments: stores)
  func hashes(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    #expect(store.model.versionHashes == store.metadata.versionHashes)
    if let digest = store.metadata.digest { #expect(store.model.versionHashesDigest == digest) }
    if let checksum = store.metadata.checksum { #expect(store.model.versionChecksum == checksum) }
    #expect(store.warnings == [])
  }

  @Test("the model cache we write is read back with the same hashes", arguments: stores)
  func modelCache(path: String) throws {
    let model = try Store(path: Fixtures.path(path)).model
    let cache = try ModelCache.deflate(model.archived())
    #expect(try Model(archive: ModelCache.inflate(cache)).versionHashes == model.versionHashes)
  }

  /// Photos and wire 2-3 name join tables within one entity or across a hierarchy from the other
  /// side; the rest of the wire stores were migrated in place, so their columns are appended.
  static let fresh = stores.filter {
    !$0.hasPrefix("wire/") && !$0.hasPrefix("system/Photos")
  }

  @Test("a fresh store has the tables and columns that Apple's has, in order", arguments: fresh)
  func columns(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    let folder = try TemporaryFolder()
    let out = folder.path("fresh.sqlite")
    try StoreCreation.create(at: out, model: store.model, uuid: store.metadata.uuid)
    let made = try Store(path: out)
    for table in made.database.tables.keys.sorted() {
      #expect(
        made.database.tables[table]?.map { "\($0.name) \($0.type)" }
          == store.database.tables[table]?.map { "\($0.name) \($0.type)" }, "\(table)")
    }
  }

  @Test(
    "a store migrated in place has the columns a fresh one has",
    arguments: stores.filter { $0.hasPrefix("wire/") && !$0.hasSuffix("store2-3.wiredatabase") })
  func migratedColumns(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    let schema = StoreSchema(model: store.model)
    for table in schema.tables {
      #expect(
        Set(table.columns.map(\.name)).union(["Z_PK", "Z_ENT", "Z_OPT"])
          == store.database.columns(of: table.name), "\(table.name)")
    }
    for join in schema.joins { #expect(store.database.contains(join.name), "\(join.name)") }
  }

  @Test("a store without metadata is refused in a sentence")
  func refused() {
    for (path, message) in [
      ("system/NotesV7.storedata", "is empty")
    ] {
      do {
        _ = try Store(path: Fixtures.path(path))
        Issue.record("\(path) was opened")
      } catch let error as CoreDataError {
        #expect(error.message.contains(message), "\(error)")
        #expect(error.hint != nil)
      } catch {
        Issue.record("\(error)")
      }
    }
  }
}
