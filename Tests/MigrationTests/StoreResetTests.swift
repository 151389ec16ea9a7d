import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

@Suite("Resetting a store")
struct StoreResetTests {
  private let folder: TemporaryFolder
  private let path: String
  private let other: Model

  init() throws {
    folder = try TemporaryFolder()
    path = try Library.store(in: folder)
    other = try Library.model(
      "<model><entity name=\"Note\"><attribute name=\"text\" attributeType=\"String\"/></entity></model>"
    )
  }

  private func expectFresh(_ location: SourceLocation = #_sourceLocation) throws {
    let store = try Store(path: path)
    #expect(store.model.entities.map(\.name) == ["Note"], sourceLocation: location)
    #expect(try store.counts() == ["Note": 0], sourceLocation: location)
    #expect(store.warnings == [], sourceLocation: location)
    // Of version 4, as Core Data's are.
    let uuid = try #require(UUIDText.bytes(store.metadata.uuid), sourceLocation: location)
    #expect(uuid[6] >> 4 == 4 && uuid[8] >> 6 == 2, sourceLocation: location)
    let head = try FileSystem.read(path, limit: 20)
    #expect(Array(head[18..<20]) == [2, 2], "the header says WAL", sourceLocation: location)
    #expect(!FileSystem.isFile(path + "-wal"), sourceLocation: location)
    #expect(
      try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") },
      sourceLocation: location)
  }

  /// Numbers from 16001 on are those of persistent history.
  @Test("a model with more entities than there are numbers for is refused")
  func numbers() throws {
    let before = try folder.contents()
    let model = try Model(entities: (1...16_001).map { Entity("E\($0)") })
    let error = #expect(throws: CoreDataError.self) {
      try StoreReset.run(path: path, model: model)
    }
    #expect(error?.kind == .refused)
    #expect(error?.message.contains("16001 entities") == true)
    #expect(try folder.contents() == before)
  }

  @Test("an incompatible store is set aside and opens there")
  func incompatible() throws {
    let before = try StoreDump.lines(at: path)
    let bytes = try FileSystem.read(path)
    let receipt = try StoreReset.run(path: path, model: other)
    try expectFresh()
    let backup = try #require(receipt.backupPath)
    #expect(backup == folder.path("Library-backup-1.sqlite"))
    #expect(try FileSystem.read(backup) == bytes)
    #expect(try StoreDump.lines(at: backup) == before)
    guard case .incompatible = receipt.state else {
      Issue.record("\(receipt.state)")
      return
    }
    // A second reset takes the next name.
    let first = try StoreReset.run(path: path, model: Library.model(Library.version1))
    #expect(first.backupPath == folder.path("Library-backup-2.sqlite"))
  }

  @Test("a store that opens with the model is refused, unless forced")
  func compatible() throws {
    let model = try Library.model(Library.version1)
    let before = try folder.contents()
    #expect(throws: CoreDataError.self) { try StoreReset.run(path: path, model: model) }
    #expect(try folder.contents() == before)
    var options = StoreReset.Options()
    options.isForced = true
    let receipt = try StoreReset.run(path: path, model: model, options: options)
    #expect(receipt.state == .compatible)
    #expect(try Store(path: path).counts().values.allSatisfy { $0 == 0 })
    #expect(try Store(path: #require(receipt.backupPath)).counts()["Author"] == 2)
  }

  @Test("a damaged store is set aside byte for byte", arguments: [0, 10, 120, 5000])
  func damaged(size: Int) throws {
    let bytes = Array(try FileSystem.read(path).prefix(size))
    try FileSystem.write(bytes, to: path)
    let receipt = try StoreReset.run(path: path, model: other)
    try expectFresh()
    #expect(try FileSystem.read(#require(receipt.backupPath)) == bytes)
    guard case .unreadable = receipt.state else {
      Issue.record("\(receipt.state)")
      return
    }
  }

  @Test("a missing store is made, and a -wal left behind is set aside")
  func missing() throws {
    FileSystem.remove(path)
    try FileSystem.write([1, 2, 3], to: path + "-wal")
    let receipt = try StoreReset.run(path: path, model: other)
    #expect(receipt.state == .missing)
    #expect(receipt.backupPath == nil)
    let log = folder.path("Library-backup-1.sqlite-wal")
    #expect(receipt.setAside.contains(log))
    #expect(try FileSystem.read(log) == [1, 2, 3])
    try expectFresh()
  }

  /// A store whose last author only the -wal holds.
  private func makeLog() throws {
    let copy = folder.path("copy.sqlite")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
      INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (77, 1, 1, 'Cy');
      UPDATE Z_PRIMARYKEY SET Z_MAX = 77 WHERE Z_NAME = 'Author';
      """)
    try FileSystem.copyOver(path, to: copy)
    try FileSystem.copyOver(path + "-wal", to: copy + "-wal")
    connection.close()
    try FileSystem.rename(copy, to: path)
    try FileSystem.rename(copy + "-wal", to: path + "-wal")
    FileSystem.remove(path + "-shm")
  }

  @Test("rows that only the -wal holds are in the backup")
  func log() throws {
    try makeLog()
    let before = try StoreDump.lines(at: path)
    #expect(before.contains { $0.contains("Cy") })
    let receipt = try StoreReset.run(path: path, model: other)
    try expectFresh()
    #expect(try StoreDump.lines(at: #require(receipt.backupPath)) == before)
  }

  /// External data as a store of 300 kB covers has it.
  private func makeExternalData() throws -> String {
    let support = folder.path(".Library_SUPPORT")
    try FileSystem.makeDirectory(support + "/_EXTERNAL_DATA")
    try FileSystem.write([9, 9, 9], to: support + "/_EXTERNAL_DATA/AB-12")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      "UPDATE ZBOOK SET ZCOVER = x'0241422D313200' WHERE Z_PK = 1")
    return support
  }

  @Test("external data goes with the store, and the backup finds it")
  func externalData() throws {
    let support = try makeExternalData()
    let before = try StoreDump.lines(at: path)
    let receipt = try StoreReset.run(path: path, model: other)
    #expect(!FileSystem.isDirectory(support))
    let backup = try #require(receipt.backupPath)
    #expect(try StoreDump.lines(at: backup) == before)
    let report = try Store(path: backup).externalData()
    #expect(report.referenced > 0 && report.missing == [])
    try expectFresh()
  }

  @Test("the backup is deleted only when asked")
  func deleted() throws {
    _ = try makeExternalData()
    try makeLog()
    var options = StoreReset.Options()
    options.deletesBackup = true
    let receipt = try StoreReset.run(path: path, model: other, options: options)
    #expect(receipt.isBackupDeleted && receipt.backupPath == nil)
    #expect(try FileSystem.list(folder.path) == ["Library.sqlite"])
    try expectFresh()
    // A file that is no store is not deleted for the asking.
    try FileSystem.write(Array("my diary".utf8), to: path)
    #expect(throws: CoreDataError.self) {
      try StoreReset.run(path: path, model: other, options: options)
    }
    #expect(try FileSystem.read(path) == Array("my diary".utf8))
  }

  @Test(
    "a failure at any step leaves everything as it was, the -wal merged at most",
    arguments: Cutover.Step.allCases.filter { $0 != .done })
  func undone(step: Cutover.Step) throws {
    let support = try makeExternalData()
    try makeLog()
    let before = try InterruptedRun.state(of: folder.path)
    #expect(throws: CoreDataError.self) {
      try StoreReset.run(path: path, model: other, options: StoreReset.Options()) {
        if $0 == step { throw CoreDataError(.failed, "stopped") }
      }
    }
    #expect(try InterruptedRun.state(of: folder.path) == before)
    #expect(FileSystem.isFile(support + "/_EXTERNAL_DATA/AB-12"))
  }

  @Test("a store in use is refused and left alone")
  func locked() throws {
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    let program = try OtherProgram(
      Tool.sqlite3.path, [path, "BEGIN EXCLUSIVE; CREATE TABLE busy (a);", ".shell sleep 3600"])
    defer { program.kill() }
    try program.wait { StoreLock.user(of: path) != nil }
    do {
      _ = try StoreReset.run(path: path, model: other)
      Issue.record("the store was reset")
    } catch {
      #expect(error.message.contains("is using the store"), "\(error)")
      #expect(error.kind == .failed)
    }
    program.kill()
    FileSystem.remove(path + "-journal")
    #expect(try Store(path: path).counts()["Author"] == 2)
  }

  @Test("a store that another program merely has open, through a -wal, is refused")
  func open() throws {
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    let program = try OtherProgram(
      Tool.sqlite3.path,
      [path, "PRAGMA journal_mode = WAL; SELECT count(*) FROM ZAUTHOR;", ".shell sleep 3600"])
    defer { program.kill() }
    try program.wait { FileSystem.isFile(path + "-shm") && StoreLock.user(of: path) != nil }
    do {
      _ = try StoreReset.run(path: path, model: other)
      Issue.record("the store was reset")
    } catch {
      #expect(error.message.contains("is using the store"), "\(error)")
    }
    #expect(try !FileSystem.list(folder.path).contains { $0.contains("backup") })
  }

  @Test("a link stays a link, and a folder is refused")
  func places() throws {
    #expect(throws: CoreDataError.self) { try StoreReset.run(path: folder.path, model: other) }
    let away = try TemporaryFolder()
    let target = away.path("Real.sqlite")
    try FileSystem.rename(path, to: target)
    try #require(symbolicLink(path, to: target))
    let receipt = try StoreReset.run(path: path, model: other)
    #expect(receipt.backupPath == FileSystem.canonical(away.path) + "/Real-backup-1.sqlite")
    #expect(FileSystem.canonical(path) == FileSystem.canonical(target))
    #expect(try Store(path: target).model.entities.map(\.name) == ["Note"])
  }
}
