import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// Join tables are called by entity numbers, and their indexes by the tables.
@Suite("Indexes that only change their names")
struct IndexRenamingTests {
  private func indexes(_ connection: Connection) throws -> [String: (root: Int64, sql: String)] {
    try connection.rows(
      "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).reduce(into: [:]) { indexes, row in
      indexes[row[0].text ?? ""] = (row[1].integer ?? 0, row[2].text ?? "")
    }
  }

  @Test("keep their trees in place, and are called as those of a new store are")
  func renamed() throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let before = try indexes(Connection(path: path, mode: .immutable))
    let model = try Gallery.model([Gallery.shift])
    let (result, _) = try Gallery.migrate(path, to: model, .inPlace, in: folder)
    let after = try indexes(result.connection)
    // The index of Album.photos: its entities are 2 and 4 now.
    let (former, now) = ("Z_1PHOTOS_Z_3PHOTOS_INDEX", "Z_2PHOTOS_Z_4PHOTOS_INDEX")
    #expect(before[former] != nil && before[now] == nil)
    #expect(after[former] == nil)
    #expect(after[now]?.root == before[former]?.root)
    let (copy, _) = try Gallery.migrate(path, to: model, .copying, in: folder)
    let made = try indexes(copy.connection)
    #expect(Set(after.keys) == Set(made.keys))
    for (name, index) in after { #expect(index.sql == made[name]?.sql, "\(name)") }
    #expect(
      try result.connection.rows("PRAGMA integrity_check").compactMap { $0.first?.text } == ["ok"])
    // SQLite uses it under its new name, and remembers nothing of the old one.
    let plan = try result.connection.rows(
      "EXPLAIN QUERY PLAN SELECT Z_2ALBUMS FROM Z_2PHOTOS WHERE Z_4PHOTOS = 1")
    #expect(plan.contains { $0.last?.text?.contains(now) == true })
    #expect(
      try result.connection.number(
        "SELECT count(*) FROM sqlite_stat1 WHERE idx = ?", [.text(former)])
        == 0)
  }

  @Test(
    "an index is told by what it is of",
    arguments: [
      ("CREATE INDEX B ON \"T\" ( a,b )", true), ("create index B on T(a, b)", true),
      ("CREATE UNIQUE INDEX B ON T (a, b)", false), ("CREATE INDEX B ON T (b, a)", false),
      ("CREATE INDEX B ON T (a, b) WHERE a > 1", false), ("CREATE INDEX B ON U (a, b)", false),
    ])
  func content(_ other: (sql: String, isSame: Bool)) {
    let one = SchemaText.content(ofIndex: "CREATE INDEX A ON T (a, b)", named: "A")
    #expect(one != nil)
    let partial = "CREATE INDEX A ON T (a) WHERE b = 'x'"
    #expect(SchemaText.content(ofIndex: partial, named: "A") == nil)
    #expect((SchemaText.content(ofIndex: other.sql, named: "B") == one) == other.isSame)
  }
}
