import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("A folder of external data that several stores share")
struct SharedSupportTests {
  /// The library, a backup of it from before a migration, and another store of the same stem.
  private struct Place {
    let folder: TemporaryFolder
    let path: String
    let backup: String
    let other: String

    init() throws {
      folder = try TemporaryFolder()
      path = try Library.store(in: folder, books: 9)
      backup = folder.path("Library.backup-1")
      other = folder.path("Library.store")
      _ = try StoreMigration.runAndRead(Library.plan(path, to: InterruptedRun.next()))
      // Another store, made elsewhere: its files come to lie in the same folder.
      let elsewhere = try TemporaryFolder()
      let writer = try StoreWriter(
        creating: elsewhere.path("Library.store"), model: Library.model(Library.version1),
        uuid: "99999999-2222-4333-8444-555555555555")
      let ann = try writer.insert("Author", attributes: ["name": .string("Ann")])
      try writer.insert(
        "Book",
        attributes: [
          "title": .string("T"), "cover": .bytes([UInt8](repeating: 9, count: 200_000)),
        ],
        toOne: ["author": ann])
      try writer.finish()
      try FileSystem.copy(elsewhere.path("Library.store"), to: other)
      for name in try FileSystem.list(elsewhere.path(".Library_SUPPORT/_EXTERNAL_DATA")) {
        try FileSystem.copy(
          elsewhere.path(".Library_SUPPORT/_EXTERNAL_DATA/" + name),
          to: folder.path(".Library_SUPPORT/_EXTERNAL_DATA/" + name))
      }
    }

    /// What a store holds, external data included.
    func lines(_ path: String) throws -> [String] { try StoreDump.lines(at: path) }
    func missing(_ path: String) throws -> [String] { try Store(path: path).externalData().missing }
  }

  @Test("keeps what other stores and older backups name after a reset", arguments: [true, false])
  func reset(deletes: Bool) throws {
    let place = try Place()
    let (backup, other) = (try place.lines(place.backup), try place.lines(place.other))
    #expect(try place.missing(place.backup) == [] && place.missing(place.other) == [])
    var options = StoreReset.Options()
    options.deletesBackup = deletes
    let before = try place.lines(place.path)
    let receipt = try StoreReset.run(
      path: place.path, model: Library.model(InterruptedRun.note), options: options)
    #expect(try place.lines(place.backup) == backup)
    #expect(try place.lines(place.other) == other)
    #expect(
      receipt.notes.contains { $0.contains("Library.backup-1") && $0.contains("Library.store") })
    if deletes {
      #expect(!FileSystem.isDirectory(place.folder.path(".Library-backup-1_SUPPORT")))
      #expect(receipt.backupPath == nil)
    } else {
      #expect(try place.lines(#require(receipt.backupPath)) == before)
      // And the way back.
      _ = try StoreRollback.run(path: place.path)
      #expect(try place.lines(place.path) == before)
      #expect(try place.lines(place.backup) == backup)
      #expect(try place.lines(place.other) == other)
    }
  }

  @Test("is told of where a store in it cannot be read: then all of it is kept")
  func unreadable() throws {
    let place = try Place()
    let data = place.folder.path(".Library_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.write(FileSystem.read(place.other, limit: 3000), to: place.other)
    let sharing = SupportSharing(of: place.path)
    #expect(sharing.unreadable == ["Library.store"] && sharing.stores == ["Library.backup-1"])
    #expect(sharing.isNamed("ANYTHING"))
    var options = StoreReset.Options()
    options.deletesBackup = true
    let all = try FileSystem.list(data)
    _ = try StoreReset.run(
      path: place.path, model: Library.model(InterruptedRun.note), options: options)
    #expect(try FileSystem.list(data) == all)
  }

  @Test("a store of its own stem alone takes its folder along")
  func alone() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    try FileSystem.write([1], to: folder.path("Library.txt"))
    try FileSystem.write([1], to: folder.path("Libraries.store"))
    let receipt = try StoreReset.run(path: path, model: Library.model(InterruptedRun.note))
    #expect(FileIdentity(of: folder.path(".Library_SUPPORT")) == nil)
    #expect(receipt.setAside.contains { $0.hasSuffix(".Library-backup-1_SUPPORT") })
  }

  @Test("other names of the store's file keep the old file, and plan and receipt say so")
  func hardLinks() throws {
    let place = try SafetyPlace()
    let second = place.folder.path("Second.sqlite")
    #expect(FileSystem.link(place.path, to: second))
    let old = try FileSystem.sha256(second)
    let plan = try SafetyCase.inPlace.plan(place.path)
    #expect(plan.notes.contains { $0.contains("1 other name") })
    let receipt = try StoreMigration.runAndRead(plan)
    #expect(
      receipt.notes.contains { $0.contains("1 other name") && $0.contains("only Library.sqlite") })
    #expect(try FileSystem.sha256(second) == old)
    let reset = try StoreReset.run(path: second, model: Library.model(InterruptedRun.note))
    // The migration's backup and this name are one file.
    #expect(reset.notes.contains { $0.contains("1 other name") }, "\(reset.notes)")
  }
}
