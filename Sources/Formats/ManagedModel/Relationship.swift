/// A link from objects of an entity to objects of another, or of the same.
public struct Relationship: Sendable, Equatable {
  /// What happens to related objects when an object is deleted; raw values are those of archives.
  public enum DeleteRule: UInt32, Sendable, CaseIterable {
    /// Nothing: they keep pointing at an object that is gone.
    case noAction = 0
    /// Their inverse is emptied.
    case nullify = 1
    /// They are deleted, too.
    case cascade = 2
    /// The deletion fails while there are any.
    case deny = 3

    /// The name Xcode writes in a model's XML.
    public var name: String {
      switch self {
      case .noAction: "No Action"
      case .nullify: "Nullify"
      case .cascade: "Cascade"
      case .deny: "Deny"
      }
    }
  }

  /// Name, unique within the entity and its ancestors' properties.
  public var name: String
  /// Name of the destination entity.
  public var destination: String
  /// Name of the inverse relationship, declared by the destination or an ancestor of it.
  public var inverse: String?
  /// Whether it references many objects; Core Data derives it from ``maxCount`` not being 1.
  public var isToMany = false
  /// Whether a to-many keeps its objects in an order. Enters the hash.
  public var isOrdered = false
  /// Whether it may lead nowhere. Enters the hash.
  public var isOptional = false
  /// Whether it lives in memory only: no column, no part in the entity's hash.
  public var isTransient = false
  /// Fewest objects it must lead to, as the version hash sees the number: 0 where the model sets
  /// none.
  public var minCount: UInt32 = 0
  /// Most objects it may reference: 1 for a to-one; 0 for a to-many without limit, or UInt32.max
  /// where code set -1. Both counts enter the hash.
  public var maxCount: UInt32 = 1
  /// What deleting an object does to those it references. Enters no hash.
  public var deleteRule = DeleteRule.nullify
  /// Name the relationship had in an older version, by which inference finds its links again.
  public var renamingIdentifier: String?
  /// Text that enters the hash and nothing else: a way to force a migration.
  public var versionHashModifier: String?
  /// Whether Core Spotlight may index it. Enters no hash.
  public var isIndexedBySpotlight = false
  /// Whatever the model's author noted. Enters no hash.
  public var userInfo: [String: String] = [:]

  /// Makes a relationship; a to-many starts without limit, and deleting nullifies.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, toMany: Bool = false,
    ordered: Bool = false, optional: Bool = false
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = toMany
    self.isOrdered = ordered
    self.isOptional = optional
    self.maxCount = toMany ? 0 : 1
  }

  /// The name that identifies the relationship across versions: the renaming identifier if there is
  /// one, else the name.
  public var canonicalName: String { renamingIdentifier ?? name }
}

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
