import ManagedModel
import SQLite

extension StoreSchema {
  /// Compares what a database has with what the model asks for; reads no rows but Z_PRIMARYKEY's and
  /// the last key of each table.
  ///
  /// - Parameters:
  ///   - expected: join tables as a fresh store would have them; `self` has those found.
  ///   - missing: join tables that were not found.
  func drift(
    of database: DatabaseTables, expected: StoreSchema, missing: [JoinTable],
    connection: Connection
  ) throws -> StoreDrift {
    var drift = StoreDrift()
    for table in tables {
      guard let columns = database.tables[table.name] else {
        drift.missingTables.append(
          .init(
            entity: table.root, table: table.name,
            lastKey: try lastKey(of: table.root, database, connection)))
        continue
      }
      compare(table, columns, &drift)
    }
    let absent = Set(missing.map(\.name))
    for (found, fresh) in zip(joins, expected.joins) {
      let isMissing = absent.contains(fresh.name)
      let columns = Set(fresh.columns).subtracting(database.columns(of: found.name))
      guard isMissing || found.name != fresh.name || !columns.isEmpty else { continue }
      drift.joins.append(
        .init(
          entity: fresh.entity, relationship: fresh.relationship, expected: fresh.name,
          found: isMissing ? nil : found.name, columns: isMissing ? [] : columns.sorted(),
          isUnused: try isMissing
            && [fresh.entity, fresh.inverseEntity].contains {
              try lastKey(of: model.root(of: $0), database, connection) == 0
            }))
    }
    drift.numbers = try wrongNumbers(database, connection)
    return drift
  }

  /// The last key given out in a hierarchy; `nil` where no row of Z_PRIMARYKEY says so.
  private func lastKey(
    of root: String, _ database: DatabaseTables, _ connection: Connection
  ) throws -> Int64? {
    guard database.contains("Z_PRIMARYKEY"), let number = numbers[root] else { return nil }
    return try PrimaryKeys(connection).given(number)
  }

  private func compare(
    _ table: Table, _ columns: [DatabaseTables.Column], _ drift: inout StoreDrift
  ) {
    // SQLite compares names of columns without regard to case.
    var there: [String: DatabaseTables.Column] = [:]
    for column in columns { there[column.name.uppercased()] = column }
    for name in ["Z_PK", "Z_ENT", "Z_OPT"] where there.removeValue(forKey: name) == nil {
      drift.missingColumns.append(
        .init(table: table.name, column: name, entity: table.root, expected: "INTEGER"))
    }
    for column in table.columns {
      let place = column.content.property
      guard let found = there.removeValue(forKey: column.name.uppercased()) else {
        if isRenumbered(column, in: &there) { continue }
        drift.missingColumns.append(
          .init(
            table: table.name, column: column.name, entity: place.entity, property: place.name,
            expected: column.type))
        continue
      }
      if found.type.uppercased() != column.type {
        drift.otherTypes.append(
          .init(
            table: table.name, column: column.name, entity: place.entity, property: place.name,
            expected: column.type, found: found.type))
      }
    }
    for column in there.values.sorted(by: { $0.name < $1.name })
    where !DeferredColumn.isName(column.name) {
      drift.unexpectedColumns.append(
        .init(table: table.name, column: column.name, found: column.type))
    }
  }

  /// Columns whose names carry an entity number keep the old one when the numbers shift.
  private func isRenumbered(
    _ column: Column, in there: inout [String: DatabaseTables.Column]
  ) -> Bool {
    switch column.content {
    case .attribute, .toOne, .toOneOrder: return false
    case .toOneEntity, .owner, .ownerOrder: break
    }
    let rest = Self.unnumbered(column.name)
    guard let match = there.keys.first(where: { Self.unnumbered($0) == rest && $0 != rest }) else {
      return false
    }
    there[match] = nil
    return true
  }

  /// `Z12_OWNER` and `Z_FOK_12OWNER` without the number.
  private static func unnumbered(_ name: String) -> String {
    let prefix = name.hasPrefix("Z_FOK_") ? "Z_FOK_" : "Z"
    let rest = name.dropFirst(prefix.count)
    return prefix + "#" + rest.drop { $0.isASCII && $0.isNumber }
  }

  private func wrongNumbers(
    _ database: DatabaseTables, _ connection: Connection
  ) throws -> [StoreDrift.Number] {
    var result: [StoreDrift.Number] = []
    let names = Dictionary(numbers.map { ($0.value, $0.key) }) { first, _ in first }
    var used: [String: Int64] = [:]
    for table in tables where database.columns(of: table.name).contains("Z_PK") {
      used[table.root] = try PrimaryKeys(connection).used(in: table.name) ?? 0
    }
    let rows =
      database.contains("Z_PRIMARYKEY")
      ? try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY") : []
    for row in rows {
      guard row.count == 4, let number = row[0].integer, number < EntityNumbering.firstReserved
      else { continue }
      guard let name = names[number], let entity = model.entity(named: name) else {
        result.append(.init(entity: row[1].text ?? "", number: number, problem: .unknown))
        continue
      }
      let parent = entity.parent.flatMap { numbers[$0] } ?? 0
      let stated = row[2].integer ?? 0
      if stated != parent {
        result.append(
          .init(
            entity: name, number: number, problem: .parent(stated: stated, expected: parent)))
      }
      let maximum = row[3].integer ?? 0
      if entity.parent == nil, let used = used[name], used > maximum {
        result.append(
          .init(entity: name, number: number, problem: .maximum(stated: maximum, used: used)))
      }
    }
    for entity in model.entities where numbers[entity.name] == nil {
      result.append(.init(entity: entity.name, number: nil, problem: .missing))
    }
    return result
  }
}

extension Store {
  /// Rows whose Z_ENT is no entity of their table.
  ///
  /// Exact where several entities share a table; of a table of one entity, which has no index on
  /// Z_ENT, only the first and the last thousand rows are looked at, so that a look at a large store
  /// stays quick.
  ///
  /// - Parameter isExact: whether all rows of every table are looked at.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func rowsOfUnknownEntities(isExact: Bool = false) throws -> [StoreDrift.Rows] {
    var result: [StoreDrift.Rows] = []
    // Without a model Z_PRIMARYKEY alone shows which numbers there are.
    guard modelSource != .raw || database.contains("Z_PRIMARYKEY") else { return [] }
    try reading {
      for table in entityTables where table.isWholeTable {
        guard database.columns(of: table.table).contains("Z_ENT") else { continue }
        for row in try connection.rows(
          Self.unknownRows(of: table, in: database, isExact: isExact))
        where row.count == 2 && row[1] != .integer(0) {
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
