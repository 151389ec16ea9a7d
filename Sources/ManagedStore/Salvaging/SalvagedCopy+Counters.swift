import ManagedModel
import SQLite

extension SalvagedCopy {
  /// Keys that the store gave out and that no object has, by the entity at the top of the hierarchy: of
  /// objects that were deleted, never saved, or lost. More than these cannot be lost.
  ///
  /// To be asked before the counters are made anew; an entity whose counter is gone is not in it.
  ///
  /// - Throws: `SQLiteError`.
  package func openKeys() throws -> [String: Int] {
    guard let schema else { return [:] }
    var open: [String: Int] = [:]
    for table in schema.tables where all.contains(where: { $0.name == table.name }) {
      guard let number = schema.numbers[table.root],
        let greatest = try PrimaryKeys(connection).given(number),
        greatest > 0,
        let row = try connection.rows(
          "SELECT count(*), max(Z_PK) FROM \(quoted(table.name)) WHERE Z_PK > 0"
        ).first, row.count == 2, let count = row[0].integer,
        // A counter that is too low tells nothing.
        row[1].integer ?? 0 <= greatest, greatest - count < .max
      else { continue }
      open[table.root] = Int(greatest - count)
    }
    return open
  }

  /// Tables that the store's list of tables does not have, as far as it can be read, and that no row was found of,
  /// though its counters show that there were objects:
  /// the greatest key that was given out, by the entity at the top of the hierarchy.
  ///
  /// Call it before the counters are rebuilt.
  ///
  /// - Throws: `SQLiteError`.
  package func goneTables(of source: SalvageSource) throws -> [String: Int] {
    let database = try DatabaseTables(connection)
    guard
      database.columns(of: "Z_PRIMARYKEY").isSuperset(of: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])
    else { return [:] }
    var gone: [String: Int] = [:]
    guard let schema else {
      // Without a model Z_PRIMARYKEY names the entities.
      let missing: [StoreDrift.Table]
      do { missing = try RawSchema(connection, database).missingTables } catch is CoreDataError {
        return [:]
      }
      for table in missing { gone[table.entity] = table.lastKey.map { Int(clamping: $0) } }
      return gone.filter { $0.value > 0 }
    }
    for table in schema.tables {
      let isEmpty =
        !source.isSchemaWhole && all.contains { $0.name == table.name && $0.rows == 0 }
      guard source.lacksTable(table.name) || isEmpty else { continue }
      guard let number = schema.numbers[table.root],
        let greatest = try PrimaryKeys(connection).given(number),
        greatest > 0
      else { continue }
      gone[table.root] = Int(clamping: greatest)
    }
    return gone
  }
}
