import Files
import ManagedModel
import ModelSearch
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

@Suite("Rolling a store back")
struct StoreRollbackTests {
  private let folder: TemporaryFolder
  private let path: String
  private let original: [String]
  private let bytes: [UInt8]

  init() throws {
    folder = try TemporaryFolder()
    path = try Library.store(in: folder)
    let support = folder.path(".Library_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.makeDirectory(support)
    try FileSystem.write([9, 9, 9], to: support + "/AB-12")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZBOOK SET ZCOVER = x'0241422D313200' WHERE Z_PK = 1")
    connection.close()
    original = try StoreDump.lines(at: path)
    bytes = try FileSystem.read(path)
  }

  private static func next() throws -> Model {
    try Library.model(replacing: [
      (
        #"<attribute name="label""#,
        #"<attribute name="room" optional="YES" attributeType="String" defaultValueString="r"/><attribute name="label""#
      )
    ])
  }

  /// Migrates to the next version.
  private func migrate() throws -> [String] {
    _ = try StoreMigration.runAndRead(Library.plan(path, to: Self.next()))
    return try StoreDump.lines(at: path)
  }

  private func names() throws -> [String] {
    try FileSystem.list(folder.path).filter { !$0.hasPrefix(".Library_SUPPORT") }
  }

  @Test("the newest backup of a migration comes back byte for byte, and what it replaced is kept")
  func migration() throws {
    let migrated = try migrate()
    #expect(migrated != original)
    let receipt = try StoreRollback.run(path: path)
    #expect(try FileSystem.read(path) == bytes)
    #expect(try StoreDump.lines(at: path) == original)
    let undone = folder.path("Library.undone-1")
    #expect(receipt.undonePath == undone)
    #expect(try StoreDump.lines(at: undone) == migrated)
    #expect(receipt.isBackupRemoved && receipt.backup.origin == .migration)
    #expect(receipt.contents.counts["Author"] == 2 && receipt.orphaned == [])
    #expect(receipt.missing == [])
    #expect(try names() == ["Library.sqlite", "Library.undone-1"])
    // And forward again.
    var options = StoreRollback.Options()
    options.from = undone
    options.keepsPresent = false
    let again = try StoreRollback.run(path: path, options: options)
    #expect(again.undonePath == nil)
    #expect(try StoreDump.lines(at: path) == migrated)
    #expect(try names() == ["Library.sqlite"])
  }

  @Test("two migrations are rolled back one after the other")
  func twice() throws {
    let second = try migrate()
    _ = try StoreMigration.runAndRead(
      Library.plan(path, to: Library.model(Library.version1)).allowing())
    let backups = StoreBackup.all(of: path)
    #expect(
      backups.map { FileSystem.name(of: $0.path) } == ["Library.backup-1-2", "Library.backup-1"])
    #expect(try backups.map { try $0.contents().counts["Author"] } == [2, 2])
    _ = try StoreRollback.run(path: path)
    #expect(try StoreDump.lines(at: path) == second)
    _ = try StoreRollback.run(path: path)
    #expect(try StoreDump.lines(at: path) == original)
    #expect(throws: CoreDataError.self) { try StoreRollback.run(path: path) }
    #expect(
      StoreBackup.all(of: path).map { FileSystem.name(of: $0.path) } == [
        "Library.undone-2", "Library.undone-1",
      ])
  }

  @Test("the highest number is the newest, also where lower ones were deleted")
  func numbers() throws {
    for _ in 1...3 {
      _ = try StoreMigration.runAndRead(Library.plan(path, to: Self.next()))
      _ = try StoreMigration.runAndRead(
        Library.plan(path, to: Library.model(Library.version1)).allowing())
      FileSystem.remove(folder.path("Library.backup-1"))
    }
    let all = StoreBackup.all(of: path).map { FileSystem.name(of: $0.path) }
    #expect(all.first == "Library.backup-1-6", "\(all)")
    #expect(all == all.sorted { ModelBundle.naturallyPrecedes($1, $0) })
  }

  @Test("a reset is undone with the external data it had set aside")
  func reset() throws {
    let other = try Library.model(
      "<model><entity name=\"Note\"><attribute name=\"text\" attributeType=\"String\"/></entity></model>"
    )
    _ = try StoreReset.run(path: path, model: other)
    #expect(StoreBackup.all(of: path).map(\.origin) == [.reset])
    let receipt = try StoreRollback.run(path: path)
    #expect(receipt.backup.origin == .reset)
    #expect(try StoreDump.lines(at: path) == original)
    #expect(try FileSystem.read(folder.path(".Library_SUPPORT/_EXTERNAL_DATA/AB-12")) == [9, 9, 9])
    #expect(
      try FileSystem.list(folder.path) == [
        ".Library_SUPPORT", "Library.sqlite", "Library.undone-1",
      ])
    #expect(try Store(path: #require(receipt.undonePath)).counts() == ["Note": 0])
  }

  @Test("rows that only the present store's -wal holds are in what is kept, the backup's come back")
  func logs() throws {
    let migrated = try migrate()
    func leaveLog(at path: String, _ name: String) throws {
      let copy = folder.path("copy")
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        """
        PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        UPDATE ZAUTHOR SET ZNAME = '\(name)' WHERE Z_PK = 1;
        """)
      try FileSystem.copyOver(path, to: copy)
      try FileSystem.copyOver(path + "-wal", to: copy + "-wal")
      connection.close()
      try FileSystem.rename(copy, to: path)
      try FileSystem.rename(copy + "-wal", to: path + "-wal")
      FileSystem.remove(path + "-shm")
    }
    try leaveLog(at: path, "Present")
    try leaveLog(at: folder.path("Library.backup-1"), "Former")
    let receipt = try StoreRollback.run(path: path)
    #expect(
      try StoreDump.lines(at: #require(receipt.undonePath))
        == migrated.map { $0.replacing("name=Ann ", with: "name=Present ") })
    #expect(
      try StoreDump.lines(at: path)
        == original.map { $0.replacing("name=Ann ", with: "name=Former ") })
    #expect(try names() == ["Library.sqlite", "Library.undone-1"])
  }

  @Test("external data that only the undone version names are told and stay")
  func orphans() throws {
    _ = try migrate()
    let file = folder.path(".Library_SUPPORT/_EXTERNAL_DATA/CD-34")
    try FileSystem.write([1], to: file)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZBOOK SET ZCOVER = x'0243442D333400' WHERE Z_PK = 2")
    connection.close()
    FileSystem.remove(folder.path(".Library_SUPPORT/_EXTERNAL_DATA/AB-12"))
    let receipt = try StoreRollback.run(path: path)
    #expect(receipt.orphaned == ["CD-34"] && receipt.missing == ["AB-12"])
    #expect(FileSystem.isFile(file))
  }

  @Test("another store's backup, a damaged one, and what is none are refused")
  func refused() throws {
    let migrated = try migrate()
    let backup = folder.path("Library.backup-1")
    let good = try FileSystem.read(backup)
    func expectRefusal(
      _ kind: CoreDataError.Kind, from: String? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
      let before = try folder.contents()
      var options = StoreRollback.Options()
      options.from = from
      let error = #expect(throws: CoreDataError.self, sourceLocation: location) {
        try StoreRollback.run(path: path, options: options)
      }
      #expect(error?.kind == kind, "\(String(describing: error))", sourceLocation: location)
      #expect(try folder.contents() == before, sourceLocation: location)
    }
    let connection = try Connection(path: backup, mode: .readWrite)
    try connection.execute("UPDATE Z_METADATA SET Z_UUID = 'other'")
    connection.close()
    try expectRefusal(.refused)
    for count in [0, 50, 5000] {
      try FileSystem.write(Array(good.prefix(count)), to: backup)
      try expectRefusal(.unreadable)
    }
    // A page in the middle is broken.
    var broken = good
    let root = try Connection(path: path, mode: .immutable).value(
      "SELECT rootpage FROM sqlite_master WHERE name = 'ZCHAPTER'")?.integer
    let start = (Int(try #require(root)) - 1) * 4096
    broken.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0xA5, count: 4096))
    try FileSystem.write(broken, to: backup)
    #expect(throws: CoreDataError.self) { try StoreRollback.run(path: path) }
    #expect(try StoreDump.lines(at: path) == migrated)
    try expectRefusal(.usage, from: path)
    try expectRefusal(.unreadable, from: folder.path("none"))
    #expect(throws: CoreDataError.self) { try StoreRollback.run(path: folder.path) }
  }

  @Test("a backup that lies elsewhere is put back when it is named, and stays")
  func elsewhere() throws {
    let other = try TemporaryFolder()
    let kept = other.path("kept.db")
    try FileSystem.copyOver(path, to: kept)
    _ = try migrate()
    var options = StoreRollback.Options()
    options.from = kept
    let receipt = try StoreRollback.run(path: path, options: options)
    #expect(!receipt.isBackupRemoved && receipt.backup.origin == .other)
    #expect(try FileSystem.read(kept) == bytes)
    #expect(try FileSystem.read(path) == bytes)
  }

  @Test("a store that cannot be read, or is gone, gives way", arguments: [true, false])
  func damaged(isMissing: Bool) throws {
    _ = try migrate()
    FileSystem.remove(path)
    if !isMissing {
      try FileSystem.write(Array("no store".utf8), to: path)
    }
    try FileSystem.write([1, 2, 3], to: path + "-wal")
    var options = StoreRollback.Options()
    if !isMissing {
      let error = #expect(throws: CoreDataError.self) { try StoreRollback.run(path: path) }
      #expect(error?.kind == .refused)
      options.isForced = true
    }
    let receipt = try StoreRollback.run(path: path, options: options)
    #expect(try FileSystem.read(path) == bytes)
    #expect(!FileSystem.isFile(path + "-wal"))
    #expect(try FileSystem.read(folder.path("Library.undone-1-wal")) == [1, 2, 3])
    #expect(receipt.undonePath == (isMissing ? nil : folder.path("Library.undone-1")))
  }

  @Test("a failure at any step before the rename leaves everything as it was")
  func failure() throws {
    let migrated = try migrate()
    let before = try folder.contents()
    for step in StoreRollback.Step.all.prefix(while: { $0 != .cutover(.done) }) {
      let error = #expect(throws: CoreDataError.self) {
        try StoreRollback.run(path: path, options: StoreRollback.Options()) {
          if $0 == step { throw CoreDataError(.failed, "stopped") }
        }
      }
      #expect(error?.message == "stopped", "\(step)")
      #expect(try folder.contents() == before, "\(step)")
    }
    #expect(try StoreDump.lines(at: path) == migrated)
    let receipt = try StoreRollback.run(path: path, options: StoreRollback.Options()) {
      if $0 == .removeBackup { throw CoreDataError(.failed, "stopped") }
    }
    #expect(!receipt.isBackupRemoved)
    #expect(try StoreDump.lines(at: path) == original)
  }

  @Test("a rollback that is cancelled leaves everything as it was")
  func cancelled() throws {
    _ = try migrate()
    let before = try folder.contents()
    for calls in 0..<4 {
      var left = calls
      let error = #expect(throws: CoreDataError.self) {
        try StoreRollback.run(
          path: path,
          isCancelled: {
            left -= 1
            return left < 0
          })
      }
      #expect(error?.kind == .cancelled && error?.code == 134120)
      #expect(try folder.contents() == before)
    }
  }

  @Test("a crash at any step leaves the old store or the backup in place, whole")
  func crash() throws {
    let migrated = try migrate()
    var seen: [StoreRollback.Step] = []
    _ = try StoreRollback.run(path: path, options: StoreRollback.Options()) { step in
      seen.append(step)
      // What the disk holds now is what a crash would leave.
      let image = try TemporaryFolder()
      for name in try FileSystem.list(folder.path) where FileSystem.isFile(folder.path(name)) {
        try FileSystem.copyOver(folder.path(name), to: image.path(name))
      }
      let cover = "cover="
      let isDone = [.cutover(.done), .verify, .removeBackup].contains(step)
      let lines = try StoreDump.lines(at: image.path("Library.sqlite"))
      // External data are not in the image: its covers differ, all else is compared.
      func plain(_ lines: [String]) -> [String] {
        lines.map {
          $0.split(separator: " ").filter { !$0.hasPrefix(cover) }.joined(separator: " ")
        }
      }
      #expect(plain(lines) == plain(isDone ? original : migrated), "\(step)")
      #expect(
        try plain(StoreDump.lines(at: image.path("Library.backup-1"))) == plain(original),
        "\(step)")
    }
    #expect(seen == StoreRollback.Step.all)
  }

  @Test("a reset's rollback that fails takes the external data it brought away again")
  func failedReset() throws {
    _ = try StoreReset.run(
      path: path, model: Library.model("<model><entity name=\"Note\"/></model>"))
    #expect(throws: CoreDataError.self) {
      try StoreRollback.run(path: path, options: StoreRollback.Options()) {
        if $0 == .cutover(.rename) { throw CoreDataError(.failed, "stopped") }
      }
    }
    #expect(!FileSystem.isFile(folder.path(".Library_SUPPORT/_EXTERNAL_DATA/AB-12")))
    #expect(FileSystem.isFile(folder.path(".Library-backup-1_SUPPORT/_EXTERNAL_DATA/AB-12")))
  }

  @Test("a store or a backup in use is refused, and so is a second strata")
  func inUse() throws {
    _ = try migrate()
    let before = try folder.contents()
    do {
      let journal = try MigrationJournal(storePath: path)
      let error = #expect(throws: CoreDataError.self) { try StoreRollback.run(path: path) }
      #expect(error?.message.contains("another strata") == true)
      withExtendedLifetime(journal) {}
    }
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    for file in [path, folder.path("Library.backup-1")] {
      let program = try OtherProgram(
        Tool.sqlite3.path, [file, "BEGIN EXCLUSIVE;", ".shell sleep 3600"])
      defer { program.kill() }
      try program.wait { StoreLock.user(of: file) != nil }
      let error = #expect(throws: CoreDataError.self) { try StoreRollback.run(path: path) }
      #expect(error?.kind == .failed && error?.message.contains("is using the") == true)
    }
    for (name, bytes) in before { #expect(try FileSystem.read(folder.path(name)) == bytes) }
  }

  @Test(
    "Apple's stores come back as they were",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixture() throws {
    let store = try folder.copy(fixture: "wire/store2-6.wiredatabase", as: "wire.sqlite")
    let before = try StoreDump.lines(at: store)
    let bundle = Fixtures.path("wire/zmessaging.xcdatamodeld")
    let to = try ModelReference(bundle + "@zmessaging2.7").load().model
    let plan = try Store(path: store).plan(to: to, names: ("2.6", "2.7"))
    _ = try StoreMigration.runAndRead(plan.allowing())
    let receipt = try StoreRollback.run(path: store)
    #expect(try StoreDump.lines(at: store) == before)
    #expect(receipt.contents.versionIdentifiers == ["2.6"])
  }
}

extension MigrationPlan {
  /// The plan without its losses, as if all of them were allowed.
  fileprivate func allowing() -> MigrationPlan {
    var copy = self
    copy.losses = []
    return copy
  }
}
