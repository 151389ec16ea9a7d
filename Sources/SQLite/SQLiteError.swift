import CSQLite

/// A failure that SQLite reported, with the statement that met it.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The extended result code; the primary one is its low byte.
  package let extendedCode: Int32
  package let message: String
  package let sql: String?
  /// Offset of the byte in the statement at which SQLite stopped reading, where it says so.
  package let offset: Int?

  package init(
    extendedCode: Int32, message: String, sql: String? = nil, offset: Int? = nil
  ) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.offset = offset
  }

  /// The primary result code: 5 busy, 8 read-only, 11 corrupt, 13 full, 14 cannot open …
  package var code: Int32 { extendedCode & 0xFF }

  package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  package var isFull: Bool { code == SQLITE_FULL }
  package var isNotADatabase: Bool { code == SQLITE_NOTADB }
  package var isCorrupt: Bool { code == SQLITE_CORRUPT }
  package var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  /// A value could not be computed: text that is no JSON, an overflow, too long a result.
  package var isEvaluation: Bool {
    [SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(code)
  }

  package var description: String {
    sql.map { "\(message) (SQLite \(extendedCode)) in: \($0)" }
      ?? "\(message) (SQLite \(extendedCode))"
  }
}
