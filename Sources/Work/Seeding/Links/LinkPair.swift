import ManagedModel
import ManagedStore

/// A relationship with its inverse, as the model asks for it: what links are made by.
struct LinkPair: Sendable {
  enum Form: Sendable {
    /// The child's row names its parent: a to-one, or the owner of a to-many without an inverse.
    case child
    /// Each row names the other.
    case oneToOne
    case manyToMany
    /// Relationships that are their own inverse.
    case reflexiveOne, reflexiveMany
  }

  /// One side; `relationship` is `nil` for a side that has none.
  struct End: Sendable {
    /// The entity that declares the relationship; without one the side's entity.
    let entity: String
    var relationship: Relationship?
    /// Concrete entities whose objects may have links here.
    var members: [String]

    /// Whether every object must have a link.
    var isMandatory: Bool { relationship?.isOptional == false }
    /// Fewest links of an object.
    var least: Int {
      guard let relationship else { return 0 }
      // A count beyond all bounds is a mistake that no store can follow.
      let least = relationship.isToMany ? Int(min(relationship.minCount, 1_000_000)) : 0
      return max(least, relationship.isOptional ? 0 : 1)
    }
    /// Most links of an object; `nil` where there is no limit.
    var most: Int? {
      guard let relationship, relationship.isToMany else { return relationship == nil ? nil : 1 }
      return relationship.maxCount == 0 || relationship.maxCount == .max
        ? nil : Int(relationship.maxCount)
    }
    /// `Entity.relationship`.
    var name: String { entity + (relationship.map { "." + $0.name } ?? "") }
  }

  let form: Form
  /// The children, or the side that writes the links.
  var from: End
  var to: End
  /// Whether a child's parent is its own: a uniqueness constraint over the to-one alone says so.
  var isExclusive = false

  /// Most children of a parent.
  var mostChildren: Int? { isExclusive ? 1 : to.most }
  /// Whether objects reference objects of the same entity.
  var isWithinOne: Bool { Set(from.members).isDisjoint(with: to.members) == false }
}

extension LinkPair {
  /// Every persistent relationship of a model, each pair once, in the order of the entities.
  static func all(in model: Model, schema: StoreSchema) -> [LinkPair] {
    var pairs: [LinkPair] = []
    var told: Set<String> = []
    for entity in model.entitiesInStoreOrder {
      for relationship in entity.relationships.sortedByBytes(\.name)
      where !relationship.isTransient
        && model.declaringEntity(of: relationship.name, in: entity.name) == entity.name
        && !told.contains(entity.name + "." + relationship.name)
        && model.entity(named: relationship.destination) != nil
      {
        guard let storage = schema.storage(of: relationship.name, in: entity.name) else { continue }
        told.insert(entity.name + "." + relationship.name)
        let inverse = schema.inverse(of: relationship).flatMap { $0.1.isTransient ? nil : $0 }
        if let inverse, inverse.1.inverse == relationship.name {
          told.insert(inverse.entity + "." + inverse.1.name)
        }
        let own = End(
          entity: entity.name, relationship: relationship,
          members: members(
            declaredBy: entity.name,
            from: inverse?.1.destination ?? entity.name, model))
        let other = End(
          entity: inverse?.entity ?? relationship.destination, relationship: inverse?.1,
          members: destinations(of: relationship, members: own.members, model))
        let isReflexive = inverse?.entity == entity.name && inverse?.1.name == relationship.name
        switch storage.kind {
        case .toOne:
          let form: Form =
            isReflexive ? .reflexiveOne : inverse?.1.isToMany == false ? .oneToOne : .child
          pairs.append(LinkPair(form: form, from: own, to: other))
        case .inverseOfToOne, .withoutInverse:
          pairs.append(LinkPair(form: .child, from: other, to: own))
        case .join: pairs.append(LinkPair(form: .manyToMany, from: own, to: other))
        case .reflexive: pairs.append(LinkPair(form: .reflexiveMany, from: own, to: other))
        }
      }
    }
    for index in pairs.indices { pairs[index].isExclusive = isExclusive(pairs[index], model) }
    return pairs
  }

  /// Concrete entities that have a relationship and that its inverse can reference.
  private static func members(
    declaredBy entity: String, from destination: String, _ model: Model
  ) -> [String] {
    model.subtree(of: entity).filter {
      model.entity(named: $0)?.isAbstract == false
        && (model.isKind($0, of: destination) || model.isKind(destination, of: entity) == false)
    }
  }

  /// Concrete entities that a relationship references from all of its entities: one below may narrow it.
  private static func destinations(
    of relationship: Relationship, members: [String], _ model: Model
  ) -> [String] {
    let narrowed = Set(
      members.compactMap { model.relationship(named: relationship.name, of: $0)?.destination })
    return model.subtree(of: relationship.destination).filter { name in
      model.entity(named: name)?.isAbstract == false
        && narrowed.allSatisfy { model.isKind(name, of: $0) }
    }
  }

  /// Whether a uniqueness constraint of the child is over this to-one alone, or over to-ones of which
  /// it is the first.
  private static func isExclusive(_ pair: LinkPair, _ model: Model) -> Bool {
    guard pair.form == .child, let name = pair.from.relationship?.name else { return false }
    let lineages = Set(pair.from.members.flatMap { model.lineage(of: $0).map(\.name) })
    return lineages.contains { entity in
      model.entity(named: entity)?.uniquenessConstraints.contains { constraint in
        constraint.first == name
          && constraint.allSatisfy { model.relationship(named: $0, of: entity) != nil }
      } == true
    }
  }
}

/// How many links objects have, where the model leaves it open.
struct LinkShape: Sendable, Equatable {
  /// Of a hundred objects that need none, those that have none.
  var emptyPercent = 15
  /// Links of an object at an average, for a many-to-many.
  var mean = 2.0
  /// Most links of an object, where there is no rule.
  var most = 6
}

/// What the links of all pairs are made with.
struct LinkContext: Sendable {
  let seed: UInt64
  /// The first objects of each entity that are edge cases; 0 for none.
  var edgeRows = 0
  /// Longest chain in a hierarchy that edge cases ask for; 0 for none.
  var chain = 0
}
