import CSQLite

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
