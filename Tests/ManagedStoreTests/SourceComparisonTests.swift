import Files
import ManagedStore
import SQLite
import Salvage
import TestSupport
import Testing

/// What the check of a file tells of rows that came from another file, with SQLite's word beside it.
@Suite("Rows compared while a file is checked")
struct SourceComparisonTests {
  /// Rows of two kinds and of a third that goes, with keys left out, long values on other pages, and some
  /// rows shorter than the table.
  private func makeSource(_ folder: TemporaryFolder) throws -> String {
    let path = folder.path("source.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 512;
      CREATE TABLE a (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, n INTEGER, r FLOAT, t VARCHAR, b BLOB, o INTEGER);
      WITH RECURSIVE i (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM i WHERE k < 900)
      INSERT INTO a SELECT k * 3, 4 + k % 3,
        CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN k * 100000000000 ELSE 3 - k END,
        CASE k % 4 WHEN 0 THEN NULL WHEN 1 THEN k ELSE k / 7.0 END,
        CASE k % 6 WHEN 0 THEN NULL ELSE 'text ' || k END,
        CASE k % 90 WHEN 7 THEN randomblob(2000) WHEN 1 THEN NULL ELSE randomblob(5) END,
        CASE k % 2 WHEN 0 THEN k END FROM i;
      ALTER TABLE a ADD COLUMN short INTEGER; UPDATE a SET short = 5 WHERE Z_PK > 2000;
      """)
    return path
  }

  /// What became of it: kind 6 went, the others have new numbers, `o` was filled in, columns came.
  private static let migration = """
    DELETE FROM a WHERE Z_ENT = 6; UPDATE a SET o = ifnull(o, Z_PK), Z_ENT = Z_ENT + 10;
    ALTER TABLE a ADD COLUMN flag INTEGER; ALTER TABLE a ADD COLUMN word VARCHAR;
    ALTER TABLE a ADD COLUMN number INTEGER; ALTER TABLE a ADD COLUMN empty VARCHAR;
    UPDATE a SET flag = 0, word = 'it''s',
      number = CASE WHEN n IS NOT NULL THEN CASE short WHEN 5 THEN 50 ELSE short END END;
    CREATE INDEX a_t ON a (t); CREATE INDEX a_n ON a (n, r)
    """

  private func makeResult(
    of source: String, _ folder: TemporaryFolder, _ sql: String
  ) throws -> String {
    let path = folder.path("result.sqlite")
    FileSystem.remove(path)
    try FileSystem.copyOver(source, to: path)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(Self.migration)
    try connection.execute(sql)
    if !sql.isEmpty { #expect(connection.changes > 0) }
    connection.close()
    return path
  }

  private func answer(
    _ source: String, _ result: String, on processors: Processors = .shared
  ) throws -> (problems: [String], answer: SourceComparison.Answer?, rows: Int) {
    func root(_ path: String) throws -> Int {
      try Connection(path: path, mode: .immutable).number(
        "SELECT rootpage FROM sqlite_master WHERE name = 'a'")
    }
    func rows(_ kind: Int64) -> RowComparison.Rows {
      .init(
        kind: kind,
        columns: [
          (1, .integer(kind + 10)), (2, .column(2)), (3, .column(3)), (4, .column(4)),
          (5, .column(5)), (6, .known(6)), (7, .column(7)), (8, .integer(0)),
          (9, .text(Array("it's".utf8))), (10, .present(2, .renumbered(7, [5: 50]))), (11, .null),
        ])
    }
    let question = RowComparison.Question(
      root: try root(source), kind: 1, filled: ([], []), rows: [rows(4), rows(5)])
    let connection = try Connection(path: result, mode: .immutable)
    let check = IntegrityCheck(
      of: result, tables: ["a"],
      comparing: SourceComparison(
        path: source,
        tables: ["a": .init(roots: (try root(source), try root(result)), rows: question)]),
      on: processors)
    var told = 0
    let problems = try check.problems(helpedBy: connection) { told = $0 }
    return (problems, check.answers["a"], told)
  }

  @Test("rows that are as planned are told so, with their numbers", arguments: [0, 1])
  func same(helpers: Int) throws {
    let folder = try TemporaryFolder()
    let source = try makeSource(folder)
    let result = try makeResult(of: source, folder, "")
    let found = try answer(source, result, on: Processors(count: helpers + 1))
    #expect(found.problems == [])
    #expect(found.answer == .rows([300, 300]))
    #expect(found.rows == 600)
    // A table that nobody wrote to is the same page for page, and no row is asked for.
    #expect(try answer(source, source).answer == .pages)
  }

  @Test(
    "whatever is not as planned is not told to be",
    arguments: [
      "UPDATE a SET n = n + 1 WHERE Z_PK = 9", "UPDATE a SET n = 0 WHERE Z_PK = 30",
      "UPDATE a SET n = NULL WHERE Z_PK = 3", "UPDATE a SET r = r + 0.5 WHERE Z_PK = 2694",
      "UPDATE a SET t = 'Text 1' WHERE Z_PK = 3", "UPDATE a SET t = '' WHERE Z_PK = 18",
      "UPDATE a SET t = CAST(t AS BLOB) WHERE Z_PK = 3",
      "UPDATE a SET b = substr(b, 1, 1999) || x'00' WHERE length(b) = 2000 AND Z_PK > 1000",
      "UPDATE a SET b = substr(b, 1, length(b) - 1) WHERE Z_PK = 2694",
      "UPDATE a SET o = 1 WHERE Z_PK = 12", "UPDATE a SET flag = 1 WHERE Z_PK = 2694",
      "UPDATE a SET flag = NULL WHERE Z_PK = 3", "UPDATE a SET word = 'its' WHERE Z_PK = 3",
      "UPDATE a SET number = 5 WHERE Z_PK = 2694", "UPDATE a SET number = 1 WHERE Z_PK = 30",
      "UPDATE a SET empty = '' WHERE Z_PK = 2694", "UPDATE a SET short = 5 WHERE Z_PK = 3",
      "UPDATE a SET short = NULL WHERE Z_PK = 2694", "UPDATE a SET Z_ENT = 14 WHERE Z_PK = 3",
      "DELETE FROM a WHERE Z_PK = 3", "DELETE FROM a WHERE Z_PK = (SELECT max(Z_PK) FROM a)",
      "UPDATE a SET Z_PK = 4 WHERE Z_PK = 3", "UPDATE a SET Z_PK = 9999 WHERE Z_PK = 2700",
      "DELETE FROM a", "DROP INDEX a_t; UPDATE a SET t = t || ' '",
    ])
  func changed(_ sql: String) throws {
    let folder = try TemporaryFolder()
    let source = try makeSource(folder)
    let result = try makeResult(of: source, folder, sql)
    let connection = try Connection(path: result, mode: .immutable)
    #expect(try connection.value("PRAGMA integrity_check")?.text == "ok")
    let found = try answer(source, result)
    #expect(found.problems == [])
    #expect(found.answer == nil)
  }

  @Test("rows that came from none are for those to tell who count")
  func extra() throws {
    let folder = try TemporaryFolder()
    let source = try makeSource(folder)
    let result = try makeResult(
      of: source, folder, "INSERT INTO a (Z_PK, Z_ENT) VALUES (1, 14), (7, 15), (9999, 14)")
    #expect(try answer(source, result).answer == .rows([300, 300]))
  }

  @Test("a bit that is another one, in any page, is seen, or is in no value")
  func bits() throws {
    let folder = try TemporaryFolder()
    let source = try makeSource(folder)
    let result = try makeResult(of: source, folder, "")
    let before = try FileSystem.read(result)
    let pages = try Connection(path: result, mode: .immutable).rows(
      "SELECT pageno, pagetype FROM dbstat WHERE name = 'a'"
    ).compactMap { $0.first?.integer.map { Int($0) } }
    #expect(pages.count > 60)
    let compared = """
      SELECT count(*) FROM s.a o LEFT JOIN main.a n ON n.Z_PK = o.Z_PK WHERE o.Z_ENT <> 6 AND (
        n.Z_PK IS NULL OR n.Z_ENT IS NOT o.Z_ENT + 10 OR n.n IS NOT o.n OR n.r IS NOT o.r
        OR n.t IS NOT o.t OR n.b IS NOT o.b OR o.o IS NOT NULL AND n.o IS NOT o.o
        OR n.short IS NOT o.short OR n.flag IS NOT 0 OR n.word IS NOT 'it''s' OR n.empty IS NOT NULL
        OR n.number IS NOT CASE WHEN o.n IS NOT NULL THEN CASE o.short WHEN 5 THEN 50 ELSE o.short END END)
      """
    var random = SeededGenerator(seed: 7)
    var (seen, harmless) = (0, 0)
    for page in pages {
      for _ in 0..<4 {
        var bytes = before
        let place = (page - 1) * 512 + Int.random(in: 0..<512, using: &random)
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try FileSystem.write(bytes, to: result)
        let found = try? answer(source, result)
        guard let found, found.problems == [], found.answer != nil else {
          seen += 1
          continue
        }
        harmless += 1
        let connection = try Connection(path: result, mode: .immutable)
        try connection.run("ATTACH DATABASE ? AS s", [.text("file:\(source)?immutable=1")])
        #expect(try connection.number(compared) == 0, "byte \(place) of page \(page)")
      }
    }
    // Free room within pages is in no value.
    #expect(seen > harmless)
  }
}
