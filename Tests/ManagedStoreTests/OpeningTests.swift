import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Opening a store")
struct OpeningTests {
  static let model = """
    <model><entity name="Note">
    <attribute name="text" optional="YES" attributeType="String"/>
    </entity></model>
    """

  /// A store with three rows in the file and two more in its -wal only, as after a crash.
  static func storeWithLog(in folder: TemporaryFolder) throws -> String {
    let live = folder.path("live.sqlite")
    try StoreCreation.create(
      at: live, model: Model(contents: Array(model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL")
    for key in 1...3 {
      try connection.execute("INSERT INTO ZNOTE VALUES (\(key), 1, 1, 'n\(key)')")
    }
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for key in 4...5 {
      try connection.execute("INSERT INTO ZNOTE VALUES (\(key), 1, 1, 'n\(key)')")
    }
    // A copy while the app is in it: what a support person gets off a phone.
    let path = folder.path("Notes.sqlite")
    try FileSystem.copyOver(live, to: path)
    try FileSystem.copyOver(live + "-wal", to: path + "-wal")
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) }
    return path
  }

  @Test("rows that only the -wal holds are seen, and nothing changes")
  func wal() throws {
    let folder = try TemporaryFolder()
    let path = try Self.storeWithLog(in: folder)
    let before = try folder.contents()
    do {
      let store = try Store(path: path)
      #expect(try store.counts() == ["Note": 5])
      #expect(store.access == .snapshot)
      #expect(store.wal.frames == 2)
      #expect(store.modelMatches)
    }
    #expect(try folder.contents() == before)
  }

  @Test("a -wal of another store is not applied, and said so")
  func foreignLog() throws {
    let folder = try TemporaryFolder()
    let path = try Self.storeWithLog(in: folder)
    var log = try FileSystem.read(path + "-wal")
    log[20] ^= 0xFF  // a salt of the header: no frame has it
    try FileSystem.write(log, to: path + "-wal")
    let store = try Store(path: path)
    #expect(try store.counts() == ["Note": 3])
    #expect(store.wal.frames == 0)
    #expect(store.warnings.contains { $0.contains("-wal") })
  }

  @Test("a store without a -wal is read in place, leaving no file")
  func immutable() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(Self.model.utf8)), uuid: "A")
    let before = try folder.contents()
    let store = try Store(path: path)
    #expect(try store.counts() == ["Note": 0])
    #expect(store.access == .immutable)
    #expect(try folder.contents() == before)
  }

  @Test("what is no store is told apart")
  func notAStore() throws {
    let folder = try TemporaryFolder()
    func message(_ name: String, _ bytes: [UInt8]?) throws -> CoreDataError? {
      if let bytes { try FileSystem.write(bytes, to: folder.path(name)) }
      do {
        _ = try Store(path: folder.path(name))
        return nil
      } catch let error as CoreDataError {
        #expect(error.kind == .unreadable)
        return error
      }
    }
    #expect(try message("absent", nil)?.message == "there is no such file")
    #expect(try message("empty", [])?.message == "the file is empty")
    #expect(
      try message("text", Array("hello\nworld".utf8))?.message
        == "not an SQLite store: it is text")
    #expect(
      try message("short", Array("SQLite format 3\0".utf8))?.message
        == "the file is cut off within its header")
    do {
      _ = try Store(path: folder.path)
      Issue.record("a folder was opened")
    } catch let error as CoreDataError {
      #expect(error.message == "this is a folder, not a store")
    }
    let database = try Connection(path: folder.path("plain.sqlite"), mode: .create)
    try database.execute("CREATE TABLE t (a)")
    database.close()
    #expect(
      try message("plain.sqlite", nil)?.message == "an SQLite database, but not a Core Data store")
  }

  @Test("a store of which nothing but its schema is left is refused; one that lacks a byte is read")
  func truncated() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(at: path, model: Model(contents: Array(Self.model.utf8)), uuid: "A")
    let bytes = try FileSystem.read(path)
    for size in [120, 4096] {
      try FileSystem.write(Array(bytes.prefix(size)), to: path)
      #expect(throws: CoreDataError.self) { try Store(path: path) }
    }
    try FileSystem.write(Array(bytes.dropLast()), to: path)
    let store = try Store(path: path)
    #expect(store.gaps.first?.contains("cut off") == true)
    #expect(try FileSystem.read(path) == Array(bytes.dropLast()))
  }

  @Test(
    "damaged bookkeeping is named",
    arguments: [
      ("UPDATE Z_METADATA SET Z_PLIST = x''", "Z_PLIST) is empty"),
      ("UPDATE Z_METADATA SET Z_PLIST = x'0102'", "is not a property list"),
      ("DELETE FROM Z_METADATA", "has no row"),
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'FFFFFFFF'", "does not inflate"),
    ])
  func bookkeeping(sql: String, message: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(at: path, model: Model(contents: Array(Self.model.utf8)), uuid: "A")
    do {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(sql)
    }
    do {
      _ = try Store(path: path)
      Issue.record("the store was opened")
    } catch let error as CoreDataError {
      #expect(error.message.contains(message))
      #expect(error.kind == .unreadable)
      #expect(error.path == path)
    }
  }

  @Test("a store that another program is writing to is left alone")
  func locked() throws {
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(at: path, model: Model(contents: Array(Self.model.utf8)), uuid: "A")
    let other = try OtherProgram(
      Tool.sqlite3.path,
      [
        path, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; CREATE TABLE t (a);",
        ".shell sleep 3600",
      ])
    defer { other.kill() }
    try other.wait { StoreLock.writer(of: path) != nil }
    do {
      _ = try Store(path: path)
      Issue.record("the store was opened")
    } catch let error as CoreDataError {
      #expect(error.kind == .failed)
      #expect(error.message.contains("is writing to the store"))
    }
  }

  @Test("external data names that lead elsewhere are refused")
  func externalNames() {
    #expect(StoreFiles.isExternalName("0A1B-x_Y"))
    for name in ["", "../../etc/passwd", "/etc/passwd", ".", "..", "a/b", "a\0b", "é"] {
      #expect(!StoreFiles.isExternalName(name))
    }
  }
}
