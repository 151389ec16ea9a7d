import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Keys that were given out, and places in orders")
struct PrimaryKeysTests {
  @Test("the next key comes after all that were given out and all that are in use")
  func next() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Keys.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 7), (2, 'Tag', 0, NULL);
      CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY);
      INSERT INTO ZTAG VALUES (3);
      """)
    let keys = PrimaryKeys(connection)
    #expect(try keys.last(1, in: "ZNOTE") == 7)
    #expect(try keys.last(2, in: "ZTAG") == 3)
    #expect(try keys.given(2) == nil && keys.counter(2) == 0)
    #expect(try keys.given(3) == nil && keys.counter(3) == nil)
    #expect(try keys.used(in: "ZNOTE") == nil)
    try keys.raise(2, to: 4)
    try keys.raise(1, to: 4)
    #expect(try keys.given(2) == 4 && keys.given(1) == 7)
  }

  /// The transaction that a migration leaves in history trapped on the greatest key there can be.
  @Test("a table whose greatest key is used up takes no more objects")
  func exhausted() throws {
    #expect(try PrimaryKeys.next(after: .max - 1, of: "Note") == .max)
    let error = #expect(throws: CoreDataError.self) {
      try PrimaryKeys.next(after: .max, of: "Note")
    }
    #expect(error?.kind == .refused && error?.entity == "Note")
  }

  @Test("positions that are counted and those that SQL counts are the same")
  func orders() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    for position in [0, 1, 700] {
      let sql = "SELECT " + OrderKey.sql(position: String(position))
      #expect(try connection.value(sql)?.integer == OrderKey.of(position: position))
    }
    let numbered = try connection.rows(
      "SELECT \(OrderKey.sql(numbering: "1", by: "n")) FROM (SELECT 5 AS n UNION SELECT 4)")
    #expect(numbered == [[.integer(OrderKey.spacing)], [.integer(2 * OrderKey.spacing)]])
  }
}
