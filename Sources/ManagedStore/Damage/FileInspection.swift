import SQLite

/// SQLite's own check of a whole file: pages, free pages, and every index against its table.
enum FileInspection {
  /// Most lines that are of interest.
  private static let limit = 100

  /// What is wrong, in SQLite's words; empty for a sound file.
  ///
  /// - Throws: ``SQLiteError`` only where it was interrupted, or the file is busy.
  static func problems(_ connection: Connection) throws -> [String] {
    do {
      return try lines("integrity_check", connection)
    } catch let error as SQLiteError {
      if error.isDamage { return [error.message] }
      if error.isInterrupted || error.isBusy { throw error }
      // An index over a function that only Core Data has: the pages can be checked all the same.
      do {
        return try lines("quick_check", connection)
      } catch let error as SQLiteError where error.isDamage {
        return [error.message]
      }
    }
  }

  private static func lines(_ pragma: String, _ connection: Connection) throws -> [String] {
    let rows = try connection.rows("PRAGMA main.\(pragma)(\(limit))")
    // A line of its own names the database first.
    return rows.compactMap { $0.first?.text }.flatMap { text in
      text.split(separator: "\n").map(String.init)
    }.filter { $0 != "ok" && !$0.hasPrefix("*** in database") }
  }
}

extension SQLiteError {
  /// Whether the file is damaged where it was read.
  package var isDamage: Bool { isCorrupt || isNotADatabase }
}
