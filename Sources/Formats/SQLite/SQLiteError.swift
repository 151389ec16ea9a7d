import CSQLite

/// A failure that SQLite reported, with the statement that met it.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The extended result code; the primary one is its low byte.
  package let extendedCode: Int32
  /// SQLite's own words for it.
  package let message: String
  let sql: String?
  /// Offset of the byte in the statement at which SQLite stopped reading, where it says so.
  package let offset: Int?

  /// A failure as SQLite shows it, or as it would.
  package init(
    extendedCode: Int32, message: String, sql: String? = nil, offset: Int? = nil
  ) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.offset = offset
  }

  /// A statement that was stopped on purpose.
  package static let interrupted = SQLiteError(
    extendedCode: SQLITE_INTERRUPT, message: "interrupted")

  /// The primary result code: 5 busy, 8 read-only, 11 corrupt, 13 full, 14 cannot open …
  package var code: Int32 { extendedCode & 0xFF }

  /// Another connection holds the lock that was needed.
  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  /// The statement was stopped on purpose: see ``Connection/onProgress(every:_:)``.
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  /// The disk, or the database by its own limit, has no room.
  package var isFull: Bool { code == SQLITE_FULL }
  /// The file is none of SQLite's, or is encrypted.
  package var isNotADatabase: Bool { code == SQLITE_NOTADB }
  /// The file contradicts itself.
  package var isCorrupt: Bool { code == SQLITE_CORRUPT }
  /// A value breaks a rule of its table, such as UNIQUE or NOT NULL.
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  /// A value could not be computed: text that is no JSON, an overflow, too long a result.
  package var isEvaluation: Bool {
    [SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(code)
  }

  /// What happened, with the code, and the statement where one was at fault.
  package var description: String {
    sql.map { "\(message) (SQLite \(extendedCode)) in: \($0)" }
      ?? "\(message) (SQLite \(extendedCode))"
  }
}

/// SQLite as this process uses it.
package enum SQLiteLibrary {
  /// Has SQLite not count the memory that it takes: it counts under a lock that all connections of the
  /// process share, and stores that are worked on side by side wait for each other at every allocation.
  ///
  /// For a program, never for a library, since another part of the process may ask for that count; to be
  /// called before the first connection is opened.
  ///
  /// - Returns: whether it is so; false where SQLite was in use already.
  @discardableResult package static func leaveOutMemoryStatistics() -> Bool {
    strata_sqlite_leave_out_memory_statistics() == SQLITE_OK
  }

  /// Bytes that SQLite has taken, by its own count; 0 where it does not count.
  package static var countedMemory: Int { Int(sqlite3_memory_used()) }
}
