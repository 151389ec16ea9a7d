import ManagedStore
import SQLite

/// What the tables of bookkeeping hold after a step. The result is `main` on a connection, the source is
/// attached as `src`.
extension StepSchemas {
  /// Entity numbers of the source that nothing has afterwards.
  var removedNumbers: [Int64] {
    let kept = Set(renumbering.map(\.old))
    return store.entityTables.map(\.entityID).filter { !kept.contains($0) }
  }

  /// Whether every entity has the number that it had, and none is gone.
  var keepsNumbers: Bool { renumbering.allSatisfy { $0.old == $0.new } && removedNumbers.isEmpty }

  /// The rows of Z_PRIMARYKEY, once all objects are there: Z_ENT, Z_NAME, Z_SUPER and Z_MAX.
  ///
  /// No key that was ever given out is given out again.
  func primaryKeys(on connection: Connection) throws -> [[Value]] {
    try destination.primaryKeyRows.map { row in
      var maximum: Int64 = 0
      if row.parent == 0, let table = destination.table(ofRoot: row.name) {
        for entityMapping in mappings(into: table) {
          guard let from = entityMapping.source,
            let number = store.schema.numbers[store.model.root(of: from)]
          else { continue }
          maximum = max(maximum, try PrimaryKeys(connection, in: "src.").given(number) ?? 0)
        }
        maximum = max(maximum, try PrimaryKeys(connection).used(in: table.name) ?? 0)
      }
      return [.integer(row.number), .text(row.name), .integer(row.parent), .integer(maximum)]
    }
  }
}
