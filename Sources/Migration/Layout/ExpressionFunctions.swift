import ManagedStore
import SQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The SQL functions that compiled expressions call on the connection that runs a migration.
enum ExpressionFunctions {
  /// Defines those of every store, and the time.
  ///
  /// - Parameter now: the time in seconds since 2001 that `strata_now()` answers, the same to all
  ///   statements, since what is verified must equal what was written.
  static func define(on connection: Connection, now: Double = ExpressionFunctions.now) throws {
    try StoreFunctions.define(on: connection)
    try connection.defineFunction("strata_now", arguments: 0) { _ in .real(now) }
  }

  /// This moment in seconds since 2001.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - 978_307_200
  }
}
