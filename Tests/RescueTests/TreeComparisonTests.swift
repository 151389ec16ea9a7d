import Files
import SQLite
import Salvage
import TestSupport
import Testing

/// What of a clone is as it was, found by comparing pages.
@Suite("Trees of a clone")
struct TreeComparisonTests {
  private func makeDatabase(_ folder: TemporaryFolder) throws -> String {
    let path = folder.path("a.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 512; PRAGMA auto_vacuum = 2;
      CREATE TABLE first (Z_PK INTEGER PRIMARY KEY, t); CREATE TABLE a (Z_PK INTEGER PRIMARY KEY, t, b);
      CREATE INDEX a_t ON a (t);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
      INSERT INTO a SELECT i, 'row ' || i, zeroblob(CASE WHEN i % 50 = 0 THEN 3000 END) FROM n
      """)
    return path
  }

  private func isSame(_ one: String, _ other: String, table: String = "a") throws -> Bool {
    let roots = try [one, other].map {
      try Connection(path: $0, mode: .immutable).number(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND tbl_name = '\(table)'")
    }
    var comparison = TreeComparison(
      try DatabaseImage(path: one, log: nil), try DatabaseImage(path: other, log: nil))
    return try comparison.isSame(roots[0], roots[1])
  }

  private func change(_ path: String, _ sql: String, in folder: TemporaryFolder) throws -> String {
    let copy = folder.path("copy.sqlite")
    FileSystem.remove(copy)
    try FileSystem.copyOver(path, to: copy)
    let connection = try Connection(path: copy, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    return copy
  }

  @Test(
    "what no statement touched is the same, wherever its first page is now",
    arguments: [
      "SELECT 1", "ALTER TABLE a ADD COLUMN c", "ALTER TABLE a RENAME COLUMN t TO u",
      "DROP INDEX a_t",
      "DROP TABLE first", "DROP INDEX a_t; DROP TABLE first",
      "INSERT INTO first VALUES (1, 2)",
    ])
  func same(_ sql: String) throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    #expect(try isSame(path, try change(path, sql, in: folder)))
  }

  @Test(
    "a change of any row is seen, also in what stands on other pages",
    arguments: [
      "UPDATE a SET t = 'row 9999' WHERE Z_PK = 1", "UPDATE a SET t = 'row X' WHERE Z_PK = 600",
      "UPDATE a SET b = zeroblob(2999) || x'01' WHERE Z_PK = 300", "DELETE FROM a WHERE Z_PK = 77",
      "INSERT INTO a VALUES (601, NULL, NULL)", "DELETE FROM a",
      "UPDATE a SET Z_PK = 700 WHERE Z_PK = 3",
    ])
  func changed(_ sql: String) throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    #expect(try !isSame(path, try change(path, sql, in: folder)))
  }

  @Test("any byte that a row has, changed in the file, is seen")
  func bytes() throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    let copy = try change(path, "SELECT 1", in: folder)
    let pages = try Connection(path: path, mode: .immutable).rows(
      "SELECT pageno FROM dbstat WHERE name = 'a'"
    ).compactMap { $0.first?.integer.map { Int($0) } }
    #expect(pages.count > 30)
    let whole = try FileSystem.read(copy)
    for page in pages {
      var bytes = whole
      bytes[page * 512 - 1] ^= 4
      try FileSystem.write(bytes, to: copy)
      #expect(try !isSame(path, copy), "page \(page)")
    }
  }
}
