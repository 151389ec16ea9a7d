import Demo
import Files
import ManagedModel
import Migration
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

@Suite("rollback")
struct RollbackCommandTests {
  private let place: StoreFolder
  private let store: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
  }

  private struct Listed: Decodable {
    struct Backup: Decodable {
      let path, leftBy, modified: String
      let versionIdentifiers: [String]
      let objects: Int?
      let problem: String?
    }
    let backups: [Backup]
  }

  private struct Rolled: Decodable {
    struct Receipt: Decodable {
      let store, backup: String
      let undone: String?
      let backupRemoved: Bool
      let entities: [String: Int]
    }
    let rollback: Receipt
  }

  @Test("a backup whose log is cut off is put back when forced, is not called intact, and stays")
  func cutLog() throws {
    let connection = try Connection(path: store, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try connection.execute("UPDATE ZRECIPE SET ZTITLE = 'a'; UPDATE ZRECIPE SET ZTITLE = 'b'")
    let log = try FileSystem.read(store + "-wal")
    let main = try FileSystem.read(store)
    connection.close()
    try FileSystem.write(main, to: store)
    try FileSystem.write(Array(log.dropLast(5000)), to: store + "-wal")
    FileSystem.remove(store + "-shm")
    let reset = Captured("reset", store, "--model", place.bundle + "@Recipes 3")
    #expect(
      reset.out.contains("the old store is damaged: the rollback needs --force"), "\(reset.out)")
    let backup = try #require(StoreBackup.all(of: store).first).path
    let kept = try FileSystem.read(backup + "-wal")

    let refused = Captured("rollback", store)
    #expect(refused.status == .refused && refused.err.contains("the backup is damaged: "))
    #expect(!refused.err.contains(".:"), "\(refused.err)")
    let forced = Captured("rollback", store, "--force")
    #expect(forced.status == .done, "\(forced.err)")
    #expect(forced.out.contains("! holds what the backup held, which is damaged"), "\(forced.out)")
    #expect(!forced.out.contains("intact") && forced.out.contains("the backup stays: \(backup)"))
    #expect(try FileSystem.read(backup + "-wal") == kept)
  }

  @Test("a backup without a header is put back when that is forced, and is not called intact")
  func noHeader() throws {
    let reset = Captured("reset", store, "--model", place.bundle + "@Recipes 3")
    #expect(reset.out.contains("to roll back: ") && !reset.out.contains("--force"), "\(reset.out)")
    let backup = try #require(StoreBackup.all(of: store).first).path
    var bytes = try FileSystem.read(backup)
    bytes.replaceSubrange(..<100, with: repeatElement(7, count: 100))
    try FileSystem.write(bytes, to: backup)
    let plain = Captured("rollback", store)
    #expect(!plain.out.contains("intact"), "\(plain.out)")
    let forced = Captured("rollback", store, "--force")
    #expect(!forced.out.contains("intact"), "\(forced.out)")
  }

  @Test("a migration is listed, undone and done again")
  func migration() throws {
    let none = Captured("rollback", store, "--list")
    #expect(none.status == .no && none.out.contains("no backup"))
    #expect(Captured("rollback", store).status == .unreadable)
    let before = Captured("dump", store).out
    let objects = before.split(separator: "\n").count
    #expect(Captured("migrate", store, "--to", place.bundle).status == .done)
    let after = Captured("dump", store).out
    let list = try Captured("rollback", store, "--list", "--json").decoded(Listed.self)
    #expect(list.backups.map(\.path) == [place.folder.path("stores/App.backup-1")])
    #expect(
      list.backups.first?.versionIdentifiers == ["1"] && list.backups.first?.objects == objects)
    // ISO 8601 in UTC: the very moment of the file.
    let modified = try #require(list.backups.first?.modified)
    #expect(modified.hasSuffix("Z") && CoreDataDate.seconds(written: modified) != nil)
    #expect(modified == CoreDataDate.text(try #require(StoreBackup.all(of: store).first).modified))
    let text = Captured("rollback", store, "--list")
    #expect(text.status == .done && text.out.contains("App.backup-1  migration"))
    let rolled = Captured("rollback", store, "--json")
    #expect(rolled.status == .done, "\(rolled.err)")
    let receipt = try rolled.decoded(Rolled.self).rollback
    #expect(receipt.backupRemoved && receipt.entities.values.reduce(0, +) == objects)
    #expect(Captured("dump", store).out == before)
    let undone = try #require(receipt.undone)
    let again = Captured("rollback", store, "--from", undone, "--no-backup")
    #expect(again.status == .done && again.out.contains("rolled back to App.undone-1, version 2"))
    #expect(Captured("dump", store).out == after)
  }

  @Test("another store's backup is refused (3), unless forced")
  func foreign() throws {
    let other = place.folder.path("other")
    _ = try DemoCommand.write(to: other, objects: 80)
    #expect(
      Captured("migrate", other + "/Recipes.sqlite", "--to", place.bundle).status == .done)
    // The demo's stores share their identity: this one gets another.
    let foreign = place.folder.path("foreign.sqlite")
    try StoreCreation.create(
      at: foreign, model: DemoModels.versions()[0].model, uuid: "FOREIGN")
    let refused = Captured("rollback", store, "--from", foreign)
    #expect(refused.status == .refused && refused.err.contains("--force"))
    #expect(Captured("rollback", store, "--from", foreign, "--force").status == .done)
    #expect(try Store(path: store).metadata.uuid == "FOREIGN")
    #expect(FileSystem.isFile(foreign))
  }

  @Test("a backup that cannot be opened is listed with why")
  func broken() throws {
    try FileSystem.write([1, 2, 3], to: place.folder.path("stores/App.backup-1"))
    let list = Captured("rollback", store, "--list")
    #expect(list.status == .done && list.out.contains("! App.backup-1: "))
    #expect(Captured("rollback", store).status == .unreadable)
    #expect(Captured("rollback", "/nowhere/App.sqlite", "--list").status == .unreadable)
  }
}
