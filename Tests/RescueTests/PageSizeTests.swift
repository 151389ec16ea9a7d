import SQLite
import Salvage
import TestSupport
import Testing

/// The size of pages is told by the pages, not by a header alone.
@Suite("The size of a damaged database's pages")
struct PageSizeTests {
  /// A database of a few pages, as a store of one entity is: a pointer map among them.
  private static func database(_ size: Int, in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Small.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      "PRAGMA page_size = \(size); PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = DELETE")
    for table in ["a", "b", "c", "d"] {
      try connection.execute(
        "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO \(table) (text) VALUES ('one'), ('two'), ('three')"
      )
    }
    return path
  }

  @Test(
    "of few pages, one that is broken does not make larger ones of them",
    arguments: [512, 1024, 4096, 8192, 65_536])
  func small(size: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.database(size, in: folder)
    var file = try DamagedFile(path)
    file.poke(page: 3, at: 0, [UInt8](repeating: 0xA5, count: 16))
    try file.write()
    #expect(try DatabaseImage(path: path, log: nil).pageSize == size)
  }

  @Test(
    "a header that states another size is not believed", arguments: [(4096, 1024), (1024, 8192)])
  func wrong(size: Int, stated: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.database(size, in: folder)
    var file = try DamagedFile(path)
    file.poke(page: 1, at: 16, [UInt8(stated >> 8), UInt8(stated & 0xFF)])
    try file.write()
    #expect(try DatabaseImage(path: path, log: nil).pageSize == size)
  }
}
