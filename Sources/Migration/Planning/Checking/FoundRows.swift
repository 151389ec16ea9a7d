import ManagedStore
import SQLite

/// Rows that something is true of: how many they are, and the first few.
package struct FoundRows {
  /// How many there are.
  package let count: Int
  /// The first few, by key.
  package let first: [ObjectID]

  /// Keys of the first few.
  var keys: [Int64] { first.map(\.key) }
}

extension FoundRows {
  /// - Parameters:
  ///   - rows: `FROM … WHERE …`.
  ///   - key: SQL of an object's key.
  ///   - count: how many there are, where that is known.
  package init(
    _ rows: String, key: String, of entity: String, on connection: Connection, count: Int? = nil
  ) throws {
    try self.init(rows, columns: key, on: connection, count: count) {
      $0.first?.integer.map { ObjectID(entity: entity, key: $0) }
    }
  }

  /// - Parameters:
  ///   - columns: SQL of what `object` makes an object of; the first five rows by these are taken.
  init(
    _ rows: String, columns: String, on connection: Connection, count: Int? = nil,
    object: ([Value]) -> ObjectID?
  ) throws {
    self.count = try count ?? connection.number("SELECT count(*) \(rows)")
    first =
      self.count == 0
      ? []
      : try connection.rows("SELECT \(columns) \(rows) ORDER BY \(columns) LIMIT 5").compactMap(
        object)
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
