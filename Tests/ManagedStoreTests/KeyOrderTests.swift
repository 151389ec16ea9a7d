import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Keys that do not rise")
struct KeyOrderTests {
  /// A store that is too large to be checked when it is opened, and of whose rows one page comes twice.
  private static func store(in folder: TemporaryFolder) throws -> (path: String, rows: Int) {
    let path = folder.path("Large.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    let rows = 9_000
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO ZNOTE SELECT i, 1, 1, hex(zeroblob(600)) || i FROM n
      """)
    let root = try #require(
      try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZNOTE'")?.integer)
    connection.close()
    var bytes = try FileSystem.read(path)
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    // Down to the page above the leaves, on the left.
    var page = Int(root)
    func place(_ index: Int, of page: Int) -> Int {
      let start = (page - 1) * 4096
      return start + (Int(bytes[start + 12 + 2 * index]) << 8 | Int(bytes[start + 13 + 2 * index]))
    }
    while bytes[(number(place(0, of: page)) - 1) * 4096] == 5 { page = number(place(0, of: page)) }
    #expect(bytes[(page - 1) * 4096] == 5)
    let (first, fifth) = (place(0, of: page), place(5, of: page))
    for index in 0..<4 { bytes[fifth + index] = bytes[first + index] }
    try FileSystem.write(bytes, to: path)
    #expect(bytes.count > Store.checkedSize)
    return (path, rows)
  }

  @Test(
    "rows end at the first that does not rise, and each comes once",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func rows() throws {
    let folder = try TemporaryFolder()
    let (path, all) = try Self.store(in: folder)
    let store = try Store(path: path)
    #expect(store.damage == nil)
    var keys: [Int64] = []
    var query = RowQuery(entity: "Note", limit: 500)
    while keys.count < 2 * all {
      let page = try store.rows(query)
      keys += page.rows.map(\.id.key)
      guard page.rows.count == 500, let last = page.rows.last else { break }
      query.anchor = .after(last.cursor)
    }
    #expect(keys == keys.sorted() && Set(keys).count == keys.count && keys.count <= all)
    #expect(store.damage != nil && !store.gaps.isEmpty)
  }

  @Test("a walk over all objects ends at the first that does not rise, and each comes once")
  func cursor() throws {
    let folder = try TemporaryFolder()
    let (path, all) = try Self.store(in: folder)
    let store = try Store(path: path)
    let cursor = try ObjectCursor(store, entity: "Note")
    var keys: [Int64] = []
    while let object = try cursor.next(), keys.count < 2 * all { keys.append(object.key) }
    #expect(keys == keys.sorted() && Set(keys).count == keys.count && keys.count <= all)
    #expect(!store.gaps.isEmpty)
  }
}
