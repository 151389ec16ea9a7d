import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// Rows whose Z_ENT is no entity of their table.
  ///
  /// Of a table of one entity, which has no index on Z_ENT, the first and the last thousand rows are looked at,
  /// and all of them only where one of these is such a row: a look at a large store stays quick, and a count
  /// is exact.
  ///
  /// - Parameter isExact: whether all rows of every table are looked at.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func rowsOfUnknownEntities(isExact: Bool = false) throws -> [StoreDrift.Rows] {
    try rowsOfUnknownEntities(in: entityTables, isExact: isExact)
  }

  /// The same of some tables.
  func rowsOfUnknownEntities(
    in tables: [EntityTable], isExact: Bool = false
  ) throws -> [StoreDrift.Rows] {
    var result: [StoreDrift.Rows] = []
    // Without a model Z_PRIMARYKEY alone shows which numbers there are.
    guard modelSource != .raw || database.contains("Z_PRIMARYKEY") else { return [] }
    try reading {
      for table in tables where table.isWholeTable {
        guard database.columns(of: table.table).contains("Z_ENT") else { continue }
        var rows = try connection.rows(
          Self.unknownRows(of: table, in: database, isExact: isExact))
        if !rows.isEmpty, table.numbers.count == 1, !isExact {
          rows = try connection.rows(Self.unknownRows(of: table, in: database, isExact: true))
        }
        for row in rows where row.count == 2 && row[1] != .integer(0) {
          result.append(
            .init(
              table: table.table, number: row[0].integer ?? 0, count: Int(row[1].integer ?? 0)))
        }
      }
    }
    return result
  }

  private static func unknownRows(
    of table: EntityTable, in database: DatabaseTables, isExact: Bool
  ) -> String {
    let name = quoted(table.table)
    let known = table.numbers.list
    if table.numbers.count == 1, !isExact {
      return """
        SELECT Z_ENT, count(*) FROM (
          SELECT Z_ENT FROM (SELECT Z_ENT FROM \(name) ORDER BY Z_PK LIMIT 1000)
          UNION ALL SELECT Z_ENT FROM (
            SELECT Z_ENT FROM \(name) WHERE Z_PK > (
              SELECT coalesce((SELECT Z_PK FROM \(name) ORDER BY Z_PK LIMIT 1 OFFSET 999),
                9223372036854775807))
            ORDER BY Z_PK DESC LIMIT 1000))
        WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(known)) GROUP BY Z_ENT
        """
    }
    guard database.indexes[table.table + "_Z_ENT_INDEX"] == table.table else {
      return """
        SELECT Z_ENT, count(*) FROM \(name) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(known))
        GROUP BY Z_ENT
        """
    }
    // Leaps from one number to the next through the index instead of reading every row of it.
    return """
      WITH RECURSIVE number(n) AS (
        SELECT min(Z_ENT) FROM \(name)
        UNION ALL SELECT (SELECT min(Z_ENT) FROM \(name) WHERE Z_ENT > n) FROM number
        WHERE n IS NOT NULL LIMIT 10000)
      SELECT n, (SELECT count(*) FROM \(name) WHERE Z_ENT = n) FROM number
      WHERE n IS NOT NULL AND n NOT IN (\(known))
      UNION ALL SELECT NULL, count(*) FROM \(name) WHERE Z_ENT IS NULL
      """
  }
}
