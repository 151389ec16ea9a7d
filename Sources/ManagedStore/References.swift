import ManagedModel
import SQLite

/// A relationship of some entity through which objects point at one object.
public struct Reference: Sendable, Equatable {
  /// The entity that declares the relationship.
  public var entity: String
  /// The relationship that holds the object.
  public var relationship: Relationship
  /// Objects that point.
  public var count: Int
  /// The first of them, by key.
  public var first: [ObjectID]
}

extension Store {
  /// Everything that points at an object: relationships of all entities, with and without inverse.
  ///
  /// - Parameter limit: objects to name for each relationship.
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public func references(to id: ObjectID, limit: Int = 50) throws -> [Reference] {
    var found: [Reference] = []
    for entity in model.entities {
      guard let table = layout.table(of: entity.name) else { continue }
      for relationship in entity.relationships
      where model.isKind(id.entity, of: relationship.destination) {
        guard let storage = table.storage(of: relationship.name),
          let (source, values) = pointing(at: id, storage, table, relationship)
        else { continue }
        let (count, first) = try reading {
          let count = try connection.value("SELECT count(*) FROM (\(source))", values)
          let rows = try connection.rows("\(source) ORDER BY 1 LIMIT \(max(0, limit))", values)
          return (Int(count?.integer ?? 0), rows)
        }
        guard count > 0 else { continue }
        found.append(
          Reference(
            entity: entity.name, relationship: relationship, count: count,
            first: first.compactMap { row in
              guard row.count == 2, let key = row[0].integer else { return nil }
              let own = row[1].integer.flatMap { entityNames[$0] }
              return ObjectID(entity: own ?? entity.name, key: key)
            }))
      }
    }
    return found
  }

  /// SQL for keys and Z_ENT of the objects whose relationship holds an object.
  private func pointing(
    at id: ObjectID, _ storage: RelationshipStorage, _ owner: EntityTable,
    _ relationship: Relationship
  ) -> (String, [Value])? {
    let key: [Value] = [.integer(id.key)]
    switch storage {
    case .toOne(let column, _):
      // Another entity of the owner's table can use the column for something else.
      let entity = owner.entityCondition().map { " AND " + $0 } ?? ""
      return (
        "SELECT Z_PK, Z_ENT FROM \(quoted(owner.table)) WHERE \(quoted(column)) = ?\(entity)", key
      )
    case .foreignKey(let table, let column, _):
      let number = entityExpression(
        key: quoted(column), entityColumn: nil, destination: owner.entity)
      return (
        """
        SELECT \(quoted(column)), \(number) FROM \(quoted(table))
        WHERE Z_PK = ? AND \(quoted(column)) IS NOT NULL
        """, key
      )
    case .join(let table, let own, let other, _):
      let number = entityExpression(key: quoted(own), entityColumn: nil, destination: owner.entity)
      return (
        "SELECT \(quoted(own)), \(number) FROM \(quoted(table)) WHERE \(quoted(other)) = ?", key
      )
    case .reflexive(let table, let first, let second):
      let number = entityExpression(key: "k", entityColumn: nil, destination: owner.entity)
      return (
        """
        SELECT k, \(number) FROM (SELECT \(quoted(first)) k FROM \(quoted(table))
        WHERE \(quoted(second)) = ? UNION SELECT \(quoted(second)) FROM \(quoted(table))
        WHERE \(quoted(first)) = ?)
        """, key + key
      )
    case .none: return nil
    }
  }
}
