import Files
import ManagedModel
import ManagedStore
import SQLite

/// The SQL functions that a migration's statements use.
enum MigrationFunctions {
  static func define(on connection: Connection, store: Store) throws {
    try ExpressionFunctions.define(on: connection)
    try RecipeFunctions.define(on: connection, files: store.files, storeUUID: store.metadata.uuid)
    // Marks bytes as the row's own, in a column that may also name a file.
    try connection.defineFunction("strata_inline", arguments: 1) { arguments in
      switch arguments.first {
      case .blob(let bytes): .blob(MarkedBytes.row(bytes).column)
      case .text(let text): .blob(MarkedBytes.row(Array(text.utf8)).column)
      case .null, nil: .null
      case .some(let other): other
      }
    }
    // Whether a column of an attribute type, given by its number, cannot hold a value as that type.
    let column = NumericColumn()
    try connection.defineFunction("strata_misplaced", arguments: 2) { arguments in
      guard arguments.count == 2, let number = arguments[1].integer.flatMap(UInt32.init(exactly:)),
        let type = AttributeType(rawValue: number)
      else { return .null }
      return .integer(type.cannotHold(arguments[0], in: column) ? 1 : 0)
    }
  }
}

/// What SQLite makes of a value that goes into a column of numbers: text that is a number becomes one.
private final class NumericColumn {
  private let connection: Connection?

  init() {
    connection = try? Connection(path: ":memory:", mode: .create)
    try? connection?.execute("CREATE TABLE n (v NUMERIC)")
  }

  func stored(_ value: Value) -> Value {
    switch value {
    case .text, .real:
      let sql = "INSERT OR REPLACE INTO n (rowid, v) VALUES (1, ?) RETURNING v"
      return (try? connection?.value(sql, [value])) ?? value
    default: return value
    }
  }
}

extension AttributeType {
  fileprivate func cannotHold(_ value: Value, in column: NumericColumn) -> Bool {
    guard let classes = storageClasses else { return false }
    var value = value
    switch value {
    case .null: return false
    case .integer where classes.contains("integer"): break
    case .real where classes.contains("real"): return false
    // A number in a column of text becomes text.
    case .integer, .real: if classes == ["text"] { return false } else { fallthrough }
    default: if classes.contains("integer") { value = column.stored(value) }
    }
    switch value {
    case .integer(let number):
      return !classes.contains("integer") || wholeNumbers?.contains(number) == false
    case .real: return !classes.contains("real")
    case .text: return !classes.contains("text")
    case .blob: return !classes.contains("blob")
    default: return false
    }
  }
}

/// The SQL functions that compiled expressions call on the connection that runs a migration.
enum ExpressionFunctions {
  /// Defines those of every store, and the time.
  ///
  /// - Parameter now: the time in seconds since 2001 that `strata_now()` answers, the same to all
  ///   statements, since what is verified must equal what was written.
  static func define(on connection: Connection, now: Double = CoreDataDate.now) throws {
    try StoreFunctions.define(on: connection)
    try connection.defineFunction("strata_now", arguments: 0) { _ in .real(now) }
  }
}
