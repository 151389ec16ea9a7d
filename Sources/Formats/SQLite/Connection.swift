import CSQLite

/// A handle on one SQLite database, used by one caller at a time.
package final class Connection {
  /// How a file is opened; only `.readWrite`, `.made` and `.create` can change it.
  package enum Mode: Sendable, Equatable {
    /// Through the -wal and -shm files that are there; may create a -shm.
    case readOnly
    /// As if nobody else could write: no lock, no -shm, and the -wal is not looked at.
    case immutable
    case readWrite
    /// The same of a file that this process made: SQLite refuses a path with a link in it, which another
    /// user of the folder could have put there.
    case made
    /// Makes the file where it is missing.
    case create
  }

  /// Where the file is.
  package let path: String
  /// Whether it is read as if nobody else could write.
  package let isImmutable: Bool
  private(set) var handle: OpaquePointer?
  private var cache: [String: Statement] = [:]
  private var progressHandler: Box<() -> Bool>?
  /// The question of this connection alone.
  private var ownQuestion: (() -> Bool)?
  /// The question of the scope that the connection was opened in.
  private let inheritedQuestion = Stopping.current?.isRequested
  /// Whether values are limited to what the files at `readPaths` can hold; see ``limitValues()``.
  var isLimited = false
  /// The database files whose values this connection reads.
  var readPaths: [String] = []
  /// Bytes of values that it reads from elsewhere.
  var readBytes = 0
  /// Whether another program may write to a file that it reads.
  var isLive: Bool
  private var authorizer: Box<Access.Question>?
  /// Called with each text before it is compiled, for showing what a piece of work consists of.
  package var onStatement: ((String) -> Void)?

  /// Opens `path`; the file is not read before the first statement.
  ///
  /// Any database may come from somebody else. A connection that only reads does not trust its schema
  /// and limits the size of values: see ``trustSchema(_:)`` and ``limitValues()``.
  ///
  /// - Parameter isDefensive: whether SQLite refuses what can damage a database:
  ///   PRAGMA writable_schema, PRAGMA journal_mode = OFF, and writing to the tables behind a virtual
  ///   table. The first two are ignored without an error.
  package init(
    path: String, mode: Mode, isDefensive: Bool = true, busyTimeout milliseconds: Int32 = 0
  ) throws {
    var flags: Int32
    var suffix = ""
    switch mode {
    case .readOnly: flags = SQLITE_OPEN_READONLY
    case .immutable:
      flags = SQLITE_OPEN_READONLY
      suffix = "?immutable=1"
    case .readWrite: flags = SQLITE_OPEN_READWRITE
    case .made: flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW
    case .create: flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
    flags |= SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var opened: OpaquePointer?
    let uri = Self.uri(path: path) + suffix
    let result = sqlite3_open_v2(uri, &opened, flags, nil)
    guard let opened else {
      throw SQLiteError(extendedCode: result, message: "out of memory")
    }
    guard result == SQLITE_OK else {
      let message = String(cString: sqlite3_errmsg(opened))
      sqlite3_close_v2(opened)
      throw SQLiteError(extendedCode: result, message: message)
    }
    handle = opened
    self.path = path
    isImmutable = mode == .immutable
    // A reader stays one when its database is attached to a connection that writes another.
    let isReader = mode == .readOnly
    self.uri = isReader ? uri + "?mode=ro" : uri
    isLive = isReader
    sqlite3_busy_timeout(handle, milliseconds)
    if isReader || isImmutable { trustSchema(false) }
    if isDefensive { _ = strata_sqlite_set(handle, SQLITE_DBCONFIG_DEFENSIVE, 1) }
    // A build of SQLite may allow more, and its compiler calls itself once for each level.
    if Self.expressionDepth < sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, -1) {
      limitExpressions(depth: Self.expressionDepth)
    }
    if isReader || isImmutable { limitValues() }
    if inheritedQuestion != nil { onProgress(nil) }
  }

  /// Whether the database's views, triggers and indexes may use functions and virtual tables of which
  /// SQLite does not know that they do no harm.
  ///
  /// A connection that writes has to: triggers of Core Data fill R-trees, and those of an app a
  /// full-text index, which SQLite before 3.41 takes for harmful. They gain nothing by it, since the
  /// functions of this program may stand in no schema anyway; see ``defineFunction(_:arguments:_:)``.
  package func trustSchema(_ isTrusted: Bool) {
    _ = strata_sqlite_set(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, isTrusted ? 1 : 0)
  }

  /// Whether triggers run: those of an app, and Core Data's own, which compute what is computed otherwise.
  package func fireTriggers(_ fires: Bool) {
    _ = strata_sqlite_set(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, fires ? 1 : 0)
  }

  /// SQLite's own default.
  private static let expressionDepth: Int32 = 1000

  /// Refuses to compile expressions that are nested deeper; a chain of operators counts as nested.
  package func limitExpressions(depth: Int32) {
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, depth)
  }

  deinit { close() }

  /// Closes the database; whatever is asked of the connection afterwards fails.
  package func close() {
    cache.removeAll()
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// What ATTACH needs to read this database the way this connection does.
  package let uri: String

  /// A `file:` URI of a path: everything that could end the path or mean something is escaped.
  private static func uri(path: String) -> String {
    var text = path.hasPrefix("/") ? "file://" : "file:"
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hex = String(byte, radix: 16)
        text += hex.count == 1 ? "%0\(hex)" : "%\(hex)"
      }
    }
    return text
  }

  /// Makes another connection's database readable under a name of its own, as that one reads it.
  ///
  /// Databases of one connection share a text encoding: where this one has no content yet, it takes
  /// on the other's, and a text is the same bytes in both.
  package func attach(_ other: Connection, as name: String) throws {
    try adoptEncoding(of: other)
    try run("ATTACH DATABASE ? AS \(quoted(name))", [.text(other.uri)])
    extendLimit(to: other)
  }

  /// Takes on the text encoding of another database, where there is no content yet; else nothing
  /// changes.
  package func adoptEncoding(of other: Connection) throws {
    guard let encoding = try other.value("PRAGMA encoding")?.text,
      ["UTF-8", "UTF-16le", "UTF-16be"].contains(encoding)
    else { return }
    try execute("PRAGMA encoding = '\(encoding)'")
  }

  /// Compiles one statement.
  package func prepare(_ sql: String) throws -> Statement { try compile(sql).statement }

  /// Compiles the first statement of a text.
  ///
  /// - Returns: the statement, and whether nothing but blanks and semicolons follows it.
  func compile(_ sql: String) throws -> (statement: Statement, isAlone: Bool) {
    onStatement?(sql)
    followGrowth()
    return try sql.withCString { text in
      var statement: OpaquePointer?
      // Points into the text, behind the first statement.
      var tail: UnsafePointer<CChar>?
      let result = sqlite3_prepare_v2(handle, text, -1, &statement, &tail)
      guard result == SQLITE_OK, let statement else {
        throw error(code: result == SQLITE_OK ? SQLITE_MISUSE : result, sql: sql)
      }
      let rest = tail.map { String(cString: $0) } ?? ""
      return (
        Statement(handle: statement),
        rest.utf8.allSatisfy { $0 == 0x3B || $0 == 0x20 || 9...13 ~= $0 }
      )
    }
  }

  /// The compiled statement of that text, kept for the next call and reset before it is returned.
  ///
  /// Do not use one such statement inside a loop over itself.
  package func cached(_ sql: String) throws -> Statement {
    if let statement = cache[sql] {
      followGrowth()
      statement.reset()
      return statement
    }
    let statement = try prepare(sql)
    if cache.count > 200 { cache.removeAll() }
    cache[sql] = statement
    return statement
  }

  /// Runs every statement in a text, without parameters.
  package func execute(_ sql: String) throws {
    onStatement?(sql)
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw error(code: result, sql: sql) }
  }

  /// Runs one statement to its end.
  package func run(_ sql: String, _ values: [Value] = []) throws {
    let statement = try prepare(sql)
    try statement.bind(values)
    while try statement.step() {}
  }

  /// All rows of a query; for results known to be small.
  package func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
    let statement = try prepare(sql)
    try statement.bind(values)
    var rows: [[Value]] = []
    while try statement.step() { rows.append(statement.row()) }
    return rows
  }

  /// First column of the first row.
  package func value(_ sql: String, _ values: [Value] = []) throws -> Value? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(at: 0) : nil
  }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  package var changes: Int { Int(sqlite3_changes64(handle)) }

  /// Asks `shouldStop` every `instructions` virtual machine steps; `true` interrupts the running
  /// statement, which then throws an error that says it was interrupted.
  ///
  /// The question of the scope that the connection was opened in is always asked: see
  /// ``stoppingAll(when:_:)``. A step can take an eighth of a second, with the longest values that a
  /// limited connection allows, and a row takes some twenty steps: a hundred of them are less than a
  /// second even then, and asking costs nothing that can be measured.
  package func onProgress(every instructions: Int32 = 100, _ shouldStop: (() -> Bool)?) {
    ownQuestion = shouldStop
    guard handle != nil else { return }
    guard let question else {
      sqlite3_progress_handler(handle, 0, nil, nil)
      progressHandler = nil
      return
    }
    let handler = Box(question)
    progressHandler = handler
    sqlite3_progress_handler(
      handle, instructions,
      { context in
        // The handler object is kept alive by the connection for as long as it is registered.
        guard let context else { return 0 }
        return Box<() -> Bool>.content(context)() ? 1 : 0
      }, Unmanaged.passUnretained(handler).toOpaque())
  }

  /// What is asked within statements: the scope's question and the connection's own.
  private var question: (() -> Bool)? {
    guard let inheritedQuestion else { return ownQuestion }
    guard let ownQuestion else { return inheritedQuestion }
    return { ownQuestion() || inheritedQuestion() }
  }

  /// Whether a statement that ran now would be interrupted.
  package var shouldStop: Bool { question?() ?? false }

  /// Runs `body` while `shouldStop` is asked too, besides the questions that are asked already.
  package func stopping<T>(
    when shouldStop: @escaping () -> Bool, _ body: () throws -> T
  ) rethrows
    -> T
  {
    let outer = ownQuestion
    onProgress { shouldStop() || outer?() == true }
    defer { onProgress(outer) }
    return try body()
  }

  /// Is asked to stop, and reports its statements, as another connection was.
  package func takeOver(from other: Connection) {
    onProgress(other.question)
    onStatement = other.onStatement
  }

  /// Asks `allows` about everything that statements compiled from now on would do; what it denies
  /// is an error of the compilation. `nil` allows all again.
  package func authorize(_ allows: ((Access) -> Bool)?) {
    guard let allows else {
      sqlite3_set_authorizer(handle, nil, nil)
      authorizer = nil
      return
    }
    let authorizer = Box<Access.Question>(allows)
    sqlite3_set_authorizer(
      handle, Access.callback, Unmanaged.passUnretained(authorizer).toOpaque())
    self.authorizer = authorizer
  }

  /// Copies the whole database into another, a few pages at a time.
  ///
  /// - Parameter progress: gets pages done and pages in all; answers whether to go on.
  /// - Returns: false when `progress` asked to stop.
  package func backup(
    to destination: Connection, pagesPerStep: Int32 = 2048,
    progress: (_ done: Int, _ total: Int) throws -> Bool
  ) throws -> Bool {
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw destination.error(code: sqlite3_extended_errcode(destination.handle), sql: nil)
    }
    defer { sqlite3_backup_finish(backup) }
    while true {
      let result = sqlite3_backup_step(backup, pagesPerStep)
      let total = Int(sqlite3_backup_pagecount(backup))
      let left = Int(sqlite3_backup_remaining(backup))
      guard result == SQLITE_OK || result == SQLITE_DONE else {
        throw SQLiteError(
          extendedCode: result, message: String(cString: sqlite3_errstr(result)), sql: "backup")
      }
      guard try progress(total - left, total) else { return false }
      if result == SQLITE_DONE { return true }
    }
  }

  /// Leaves the -wal file in place when the last connection closes, instead of removing it by name.
  package func keepLogOnClose() {
    var keeps: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
  }

  /// Runs `body` in a transaction that is rolled back when it throws.
  package func transaction<T>(
    _ begin: String = "BEGIN IMMEDIATE", _ body: () throws -> T
  ) throws -> T {
    try execute(begin)
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // The transaction is gone already when SQLite rolled back by itself (a full disk, an
      // interrupt); the first error is the one worth reporting.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  func error(code: Int32, sql: String?) -> SQLiteError {
    let offset = sqlite3_error_offset(handle)
    return SQLiteError(
      extendedCode: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql,
      offset: offset < 0 ? nil : Int(offset))
  }
}

/// A name as SQL: in double quotes, with quotes inside doubled.
package func quoted(_ name: String) -> String {
  let quote = UInt8(ascii: "\"")
  guard name.utf8.contains(quote) else { return "\"" + name + "\"" }
  // Bytes, as SQLite reads them: a quote with an accent on it would be another character.
  let bytes = name.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
  return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
}
