import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

/// Issue 30, point 1: the interface noticed no save where the -wal had frames when the store was opened, and one
/// at most where it had none.
@Suite("The signs of a save")
struct SaveSignsTests {
  private let folder: TemporaryFolder
  private let path: String
  private let writer: Connection

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    writer = try Connection(path: path, mode: .readWrite)
    try writer.execute("PRAGMA wal_autocheckpoint = 0")
  }

  private func save(_ key: Int) throws {
    // Files written within one tick of the clock have one date.
    usleep(20_000)
    try writer.execute("INSERT INTO ZNOTE VALUES (\(key), 1, 1, 'n\(key)')")
  }

  @Test("are counted in a -wal that had frames before, through checkpoints, again and again")
  func logged() throws {
    try writer.execute("PRAGMA journal_mode = WAL")
    try save(1)
    var signs = SaveSigns(of: path)
    #expect(signs.look() == nil)
    try save(2)
    #expect(signs.look() == .saved(1))
    #expect(signs.look() == nil)
    try save(3)
    try save(4)
    #expect(signs.look() == .saved(2))
    try writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
    #expect(signs.look() == nil)
    // The log begins again, and nothing says whether its old end was seen.
    try writer.execute("PRAGMA wal_checkpoint(RESTART)")
    try save(5)
    #expect(signs.look() == .saved(nil))
    try save(6)
    #expect(signs.look() == .saved(1))
  }

  @Test("are seen where a checkpoint emptied the -wal between two looks")
  func emptied() throws {
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    var signs = SaveSigns(of: path)
    _ = signs.look()
    try save(1)
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(signs.look() == .saved(nil))
    #expect(signs.look() == nil)
  }

  @Test("come before the log's index has them, where the writer waits for the disk in between")
  func index() throws {
    try writer.execute("PRAGMA journal_mode = WAL")
    try save(1)
    let former = try FileSystem.read(path + "-shm")
    try save(2)
    var signs = SaveSigns(of: path)
    let isBehind = signs.isIndexBehind()
    #expect(!isBehind)
    // The index as it was before the second save is published.
    let now = try FileSystem.read(path + "-shm")
    try FileSystem.write(former, to: path + "-shm")
    let isFormerBehind = signs.isIndexBehind()
    #expect(isFormerBehind)
    try FileSystem.write(now, to: path + "-shm")
    let isStillBehind = signs.isIndexBehind()
    #expect(!isStillBehind)
    // After this checkpoint the index is of the next log, which has no frames yet.
    try writer.execute("PRAGMA wal_checkpoint(RESTART)")
    _ = signs.look()
    let isNextBehind = signs.isIndexBehind()
    #expect(!isNextBehind)
  }

  @Test("are counted in a file without a log")
  func unlogged() throws {
    try writer.execute("PRAGMA journal_mode = DELETE")
    var signs = SaveSigns(of: path)
    #expect(signs.look() == nil)
    for key in 1...3 { try save(key) }
    #expect(signs.look() == .saved(3))
    #expect(signs.look() == nil)
  }

  @Test("are not in a touch", arguments: ["DELETE", "WAL"])
  func touched(mode: String) throws {
    try writer.execute("PRAGMA journal_mode = \(mode)")
    try save(1)
    var signs = SaveSigns(of: path)
    _ = signs.look()
    for file in [path, path + "-wal"] { _ = utimes(file, nil) }
    #expect(signs.look() == nil)
    #expect(signs.look() == nil)
  }

  @Test("include another file in the store's place, and none")
  func replaced() throws {
    var signs = SaveSigns(of: path)
    _ = signs.look()
    try FileSystem.copyOver(path, to: folder.path("copy"))
    #expect(rename(folder.path("copy"), path) == 0)
    #expect(signs.look() == .replaced)
    #expect(signs.look() == nil)
    #expect(unlink(path) == 0)
    #expect(signs.look() == .gone)
    #expect(signs.look() == nil)
  }
}
