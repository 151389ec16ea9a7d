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
        let statements = storage.deletions(
          in: "main.", ofOwner: isOwner, ofDestination: isDestination)
        for sql in statements { try connection.run(sql, key) }
      }
    }
    guard let table = schema.entityTable(of: id.entity) else { return }
    try connection.run("DELETE FROM main.\(quoted(table.table)) WHERE Z_PK = ?1", key)
  }

  /// Empties a to-one on both sides.
  func empty(_ relationship: Relationship, of id: ObjectID) throws {
    let key: [Value] = [.integer(id.key)]
    if let own = schema.storage(of: relationship.name, in: id.entity), own.kind == .toOne {
      try connection.run(own.emptying(in: "main.", where: "Z_PK = ?1"), key)
    }
    guard let (entity, back) = schema.inverse(of: relationship),
      let storage = schema.storage(of: back.name, in: entity), let column = storage.toOneColumn
    else { return }
    try connection.run(storage.emptying(in: "main.", where: "\(quoted(column)) = ?1"), key)
  }

  /// Takes an object that is about to be linked out of the one-to-one it is in.
  func leave(_ relationship: Relationship, of owner: ObjectID, _ other: ObjectID) throws {
    guard !relationship.isToMany, let (_, back) = schema.inverse(of: relationship), !back.isToMany
    else { return }
    try empty(back, of: other)
  }
}

extension StoreSchema {
  /// SQL of the key and the entity number of the objects that a relationship of an object (`?1`)
  /// references, in their order; `nil` where the store keeps no such relationship.
  func relatedObjects(_ name: String, of entity: String) -> String? {
    guard let storage = storage(of: name, in: entity),
      let destination = model.relationship(named: name, of: entity)?.destination,
      let other = table(of: destination)
    else { return nil }
    return storage.objects(in: other.name, schema: "main.")
  }
}
