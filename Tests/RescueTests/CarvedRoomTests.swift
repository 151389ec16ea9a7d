import Files
import SQLite
import TestSupport
import Testing

@testable import Salvage

/// What unallocated space of a page shows, and what it does not.
@Suite("Rows and links in the unallocated space of a page")
struct CarvedRoomTests {
  /// A leaf of a table with cells of 100 bytes, added from the end down in the order of the keys.
  private static func leaf(_ keys: [UInt8], without gone: Set<UInt8>) throws -> DeadRoom {
    var page = [UInt8](repeating: 0, count: 4096)
    var cells: [(key: UInt8, offset: Int)] = []
    for (index, key) in keys.enumerated() {
      let offset = 4096 - 100 * (index + 1)
      page[offset] = 98
      page[offset + 1] = key
      if !gone.contains(key) { cells.append((key, offset)) }
    }
    cells.sort { $0.key < $1.key }
    let content = cells.map(\.offset).min() ?? 4096
    page[0] = 13
    (page[3], page[4]) = (0, UInt8(cells.count))
    (page[5], page[6]) = (UInt8(content >> 8), UInt8(content & 0xFF))
    for (index, cell) in cells.enumerated() {
      page[8 + 2 * index] = UInt8(cell.offset >> 8)
      page[9 + 2 * index] = UInt8(cell.offset & 0xFF)
    }
    return try #require(DeadRoom(page, number: 2, usable: 4096))
  }

  private static func row(_ place: Int) -> CarvedRow {
    let start = 4096 - 100 * (place + 1)
    return CarvedRow(
      shape: 0, range: start..<start + 100, key: nil, hint: .init(length: 1, low: 0, bits: 0),
      payload: [], size: 98, overflow: 0)
  }

  private static func inference(_ gone: Set<Int64>) -> KeyInference {
    var live = KeySet()
    for key in (1...60 as ClosedRange<Int64>) where !gone.contains(key) { live.insert(key) }
    return KeyInference(live)
  }

  @Test("a row behind the last cell has the next key where rows were only ever added")
  func inOrder() throws {
    let room = try Self.leaf([20, 21, 22, 23, 24], without: [21, 24])
    let keys = Self.inference([21, 24]).keys(of: [Self.row(4), Self.row(1)], in: room)
    #expect(keys == [24, 21])
  }

  /// As in a store of Apple's: its row 424 stood behind 426, and 427, deleted too, was the first of the next page.
  @Test("a row that stood in no order is not taken for the first of the next page")
  func outOfOrder() throws {
    let room = try Self.leaf([18, 19, 20, 21, 22, 23, 25, 26, 24], without: [18, 21, 24])
    let rows = [Self.row(8), Self.row(3)]
    let keys = Self.inference([18, 21, 24, 27]).keys(of: rows, in: room)
    #expect(keys == [nil, 21])
  }

  @Test(
    "links of ordered relationships are carved with all of their columns",
    arguments: [1, 3, 40, 300])
  func orderedLinks(first: Int64) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("links.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA secure_delete = OFF; \
      CREATE TABLE links (one INTEGER, two INTEGER, place INTEGER); BEGIN; \
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) \
      INSERT INTO links SELECT \(first) + i, 1 + (i * 37) % 100, 2048 + 1024 * (i % 3) FROM n; COMMIT
      """)
    let all = Set(
      try connection.rows("SELECT one, two, place FROM links").map { $0.map(\.integer) })
    // Alone, and two beside each other.
    try connection.execute("DELETE FROM links WHERE rowid % 10 IN (3, 6, 7)")
    let live = Set(
      try connection.rows("SELECT one, two, place FROM links").map { $0.map(\.integer) })
    let root = try #require(
      connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'links'")?.integer)
    connection.close()
    let page = Array(try FileSystem.read(path)[(Int(root) - 1) * 4096..<Int(root) * 4096])
    let room = try #require(DeadRoom(page, number: Int(root), usable: 4096))
    let carver = LinkCarver(shape: .init(columns: 3, greatest: [400, 100]), usable: 4096)
    let found = room.ranges.flatMap { carver.links(in: $0, of: page) }
    #expect(Set(found) == all.subtracting(live), "\(found)")
    #expect(found.count == 30)
  }
}
