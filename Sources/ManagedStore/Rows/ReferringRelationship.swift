import ManagedModel
import SQLite

/// A relationship of some entity through which objects reference one object.
public struct ReferringRelationship: Sendable, Equatable {
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
  /// Everything that references an object: relationships of all entities, with and without inverse.
  ///
  /// - Parameter limit: objects to name for each relationship.
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public func references(to id: ObjectID, limit: Int = 50) throws -> [ReferringRelationship] {
    var found: [ReferringRelationship] = []
    for entity in model.entities {
      guard let table = layout.table(of: entity.name) else { continue }
      for relationship in entity.relationships
      where model.isKind(id.entity, of: relationship.destination) {
        guard let storage = table.storage(of: relationship.name) else { continue }
        // Another entity of the owner's table can use a to-one's column for something else.
        let pairs = storage.pairs(of: table.isWholeTable ? nil : table.numbers)
        let number = entityExpression(key: "e.owner", entityColumn: nil, destination: table.entity)
        let source = "SELECT e.owner, \(number) FROM (\(pairs)) e WHERE e.destination = ?"
        let values: [Value] = [.integer(id.key)]
        let (count, first) = try reading {
          let count = try connection.value("SELECT count(*) FROM (\(source))", values)
          let rows = try connection.rows("\(source) ORDER BY 1 LIMIT \(max(0, limit))", values)
          return (Int(count?.integer ?? 0), rows)
        }
        guard count > 0 else { continue }
        found.append(
          ReferringRelationship(
            entity: entity.name, relationship: relationship, count: count,
            first: first.compactMap { self.id($0, else: entity.name) }))
      }
    }
    return found
  }
}
