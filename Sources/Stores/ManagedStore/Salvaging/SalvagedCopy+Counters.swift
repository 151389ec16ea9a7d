import ManagedModel
import SQLite
import StoreTables

extension SalvagedCopy {
  /// The entity at the top of each table's hierarchy, by the table: without a model as Z_PRIMARYKEY names them.
  ///
  /// - Throws: `SQLiteError`.
  package func entities() throws -> [String: String] {
    let found: [(String, String)]
    if let schema {
      found = schema.tables.map { ($0.name, $0.root) }
    } else {
      found = try rawSchema()?.tables.filter(\.isWholeTable).map { ($0.table, $0.entity) } ?? []
    }
    return Dictionary(found) { first, _ in first }
  }

  /// What Z_PRIMARYKEY says of the tables; `nil` where it says nothing.
  private func rawSchema() throws -> RawSchema? {
    let database = try DatabaseTables(connection)
    guard Self.hasCounters(database) else { return nil }
    do { return try RawSchema(connection, database) } catch is CoreDataError { return nil }
  }

  private static func hasCounters(_ database: DatabaseTables) -> Bool {
    database.columns(of: "Z_PRIMARYKEY").isSuperset(of: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])
  }

  /// How many of a range of keys no row of a table has; `nil` where they are more than a number holds.
  ///
  /// - Throws: `SQLiteError`.
  package func keys(in range: ClosedRange<Int64>, lackedBy table: String) throws -> Int? {
    let span = range.upperBound.subtractingReportingOverflow(range.lowerBound)
    guard !span.overflow, span.partialValue < .max else { return nil }
    return Int(max(0, span.partialValue + 1 - (try rows(of: table, "rowid", in: range))))
  }

  /// How many rows of a table have keys of a range. Those beside it are counted where they are likely to be the fewer:
  /// how many there are in all, SQLite knows by its pages.
  private func rows(
    of table: String, _ key: String, in range: ClosedRange<Int64>
  ) throws -> Int64 {
    func count(_ condition: String, _ keys: [Int64]) throws -> Int64 {
      try connection.value(
        "SELECT count(*) FROM \(quoted(table))\(condition)", keys.map { .integer($0) })?.integer
        ?? 0
    }
    let all = try count("", [])
    let span = range.upperBound.subtractingReportingOverflow(range.lowerBound)
    guard span.overflow || span.partialValue > all / 2 else {
      return try count(" WHERE \(key) BETWEEN ? AND ?", [range.lowerBound, range.upperBound])
    }
    return try all - count(" WHERE \(key) < ?", [range.lowerBound])
      - count(" WHERE \(key) > ?", [range.upperBound])
  }

  /// Keys that the store gave out and that no object has, by the entity at the top of the hierarchy: of
  /// objects that were deleted, never saved, or lost. More than these cannot be lost.
  ///
  /// To be asked before the counters are rebuilt; an entity whose counter is gone is not in it.
  ///
  /// - Throws: `SQLiteError`.
  package func openKeys() throws -> [String: Int] {
    guard let schema else { return [:] }
    var open: [String: Int] = [:]
    for table in schema.tables where all.contains(where: { $0.name == table.name }) {
      guard let number = schema.numbers[table.root],
        let greatest = try PrimaryKeys(connection).given(number),
        greatest > 0,
        // A counter that is too low shows nothing.
        try connection.value("SELECT max(Z_PK) FROM \(quoted(table.name))")?.integer ?? 0
          <= greatest
      else { continue }
      let count = try greatest - rows(of: table.name, "Z_PK", in: 1...greatest)
      if count < .max { open[table.root] = Int(count) }
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
    var gone: [String: Int] = [:]
    guard let schema else {
      for table in try rawSchema()?.missingTables ?? [] {
        gone[table.entity] = table.lastKey.map { Int(clamping: $0) }
      }
      return gone.filter { $0.value > 0 }
    }
    guard try Self.hasCounters(DatabaseTables(connection)) else { return [:] }
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
