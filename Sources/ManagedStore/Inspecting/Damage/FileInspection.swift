import SQLite

/// SQLite's own check of a whole file: pages, free pages, and every index against its table.
package enum FileInspection {
  /// What is wrong, in SQLite's words; empty for a sound file.
  ///
  /// - Throws: ``SQLiteError`` only where it was interrupted, or the file is busy.
  package static func problems(_ connection: Connection) throws -> [String] {
    do {
      return try lines("integrity_check", connection)
    } catch let error as SQLiteError {
      if error.isDamage { return try unreadable(connection) ?? [error.message] }
      if error.isInterrupted || error.isBusy { throw error }
      // An index over a function that only Core Data has: the pages can be checked all the same.
      do {
        return try lines("quick_check", connection)
      } catch let error as SQLiteError where error.isDamage {
        return [error.message]
      }
    }
  }

  /// The indexes that cannot be read to their end, where that is what is wrong.
  private static func unreadable(_ connection: Connection) throws -> [String]? {
    let found = try unreadableIndexes(connection)
    return found.isEmpty
      ? nil : found.map { "the index \($0.name) of \($0.table) cannot be read" }
  }

  /// The indexes that cannot be read to their end, with their tables.
  package static func unreadableIndexes(
    _ connection: Connection
  ) throws -> [(name: String, table: String)] {
    let indexes =
      (try? connection.rows("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")) ?? []
    return try indexes.compactMap { row -> (name: String, table: String)? in
      guard row.count == 2, let name = row[0].text, let table = row[1].text else { return nil }
      do {
        // A mere count takes whatever index is the smallest.
        _ = try connection.value(
          """
          SELECT count(*) FROM \(quoted(table)) INDEXED BY \(quoted(name))
          WHERE ifnull(rowid, 1) IS NOT NULL
          """)
        return nil
      } catch let error as SQLiteError {
        if error.isInterrupted || error.isBusy { throw error }
        // One that only some queries may use is no fault.
        return error.isDamage ? (name, table) : nil
      }
    }
  }

  private static func lines(_ pragma: String, _ connection: Connection) throws -> [String] {
    let rows = try connection.rows("PRAGMA main.\(pragma)(\(FileDamage.mostProblems))")
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
