import TestSupport
import Testing

@testable import SQLite

@Suite("SQLite")
struct SQLiteTests {
  @Test("values of every storage class come back as they went in")
  func values() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute("CREATE TABLE t (a)")
    let values: [Value] = [
      .null, .integer(.min), .integer(.max), .real(-0.5), .real(.infinity), .text(""),
      .text("a\0b’"), .blob([]), .blob([0, 255]),
    ]
    for value in values { try connection.run("INSERT INTO t VALUES (?)", [value]) }
    #expect(try connection.rows("SELECT a FROM t ORDER BY rowid").map { $0[0] } == values)
  }

  @Test("a path with characters that mean something in a URI is only a path")
  func path() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a?mode=memory #%41&é.sqlite")
    let connection = try Connection(path: path, mode: .create)
    try connection.execute("CREATE TABLE t (a)")
    #expect(
      try Connection(path: path, mode: .immutable).value("SELECT count(*) FROM t") == .integer(0))
    #expect(throws: SQLiteError.self) {
      try Connection(path: path, mode: .immutable).execute("INSERT INTO t VALUES (1)")
    }
  }

  @Test("a quote in a name is doubled, also one that an accent makes another character")
  func accentedQuotes() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    for name in ["a", "", "a\"b", "\"", "a\"\u{301}, b", "\"\u{200D}\"\u{FE0F}"] {
      try connection.execute("CREATE TABLE \(quoted("t" + name)) (\(quoted(name + "c")))")
      #expect(
        try connection.rows(
          "SELECT name FROM pragma_table_info(?)", [.text("t" + name)]
        ).map { $0[0] } == [.text(name + "c")])
    }
  }

  @Test("a long statement is interrupted when asked")
  func interrupt() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    var asked = 0
    connection.onProgress {
      asked += 1
      return asked > 3
    }
    do {
      _ = try connection.value(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      Issue.record("it ended")
    } catch let error as SQLiteError {
      #expect(error.isInterrupted)
    }
    connection.onProgress(nil)
    #expect(try connection.value("SELECT 1") == .integer(1))
  }

  @Test("a transaction that throws is rolled back, and the first error is the one told")
  func transaction() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute("CREATE TABLE t (a UNIQUE)")
    do {
      try connection.transaction {
        try connection.run("INSERT INTO t VALUES (1)")
        try connection.run("INSERT INTO t VALUES (1)")
      }
      Issue.record("it went through")
    } catch let error as SQLiteError {
      #expect(error.isConstraint)
    }
    #expect(try connection.value("SELECT count(*) FROM t") == .integer(0))
  }

  @Test("a closed connection answers with an error")
  func closed() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    connection.close()
    #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1") }
  }

  @Test("names are quoted")
  func names() {
    #expect(quoted(#"a"b"#) == #""a""b""#)
  }

  @Test("what the authorizer denies cannot be compiled, and errors know their place")
  func authorizer() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute("CREATE TABLE t (a)")
    var asked: [Access] = []
    connection.authorize { access in
      asked.append(access)
      return access != .function("upper") && access != .other
    }
    _ = try connection.prepare("SELECT lower(a) FROM t")
    #expect(asked == [.select, .function("lower"), .read(table: "t", column: "a")])
    #expect(throws: SQLiteError.self) { try connection.prepare("SELECT upper(a) FROM t") }
    #expect(throws: SQLiteError.self) { try connection.prepare("DELETE FROM t") }
    connection.authorize(nil)
    try connection.execute("DELETE FROM t")
    let error = #expect(throws: SQLiteError.self) {
      try connection.prepare("SELECT nothing FROM t")
    }
    #expect(error?.offset == 7)
  }

  @Test("the text of a schema is run only where it is one statement of its type")
  func schemaText() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let trigger = "CREATE TRIGGER own AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END"
    for text in [
      trigger + "; DELETE FROM t", trigger + ";\n-- more\nDELETE FROM t", "DELETE FROM t", "",
      "CREATE TABLE own (a)", "CREATE INDEX own ON t (a)",
      "CREATE TEMP TRIGGER own AFTER INSERT ON t BEGIN SELECT 1; END",
    ] {
      let error = #expect(throws: SQLiteError.self) { try connection.create(.trigger, text) }
      #expect(error?.isCorrupt == true, "\(text)")
    }
    try connection.create(.trigger, trigger + " ;\n")
    try connection.create(.index, "CREATE UNIQUE INDEX i ON t (a)")
    try connection.create(.table, "CREATE TABLE u (a)")
    try connection.create(.view, "CREATE VIEW v AS SELECT a FROM t")
    let names = try connection.rows("SELECT name FROM sqlite_master ORDER BY name")
    #expect(names.compactMap { $0.first?.text } == ["i", "own", "t", "u", "v"])
    #expect(try connection.value("SELECT count(*) FROM t") == .integer(1))
  }

  /// A thousand stores on two threads spent a third of their time waiting for that lock.
  @Test("a process whose SQLite counts no memory has no lock that all connections share for it")
  func statistics() async {
    await #expect(processExitsWith: .success) {
      #expect(SQLiteLibrary.leaveOutMemoryStatistics())
      let connection = try Connection(path: ":memory:", mode: .create)
      try connection.execute("CREATE TABLE t AS SELECT zeroblob(100000)")
      #expect(SQLiteLibrary.countedMemory == 0)
      // SQLite is in use: it takes no other word now.
      #expect(!SQLiteLibrary.leaveOutMemoryStatistics())
      #expect(try connection.value("SELECT count(*) FROM t") == .integer(1))
    }
  }
}
