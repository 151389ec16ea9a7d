import ManagedModel
import ManagedStore
import SQLite

/// Places in ordered relationships that are missing, or that two objects share.
struct OrderCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    var told: Set<String> = []
    return try store.entityTables.flatMap { table -> [Finding] in
      guard store.database.contains(table.table) else { return [] }
      return try table.relationships.flatMap { entry -> [Finding] in
        guard let storage = entry.storage, let position = storage.position,
          told.insert(storage.table + "." + position).inserted
        else { return [] }
        return try findings(entry.relationship, of: table, storage, position)
      }
    }
  }

  private func findings(
    _ relationship: Relationship, of table: EntityTable, _ storage: RelationshipStorage,
    _ position: String
  ) throws -> [Finding] {
    guard let isUnordered = storage.isUnordered else { return [] }
    let (owner, order) = ("t." + quoted(storage.owner), "t." + quoted(position))
    // Of owners that are not there, others show.
    let rows = """
      FROM \(quoted(storage.table)) t JOIN \(quoted(table.table)) o ON o.Z_PK = \(owner)
      """
    let entity =
      store.model.declaringEntity(of: relationship.name, in: table.entity) ?? table.entity
    func finding(_ owners: String, _ what: String) throws -> [Finding] {
      let (count, first) = try store.counted(
        "SELECT coalesce(sum(n), 0) FROM (\(owners))",
        "SELECT DISTINCT k, e FROM (\(owners)) ORDER BY 1 LIMIT 5")
      guard count > 0 else { return [] }
      return [
        Finding(
          .order,
          "\(count) objects in \(entity).\(relationship.name) \(what) (\(storage.table).\(position)).",
          entity: entity, property: relationship.name, count: Int(count),
          first: first.compactMap { store.id($0, else: entity)?.description }, in: place)
      ]
    }
    return try finding(
      """
      SELECT o.Z_PK AS k, o.Z_ENT AS e, count(*) AS n \(rows) WHERE \(isUnordered) GROUP BY o.Z_PK
      """, "have no order key")
      + finding(
        """
        SELECT o.Z_PK AS k, o.Z_ENT AS e, count(*) AS n \(rows) WHERE \(order) IS NOT NULL
        GROUP BY o.Z_PK, \(order) HAVING count(*) > 1
        """, "share their order key")
  }
}
