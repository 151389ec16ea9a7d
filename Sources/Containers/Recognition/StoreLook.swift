import Files
import ManagedModel
import ManagedStore
import SQLite

/// What a file turns out to be at a short look, without a trace beside it.
package enum StoreLook: Sendable, Equatable {
  /// A Core Data store, with what its main file says about it.
  case store(entities: [String], versionIdentifiers: [String])
  /// SQLite, but not Core Data.
  case database
  /// SQLite by its first bytes, and no more; in SQLite's words.
  case damaged(String)
  /// No SQLite file.
  case nothing
  /// A placeholder of iCloud Drive stands in its place.
  case notDownloaded

  /// Looks at a main file as if nobody could write, so that nothing appears beside it.
  ///
  /// - Parameter log: its -wal, which need not lie beside it: a store that was never checkpointed has
  ///   its tables only there.
  package init(at path: String, log: String? = nil) {
    guard CloudPlaceholder(for: path) == nil else {
      self = .notDownloaded
      return
    }
    guard (FileSystem.status(path)?.size ?? 0) >= 100, FileSystem.isDatabase(path) else {
      self =
        Self.isStoreLog(log ?? path + "-wal")
        ? .store(entities: [], versionIdentifiers: []) : .nothing
      return
    }
    do {
      let connection = try Connection(path: path, mode: .immutable)
      let tables = try connection.value(
        """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')
        """)
      guard case .integer(2)? = tables else {
        self =
          Self.isStoreLog(log ?? path + "-wal")
          ? .store(entities: [], versionIdentifiers: []) : .database
        return
      }
      let names = try? connection.rows(
        "SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_NAME LIMIT 10000")
      let metadata = try? StoreMetadata(connection, path: path)
      self = .store(
        entities: (names ?? []).compactMap { $0.first?.text },
        versionIdentifiers: metadata?.versionIdentifiers.filter { !$0.isEmpty } ?? [])
    } catch {
      self = .damaged((error as? SQLiteError)?.message ?? "\(error)")
    }
  }

  /// Whether frames of a log hold the table that every store has.
  private static func isStoreLog(_ path: String) -> Bool {
    let log = (try? FileSystem.read(path, limit: 1 << 18)) ?? []
    return log.firstRange(of: "Z_METADATA".utf8) != nil
  }
}
