import Files
import SQLite
import TestSupport
import Testing

@testable import Salvage

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// SQLite never uses the page at 1 GB, and a page of the pointer map that would stand there is the next one.
@Suite("A database of more than 1 GB")
struct LockPageTests {
  @Test(
    "the pointer map has no entry for the page of SQLite's locks, and no page of it is read where it is not"
  )
  func entries() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("large.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE a (n INTEGER);
      INSERT INTO a VALUES (1)
      """)
    connection.close()
    // With pages of this size alone, the page would be one of the map.
    let locks = 0x4000_0000 / 1024 + 1
    try #require(truncate(path, off_t((locks + 3) * 1024)) == 0)
    let image = try DatabaseImage(path: path, log: nil)
    try #require(image.pageCount == locks + 3)
    var map = PointerMap(image)
    #expect(map.isOwn(locks) && map.isOwn(locks + 1) && !map.isOwn(locks + 2))
    for page in locks - 3...locks + 3 {
      #expect(try map.entry(page)?.kind == nil, "page \(page)")
    }
  }
}
