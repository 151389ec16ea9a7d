import ManagedStore
import SQLite

/// A column of positions in an ordered to-many.
struct OrderNumbering {
  let table: String
  let order: String
  /// The column that shows whose relationship it is.
  let owner: String
  /// The column by which those are ordered that have no position.
  let key: String

  /// Gives a position to those that have none, as in a to-many that was not ordered before: by key,
  /// after those that have one, with room in between as Core Data leaves it.
  func run(on connection: Connection) throws {
    let (place, order, owner, key) = (
      "main." + quoted(table), quoted(order), quoted(owner), quoted(key)
    )
    try connection.execute(
      """
      UPDATE \(place) AS t SET \(order) = n.position FROM (
        SELECT a.\(owner) AS owner, a.\(key) AS key, ifnull(b.last, 0)
          + \(OrderKey.sql(numbering: "a." + owner, by: "a." + key)) AS position
        FROM \(place) a LEFT JOIN (
          SELECT \(owner) AS owner, max(\(order)) AS last FROM \(place)
          WHERE \(order) IS NOT NULL AND \(owner) IS NOT NULL GROUP BY \(owner)
        ) b ON b.owner = a.\(owner) WHERE a.\(owner) IS NOT NULL AND a.\(order) IS NULL
      ) n WHERE t.\(key) = n.key AND t.\(owner) = n.owner
      """)
  }

  /// A position after all that there are: those without one get theirs.
  func last(on connection: Connection) throws -> Int64 {
    try run(on: connection)
    let last = try connection.value("SELECT max(\(quoted(order))) FROM main.\(quoted(table))")
    // Room for all that can come, whatever a damaged store says.
    return min(last?.integer ?? 0, Int64.max / 2)
  }
}

extension RelationshipStorage {
  /// The positions that a link holds, on either side.
  var numberings: [OrderNumbering] {
    [
      inversePosition.map {
        OrderNumbering(table: table, order: $0, owner: destination, key: owner)
      }, position.map { OrderNumbering(table: table, order: $0, owner: owner, key: destination) },
    ].compactMap { $0 }
  }
}

extension StoreSchema.Table {
  /// The positions that its rows hold in ordered to-manys.
  var numberings: [OrderNumbering] {
    columns.compactMap { order in
      let owner: StoreSchema.Column? =
        switch order.content {
        case .toOneOrder(let entity, let name): column(.toOne(entity: entity, name: name))
        case .ownerOrder(let entity, let name): column(.owner(entity: entity, name: name))
        default: nil
        }
      return owner.map {
        OrderNumbering(table: name, order: order.name, owner: $0.name, key: "Z_PK")
      }
    }
  }
}
