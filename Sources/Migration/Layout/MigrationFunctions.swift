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
