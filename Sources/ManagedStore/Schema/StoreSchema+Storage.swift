import ManagedModel

/// Where things are by the rules alone.
extension StoreSchema {
  /// Where the objects of an entity are.
  package func entityTable(of name: String) -> EntityTable? {
    guard let table = table(of: name), let number = numbers[name] else { return nil }
    let attributes = model.lineage(of: name).flatMap { entity in
      storedAttributes(of: entity).compactMap { stored in
        column(of: stored.attribute.name, declaredBy: entity.name, in: table).map {
          EntityTable.AttributeColumn(attribute: stored.attribute, column: $0, path: stored.path)
        }
      }
    }
    let relationships = model.relationships(of: name).filter { !$0.isTransient }.map {
      EntityTable.RelationshipColumns(relationship: $0, storage: storage(of: $0, in: name))
    }
    return EntityTable(
      entity: name, entityID: number, table: table.name,
      numbers: model.subtree(of: name).compactMap { numbers[$0] },
      isWholeTable: name == model.root(of: name),
      attributes: attributes.sortedByBytes(\.attribute.name),
      relationships: relationships.sortedByBytes(\.relationship.name))
  }

  /// Where the objects of an entity are.
  ///
  /// - Parameter isConcrete: whether it must be one that has objects of its own.
  /// - Throws: ``CoreDataError`` of kind usage for an unknown entity, or an abstract one.
  package func knownTable(
    of name: String, isConcrete: Bool = true
  ) throws(CoreDataError) -> EntityTable {
    guard let table = entityTable(of: name) else {
      throw CoreDataError(
        unknownEntity: name, of: "the model", known: model.entities.map(\.name))
    }
    if isConcrete, model.entity(named: name)?.isAbstract != false {
      throw CoreDataError(.usage, "an abstract entity has no objects", entity: name)
    }
    return table
  }

  /// How a relationship, own or inherited, is kept; `nil` for an unknown name or a transient one.
  package func storage(of relationship: String, in entity: String) -> RelationshipStorage? {
    model.relationship(named: relationship, of: entity).flatMap {
      $0.isTransient ? nil : storage(of: $0, in: entity)
    }
  }

  /// The column of a to-one, own or inherited.
  package func toOneColumn(of relationship: String, in entity: String) -> String? {
    storage(of: relationship, in: entity)?.toOneColumn
  }

  private func column(
    of attribute: String, declaredBy entity: String, in table: Table
  ) -> String? {
    table.column(.attribute(entity: entity, name: attribute))?.name
  }

  private func storage(
    of relationship: Relationship, in entity: String
  ) -> RelationshipStorage? {
    guard let declarer = model.declaringEntity(of: relationship.name, in: entity) else {
      return nil
    }
    let (own, name) = (table(of: entity), relationship.name)
    if !relationship.isToMany {
      guard let own, let column = own.column(.toOne(entity: declarer, name: name)) else {
        return nil
      }
      return RelationshipStorage(
        .toOne, table: own.name, destination: column.name,
        entityColumn: own.column(.toOneEntity(entity: declarer, name: name))?.name,
        inversePosition: own.column(.toOneOrder(entity: declarer, name: name))?.name)
    }
    guard let destination = table(of: relationship.destination) else { return nil }
    guard let (inverseEntity, inverse) = inverse(of: relationship) else {
      return destination.column(.owner(entity: declarer, name: name)).map {
        RelationshipStorage(
          .withoutInverse, table: destination.name, owner: $0.name,
          position: destination.column(.ownerOrder(entity: declarer, name: name))?.name)
      }
    }
    if !inverse.isToMany {
      let order = destination.column(.toOneOrder(entity: inverseEntity, name: inverse.name))
      return destination.column(.toOne(entity: inverseEntity, name: inverse.name)).map {
        RelationshipStorage(
          .inverseOfToOne, table: destination.name, owner: $0.name,
          position: relationship.isOrdered ? order?.name : nil)
      }
    }
    return join(of: name, in: entity).map {
      $0.side == JoinTable.Side(entity: declarer, relationship: name)
        ? $0.storage : $0.inverseStorage
    }
  }
}

extension StoreSchema.JoinTable {
  /// The storage of the relationship that names the table.
  package var storage: RelationshipStorage {
    RelationshipStorage(
      isReflexive ? .reflexive : .join, table: name, owner: first, destination: second,
      position: secondOrder, inversePosition: firstOrder)
  }

  /// The storage of the other one.
  fileprivate var inverseStorage: RelationshipStorage {
    RelationshipStorage(
      .join, table: name, owner: second, destination: first, position: firstOrder,
      inversePosition: secondOrder)
  }
}
