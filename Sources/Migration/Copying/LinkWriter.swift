import ManagedModel
import ManagedStore
import SQLite

/// Puts links into a new store, wherever its schema keeps a relationship, and reads them back.
struct LinkWriter {
  let schema: StoreSchema
  let connection: Connection

  /// Writes the links of a SELECT of owner, destination, position and inverse position.
  func write(_ select: String, relationship: String, of entity: String) throws {
    for sql in try statements(select, relationship: relationship, of: entity) {
      try connection.execute(sql)
    }
  }

  /// The statements that write the links of such a SELECT.
  func statements(
    _ select: String, relationship: String, of entity: String
  ) throws -> [String] {
    guard let table = schema.entityTable(of: entity),
      let declared = schema.model.relationship(named: relationship, of: entity),
      let storage = table.storage(of: relationship)
    else { return [] }
    switch storage {
    case .toOne:
      let own = toOne(
        relationship, of: entity, leadingTo: declared.destination,
        """
        SELECT owner AS key, min(destination) AS other, min(inverse) AS position
        FROM (\(select)) GROUP BY owner
        """)
      guard let (_, inverse) = schema.inverse(of: declared), !inverse.isToMany else {
        return [own].compactMap { $0 }
      }
      return try pairing(select, declared, inverse, of: entity)
    case .foreignKey(let other, let column, let order):
      if let (_, inverse) = schema.inverse(of: declared) {
        return [
          toOne(
            inverse.name, of: declared.destination, leadingTo: entity,
            """
            SELECT destination AS key, min(owner) AS other, position
            FROM (\(select)) GROUP BY destination
            """)
        ].compactMap { $0 }
      }
      return [
        """
        UPDATE main.\(quoted(other)) AS t SET \(quoted(column)) = e.owner\(order.map { ", \(quoted($0)) = e.position" } ?? "")
        FROM (SELECT destination, min(owner) AS owner, position FROM (\(select)) GROUP BY destination) e
        WHERE t.Z_PK = e.destination
        """
      ]
    case .join(let join, let owner, let other, let order):
      let declaredJoin = schema.joins.first { $0.name == join }
      let inverse = declaredJoin.flatMap { $0.first == owner ? $0.firstOrder : $0.secondOrder }
      var columns = [quoted(owner), quoted(other)]
      var values = ["owner", "destination"]
      if let order {
        columns.append(quoted(order))
        values.append("position")
      }
      if let inverse {
        columns.append(quoted(inverse))
        values.append("inverse")
      }
      return [
        """
        INSERT OR IGNORE INTO main.\(quoted(join)) (\(columns.joined(separator: ", ")))
        SELECT \(values.joined(separator: ", ")) FROM (\(select)) ORDER BY 1, 2
        """
      ]
    case .reflexive(let join, let first, let second):
      return [
        """
        INSERT OR IGNORE INTO main.\(quoted(join)) (\(quoted(first)), \(quoted(second)))
        SELECT owner, destination FROM (\(select))
        """
      ]
    case .none: return []
    }
  }

