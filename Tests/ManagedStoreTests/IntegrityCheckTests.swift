import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

/// The check of two threads against SQLite's own, which looks every row up in every index.
@Suite("The check of a whole file")
struct IntegrityCheckTests {
  /// A database of all kinds of values and indexes, a few of its pages too many for one leaf.
  private func makeDatabase(
    _ folder: TemporaryFolder, _ name: String = "a.sqlite", rows: Int = 700, seed: UInt64 = 1,
    encoding: String = "UTF-8"
  ) throws -> String {
    let path = folder.path(name)
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      PRAGMA page_size = 1024; PRAGMA auto_vacuum = 2; PRAGMA encoding = '\(encoding)';
      CREATE TABLE a (Z_PK INTEGER PRIMARY KEY, n INTEGER, r FLOAT, d DECIMAL, t VARCHAR, b BLOB, c, u BLOB);
      CREATE TABLE j (one INTEGER, two INTEGER, PRIMARY KEY (one, two));
      CREATE INDEX a_n ON a (n);
      CREATE INDEX a_r ON a (r DESC, n);
      CREATE INDEX a_d ON a (d);
      CREATE INDEX a_t ON a (t COLLATE NOCASE, r);
      CREATE INDEX a_s ON a (t COLLATE RTRIM DESC);
      CREATE INDEX a_b ON a (b, t);
      CREATE INDEX a_k ON a (c, Z_PK);
      CREATE UNIQUE INDEX a_u ON a (u);
      CREATE INDEX j_two ON j (two, one);
      BEGIN
      """)
    var random = SeededGenerator(seed: seed)
    let words = ["", "a", "A", "a  ", "ä", "Zucchini", "zucchinI", "日本", "x\u{1}"]
    let insert = try connection.prepare("INSERT INTO a VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    let link = try connection.prepare("INSERT OR IGNORE INTO j VALUES (?, ?)")
    for key in 1...rows {
      func maybe(_ value: Value) -> Value { Bool.random(using: &random) ? value : .null }
      let number = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<63, using: &random)
      let real = Double(Int.random(in: -40...40, using: &random)) / 4
      let long = String(
        repeating: words.randomElement(using: &random) ?? "",
        count: Int.random(in: 0...3, using: &random) * 90)
      insert.reset()
      try insert.bind([
        .integer(Int64(key)), maybe(.integer(number)), maybe(.real(real)),
        [.integer(number), .real(Double(number) * 1.5), .text("1.50"), .null]
          .randomElement(using: &random) ?? .null,
        maybe(.text((words.randomElement(using: &random) ?? "") + long)),
        maybe(.blob(Array(long.utf8))),
        [.integer(2), .real(2), .real(2.5), .text("2"), .blob([50]), .null]
          .randomElement(using: &random) ?? .null,
        maybe(.blob((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })),
      ])
      _ = try insert.step()
      link.reset()
      try link.bind([
        .integer(Int64.random(in: 1...50, using: &random)), .integer(number % 300),
      ])
      _ = try link.step()
    }
    // Rows that are shorter than their table.
    try connection.execute(
      "COMMIT; ALTER TABLE a ADD COLUMN e INTEGER; CREATE INDEX a_e ON a (e, n); DELETE FROM a WHERE Z_PK % 7 = 3"
    )
    return path
  }

  private func problems(
    _ path: String, isWhole: Bool = true, by judge: IntegrityCheck.Judge = .reading,
    on processors: Processors = .shared
  ) throws -> [String] {
    let connection = try Connection(path: path, mode: .immutable)
    return try IntegrityCheck(
      of: path, tables: ["a", "j"], isWhole: isWhole, by: judge, on: processors
    ).problems(helpedBy: connection)
  }

  /// Whether all is told by reading alone, so that the tests below are about that.
  private func isTold(
    _ path: String, _ table: String, by judge: IntegrityCheck.Judge = .reading
  ) throws -> Bool {
    let check = IntegrityCheck(of: path, tables: [table], asking: [table: .rows], by: judge)
    _ = try check.problems(helpedBy: Connection(path: path, mode: .immutable))
    return check.facts.rows(ofTable: table) != nil
  }

  @Test(
    "what SQLite wrote agrees, of any values, orders and collations",
    arguments: TestScale.some(3, of: [UInt64](1...12)))
  func sound(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder, seed: seed)
    #expect(try isTold(path, "a") && isTold(path, "j"))
    #expect(try problems(path).isEmpty)
    #expect(try problems(path, isWhole: false).isEmpty)
  }

  @Test("with the switch SQLite judges, and nothing is told by reading")
  func bySQLite() throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    #expect(try !isTold(path, "a", by: .sqlite))
    #expect(try problems(path, by: .sqlite).isEmpty)
    #expect(IntegrityCheck.judge == .reading)
  }

  @Test(
    "where jobs take all processors nothing helps, and as much is found",
    arguments: TestScale.some(2, of: Array(1...3)))
  func alone(processors count: Int) throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    let check = IntegrityCheck(of: path, tables: ["a", "j"], on: Processors(count: count))
    #expect(check.isHelped == (count > 1))
    #expect(try check.problems(helpedBy: Connection(path: path, mode: .immutable)).isEmpty)
    let bytes = try FileSystem.read(path)
    var random = SeededGenerator(seed: 9)
    var broken = 0
    let rounds = TestScale.count(30, ofAll: 300)
    for _ in 0..<rounds {
      var changed = bytes
      changed[Int.random(in: 1024..<bytes.count, using: &random)] ^= 4
      try FileSystem.write(changed, to: path)
      let connection = try Connection(path: path, mode: .immutable)
      let own = (try? connection.rows("PRAGMA integrity_check").first?.first?.text) ?? "unreadable"
      guard own != "ok" else { continue }
      broken += 1
      let told = (try? problems(path, on: Processors(count: count))) ?? ["unreadable"]
      #expect(!told.isEmpty, "\(own)")
    }
    #expect(broken > rounds / 15)
  }

  @Test("one bit anywhere: whatever SQLite finds is found")
  func bits() throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder, rows: 200)
    let bytes = try FileSystem.read(path)
    var random = SeededGenerator(seed: 5)
    var (broken, missed) = (0, 0)
    let rounds = TestScale.count(100, ofAll: 1500)
    for _ in 0..<rounds {
      var changed = bytes
      let place = Int.random(in: 1024..<bytes.count, using: &random)
      changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      try FileSystem.write(changed, to: path)
      let connection = try Connection(path: path, mode: .immutable)
      let own = (try? connection.rows("PRAGMA integrity_check").first?.first?.text) ?? "unreadable"
      guard own != "ok" else { continue }
      broken += 1
      let told = (try? problems(path)) ?? ["unreadable"]
      if told.isEmpty { missed += 1 }
    }
    #expect(broken > rounds / 8)
    #expect(missed == 0)
  }

  /// Changes that leave every page in order, made with a schema that knows no index.
  @Test(
    "rows that their indexes do not know, and entries without rows",
    arguments: [
      "UPDATE a SET n = 77 WHERE Z_PK = 4", "UPDATE a SET r = r + 1 WHERE Z_PK = 5",
      "UPDATE a SET b = x'00' WHERE Z_PK = 9", "UPDATE a SET t = 'other' WHERE Z_PK = 2",
      "DELETE FROM a WHERE Z_PK = 11", "INSERT INTO a (Z_PK) VALUES (100000)",
      "UPDATE a SET e = 1 WHERE Z_PK = 8",
      "UPDATE a SET e = 0 WHERE Z_PK = 8", "UPDATE a SET e = 2.5 WHERE Z_PK = 8",
      "UPDATE a SET e = '' WHERE Z_PK = 8", "UPDATE a SET e = x'' WHERE Z_PK = 8",
      "UPDATE a SET Z_PK = 100001 WHERE Z_PK = 12",
    ])
  func disagreement(_ change: String) throws {
    let folder = try TemporaryFolder()
    let path = try makeDatabase(folder)
    let connection = try Connection(path: path, mode: .readWrite, isDefensive: false)
    try connection.execute("UPDATE a SET r = 1, t = 'x', b = x'11' WHERE Z_PK IN (2, 5, 9)")
    let names = try connection.rows(
      "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'a'")
    try connection.execute(
      "PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE type = 'index' AND tbl_name = 'a'"
    )
    connection.close()
    let blind = try Connection(path: path, mode: .readWrite, isDefensive: false)
    try blind.execute(change)
    try blind.execute("PRAGMA writable_schema = 1")
    for row in names {
      try blind.run("INSERT INTO sqlite_master VALUES ('index', ?, 'a', ?, ?)", row)
    }
    blind.close()
    #expect(try !isTold(path, "a"))
    #expect(try !problems(path).isEmpty)
    #expect(try !problems(path, isWhole: false).isEmpty)
    #expect(try !problems(path, by: .sqlite).isEmpty)
  }

  @Test("equal entries of a unique index are none that agree")
  func duplicates() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    let connection = try Connection(path: path, mode: .create, isDefensive: false)
    try connection.execute(
      "CREATE TABLE a (n); CREATE INDEX a_n ON a (n); INSERT INTO a VALUES (1), (2), (2), (NULL), (NULL)"
    )
    try connection.execute(
      """
      PRAGMA writable_schema = 1;
      UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX a_n ON a (n)' WHERE name = 'a_n'
      """)
    connection.close()
    #expect(try !isTold(path, "a"))
    let told = try IntegrityCheck(of: path, tables: ["a"])
      .problems(helpedBy: Connection(path: path, mode: .immutable))
    #expect(told == ["non-unique entry in index a_n"])
  }

  @Test("what is not read here is asked of SQLite: expressions, parts, other encodings, defaults")
  func others() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute(
      """
      CREATE TABLE a (n, t); CREATE INDEX a_n ON a (n) WHERE n > 1; INSERT INTO a VALUES (1, 'a'), (2, 'b');
      CREATE TABLE j (n, t); CREATE INDEX j_t ON j (upper(t)); INSERT INTO j VALUES (1, 'a');
      CREATE TABLE k (n PRIMARY KEY, t) WITHOUT ROWID; INSERT INTO k VALUES (1, 'a');
      CREATE TABLE l (n); INSERT INTO l VALUES (1); ALTER TABLE l ADD COLUMN m DEFAULT 7;
      CREATE INDEX l_m ON l (m)
      """)
    connection.close()
    for table in ["a", "j", "k", "l"] { #expect(try !isTold(path, table), "\(table)") }
    #expect(try problems(path).isEmpty)
    let wide = try makeDatabase(folder, "16.sqlite", encoding: "UTF-16le")
    #expect(try isTold(wide, "j"))
    #expect(try !isTold(wide, "a"))
    #expect(try problems(wide).isEmpty)
  }
}
