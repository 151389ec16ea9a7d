import TestSupport
import Testing

@testable import SQLite

@Suite("SQLite's limits")
struct LimitTests {
  /// A recipe's `printf` took 4.4 GB, and did not hear ^C for 55 seconds.
  @Test("a connection that reads refuses values that no file of that size can hold")
  func tooLong() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    try Connection(path: path, mode: .create).execute("CREATE TABLE t (a)")
    let connection = try Connection(path: path, mode: .immutable)
    #expect(connection.valueLimit == ValueLimit(reading: 8192).bytes)
    for sql in [
      "SELECT length(zeroblob(900000000))",
      "SELECT length(replace(hex(zeroblob(3000000)), '0', 'abcdefghij'))",
    ] {
      let error = #expect(throws: SQLiteError.self) { try connection.value(sql) }
      #expect(error?.code == 18)
      #expect(error?.isEvaluation == true)
    }
    // printf has no text then: an error, or in older versions of SQLite NULL.
    for sql in [
      "SELECT length(printf('%.*c', 1000000000, 'x'))", "SELECT length(printf('%999999999d', 1))",
    ] {
      do {
        #expect(try connection.value(sql) == .null)
      } catch let error as SQLiteError {
        #expect(error.code == 18)
      }
    }
    #expect(
      try connection.value("SELECT length(printf('%.*c', 1000000, 'x'))") == .integer(1_000_000))
  }

  @Test(
    "the limit follows the size of what is read, up to SQLite's own",
    arguments: [
      (0, 8 << 20), (-1, 8 << 20), (1 << 20, 12 << 20), (1 << 30, 1_000_000_000),
      (.max, 1_000_000_000),
    ])
  func limit(size: Int, bytes: Int) {
    #expect(ValueLimit(reading: size).bytes == bytes)
  }

  @Test("a large value of a sound file is read, and copied through an attached database")
  func large() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    let size = 20 << 20
    let writer = try Connection(path: path, mode: .create)
    try writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(\(size)))")
    writer.close()
    let reader = try Connection(path: path, mode: .immutable)
    #expect(try reader.value("SELECT a FROM t") == .blob([UInt8](repeating: 0, count: size)))
    let copy = try Connection(path: "", mode: .create)
    copy.limitValues()
    #expect(copy.valueLimit == ValueLimit.least)
    try copy.attach(reader, as: "src")
    #expect(copy.valueLimit == reader.valueLimit)
    try copy.execute("CREATE TABLE main.t AS SELECT a, 1 FROM src.t")
    #expect(try copy.value("SELECT length(a) FROM main.t") == .integer(Int64(size)))
  }

  @Test("a value that another program writes meanwhile is read")
  func growth() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    let writer = try Connection(path: path, mode: .create)
    try writer.execute("CREATE TABLE t (a)")
    let reader = try Connection(path: path, mode: .readOnly)
    #expect(try reader.cached("SELECT length(a) FROM t").rows([]) == [])
    let before = reader.valueLimit
    try writer.execute("INSERT INTO t VALUES (zeroblob(\(20 << 20)))")
    #expect(
      try reader.cached("SELECT length(a || '') FROM t").rows([]) == [[.integer(0)]])
    #expect(try reader.value("SELECT a FROM t")?.blob?.count == 20 << 20)
    #expect(reader.valueLimit >= before + 80 << 20)
  }

  @Test("values from elsewhere, such as external data, are added to what is read")
  func external() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    #expect(connection.valueLimit == ValueLimit.most)
    connection.extendLimit(by: 1)
    #expect(connection.valueLimit == ValueLimit.most)
    connection.limitValues()
    connection.extendLimit(by: 1 << 20)
    connection.extendLimit(by: 1 << 20)
    #expect(connection.valueLimit == ValueLimit(reading: 2 << 20).bytes)
  }

  @Test("expressions that are nested deeper than allowed are not compiled")
  func depth() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    func chain(_ count: Int) -> String {
      "SELECT " + Array(repeating: "1", count: count).joined(separator: " + ")
    }
    #expect(try connection.value(chain(900)) == .integer(900))
    #expect(throws: SQLiteError.self) { try connection.prepare(chain(1100)) }
    connection.limitExpressions(depth: 200)
    #expect(try connection.value(chain(150)) == .integer(150))
    #expect(throws: SQLiteError.self) { try connection.prepare(chain(300)) }
  }

  @Test("a schema calls stand-ins for Core Data's functions, and no other function of the program")
  func trust() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    connection.trustSchema(false)
    #expect(try connection.value("PRAGMA trusted_schema") == .integer(0))
    try connection.defineNullFunction("NSCoreDataNow")
    try connection.defineNullFunction("NSCoreDataKey", isDeterministic: true)
    try connection.defineFunction("strata_own", arguments: 0) { _ in .integer(1) }
    try connection.execute(
      """
      CREATE TABLE t (a, b);
      CREATE TRIGGER sound AFTER INSERT ON t BEGIN UPDATE t SET b = NSCoreDataNow(); END;
      INSERT INTO t VALUES (1, 2);
      CREATE INDEX keys ON t (NSCoreDataKey(a));
      CREATE VIEW v AS SELECT strata_own() FROM t;
      """)
    #expect(try connection.rows("SELECT a, b FROM t") == [[.integer(1), .null]])
    #expect(throws: SQLiteError.self) { try connection.rows("SELECT * FROM v") }
  }

  /// One call took ten seconds for a text that was refused, and asked nobody.
  @Test(
    "a width or a precision that is longer than any value is refused at once",
    arguments: [
      "'%.*c', 2000000000, 'x'", "'%.2000000000c', 'x'", "'%2000000000d', 1",
      "'%*d', 2000000000, 1",
      "'%s %d %-*.*s', 'a', 1, 5, -2000000000, 'b'", "'%.*c', 6294967296, 'x'",
      "'%.*c', '2000000000', 'x'", "'%%%.*c', 2000000000, 'x'", "'%.6294967296c', 'x'",
    ])
  func widths(arguments: String) throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    connection.limitValues()
    let error = #expect(throws: SQLiteError.self) {
      try connection.value("SELECT length(printf(\(arguments)))")
    }
    #expect(error?.code == 18)
  }

  @Test("formatted text is what SQLite makes of it")
  func formatting() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    let limited = try Connection(path: ":memory:", mode: .create)
    limited.limitValues()
    for call in [
      "printf()", "printf(NULL)", "printf(NULL, 1)", "printf('')", "printf('a%%b')",
      "printf('%05d|%-5s|%+.2f|%x', 42, 'ab', 1.5, 255)", "printf('%*.*f', 9, 3, 2.5)",
      "printf('%.*c', 5, 'é')", "printf('%s', CAST(x'61FF62' AS TEXT))",
      "printf('%d', 99999999999)",
      "printf('%s %s', 1)", "printf('%q %Q %w', 'a''b', NULL, 'c\"d')", "printf('%,d', 1234567)",
      "printf('%lld %z %', 1, 2)", "printf(12.5)", "printf(x'2564', 7)", "printf('%!.15g', 0.1)",
    ] {
      let sql = "SELECT typeof(\(call)), hex(\(call))"
      #expect(try limited.rows(sql) == connection.rows(sql), "\(call)")
    }
    // An index of a store may be over such an expression.
    try limited.execute(
      "CREATE TABLE t (a); INSERT INTO t VALUES (7); CREATE INDEX i ON t (printf('%03d', a))")
    limited.trustSchema(false)
    #expect(
      try limited.value("SELECT a FROM t INDEXED BY i WHERE printf('%03d', a) = '007'")
        == .integer(7))
  }

  /// SQLite 3.40 refuses both where the schema is not trusted.
  @Test("triggers fill an R-tree and a full-text index on a connection that writes")
  func virtualTables() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    guard (try? connection.execute("CREATE VIRTUAL TABLE tree USING rtree (id, low, high)")) != nil,
      (try? connection.execute("CREATE VIRTUAL TABLE words USING fts4 (text)")) != nil
    else { return }
    try connection.execute(
      """
      CREATE TABLE t (a INTEGER PRIMARY KEY, b);
      CREATE TRIGGER fill AFTER INSERT ON t BEGIN
        INSERT INTO tree VALUES (NEW.a, NEW.a, NEW.a + 1);
        INSERT INTO words (docid, text) VALUES (NEW.a, NEW.b);
      END;
      INSERT INTO t VALUES (1, 'one'), (2, 'two');
      """)
    #expect(try connection.value("SELECT count(*) FROM tree") == .integer(2))
    #expect(
      try connection.value("SELECT docid FROM words WHERE words MATCH 'two'") == .integer(2))
  }

  @Test("a connection that reads does not trust the schema")
  func readers() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    try Connection(path: path, mode: .create).execute("CREATE TABLE t (a)")
    for mode in [Connection.Mode.readOnly, .immutable] {
      let reader = try Connection(path: path, mode: mode)
      #expect(try reader.value("PRAGMA trusted_schema") == .integer(0))
    }
  }

  @Test("SQL cannot damage a database, but on a connection that is opened for that")
  func defence() throws {
    let folder = try TemporaryFolder()
    func connection(_ name: String, isDefensive: Bool) throws -> Connection {
      let connection = try Connection(
        path: folder.path(name), mode: .create, isDefensive: isDefensive)
      try connection.execute("CREATE TABLE t (a); PRAGMA writable_schema = ON")
      return connection
    }
    let guarded = try connection("a.sqlite", isDefensive: true)
    #expect(throws: SQLiteError.self) { try guarded.execute("DELETE FROM sqlite_master") }
    try guarded.execute("PRAGMA journal_mode = OFF")
    #expect(try guarded.value("PRAGMA journal_mode") != .text("off"))
    let open = try connection("b.sqlite", isDefensive: false)
    try open.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t (b)'")
    try open.execute("PRAGMA writable_schema = RESET; PRAGMA journal_mode = OFF")
    #expect(try open.value("PRAGMA journal_mode") == .text("off"))
    #expect(try open.rows("SELECT b FROM t") == [])
  }
}

