/// A one-to-one relationship with its inverse: each side keeps a key, and the two must agree.
package struct OneToOne: Sendable, Equatable {
  /// One of the two relationships.
  package struct Side: Sendable, Equatable {
    /// The entity that declares it.
    package let entity: String
    /// The relationship as that entity declares it, with its inverse's name.
    package let relationship: Relationship

    /// What the entity calls it.
    package var name: String { relationship.name }
  }

  /// The side that comes first in the model, by the order of its entities.
  package let first: Side
  /// The first one again for a relationship that is its own inverse.
  package let second: Side

  /// Whether the relationship is its own inverse: it has one side only.
  package var isReflexive: Bool { first == second }

  /// Each side once.
  package var sides: [Side] { isReflexive ? [first] : [first, second] }

  /// Whether a relationship that an entity declares is one of the two.
  package func contains(_ relationship: String, of declarer: String) -> Bool {
    sides.contains { $0.name == relationship && $0.entity == declarer }
  }
}

extension Model {
  /// Every persistent one-to-one, once, by the names of its first side.
  package var oneToOnes: [OneToOne] {
    var all: [OneToOne] = []
    for entity in entities {
      for relationship in entity.relationships
      where !relationship.isToMany && !relationship.isTransient
        && declaringEntity(of: relationship.name, in: entity.name) == entity.name
        && !all.contains(where: { $0.contains(relationship.name, of: entity.name) })
      {
        guard let name = relationship.inverse,
          let other = declaringEntity(of: name, in: relationship.destination),
          let inverse = self.relationship(named: name, of: relationship.destination),
          !inverse.isToMany, !inverse.isTransient
        else { continue }
        all.append(
          OneToOne(
            first: .init(entity: entity.name, relationship: relationship),
            second: .init(entity: other, relationship: inverse)))
      }
    }
    return all
  }
}
