import ManagedModel
import Mapping

/// Something of the source that a mapping carries nowhere, whatever a store holds of it.
package struct Omission: Hashable, Sendable {
  /// What goes.
  package enum Kind: Sendable { case entity, attribute, relationship }

  /// What goes.
  package let kind: Kind
  /// The source entity: the one that declares the property, or whose objects go.
  package let entity: String
  /// Name in the source; an element of a composite attribute by its path.
  package let property: String?
  /// The entity that takes the objects; `nil` where they go.
  package let destination: String?
}

/// What a mapping carries of two models' properties: asked with a store's rows in mind, and without.
package struct CarriedProperties {
  let source: Model
  let destination: Model
  let mapping: MappingModel

  /// Looks at a mapping between two models.
  package init(_ mapping: MappingModel, from source: Model, to destination: Model) {
    self.mapping = mapping
    self.source = source
    self.destination = destination
  }

  /// Stored attributes of the source that an entity mapping does not take up; derived ones are made
  /// again.
  func lostAttributes(in entityMapping: EntityMapping) -> [Attribute] {
    guard let from = entityMapping.source, entityMapping.destination != nil else { return [] }
    let kept = Set(entityMapping.attributes.compactMap(\.source))
    return source.storedAttributes(of: from).filter { !$0.isDerived && !kept.contains($0.name) }
  }

  /// Entities whose objects a relationship leads to now and no more, though both ends stay; the
  /// inverse may carry the links as well.
  private func lostDestinations(
    of relationship: Relationship, inverse: Relationship?, in entityMapping: EntityMapping
  ) -> [String] {
    guard entityMapping.destination != nil else { return [] }
    return source.subtree(of: relationship.destination).filter { other in
      guard let taker = mapping.mapping(fromSource: other), taker.destination != nil,
        !isCarried(relationship, inverse, by: entityMapping, to: taker)
      else { return false }
      return inverse.map { !isCarried($0, relationship, by: taker, to: entityMapping) } ?? true
    }
  }

  /// Whether a mapping carries a relationship's links to the objects that another makes. A to-many whose
  /// to-one inverse is carried as well adds nothing to it: that one's column holds the links.
  private func isCarried(
    _ relationship: Relationship, _ inverse: Relationship?, by entityMapping: EntityMapping,
    to other: EntityMapping
  ) -> Bool {
    guard let from = entityMapping.destination, let end = other.destination else { return false }
    return entityMapping.relationships.contains { relationshipMapping in
      guard relationshipMapping.source == relationship.name,
        let now = destination.relationship(named: relationshipMapping.name, of: from),
        destination.isKind(end, of: now.destination)
      else { return false }
      guard now.isToMany, let inverse, let back = now.inverse,
        destination.relationship(named: back, of: now.destination)?.isToMany == false
      else { return true }
      return other.relationship(named: back)?.source != inverse.name
    }
  }

  /// Everything that goes. What an expression, a condition or a child of a written mapping names is
  /// taken up by it, and so is all that an entity with a policy class has, or that a person wrote down
  /// to go.
  package func omissions() -> [Omission] {
    var found: [Omission] = []
    var met: Set<Omission> = []
    func add(_ kind: Omission.Kind, _ entity: String, _ property: String?, _ to: String?) {
      let holder = property.flatMap { source.declaringEntity(of: $0, in: entity) } ?? entity
      let omission = Omission(
        kind: kind, entity: holder, property: property,
        destination: to.map { holder == entity ? $0 : destinationOf(holder) ?? $0 })
      if met.insert(omission).inserted { found.append(omission) }
    }
    for entity in source.entities {
      let all = mapping.mappings(fromSource: entity.name)
      let takers = all.filter { $0.destination != nil }
      guard !takers.isEmpty else {
        let isMeant = all.contains(where: \.isDeletionIntended)
        if !entity.isAbstract, !isMeant { add(.entity, entity.name, nil, nil) }
        continue
      }
      guard takers.allSatisfy({ $0.policy == nil }) else { continue }
      let named = takers.reduce(into: Set<String>()) { $0.formUnion($1.namedProperties) }
      for attribute in lostAttributes(in: takers[0])
      where !named.contains(attribute.name) && !named.contains(ElementPath.last(of: attribute.name))
        && takers.allSatisfy({ !$0.attributes.contains { $0.source == attribute.name } })
      {
        add(.attribute, entity.name, attribute.name, takers[0].destination)
      }
      for relationship in source.relationships(of: entity.name)
      where !relationship.isTransient && !named.contains(relationship.name) {
        let inverse = relationship.inverse.flatMap {
          source.relationship(named: $0, of: relationship.destination)
        }
        let isLost = takers.allSatisfy {
          !lostDestinations(of: relationship, inverse: inverse, in: $0).isEmpty
        }
        // The two sides of one go together, and are one.
        let isTold = inverse.map { inverse in
          found.contains {
            $0.kind == .relationship && $0.property == inverse.name
              && source.isKind(relationship.destination, of: $0.entity)
          }
        }
        if isLost, isTold != true {
          add(.relationship, entity.name, relationship.name, takers[0].destination)
        }
      }
    }
    return found
  }

  private func destinationOf(_ entity: String) -> String? {
    mapping.mapping(fromSource: entity)?.destination
  }
}
