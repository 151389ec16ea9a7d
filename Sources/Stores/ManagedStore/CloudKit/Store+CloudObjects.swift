import SQLite
import StoreTables

/// An object, or the record of one that is gone, as the mirroring to CloudKit knows it.
public struct CloudObject: Sendable, Equatable {
  /// The object; of an entity called `Z_ENT 7` where the model has none of that number.
  public var object: ObjectID
  /// Where the mirroring stands with it.
  public var state: CloudObjectState
  /// The name of its record; `nil` where it has none.
  public var record: String?
  /// Whether it has a record, be it without a name.
  public var hasRecord: Bool
  /// Whether its state may be another one: the token that says how much of history was looked at cannot be read.
  public var isUncertain: Bool
  /// The zone of its record.
  public var zone: String?
  /// Whether the object is in the store.
  public var exists = true
  /// Whether an import has still to delete the object here.
  public var isToBeDeletedHere = false
}

extension Store {
  /// Objects in some states of mirroring, by entity ID and key, and records of such objects that are gone; none where
  /// the store is not mirrored.
  ///
  /// - Parameters:
  ///   - after: the last one of the page before.
  ///   - entity: only those of this entity and of those below it.
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public func cloudObjects(
    in states: Set<CloudObjectState>, of entity: String? = nil, after: ObjectID? = nil,
    limit: Int = 500
  ) throws -> [CloudObject] {
    guard let mirror = layout.mirror else { return [] }
    let only = try entity.map { try layout.knownTable(of: $0).numbers }
    let names = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
    // What is no number could not be told apart by its name, and would be met again and again.
    var conditions = ["typeof(e) = 'integer' AND typeof(k) = 'integer'", "s IN (\(names))"]
    if let only { conditions.append("e IN (\(only.map(String.init).joined(separator: ", ")))") }
    if let after {
      guard let number = entityNumber(named: after.entity) else { return [] }
      conditions.append("(e, k) > (\(number), \(after.key))")
    }
    return try cloudObjects(mirror, where: conditions.joined(separator: " AND "), limit: limit)
  }

  /// What the mirroring knows of one object; `nil` where the store is not mirrored, or has no such object.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func cloudObject(_ object: ObjectID) throws -> CloudObject? {
    guard let mirror = layout.mirror, let table = layout.table(of: object.entity) else {
      return nil
    }
    return try cloudObjects(mirror, of: (table, object.key), where: "1", limit: 1).first
  }

  private func cloudObjects(
    _ mirror: MirrorTables, of one: (EntityTable, Int64)? = nil, where condition: String, limit: Int
  ) throws -> [CloudObject] {
    let all = mirroredObjects(mirror, of: one)
    func field(_ name: String) -> String {
      mirror.namesObjects
        ? "(SELECT \(mirror.column(name, of: "r")) FROM \(MirrorTables.records) r WHERE r.ZENTITYID = e AND r.ZENTITYPK = k LIMIT 1)"
        : "NULL"
    }
    let hasZones = database.columns(of: "ANSCKRECORDZONEMETADATA").contains("ZCKRECORDZONENAME")
    let zone =
      hasZones
      ? """
      (SELECT substr(z.ZCKRECORDZONENAME, 1, 300) FROM ANSCKRECORDZONEMETADATA z \
      WHERE z.Z_PK = \(field("ZRECORDZONE")))
      """ : "NULL"
    return try reading {
      let isTokenUnreadable =
        try connection.value("SELECT EXISTS (\(mirror.unreadableTokens))")?.integer == 1
      let statement = try connection.prepare(
        """
        SELECT e, k, s, p, substr(\(field("ZCKRECORDNAME")), 1, 300), \(zone),
        \(field("ZNEEDSLOCALDELETE")), \(field("Z_PK")) FROM (\(all.sql)) WHERE \(condition) ORDER BY e, k LIMIT ?
        """)
      try statement.bind(all.values + [.integer(Int64(max(0, limit)))])
      func text(_ column: Int) -> String? {
        statement.isNull(at: column) ? nil : statement.text(at: column)
      }
      var objects: [CloudObject] = []
      while try statement.step() {
        guard let state = CloudObjectState(rawValue: statement.text(at: 2)) else { continue }
        objects.append(
          CloudObject(
            object: ObjectID(
              entity: entityName(statement.integer(at: 0)), key: statement.integer(at: 1)),
            state: state, record: text(4), hasRecord: !statement.isNull(at: 7),
            isUncertain: isTokenUnreadable && state == .unanalysed, zone: text(5),
            exists: statement.integer(at: 3) != 0,
            isToBeDeletedHere: statement.integer(at: 6) != 0))
      }
      return objects
    }
  }

  /// Every object and every record of one that is gone: entity ID `e`, key `k`, state `s`, and whether it is there, `p`.
  ///
  /// - Parameter one: the only object that is asked for, which is there.
  func mirroredObjects(_ mirror: MirrorTables, of one: (EntityTable, Int64)? = nil) -> SQLText {
    let tables =
      one.map { [$0.0] }
      ?? entityTables.filter { $0.isWholeTable && database.contains($0.table) }
    var parts = tables.map { table -> SQLText in
      let restriction: SQLText = one.map { "WHERE t.Z_PK = \(number: $0.1)" } ?? ""
      return """
        SELECT t.Z_ENT e, t.Z_PK k, \(mirror.state(entity: "t.Z_ENT", key: "t.Z_PK")) s, 1 p \
        FROM \(name: table.table) t \(restriction)
        """
    }
    if one == nil, mirror.namesObjects {
      let there = tables.map { "SELECT Z_ENT, Z_PK FROM \(quoted($0.table))" }
        .joined(separator: " UNION ALL ")
      let rest: SQLText =
        there.isEmpty
        ? "" : "WHERE (r.ZENTITYID, r.ZENTITYPK) NOT IN (\(own: there)) AND r.ZENTITYID NOTNULL"
      parts.append(
        """
        SELECT r.ZENTITYID e, r.ZENTITYPK k, \
        \(mirror.state(entity: "r.ZENTITYID", key: "r.ZENTITYPK")) s, 0 p \
        FROM \(own: MirrorTables.records) r \(rest)
        """)
    }
    guard !parts.isEmpty else { return "SELECT NULL e, NULL k, NULL s, 0 p WHERE 0" }
    var all: SQLText = ""
    all.sql = parts.map(\.sql).joined(separator: " UNION ALL ")
    all.values = parts.flatMap(\.values)
    return all
  }
}
