import SQLite
import TestSupport
import Testing

@testable import Salvage

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

  @Test("a row that ends in 0x80 is not taken for one that the next was written over")
  func numberBefore() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Links.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // As of links to the object with key 128: what follows the last byte seems to begin with it.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (first INTEGER, second INTEGER);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      SELECT 300 + i, 128 FROM n
      """)
    let value = try connection.value("SELECT rootpage FROM sqlite_master")
    let root = Int(try #require(value?.integer))
    connection.close()
    var file = try DamagedFile(path)
    file.poke(page: root, at: 0, [UInt8](repeating: 0, count: 512))
    try file.write()
    let image = try DatabaseImage(path: path, log: nil)
    let page = try #require(try image.page(root))
    let cells = BrokenLeaf(page, usable: image.usable, range: nil).cells
    #expect(cells.map(\.key) == Array(1...200))
  }

  /// A table of several leaves, with free room in some of them.
  private func table(_ folder: TemporaryFolder) throws -> (path: String, root: Int) {
    let path = folder.path("Large.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON; \
      CREATE TABLE a (id INTEGER PRIMARY KEY, number INTEGER, text TEXT); BEGIN
      """)
    for id in 1...300 {
      try connection.execute("INSERT INTO a VALUES (\(id), \(id * 1000), '\(row(of: 100))')")
    }
    // Room between rows that is free.
    try connection.execute("COMMIT; DELETE FROM a WHERE id % 40 = 10")
    // A row in such room that is shorter by a byte, which stays when it is deleted itself.
    try connection.execute(
      "INSERT INTO a VALUES (90, 90000, '\(row(of: 99))'); DELETE FROM a WHERE id = 90")
    let root = try #require(try connection.value("SELECT rootpage FROM sqlite_master")?.integer)
    return (path, Int(root))
  }

  private func headerless(
    _ path: String, _ root: Int, isKnown: Bool = true
  ) throws -> (keys: [Int64], pages: Set<Int>) {
    let image = try DatabaseImage(path: path, log: nil)
    var scan = RowScan(
      image, try TreeMap(image, roots: isKnown ? [1, root] : [1], isComplete: isKnown))
    var (keys, pages) = ([Int64](), Set<Int>())
    try scan.rows(where: { $1 == root && $0 == .broken }) { row, _ in
      keys.append(row.key)
      pages.insert(row.page)
    }
    return (keys, pages)
  }

  @Test("a leaf without a header is found where the page above it has none either")
  func parentGone() throws {
    let folder = try TemporaryFolder()
    let (path, root) = try table(folder)
    var file = try DamagedFile(path)
    let leaves = file.leaves(root: root)
    #expect(leaves.count > 5)
    let image = try DatabaseImage(path: path, log: nil)
    let page = try #require(try image.page(leaves[2]))
    let tree = try #require(TreePage(page.bytes, number: leaves[2], usable: image.usable))
    let whole = tree.cells(in: page.bytes).filter { $0 >= 512 }.compactMap {
      TreeCell(page.bytes, at: $0, present: page.present, usable: image.usable)?.key
    }
    #expect(whole.contains(89) && whole.contains(91))
    for number in [root, leaves[2]] {
      file.poke(page: number, at: 0, [UInt8](repeating: 0, count: 512))
    }
    try file.write()
    for isKnown in [true, false] {
      let found = try headerless(path, root, isKnown: isKnown)
      #expect(found.keys == whole && found.pages == [leaves[2]], "\(isKnown)")
    }
    // What no schema names is a place where rows are lost all the same.
    let trees = try TreeMap(image, roots: [1], isComplete: false)
    #expect(trees.holes.contains { $0.root == root })
  }

  @Test(
    "a leaf without a header is found where two pages above it have none either",
    arguments: [true, false])
  func grandparentGone(isKnown: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Deep.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL;
      CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT i, printf('row %04d %s', i, '\(row(of: 100))') FROM n
      """)
    let value = try connection.value("SELECT rootpage FROM sqlite_master")
    let root = Int(try #require(value?.integer))
    connection.close()
    var file = try DamagedFile(path)
    let inner = try #require(file.children(of: root).dropFirst().first)
    let leaf = try #require(file.children(of: inner).dropFirst(3).first)
    let page = try #require(try DatabaseImage(path: path, log: nil).page(leaf))
    let tree = try #require(TreePage(page.bytes, number: leaf, usable: 1024))
    let whole = tree.cells(in: page.bytes).filter { $0 >= 40 }.compactMap {
      TreeCell(page.bytes, at: $0, present: page.present, usable: 1024)?.key
    }
    #expect(whole.count == tree.count)
    for number in [root, inner, leaf] {
      file.poke(page: number, at: 0, [UInt8](repeating: 0, count: 40))
    }
    try file.write()
    let found = try headerless(path, root, isKnown: isKnown)
    #expect(found.keys == whole && found.pages == [leaf])
  }

  @Test("what is left of a row that lost its beginning is none, though it looks like one")
  func restOfRow() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Rest.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // 01 09 01 is a row without columns, with the key 9.
    let bytes =
      String(repeating: "00", count: 90) + "010901" + String(repeating: "FF", count: 10)
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE a (id INTEGER PRIMARY KEY, bytes BLOB);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 133)
      SELECT i, x'\(bytes)' FROM n
      """)
    let root = Int(
      try #require(try connection.value("SELECT rootpage FROM sqlite_master")?.integer))
    connection.close()
    var file = try DamagedFile(path)
    let before = try #require(try DatabaseImage(path: path, log: nil).page(root))
    let tree = try #require(TreePage(before.bytes, number: root, usable: 4096))
    let whole = tree.cells(in: before.bytes).filter { $0 >= 600 }.compactMap {
      TreeCell(before.bytes, at: $0, present: before.present, usable: 4096)?.key
    }
    // The first whole row stands behind what is left of another.
    let first = try #require(tree.cells(in: before.bytes).filter { $0 >= 600 }.min())
    file.poke(page: root, at: 0, [UInt8](repeating: 0, count: first - 30))
    try file.write()
    let page = try #require(try DatabaseImage(path: path, log: nil).page(root))
    let found = BrokenLeaf(page, usable: 4096, range: nil)
    #expect(found.cells.contains { $0.key == 9 })
    #expect(found.keysToEnd == whole.min().flatMap { least in whole.max().map { least...$0 } })
  }

  @Test("an interior page without a header gives no rows of the leaf that it was before")
  func wipedInterior() throws {
    let folder = try TemporaryFolder()
    let (path, root) = try table(folder)
    let leaves = try DamagedFile(path).leaves(root: root)
    let before = try #require(try DatabaseImage(path: path, log: nil).page(leaves[0])).bytes
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("DELETE FROM a WHERE id = 3")
    connection.close()
    var file = try DamagedFile(path)
    // What SQLite leaves there unless it wipes what it frees.
    file.poke(page: root, at: 512, Array(before[512...]))
    file.poke(page: root, at: 0, [UInt8](repeating: 0, count: 512))
    try file.write()
    let image = try DatabaseImage(path: path, log: nil)
    let trees = try TreeMap(image, roots: [1, root], isComplete: true)
    #expect(trees.role(of: root) == .interior)
    #expect(trees.holes.contains { $0.root == root })
    var keys: Set<Int64> = []
    var scan = RowScan(image, trees)
    try scan.rows(where: { $1 == root && $0 != .interior }) { row, _ in keys.insert(row.key) }
    let live: Set<Int64> = Set(1...300).subtracting([3]).filter { $0 % 40 != 10 }
    #expect(keys == live)
    // Looked at by itself it seems to be a leaf.
    let page = try #require(try image.page(root))
    #expect(BrokenLeaf(page, usable: 4096, range: nil).cells.contains { $0.key == 3 })
  }

  @Test("a leaf without a header is none where other leaves have its keys")
  func keysOfOthers() throws {
    let folder = try TemporaryFolder()
    let (path, root) = try table(folder)
    let leaves = try DamagedFile(path).leaves(root: root)
    let image = try DatabaseImage(path: path, log: nil)
    let other = try #require(try image.page(leaves[4]))
    var file = try DamagedFile(path)
    file.poke(page: leaves[2], at: 0, other.bytes)
    for number in [root, leaves[2]] {
      file.poke(page: number, at: 0, [UInt8](repeating: 0, count: 512))
    }
    try file.write()
    #expect(try headerless(path, root).keys.isEmpty)
  }

  @Test("a table of one leaf without a header is found by the map where no schema names it")
  func rootGone() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Small.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON;
      CREATE TABLE a (first INTEGER, second INTEGER); CREATE INDEX i ON a (second, first);
      CREATE TABLE b (first INTEGER, second INTEGER);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      SELECT 300 + i, 400 + i FROM n
      """)
    let roots = try connection.rows("SELECT rootpage FROM sqlite_master").compactMap {
      $0.first?.integer.map { Int($0) }
    }
    try #require(roots.count == 3)
    connection.close()
    var file = try DamagedFile(path)
    for root in roots { file.poke(page: root, at: 0, [UInt8](repeating: 0, count: 512)) }
    try file.write()
    let image = try DatabaseImage(path: path, log: nil)
    let trees = try TreeMap(image, roots: [1], isComplete: false)
    #expect(roots.map { trees.role(of: $0) } == [.broken, .unknown, .unknown])
    #expect(trees.owner(of: roots[0]) == roots[0])
    #expect(trees.holes.contains { $0.root == roots[0] })
    var keys: [Int64] = []
    var scan = RowScan(image, trees)
    try scan.rows(where: { role, _ in role == .broken }) { row, _ in keys.append(row.key) }
    #expect(keys == Array(1...40))
  }

  @Test("a row within freed room is no row of a leaf whose header is gone")
  func withinFreedRoom() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Freed.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // What is freed beside a block becomes a part of it, and keeps its bytes.
    try connection.execute(
      """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = OFF;
      CREATE TABLE a (id INTEGER PRIMARY KEY, number INTEGER, text TEXT)
      """)
    for id in 1...10 {
      try connection.execute("INSERT INTO a VALUES (\(id), \(id * 1000), '\(row(of: 100))')")
    }
    try connection.execute(
      "DELETE FROM a WHERE id = 2; DELETE FROM a WHERE id = 1; DELETE FROM a WHERE id = 4")
    let value = try connection.value("SELECT rootpage FROM sqlite_master")
    let root = Int(try #require(value?.integer))
    connection.close()
    var file = try DamagedFile(path)
    file.poke(page: root, at: 0, [UInt8](repeating: 0, count: 512))
    try file.write()
    let image = try DatabaseImage(path: path, log: nil)
    let page = try #require(try image.page(root))
    let leaf = BrokenLeaf(page, usable: image.usable, range: nil)
    #expect(leaf.cells.contains { $0.key == 1 })
    #expect(leaf.standing(in: page, usable: image.usable) == [3, 5, 6, 7, 8, 9, 10])
    // Where a sector between is gone, nothing shows it.
    file.poke(page: root, at: 3_072, [UInt8](repeating: 0, count: 512))
    try file.write()
    let holed = try #require(try DatabaseImage(path: path, log: nil).page(root))
    let rest = BrokenLeaf(holed, usable: image.usable, range: nil)
    #expect(rest.standing(in: holed, usable: image.usable) == Set(rest.cells.map(\.key)))
  }

  private func row(of count: Int) -> String { String(repeating: "x", count: count) }
}
