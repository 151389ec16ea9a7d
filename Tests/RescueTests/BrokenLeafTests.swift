import SQLite
import Salvage
import TestSupport
import Testing

/// A leaf whose header and first places are gone, in which an older row stands whose end was written over.
///
/// Apple's knowledge store had one: the older row was taken, and the newer one was not.
@Suite("Leaves whose header is gone")
struct BrokenLeafTests {
  @Test("a row that was written over the end of an older one is the one that counts")
  func overwritten() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Small.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = DELETE; PRAGMA secure_delete = OFF; \
      CREATE TABLE a (id INTEGER PRIMARY KEY, number INTEGER, text TEXT)
      """)
    // Each new row is put below the others, and the lesser its key the earlier is its place listed.
    for id in stride(from: 20, through: 5, by: -1) {
      try connection.execute("INSERT INTO a VALUES (\(id), \(id * 1000), '\(row(of: 40))')")
    }
    try connection.execute(
      """
      INSERT INTO a VALUES (4, 4000, '\(row(of: 200))'); DELETE FROM a WHERE id = 4; \
      INSERT INTO a VALUES (3, 3000, '\(row(of: 60))')
      """)
    let root = Int(
      try #require(try connection.value("SELECT rootpage FROM sqlite_master")?.integer))
    connection.close()
    var file = try DamagedFile(path)
    file.poke(page: root, at: 0, [UInt8](repeating: 0xA5, count: 16))
    try file.write()
    let image = try DatabaseImage(path: path, log: nil)
    var scan = RowScan(image, try TreeMap(image, roots: [1, root], isComplete: true))
    var keys: [Int64] = []
    try scan.rows(where: { $1 == root && $0 == .broken }) { row, _ in keys.append(row.key) }
    #expect(keys == [3] + Array(5...20))
  }

  private func row(of count: Int) -> String { String(repeating: "x", count: count) }
}