@Suite("stopping statements")
struct StoppingTests {
  private static let endless = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
    """
  private static let long = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000)
    SELECT count(*) FROM n
    """

  @Test("every connection that is opened within the work hears that it should stop")
  func scope() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.sqlite")
    // What a store could be made of: a view without an end.
    try Connection(path: path, mode: .create).execute("CREATE VIEW v AS \(Self.endless)")
    var asked = 0
    Connection.stoppingAll(when: {
      asked += 1
      return asked > 3
    }) {
      let error = #expect(throws: SQLiteError.self) {
        try Connection(path: path, mode: .immutable).rows("SELECT * FROM v")
      }
      #expect(error?.isInterrupted == true)
      #expect(asked == 4)
    }
  }

  @Test("a connection has the question of its scope besides its own, and keeps it afterwards")
  func both() throws {
    var (isInner, isOuter) = (false, false)
    let connection = try Connection.stoppingAll(when: { isOuter }) {
      try Connection(path: ":memory:", mode: .create)
    }
    connection.onProgress { isInner }
    #expect(try connection.value(Self.long) == .integer(10_000))
    isInner = true
    #expect(connection.shouldStop)
    #expect(throws: SQLiteError.self) { try connection.value(Self.long) }
    connection.onProgress(nil)
    #expect(try connection.value(Self.long) == .integer(10_000))
    isOuter = true
    #expect(connection.shouldStop)
    #expect(throws: SQLiteError.self) { try connection.value(Self.long) }
    #expect(throws: SQLiteError.self) {
      try connection.stopping(when: { false }) { try connection.value(Self.long) }
    }
  }

  @Test("scopes within each other are all asked; what must be finished is not stopped")
  func nested() throws {
    let (inner, finishing) = try Connection.stoppingAll(when: { true }) {
      (
        try Connection.stoppingAll(when: { false }) {
          try Connection(path: ":memory:", mode: .create)
        }, try Connection.finishing { try Connection(path: ":memory:", mode: .create) }
      )
    }
    #expect(inner.shouldStop)
    #expect(!finishing.shouldStop)
    #expect(try finishing.value(Self.long) == .integer(10_000))
    let outside = try Connection(path: ":memory:", mode: .create)
    #expect(!outside.shouldStop)
  }

  /// Every 20,000 steps were ten minutes of rows that took 30 ms each.
  @Test("the question is asked every hundred steps")
  func steps() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    var asked = 0
    connection.onProgress {
      asked += 1
      return false
    }
    _ = try connection.value(Self.long)
    // A row of the recursion takes at least eight steps.
    #expect(asked >= 500)
  }
}
