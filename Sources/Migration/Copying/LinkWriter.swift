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
      // Both sides of a one-to-one keep a key.
      let back = toOne(
        inverse.name, of: declared.destination, leadingTo: entity,
        """
        SELECT destination AS key, min(owner) AS other, min(position) AS position
        FROM (\(select)) GROUP BY destination
        """)
      return [own, back].compactMap { $0 }
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
