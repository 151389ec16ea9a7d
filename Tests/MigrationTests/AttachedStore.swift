import ManagedModel
import ManagedStore
import SQLite

@testable import Migration

/// A store attached as `src` to a connection of its own, as a migration has it.
struct AttachedStore {
  let connection: Connection
  private let store: Store

  init(_ store: Store) throws {
    self.store = store
    connection = try Connection(path: ":memory:", mode: .create)
    try connection.run("ATTACH DATABASE ? AS src", [.text(store.connection.uri)])
    try ExpressionFunctions.define(on: connection, now: 1000)
  }

  /// The values of an expression over the objects of an entity, in the order of their keys.
  func values(_ sql: String, of entity: String) throws -> [Value] {
    guard let table = store.table(of: entity) else { return [] }
    return try connection.rows(
      """
      SELECT \(sql) FROM src.\(quoted(table.table)) s WHERE s.Z_ENT = \(table.entityID)
      ORDER BY s.Z_PK
      """
    ).compactMap(\.first)
  }
}