  /// Sets one side of a one-to-one as Core Data does: the other side follows, both former partners
  /// are left alone, and of two that claim one object the later has it.
  private func pairing(
    _ select: String, _ own: Relationship, _ inverse: Relationship, of entity: String
  ) throws -> [String] {
    guard let one = schema.entityTable(of: entity),
      let other = schema.entityTable(of: own.destination),
      case .toOne(let column, let entityColumn) = one.storage(of: own.name),
      case .toOne(let back, let backEntity) = other.storage(of: inverse.name)
    else { return [] }
    try connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS \(Self.pairs)
      (owner INTEGER PRIMARY KEY, destination INTEGER UNIQUE)
      """)
    func leaving(
      _ table: String, _ columns: [String?], ledToBy column: String, of other: String,
      at end: String
    ) -> String {
      let sets = columns.compactMap { $0 }.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
      return """
        UPDATE main.\(quoted(table)) SET \(sets) WHERE Z_PK IN (SELECT o.\(quoted(column))
        FROM temp.\(Self.pairs) p CROSS JOIN main.\(quoted(other)) o ON o.Z_PK = p.\(end))
        """
    }
    let isReflexive = column == back && one.table == other.table
    return [
      "DELETE FROM temp.\(Self.pairs)",
      Self.replacing(in: Self.pairs, by: select, isForward: true, isReflexive: isReflexive),
      leaving(
        one.table, [column, entityColumn], ledToBy: back, of: other.table, at: "destination"),
      leaving(other.table, [back, backEntity], ledToBy: column, of: one.table, at: "owner"),
      toOne(
        own.name, of: entity, leadingTo: own.destination,
        "SELECT owner AS key, destination AS other, NULL AS position FROM temp.\(Self.pairs)"),
      isReflexive
        ? nil
        : toOne(
          inverse.name, of: own.destination, leadingTo: entity,
          "SELECT destination AS key, owner AS other, NULL AS position FROM temp.\(Self.pairs)"),
    ].compactMap { $0 }
  }

  /// The temporary table of the pairs that are being set.
  private static let pairs = "pairs"

  /// Puts pairs into a table of owner and destination, each in the place of those that have one of
  /// its ends.
  ///
  /// - Parameter isForward: whether owners go into the column of that name.
  static func replacing(
    in table: String, by select: String, isForward: Bool, isReflexive: Bool
  ) -> String {
    let columns = isForward ? "(owner, destination)" : "(destination, owner)"
    let known = "WHERE owner IS NOT NULL AND destination IS NOT NULL"
    guard isReflexive else {
      return """
        INSERT OR REPLACE INTO temp.\(table) \(columns)
        SELECT owner, destination FROM (\(select)) \(known) ORDER BY owner, destination
        """
    }
    // Both ways, one right after the other.
    return """
      INSERT OR REPLACE INTO temp.\(table) (owner, destination) SELECT a, b FROM (
      SELECT owner AS a, destination AS b, owner AS k, destination AS l, 0 AS turn
      FROM (\(select)) \(known) UNION ALL
      SELECT destination, owner, owner, destination, 1 FROM (\(select)) \(known)
      ) ORDER BY k, l, turn
      """
  }

  /// UPDATE of a to-one's columns from a SELECT of key, other and position.
  private func toOne(
    _ name: String, of entity: String, leadingTo other: String, _ select: String
  ) -> String? {
    guard let place = schema.entityTable(of: entity),
      case .toOne(let column, let entityColumn) = place.storage(of: name)
    else { return nil }
    let declarer = schema.model.declaringEntity(of: name, in: entity) ?? entity
    let order = schema.table(of: entity)?.column(.toOneOrder(entity: declarer, name: name))?.name
    var sets = ["\(quoted(column)) = e.other"]
    if let entityColumn, let table = schema.table(of: other)?.name {
      sets.append(
        "\(quoted(entityColumn)) = (SELECT d.Z_ENT FROM main.\(quoted(table)) d WHERE d.Z_PK = e.other)"
      )
    }
    if let order { sets.append("\(quoted(order)) = coalesce(e.position, t.\(quoted(order)))") }
    return """
      UPDATE main.\(quoted(place.table)) AS t SET \(sets.joined(separator: ", "))
      FROM (\(select)) e WHERE t.Z_PK = e.key
      """
  }

  /// SELECT of owner and destination as the new store has them.
  func edges(of relationship: String, in entity: String) -> String? {
    guard let table = schema.entityTable(of: entity) else { return nil }
    let numbers = table.numbers.map(String.init).joined(separator: ", ")
    switch table.storage(of: relationship) {
    case .toOne(let column, _):
      return """
        SELECT Z_PK AS owner, \(quoted(column)) AS destination FROM main.\(quoted(table.table))
        WHERE \(quoted(column)) IS NOT NULL AND Z_ENT IN (\(numbers))
        """
    case .foreignKey(let other, let column, _):
      return """
        SELECT \(quoted(column)) AS owner, Z_PK AS destination FROM main.\(quoted(other))
        WHERE \(quoted(column)) IS NOT NULL
        """
    case .join(let join, let owner, let other, _):
      return
        "SELECT \(quoted(owner)) AS owner, \(quoted(other)) AS destination FROM main.\(quoted(join))"
    case .reflexive(let join, let first, let second):
      return """
        SELECT \(quoted(first)) AS owner, \(quoted(second)) AS destination FROM main.\(quoted(join))
        UNION SELECT \(quoted(second)), \(quoted(first)) FROM main.\(quoted(join))
        """
    case .some(.none), nil: return nil
    }
  }
}
