import CSQLite

/// What a schema consists of.
package enum SchemaType: String, Sendable {
  case table, index, trigger, view

  /// The words that the text of such an object begins with, as SQLite keeps it.
  private var beginnings: [[String]] {
    switch self {
    case .table: [["CREATE", "TABLE"], ["CREATE", "VIRTUAL", "TABLE"]]
    case .index: [["CREATE", "INDEX"], ["CREATE", "UNIQUE", "INDEX"]]
    case .trigger: [["CREATE", "TRIGGER"]]
    case .view: [["CREATE", "VIEW"]]
    }
  }

  fileprivate func begins(_ text: String) -> Bool {
    let words = text.prefix(80).split(maxSplits: 3, whereSeparator: \.isWhitespace)
      .map { $0.uppercased() }
    return beginnings.contains { words.starts(with: $0) }
  }
}

extension Connection {
  /// The names of the tables that the main file keeps rows of.
  package func tableNames() throws -> [String] {
    try rows("SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0")
      .compactMap { $0.first?.text }
  }

  /// Makes an object from the text that another database's schema keeps of it.
  ///
  /// The schema of a store can hold any text: SQLite compiles the first statement of it when it opens the
  /// store, whatever follows. Only a text of one statement, which makes an object of that type, is run.
  ///
  /// - Throws: `SQLiteError` that says the database is damaged, where the text is anything else.
  package func create(_ type: SchemaType, _ text: String) throws {
    let refusal = SQLiteError(
      extendedCode: SQLITE_CORRUPT,
      message:
        "the schema has a text that is not one CREATE \(type.rawValue.uppercased()) statement",
      sql: text)
    guard type.begins(text) else { throw refusal }
    let (statement, isAlone) = try compile(text)
    guard isAlone else { throw refusal }
    while try statement.step() {}
  }
}

/// What a statement wants to do, as SQLite asks before it compiles it.
package enum Access: Equatable {
  /// A SELECT, or another one within it.
  case select
  /// Reads a column; its name is empty where only rows are counted.
  case read(table: String, column: String)
  case function(String)
  /// Anything else: writing, attaching, pragmas …
  case other
}

extension Access {
  /// The question whether something is allowed.
  typealias Question = (Access) -> Bool

  /// What SQLite calls for each thing a statement would do.
  static let callback:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, UnsafePointer<CChar>?
    ) -> Int32 = { context, action, first, second, _, _ in
      // The connection keeps the box for as long as it is registered.
      guard let context else { return SQLITE_DENY }
      func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
      }
      let access: Access =
        switch action {
        case SQLITE_SELECT: .select
        case SQLITE_READ: .read(table: text(first), column: text(second))
        case SQLITE_FUNCTION: .function(text(second))
        default: .other
        }
      return Box<Question>.content(context)(access) ? SQLITE_OK : SQLITE_DENY
    }
}

/// The question whether work should stop, asked by every connection that is opened during that work.
///
/// A store that was made to do harm can make any statement endless, also the first one on a new
/// connection: a view without an end, an index over an expensive expression. No caller has to
/// remember a connection that is opened far below it.
struct Stopping: @unchecked Sendable {
  // The closure is only called on the thread that steps a statement of a connection opened within
  // the scope, as a connection's own question is.
  let isRequested: () -> Bool

  /// The question of the present scope; `nil` outside of every scope, and where work must be finished.
  @TaskLocal static var current: Stopping?
}

extension Connection {
  /// Runs `body`; statements of all connections that are opened in it are interrupted once
  /// `shouldStop`, or a scope around this one, says so.
  ///
  /// Connections that helper threads open are not part of it.
  package static func stoppingAll<T>(
    when shouldStop: @escaping () -> Bool, _ body: () throws -> T
  ) rethrows -> T {
    let outer = Stopping.current
    let stopping = Stopping { shouldStop() || outer?.isRequested() == true }
    return try Stopping.$current.withValue(stopping, operation: body)
  }

  /// Runs `body`, which must not stop halfway: connections that are opened in it belong to no scope of
  /// ``stoppingAll(when:_:)``.
  package static func finishing<T>(_ body: () throws -> T) rethrows -> T {
    try Stopping.$current.withValue(nil, operation: body)
  }
}
