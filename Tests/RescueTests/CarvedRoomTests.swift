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
      payload: [], size: 98, overflow: 0, end: start + 100)
  }

  private static func inference(
    _ gone: Set<Int64>, within bounds: TreeHole? = nil
  ) -> KeyInference {
    var live = KeySet()
    for key in (1...60 as ClosedRange<Int64>) where !gone.contains(key) { live.insert(key) }
    return KeyInference(live, within: bounds)
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

  /// A row of three numbers and a real number, which takes its last bytes.
  private static func cell(key: UInt8, quantity: Double) -> [UInt8] {
    let payload: [UInt8] = [6, 0, 1, 1, 2, 7, 4, 1, 3, key] + bytes(of: quantity)
    return [UInt8(payload.count), key] + payload
  }

  private static func bytes(of number: Double) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (56 - 8 * UInt64($0))) }
  }

  /// Two rows of which the second was freed later: it begins so many bytes before the first one ends.
  private static func rows(overlap: Int, end: Int? = nil) throws -> [CarvedRow] {
    var page = [UInt8](repeating: 0xEE, count: 4096)
    let first = cell(key: 20, quantity: 272.6)
    page.replaceSubrange(1000..<1000 + first.count, with: first)
    let place = 1000 + first.count - overlap
    let second = cell(key: 21, quantity: 3.3)
    page.replaceSubrange(place..<place + second.count, with: second)
    // A third one stands over its values, so that it is no row by itself.
    page.replaceSubrange(place..<place + 4, with: [0, 0, 0x06, 0xA0])
    page.replaceSubrange(place + 8..<place + second.count, with: Array(repeating: 0xEE, count: 12))
    let shape = RowShape(columns: [.key, .integer, .integer, .integer, .number], numbers: [4])
    var carver = Carver([shape], fewest: [5], usable: 4096, encoding: .utf8)
    return carver.rows(in: 990..<(end ?? 4096), of: page, likely: [0])
      .filter { $0.range.lowerBound == 1000 }
  }

  /// As in a seeded store: 272.6 came out as 272.59999999999127, since its last byte was the first of a block.
  @Test(
    "a row is whole only if something begins where it ends", arguments: [1, 2, 3])
  func lastBytes(overlap: Int) throws {
    let row = try #require(try Self.rows(overlap: overlap).first)
    #expect(row.key == 20 && row.ending == .doubtful)
  }

  @Test("a row that ends where the page's next cell begins is whole")
  func adjacent() throws {
    let length = Self.cell(key: 20, quantity: 1.5).count
    for slack in 0...3 {
      let row = try #require(try Self.rows(overlap: -8, end: 1000 + length + slack).first)
      #expect(row.key == 20 && row.ending == .sound)
    }
  }

  @Test("a row whose last bytes are the page's is found, however short it is")
  func atTheEnd() {
    var page = [UInt8](repeating: 0xEE, count: 4096)
    let cell: [UInt8] = [6, 1, 5, 0, 9, 9, 1, 5]
    page.replaceSubrange(4096 - cell.count..<4096, with: cell)
    let shape = RowShape(columns: [.key, .integer, .integer, .integer], numbers: [1])
    var carver = Carver([shape], fewest: [4], usable: 4096, encoding: .utf8)
    let rows = carver.rows(in: 8..<4096, of: page, likely: [0])
    #expect(rows.map(\.key) == [1] && rows.allSatisfy { $0.ending == .sound })
  }

  @Test("of a row over whose last bytes a cell stands the others are there")
  func cut() throws {
    let length = Self.cell(key: 20, quantity: 1.5).count
    let row = try #require(try Self.rows(overlap: -8, end: 1000 + length - 3).first)
    #expect(row.key == 20 && row.ending == .overwritten)
    var record = Record()
    #expect(record.read(row.payload, 0..<row.payload.count) && !record.isWhole)
    #expect(record.integer(3) == 0x0314 && !record.isPresent(4))
    // Without a value behind Z_OPT nothing is left of it.
    #expect(try Self.rows(overlap: -8, end: 1000 + length - 9).isEmpty)
  }

  @Test("rows behind a page's last cell have no keys that the pages above give to the next page")
  func withinBounds() throws {
    let room = try Self.leaf([20, 21, 22, 23, 24], without: [23, 24])
    let rows = [Self.row(4), Self.row(3)]
    let gone: Set<Int64> = [23, 24, 25, 26]
    #expect(Self.inference(gone).keys(of: rows, in: room) == [nil, nil])
    let place = TreeHole(root: 2, page: 2, above: 19, upTo: 24)
    #expect(Self.inference(gone, within: place).keys(of: rows, in: room) == [24, 23])
    #expect(
      Self.inference(gone, within: place).possibleKeys(of: rows, in: room) == [
        [23, 24], [23, 24],
      ])
  }

  @Test("a row that is there in part counts where the others leave keys open")
  func inPart() throws {
    let room = try Self.leaf([20, 21, 22, 23, 24], without: [22, 23])
    var part = Self.row(2)
    part.ending = .overwritten
    let keys = Self.inference([22, 23]).keys(of: [Self.row(3), part], in: room)
    #expect(keys == [23, 22])
  }

  /// A row of a text and a number, saved so often.
  private static func state(_ text: String, saves: UInt8, number: UInt8) -> [UInt8] {
    [6, 0, 1, 1, UInt8(13 + 2 * text.utf8.count), 1, 4, saves] + Array(text.utf8) + [number]
  }

  /// As in a store of Wire's: the row that was deleted had lost its key, and an earlier state of it had its own.
  @Test(
    "of two states of an object that share what no other row has, the later one is the object",
    arguments: [(2, 1, true), (1, 2, false)] as [(UInt8, UInt8, Bool)])
  func states(saves: UInt8, knownSaves: UInt8, isLater: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("any.sqlite")
    try Connection(path: path, mode: .create).execute("CREATE TABLE any (one)")
    let image = try DatabaseImage(path: path, log: nil)
    let shape = RowShape(columns: [.key, .integer, .integer, .text, .integer], numbers: [4])
    var scan = try RemainsScan(
      image, TreeMap(image, roots: [2], isComplete: true), shapes: [shape], tables: [:],
      keys: [KeySet()], fewest: [5], roots: [:]
    ) { _, _ in }
    func row(_ payload: [UInt8], key: Int64?, at start: Int) -> CarvedRow {
      CarvedRow(
        shape: 0, range: start..<start + 50, key: key,
        hint: key == nil ? .init(length: 1, low: 0, bits: 0) : nil, payload: payload,
        size: payload.count, overflow: 0, end: start + 50)
    }
    let room = try Self.leaf([20], without: [20])
    func standings(_ other: String) -> [Int: RemainsScan.Standing] {
      let rows = [
        row(Self.state("6f11680e11136e9d", saves: saves, number: 3), key: nil, at: 100),
        row(Self.state("6f11680e11136e9d", saves: knownSaves, number: 4), key: 13, at: 200),
        row(Self.state(other, saves: knownSaves, number: 3), key: 12, at: 300),
      ]
      return scan.standings(rows, [nil, nil, nil], in: room, Array(repeating: 0, count: 4096))
    }
    let found = standings("d4de3150d23dd6f5")
    if isLater {
      guard case .later(of: 13)? = found[0], case .earlier(of: 13)? = found[1] else {
        Issue.record("\(found)")
        return
      }
    } else {
      guard case .earlier(of: 13)? = found[0], found[1] == nil else {
        Issue.record("\(found)")
        return
      }
    }
    #expect(found[2] == nil)
    // What two rows have shows nothing.
    #expect(standings("6f11680e11136e9d").isEmpty)
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
    let found = room.ranges.flatMap {
      carver.links(
        in: $0, of: page, keyLengths: room.keyLengths(in: $0, within: nil))
    }
    #expect(Set(found) == all.subtracting(live), "\(found)")
    #expect(found.count == 30)
  }

  /// The first four bytes of a freed row are overwritten, its key among them. With a key of one byte 01 01 6B 0F would be
  /// read as another link: (363, 15) instead of (107, 15).
  @Test("a link whose key was overwritten is read by the keys that its page can have had")
  func keysOfLinks() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("links.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA secure_delete = OFF; CREATE TABLE links (one INTEGER, two INTEGER); BEGIN;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO links SELECT 2 + i * 3 % 120, 2 + i * 7 % 18 FROM n; COMMIT
      """)
    func links() throws -> Set<[Int64?]> {
      Set(try connection.rows("SELECT one, two FROM links").map { $0.map(\.integer) })
    }
    let all = try links()
    try connection.execute("DELETE FROM links WHERE rowid BETWEEN 132 AND 143")
    let gone = all.subtracting(try links())
    try #require(gone.count == 12)
    let root = try #require(
      connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'links'")?.integer)
    connection.close()
    let page = Array(try FileSystem.read(path)[(Int(root) - 1) * 4096..<Int(root) * 4096])
    let room = try #require(DeadRoom(page, number: Int(root), usable: 4096))
    let carver = LinkCarver(shape: .init(columns: 2, greatest: [663, 20]), usable: 4096)
    let range = try #require(room.ranges.last)
    #expect(room.keyLengths(in: range, within: nil) == [2])
    let found = carver.links(in: range, of: page, keyLengths: [2])
    #expect(Set(found) == gone, "\(found)")
    // With keys of any length, most of the links can be read in two ways.
    #expect(carver.links(in: range, of: page, keyLengths: [1, 2, 3]).count < 12)
  }

  @Test("keys of any length are possible where a row moved within its page")
  func keysOfMovedLinks() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("links.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA secure_delete = OFF; CREATE TABLE links (one INTEGER, two INTEGER, place INTEGER); BEGIN;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO links SELECT 2 + i * 3 % 120, 2 + i * 7 % 18, 5 FROM n; COMMIT;
      UPDATE links SET place = 100000 WHERE rowid = 20; DELETE FROM links WHERE rowid = 140
      """)
    let root = try #require(
      connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'links'")?.integer)
    connection.close()
    let page = Array(try FileSystem.read(path)[(Int(root) - 1) * 4096..<Int(root) * 4096])
    let room = try #require(DeadRoom(page, number: Int(root), usable: 4096))
    #expect(!room.isInOrder)
    for range in room.ranges {
      #expect(room.keyLengths(in: range, within: nil) == Set(1...9))
    }
  }

  /// Of 81,814 rows that were deleted at once, one was wiped behind its Z_OPT, and was called whole: an object without a
  /// value.
  @Test(
    "a row without its beginning and without a value, before zeros, is not called whole",
    arguments: [false, true])
  func wipedTypes(hasValue: Bool) throws {
    let shape = RowShape(
      columns: [.key, .integer, .integer, .integer, .integer, .integer, .number, .text],
      numbers: [1])
    var carver = Carver([shape], fewest: [8], usable: 512, encoding: .utf8)
    // The head of a free block of 22 bytes, the key 17,247, and the types of the first three columns.
    var bytes: [UInt8] = [0, 0, 0, 22, 0x81, 0x86, 0x5F, 9, 0, 9, 9]
    bytes += hasValue ? [1, 0, 0, 0, 0, 77] : []
    bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
    let rows = carver.rows(in: 0..<40, of: bytes, likely: [0])
    #expect(rows.count == 1)
    #expect(rows.first?.key == nil)
    #expect(rows.first?.ending == (hasValue ? .sound : .doubtful))
  }
}
