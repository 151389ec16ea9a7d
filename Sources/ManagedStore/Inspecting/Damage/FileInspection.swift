import Files
import SQLite

/// A check of a whole file: pages, free pages, and every index against its table.
package enum FileInspection {
  /// What is wrong, in SQLite's words; empty for a sound file.
  ///
  /// - Throws: ``SQLiteError`` only where it was interrupted, or the file is busy.
  package static func problems(_ connection: Connection) throws -> [String] {
    var facts: ReadFacts?
    return try problems(connection, asking: [:], &facts)
  }

  /// The same, with what is found out by the way of a file that is sound and long enough.
  static func problems(
    _ connection: Connection, asking questions: [String: ReadFacts.Question],
    _ facts: inout ReadFacts?
  ) throws -> [String] {
    if try isSoundFile(connection, asking: questions, &facts) { return [] }
    let (found, error) = try lines("integrity_check", connection)
    guard let error else { return found }
    if error.isInterrupted || error.isBusy { throw error }
    if error.isDamage {
      // An index that it came to, and of which it tells pages only; besides, the maps of pages.
      if let indexes = try unreadable(connection) {
        return found.filter { $0.contains("ptrmap") || $0.contains("freelist") } + indexes
      }
      return found.isEmpty ? [error.message] : found
    }
    // An index over a function that only Core Data has: the pages can be checked all the same.
    let (quick, failure) = try lines("quick_check", connection)
    guard let failure else { return quick }
    guard failure.isDamage else { throw failure }
    return quick.isEmpty ? [failure.message] : quick
  }

  /// Whether a file is whole that is long enough for two threads, and that nobody else writes to; false
  /// also where that is to be asked in one piece.
  private static func isSoundFile(
    _ connection: Connection, asking questions: [String: ReadFacts.Question],
    _ facts: inout ReadFacts?
  ) throws -> Bool {
    guard connection.isImmutable, FileSystem.status(connection.path)?.size ?? 0 > 1 << 22,
      let names = try? connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    else { return false }
    let check = IntegrityCheck(
      of: connection.path, tables: names.compactMap { $0.first?.text }, asking: questions)
    defer { check.stop() }
    do {
      guard try check.problems(helpedBy: connection).isEmpty else { return false }
      facts = check.facts
      return true
    } catch let error as SQLiteError {
      if error.isInterrupted { throw error }
      return false
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

  /// What a check tells, and what ended it before its end.
  private static func lines(
    _ pragma: String, _ connection: Connection
  ) throws -> (lines: [String], end: SQLiteError?) {
    var texts: [String] = []
    var end: SQLiteError?
    do {
      let statement = try connection.prepare("PRAGMA main.\(pragma)(\(FileDamage.mostProblems))")
      while try statement.step() { texts.append(statement.text(at: 0)) }
    } catch let error as SQLiteError {
      end = error
    }
    // A line of its own names the database first.
    let lines = texts.flatMap { $0.split(separator: "\n").map(String.init) }
    return (lines.filter { $0 != "ok" && !$0.hasPrefix("*** in database") }, end)
  }
}

extension SQLiteError {
  /// Whether the file is damaged where it was read.
  package var isDamage: Bool { isCorrupt || isNotADatabase }
}
