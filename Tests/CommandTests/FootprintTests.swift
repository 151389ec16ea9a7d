import Files
import Interface
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import strata

/// What the interface's questions name is what the runs then make.
@Suite("What a change of a store keeps, told before it runs")
struct FootprintTests {
  private let folder: TemporaryFolder
  private let store: String
  private let model: String

  init() throws {
    folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 60)
    (store, model) = (demo.store, demo.model)
  }

  private var names: [String] {
    ((try? FileSystem.list(folder.path("demo"))) ?? []).sorted()
  }

  /// Asks, runs a command, and expects the backup that was named, with the size that was named.
  private func expect(_ request: Footprint.Request, _ command: String...) throws -> String {
    let before = names
    let footprint = Footprint(request, of: store)
    #expect(names == before, "asking touches nothing")
    let backup = try #require(footprint.backup)
    #expect(!before.contains(backup.name))
    let run = Captured(command)
    #expect(run.status == .done, "\(run.err)")
    #expect(names.filter { !before.contains($0) } == [backup.name], "\(names)")
    #expect(FileSystem.status(folder.path("demo/" + backup.name))?.size == backup.bytes)
    #expect(footprint.bytesFree ?? 0 > 0)
    return backup.name
  }

  @Test("a migration's backup, and what a rollback keeps of the store that was migrated")
  func migration() throws {
    let request = Footprint.Request.migration(MigrationOptions(), bytesNeeded: 7)
    #expect(Footprint(request, of: store).bytesNeeded == 7)
    #expect(
      try expect(request, "migrate", store, "--to", model + "@Recipes 2") == "Recipes.backup-1")
    let backup = try #require(StoreBackup.all(of: store).first)
    #expect(
      try expect(.rollback(backup), "rollback", store, "--from", backup.path) == "Recipes.undone-1")
  }

  @Test("where the first name is taken, the one that the run takes")
  func taken() throws {
    try FileSystem.write([1], to: folder.path("demo/Recipes.backup-1"))
    let name = try expect(
      .migration(MigrationOptions(), bytesNeeded: 0), "migrate", store, "--to",
      model + "@Recipes 2")
    #expect(name == "Recipes.backup-1-2")
  }

  @Test("a repair's backup, and none where only files are moved")
  func repair() throws {
    let connection = try Connection(path: store, mode: .readWrite)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    connection.close()
    let alone = Footprint(.repair([.externalOrphaned]), of: store)
    #expect(alone.backup == nil && alone.bytesNeeded == 0)
    #expect(try expect(.repair([.primaryKey]), "repair", store) == "Recipes.unrepaired-1")
  }

  @Test("a new store takes the room of the store and its external data, and has no backup")
  func newStore() throws {
    let footprint = Footprint(.newStore(path: folder.path("demo/New.sqlite")), of: store)
    #expect(footprint.backup == nil)
    #expect(footprint.bytesNeeded >= FileSystem.status(store)?.size ?? .max)
  }

  @Test("what an interrupted run left is named, and neither a look nor --plain touches it")
  func leftovers() throws {
    #expect(StoreLeftovers(of: store).isEmpty)
    let work = ".strata-migrating-Recipes.sqlite-abcdef"
    try FileSystem.write([1, 2, 3], to: folder.path("demo/" + work))
    try FileSystem.write(
      Array("strata-run-1\0migration\0work\0\(work)\0".utf8),
      to: folder.path("demo/.strata-journal-Recipes.sqlite"))
    let before = names
    let found = StoreLeftovers(of: store)
    #expect(found.isRecoverable && found.sentences.count == 1)
    #expect(found.sentences.first?.contains(work) == true)
    #expect(Footprint(.repair([.primaryKey]), of: store).leftovers == found)
    let plain = Captured("--plain", store)
    #expect(plain.out.contains(work), "\(plain.out)")
    #expect(names == before)
    #expect(!StoreMigration.cleanUp(after: store).isEmpty)
    #expect(StoreLeftovers(of: store).isEmpty && !names.contains(work))
  }
}
