import ManagedStore
import SQLite

/// Rows that something is true of: how many they are, and the first few.
struct FoundRows {
  let count: Int
  let first: [ObjectID]

  /// - Parameters:
  ///   - rows: `FROM … WHERE …`.
  ///   - key: SQL of an object's key.
  ///   - count: how many there are, where that is known.
  init(
    _ rows: String, key: String, of entity: String, on connection: Connection, count: Int? = nil
  ) throws {
    self.count =
      try count ?? Int(connection.value("SELECT count(*) \(rows)")?.integer ?? 0)
    first =
      self.count == 0
      ? []
      : try connection.rows("SELECT \(key) \(rows) ORDER BY 1 LIMIT 5").compactMap {
        $0.first?.integer.map { ObjectID(entity: entity, key: $0) }
      }
  }
}

extension SourceData {
  /// The rows of exactly one entity that fulfil conditions.
  func found(_ entity: String, where conditions: [String]) throws -> FoundRows? {
    guard let rows = rows(of: entity, where: conditions) else { return nil }
    return try store.reading {
      try FoundRows(rows, key: "t.Z_PK", of: entity, on: store.connection)
    }
  }
}
