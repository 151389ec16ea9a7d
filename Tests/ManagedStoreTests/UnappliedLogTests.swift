import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("A -wal that is not applied")
struct UnappliedLogTests {
  /// A store whose -wal is spoiled: three rows in the file, two more in a -wal of two frames.
  private static func store(
    in folder: TemporaryFolder, _ spoil: (inout [UInt8]) -> Void
  ) throws -> String {
    let path = try OpeningTests.storeWithLog(in: folder)
    var log = try FileSystem.read(path + "-wal")
    spoil(&log)
    try FileSystem.write(log, to: path + "-wal")
    return path
  }

  @Test(
    "its frames are counted, and the reason is told",
    arguments: [
      ("header", 2, "its header is damaged"), ("salts", 2, "salt mismatch"),
      ("cut", 1, "ends before the transaction"), ("bit", 1, "a checksum is wrong"),
      ("zeros", 1, "zeros are in"),
    ])
  func reasons(damage: String, frames: Int, reason: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder) { log in
      let frame = (log.count - 32) / 2
      switch damage {
      case "header": for index in 0..<32 { log[index] = 0 }
      case "salts":
        // Those of the frames: the header's own checksum stays right.
        for index in 0..<2 { log[32 + index * frame + 8] ^= 0x55 }
      case "cut": log.removeLast(1000)
      case "bit": log[32 + frame + 24 + 2000] ^= 1
      default: for index in (32 + frame)..<log.count { log[index] = 0 }
      }
    }
    let before = try folder.contents()
    let store = try Store(path: path)
    #expect(store.wal.unapplied?.frames == frames)
    #expect(store.unappliedFrames == frames)
    #expect(store.gaps.count == 1)
    #expect(store.gaps.first?.contains(reason) == true)
    #expect(store.gaps.first?.contains(frames == 1 ? "1 frame of" : "2 frames of") == true)
    #expect(store.warnings.contains { $0.contains(reason) })
    #expect(try store.counts() == ["Note": frames == 2 ? 3 : 4])
    #expect(try folder.contents() == before)
  }

  @Test("a -wal cut off within its header holds nothing, and that is told")
  func shortHeader() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder) { $0 = Array($0.prefix(20)) }
    let store = try Store(path: path)
    #expect(store.gaps.first?.contains("within its header") == true)
    #expect(try store.counts() == ["Note": 3])
  }

  @Test("a whole -wal, an empty one and none are no alarm")
  func sound() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder) { _ in }
    #expect(try Store(path: path).gaps.isEmpty)
    try FileSystem.write([], to: path + "-wal")
    #expect(try Store(path: path).gaps.isEmpty)
    FileSystem.remove(path + "-wal")
    let alone = try Store(path: path)
    #expect(alone.gaps.isEmpty && !alone.warnings.contains { $0.contains("wal") })
    #expect(alone.notes.contains { $0.contains("WAL mode") })
  }

  @Test("a -wal whose frames are all in the main file is no alarm, whatever its header says")
  func checkpointed() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; INSERT INTO ZNOTE VALUES (1, 1, 1, 'a')")
    try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    let copy = folder.path("Copy.sqlite")
    try FileSystem.copyOver(path, to: copy)
    var log = try FileSystem.read(path + "-wal")
    for index in 0..<32 { log[index] = 0 }
    try FileSystem.write(log, to: copy + "-wal")
    let store = try Store(path: copy)
    #expect(store.gaps.isEmpty && !store.warnings.contains { $0.contains("wal") })
    #expect(try store.counts() == ["Note": 1])
  }

  @Test("frames of an older generation behind the newer ones are no alarm")
  func olderGeneration() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL")
    for key in 1...5 { try connection.execute("INSERT INTO ZNOTE VALUES (\(key), 1, 1, 'a')") }
    try connection.execute("PRAGMA wal_checkpoint(RESTART)")
    try connection.execute("INSERT INTO ZNOTE VALUES (9, 1, 1, 'b')")
    let copy = folder.path("Copy.sqlite")
    try FileSystem.copyOver(path, to: copy)
    try FileSystem.copyOver(path + "-wal", to: copy + "-wal")
    let store = try Store(path: copy)
    #expect(store.wal.frames == 1)
    let size = try #require(FileSystem.status(copy + "-wal")).size
    #expect((size - 32) / (24 + 4096) > 1)
    #expect(store.gaps.isEmpty && !store.warnings.contains { $0.contains("wal") })
    #expect(try store.counts() == ["Note": 6])
  }

  @Test("a -wal older than its store is told")
  func stale() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)), uuid: "A")
    var log: [UInt8] = []
    do {
      let connection = try Connection(path: path, mode: .readWrite)
      // A new table is noted on page 1, whose change counter tells the log's age.
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE ZEXTRA (a)")
      log = try FileSystem.read(path + "-wal")
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
      for key in 1...3 { try connection.execute("INSERT INTO ZNOTE VALUES (\(key), 1, 1, 'x')") }
    }
    #expect(try Store(path: path).gaps.isEmpty)
    try FileSystem.write(log, to: path + "-wal")
    #expect(try Store(path: path).gaps.contains { $0.contains("is older than the store") })
  }

  /// The first of two logs changes the text of an object; the second state is one that SQLite went on
  /// from with the object saved again, or not.
  @Test("of a -wal without page 1 the objects tell whether it is older", arguments: [true, false])
  func staleByObjects(isStale: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)), uuid: "A")
    var log: [UInt8] = []
    do {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        "INSERT INTO ZNOTE VALUES (1, 1, 1, 'x'); PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0"
      )
      try connection.execute("UPDATE ZNOTE SET ZTEXT = 'y', Z_OPT = 2")
      log = try FileSystem.read(path + "-wal")
      if isStale {
        try connection.execute(
          "PRAGMA wal_checkpoint(TRUNCATE); UPDATE ZNOTE SET ZTEXT = 'z', Z_OPT = 3; PRAGMA wal_checkpoint(TRUNCATE)"
        )
      }
      try FileSystem.copyOver(path, to: path + ".kept")
    }
    try FileSystem.write(FileSystem.read(path + ".kept"), to: path)
    try FileSystem.write(log, to: path + "-wal")
    #expect(try WriteAheadLog(besideStore: path).isOlderThanStore == isStale)
  }

  @Test(
    "a -wal under another name is named, with its frames",
    arguments: [
      "Notes (1).sqlite-wal", "Notes.sqlite-wal.1", "Notes-wal", "Copy of Notes.sqlite-wal",
    ])
  func renamed(name: String) throws {
    let folder = try TemporaryFolder()
    let path = try OpeningTests.storeWithLog(in: folder)
    try FileSystem.rename(path + "-wal", to: folder.path(name))
    let store = try Store(path: path)
    #expect(store.unappliedFrames == 2)
    #expect(store.gaps.contains { $0.contains(name) && $0.contains("2 frames") })
  }

  @Test("the -wal of another store, and a file without frames, are not named")
  func others() throws {
    let folder = try TemporaryFolder()
    let path = try OpeningTests.storeWithLog(in: folder)
    try FileSystem.copyOver(path, to: folder.path("Notes (1).sqlite"))
    try FileSystem.rename(path + "-wal", to: folder.path("Notes (1).sqlite-wal"))
    try FileSystem.write(Array("walls".utf8), to: folder.path("Notes-wal.txt"))
    #expect(try Store(path: path).gaps.isEmpty)
  }

  @Test("a -wal or a -journal that is there and cannot be read is an error")
  func unreadable() throws {
    for suffix in ["-wal", "-journal"] {
      let folder = try TemporaryFolder()
      let path = try OpeningTests.storeWithLog(in: folder)
      FileSystem.remove(path + "-wal")
      #expect(symbolicLink(path + suffix, to: folder.path("nowhere")))
      #expect(throws: CoreDataError.self) { try Store(path: path) }
      FileSystem.remove(path + suffix)
      try FileSystem.makeDirectory(path + suffix)
      if suffix == "-wal" {
        #expect(throws: CoreDataError.self) { try Store(path: path) }
      }
    }
  }

  @Test("an empty file beside a -wal is an error that counts the frames")
  func emptyMain() throws {
    let folder = try TemporaryFolder()
    let path = try OpeningTests.storeWithLog(in: folder)
    try FileSystem.write([], to: path)
    let error = #expect(throws: CoreDataError.self) { try Store(path: path) }
    #expect(error?.message.contains("2 frames") == true)
  }
}
