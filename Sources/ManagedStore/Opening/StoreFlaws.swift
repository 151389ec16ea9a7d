import ManagedModel
import SQLite

/// What of a store's own bookkeeping cannot be read; the objects may be whole all the same.
package struct StoreFlaws: Sendable, Equatable {
  /// Why there is no metadata; `nil` where it was read.
  package var metadata: CoreDataError?
  /// Why the model in the store is none; `nil` where it was read, or there is none.
  package var modelCache: CoreDataError?

  /// Whether all of it was read.
  package var isEmpty: Bool { metadata == nil && modelCache == nil }

  /// Whether a database has any of the tables that every store has.
  static func isOfCoreData(_ connection: Connection) -> Bool {
    let own =
      (try? connection.value(
        """
        SELECT count(*) FROM sqlite_master
        WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY', 'Z_MODELCACHE')
        """))?.integer
    return own ?? 0 > 0
  }
}
