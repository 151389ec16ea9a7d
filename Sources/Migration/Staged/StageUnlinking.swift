import ManagedModel
import ManagedStore
import SQLite

/// Takes objects, and links between objects, out of a store.
struct StageUnlinking {
  let schema: StoreSchema
  let connection: Connection

  /// Removes an object's row and every link to or from it.
  func remove(_ id: ObjectID) throws {
    let key: [Value] = [.integer(id.key)]
    for entity in schema.model.entities {
      guard let table = schema.entityTable(of: entity.name) else { continue }
      for relationship in entity.relationships where !relationship.isTransient {
        guard let storage = table.storage(of: relationship.name) else { continue }
        let isOwner = schema.model.isKind(id.entity, of: entity.name)
        let isDestination = schema.model.isKind(id.entity, of: relationship.destination)
        for sql in statements(storage, in: table.table, isOwner, isDestination) {
          try connection.run(sql, key)
        }
      }
    }
    guard let table = schema.entityTable(of: id.entity) else { return }
    try connection.run("DELETE FROM main.\(quoted(table.table)) WHERE Z_PK = ?1", key)
  }

  private func statements(
    _ storage: RelationshipStorage, in table: String, _ isOwner: Bool, _ isDestination: Bool
  ) -> [String] {
    func emptying(_ table: String, _ columns: [String?]) -> String {
      let columns = columns.compactMap { $0.map { quoted($0) } }
      let sets = columns.map { "\($0) = NULL" }.joined(separator: ", ")
      return "UPDATE main.\(quoted(table)) SET \(sets) WHERE \(columns[0]) = ?1"
    }
    switch storage {
    case .toOne(let column, let entityColumn):
      return isDestination ? [emptying(table, [column, entityColumn])] : []
    case .foreignKey(let other, let column, _):
      return isOwner ? [emptying(other, [column])] : []
    case .join(let join, let owner, let destination, _):
      let columns = (isOwner ? [owner] : []) + (isDestination ? [destination] : [])
      return columns.map { "DELETE FROM main.\(quoted(join)) WHERE \(quoted($0)) = ?1" }
    case .reflexive(let join, let first, let second):
      return isOwner
        ? ["DELETE FROM main.\(quoted(join)) WHERE ?1 IN (\(quoted(first)), \(quoted(second)))"]
        : []
    case .none: return []
    }
  }

  /// Empties a to-one on both sides.
  func empty(_ relationship: Relationship, of id: ObjectID) throws {
    let key: [Value] = [.integer(id.key)]
    if case .toOne(let column, let entityColumn)? = storage(relationship.name, of: id.entity),
      let table = schema.entityTable(of: id.entity)
    {
      let sets = [column, entityColumn].compactMap { $0 }.map { "\(quoted($0)) = NULL" }
      try connection.run(
        "UPDATE main.\(quoted(table.table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?1",
        key)
    }
    guard let (entity, back) = schema.inverse(of: relationship), !back.isToMany,
      let table = schema.entityTable(of: entity),
      case .toOne(let column, let entityColumn)? = storage(back.name, of: entity)
    else { return }
    let sets = [column, entityColumn].compactMap { $0 }.map { "\(quoted($0)) = NULL" }
    try connection.run(
      "UPDATE main.\(quoted(table.table)) SET \(sets.joined(separator: ", ")) WHERE \(quoted(column)) = ?1",
      key)
  }

  /// Takes an object that is about to be linked out of the one-to-one it is in.
  func leave(_ relationship: Relationship, of owner: ObjectID, _ other: ObjectID) throws {
    guard !relationship.isToMany, let (_, back) = schema.inverse(of: relationship), !back.isToMany
    else { return }
    try empty(back, of: other)
  }

  private func storage(_ relationship: String, of entity: String) -> RelationshipStorage? {
    schema.entityTable(of: entity)?.storage(of: relationship)
  }
}

extension StoreSchema {
  /// SQL of the key and the entity number of the objects that a relationship of an object (`?1`)
  /// leads to, in their order; `nil` where the store keeps no such relationship.
  func relatedObjects(_ name: String, of entity: String) -> String? {
    guard let relationship = model.relationship(named: name, of: entity),
      let table = entityTable(of: entity), let storage = table.storage(of: name),
      let other = entityTable(of: relationship.destination)?.table
    else { return nil }
    let rows = "SELECT d.Z_PK, d.Z_ENT FROM main.\(quoted(other)) d"
    switch storage {
    case .toOne(let column, _):
      return """
        \(rows) JOIN main.\(quoted(table.table)) s ON d.Z_PK = s.\(quoted(column)) WHERE s.Z_PK = ?1
        """
    case .foreignKey(_, let column, let order):
      let places = [order, "Z_PK"].compactMap { $0 }.map { "d." + quoted($0) }
      return "\(rows) WHERE d.\(quoted(column)) = ?1 ORDER BY \(places.joined(separator: ", "))"
    case .join(let join, let owner, let destination, let order):
      let place = order.map { "j.\(quoted($0)), " } ?? ""
      return """
        \(rows) JOIN main.\(quoted(join)) j ON d.Z_PK = j.\(quoted(destination))
        WHERE j.\(quoted(owner)) = ?1 ORDER BY \(place)d.Z_PK
        """
    case .reflexive(let join, let first, let second):
      let (one, two) = (quoted(first), quoted(second))
      return """
        \(rows) WHERE d.Z_PK IN (SELECT \(two) FROM main.\(quoted(join)) WHERE \(one) = ?1
        UNION SELECT \(one) FROM main.\(quoted(join)) WHERE \(two) = ?1) ORDER BY d.Z_PK
        """
    case .none: return nil
    }
  }
}
