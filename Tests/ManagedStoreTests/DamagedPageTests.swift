import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("A file with pages that cannot be read")
struct DamagedPageTests {
  /// A store of so many notes, one after the other, with an index.
  private static func notes(_ count: Int, in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count))
      INSERT INTO ZNOTE SELECT k, 1, 1, 'note ' || k || hex(zeroblob(20)) FROM n
      """)
    try connection.execute("CREATE INDEX ZNOTE_BYTEXT ON ZNOTE (ZTEXT)")
    return path
  }

  private static func root(of name: String, in path: String) throws -> Int {
    let connection = try Connection(path: path, mode: .immutable)
    let page = try connection.value(
      "SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(name)])
    return Int(try #require(page?.integer))
  }

  private static func keys(_ store: Store) throws -> [Int64] {
    let cursor = try ObjectCursor(store, entity: "Note")
    var keys: [Int64] = []
    while let object = try cursor.next() { keys.append(object.key) }
    return keys
  }

  @Test("costs what is on the page, and the keys are told", arguments: [[3], [2, 4, 5], [0]])
  func leaves(lost: [Int]) throws {
    let folder = try TemporaryFolder()
    let path = try Self.notes(1000, in: folder)
    var file = try DamagedFile(path)
    let leaves = file.leaves(root: try Self.root(of: "ZNOTE", in: path))
    #expect(leaves.count > 8)
    for index in lost { file.zero(page: leaves[index]) }
    try file.write()
    let before = try folder.contents()
    let store = try Store(path: path)
    let keys = try Self.keys(store)
    let holes = try #require(store.damage?.holes)
    let missing = Set(1...1000).subtracting(keys.map(Int.init))
    #expect(keys == keys.sorted() && !missing.isEmpty && missing.count < 400)
    #expect(
      holes.reduce(into: Set<Int>()) { $0.formUnion(Int($1.first)...Int($1.last ?? 0)) } == missing)
    // The index still knows how many there were.
    #expect(holes.compactMap { $0.counts?.values.reduce(0, +) }.reduce(0, +) == missing.count)
    let first = try #require(missing.min())
    #expect(store.gaps.contains { $0.contains("objects of Note lost, p\(first)–p") })
    #expect(try store.counts() == ["Note": keys.count])
    #expect(try store.rows(RowQuery(entity: "Note", limit: 2000)).rows.map(\.id.key) == keys)
    #expect(try folder.contents() == before)
  }

  @Test("a table whose root is gone has the rows of its leaves, and that is said")
  func root() throws {
    let folder = try TemporaryFolder()
    let path = try Self.notes(1000, in: folder)
    var file = try DamagedFile(path)
    file.zero(page: try Self.root(of: "ZNOTE", in: path))
    try file.write()
    let store = try Store(path: path)
    #expect(try Self.keys(store) == Array(1...1000))
    #expect(
      store.gaps.contains { $0.contains("1,000 objects of Note are on pages that no b-tree") },
      "\(store.gaps)")
  }

  @Test("an index that is damaged costs nothing, and is told")
  func index() throws {
    let folder = try TemporaryFolder()
    let path = try Self.notes(1000, in: folder)
    var file = try DamagedFile(path)
    file.zero(page: try Self.root(of: "ZNOTE_BYTEXT", in: path))
    try file.write()
    let store = try Store(path: path)
    #expect(try Self.keys(store) == Array(1...1000))
    #expect(store.gaps.isEmpty)
    #expect(!store.warnings.isEmpty)
    let sorted = RowQuery(entity: "Note", sort: .init(property: "text"), limit: 2000)
    #expect(try store.rows(sorted).rows.count == 1000)
  }

  @Test("an index that says something else than its rows is not believed")
  func wrongIndex() throws {
    let folder = try TemporaryFolder()
    let path = try Self.notes(1000, in: folder)
    do {
      let connection = try Connection(path: path, mode: .readWrite, isDefensive: false)
      try connection.execute(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE INDEX ZNOTE_BYTEXT ON ZNOTE (Z_OPT)'
        WHERE name = 'ZNOTE_BYTEXT'
        """)
    }
    let store = try Store(path: path)
    #expect(store.damage?.problems.isEmpty == false)
    #expect(try Self.keys(store) == Array(1...1000))
    #expect(store.gaps.isEmpty)
    #expect(
      store.doubts.contains { $0.hasPrefix("1,000 rows of Note have different values in an index") }
    )
  }

  @Test("a store without rows in Z_PRIMARYKEY is read by the numbers in its rows")
  func numbers() throws {
    let folder = try TemporaryFolder()
    let path = try Self.notes(10, in: folder)
    do {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute("DELETE FROM Z_PRIMARYKEY")
    }
    let store = try Store(path: path)
    #expect(try store.counts() == ["Note": 10])
    #expect(store.warnings.contains { $0.contains("Note has no entity ID") })
  }

  @Test("a file that is sound has nothing to tell, and keeps being read in place")
  func sound() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Self.notes(1000, in: folder))
    #expect(store.damage == nil && store.gaps.isEmpty)
    #expect(store.mended == nil && store.access == .immutable)
  }

  @Test(
    "no fixture has a gap or a fault", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    let endings = [".sqlite", ".wiredatabase", ".store", ".photoslibrary", ".db"]
    var count = 0
    for relative in endings.flatMap({ Fixtures.paths(endingWith: $0) }) {
      guard let store = try? Store(path: Fixtures.path(relative)) else { continue }
      try store.inspect()
      #expect(store.gaps.isEmpty, "\(relative)")
      #expect(store.damage == nil, "\(relative)")
      count += 1
    }
    #expect(count > 20)
  }
}
