import ManagedModel
import TestSupport

extension ModelEdit {
  /// Edits of relationships, each with what its inverse needs.
  func changeRelationships(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    if self == .addRelationship { return addRelationship(&draft, &generator) }
    let places = draft.entities.flatMap { entity in
      entity.relationships.filter { isPossible($0, entity, draft) }.map { (entity.name, $0) }
    }
    guard let (entity, relationship) = generator.pick(places) else { return nil }
    let place = "\(entity).\(relationship.name)"
    let isReflexive =
      relationship.inverse == relationship.name && relationship.destination == entity
    let back = isReflexive ? nil : draft.inverse(of: relationship)
    switch self {
    case .renameRelationship:
      let name = draft.freshName(generator.pick(["bond", "link", "tie"]) ?? "")
      rename(relationship, of: entity, to: name, &draft)
      return "\(place) → \(name)"
    case .swapRelationships:
      let others = draft.entity(entity)?.relationships.filter {
        $0.name != relationship.name && $0.name != relationship.inverse && $0.inverse != $0.name
          && $0.isToMany != relationship.isToMany
      }
      guard !isReflexive, let other = generator.pick(others ?? []) else { return nil }
      rename(relationship, of: entity, to: "swapping", &draft)
      rename(other, of: entity, to: relationship.name, &draft)
      guard let swapping = draft.entity(entity)?.relationship(named: "swapping") else { return nil }
      rename(swapping, of: entity, to: other.name, &draft)
      return "\(place) ↔ \(other.name)"
    case .removeRelationship:
      remove(relationship, of: entity, &draft)
      if let back { remove(back, of: relationship.destination, &draft) }
      return place + (back.map { " and \(relationship.destination).\($0.name)" } ?? "")
    case .removeInverse:
      guard let back else { return nil }
      remove(back, of: relationship.destination, &draft)
      draft.change(relationship: relationship.name, of: entity) { $0.inverse = nil }
      return "\(relationship.destination).\(back.name), the inverse of \(place)"
    case .addInverse:
      let name = draft.freshName("inverse")
      // Several objects may share the one that a to-one leads to; a to-many's belong to one owner.
      let many = !relationship.isToMany
      draft.change(relationship.destination) {
        $0.relationships.append(
          Relationship(
            name, to: entity, inverse: relationship.name, toMany: many,
            ordered: many && generator.chance(40), optional: true))
      }
      draft.change(relationship: relationship.name, of: entity) { $0.inverse = name }
      return "\(relationship.destination).\(name), the inverse of \(place)"
    case .toOneToMany:
      draft.change(relationship: relationship.name, of: entity) {
        $0.isToMany = true
        $0.maxCount = 0
        $0.isOrdered = generator.chance(40)
      }
      return place
    case .replaceToOne:
      // Without a renaming identifier: the links have nowhere to go, though the inverse keeps its name.
      let name = draft.freshName("many")
      draft.change(relationship: relationship.name, of: entity) {
        $0.name = name
        $0.renamingIdentifier = nil
        $0.isToMany = true
        $0.isOptional = true
        $0.maxCount = 0
        $0.isOrdered = generator.chance(40)
      }
      if let back {
        draft.change(relationship: back.name, of: relationship.destination) { $0.inverse = name }
      }
      return "\(place) by \(name)"
    case .toManyToOne:
      draft.change(relationship: relationship.name, of: entity) {
        $0.isToMany = false
        $0.isOrdered = false
        $0.maxCount = 1
      }
      return place
    case .order, .unorder:
      draft.change(relationship: relationship.name, of: entity) { $0.isOrdered = self == .order }
      return place
    case .makeRelationshipMandatory:
      draft.change(relationship: relationship.name, of: entity) { $0.isOptional = false }
      return place
    case .moveRelationshipUp, .moveRelationshipDown:
      let target =
        self == .moveRelationshipUp
        ? draft.entity(entity)?.parent : generator.pick(draft.children(of: entity))?.name
      guard let target, !isReflexive else { return nil }
      remove(relationship, of: entity, &draft)
      draft.change(target) { $0.relationships.append(relationship) }
      if let back {
        draft.change(relationship: back.name, of: relationship.destination) {
          $0.destination = target
        }
      }
      return "\(place) to \(target)"
    case .widenDestination:
      guard back == nil, let parent = draft.entity(relationship.destination)?.parent else {
        return nil
      }
      draft.change(relationship: relationship.name, of: entity) { $0.destination = parent }
      return "\(place) leads to \(parent)"
    case .replaceSide:
      // The other side alone says what was linked.
      guard let back else { return nil }
      // A join table that stays keeps the positions of both its sides.
      guard !(relationship.isOrdered && back.isToMany) else { return nil }
      let identifier = draft.freshName("nothing")
      draft.change(relationship: relationship.name, of: entity) {
        $0.renamingIdentifier = identifier
        $0.versionHashModifier = identifier
        $0.isOptional = true
      }
      return "\(place), the inverse of \(relationship.destination).\(back.name), is new"
    case .addOneToOneInverse:
      let name = draft.freshName("inverse")
      draft.change(relationship.destination) {
        $0.relationships.append(
          Relationship(name, to: entity, inverse: relationship.name, optional: true))
      }
      draft.change(relationship: relationship.name, of: entity) { $0.inverse = name }
      return "\(relationship.destination).\(name), the one inverse of \(place)"
    case .requireSome:
      draft.change(relationship: relationship.name, of: entity) {
        $0.isOptional = false
        $0.minCount = 1
      }
      return place
    case .claimRelationshipTwice:
      var copy = relationship
      copy.name = draft.freshName("claim")
      copy.renamingIdentifier = relationship.canonicalName
      copy.inverse = nil
      draft.change(entity) { $0.relationships.append(copy) }
      return "\(place) by \(copy.name)"
    default: return nil
    }
  }

  private func isPossible(_ relationship: Relationship, _ entity: Entity, _ draft: Draft) -> Bool {
    let isReflexive = relationship.inverse == relationship.name
    switch self {
    case .toOneToMany, .replaceToOne:
      return !relationship.isToMany && relationship.inverse != nil && !isReflexive
    case .toManyToOne:
      // One that this very change added may be to-one as well.
      return relationship.isToMany && !isReflexive && !isAdded(relationship)
    case .order: return relationship.isToMany && !relationship.isOrdered && !isReflexive
    case .unorder: return relationship.isToMany && relationship.isOrdered
    case .makeRelationshipMandatory: return relationship.isOptional
    case .addInverse, .widenDestination: return relationship.inverse == nil
    case .removeInverse: return !isReflexive && draft.inverse(of: relationship) != nil
    case .replaceSide: return !isReflexive && draft.inverse(of: relationship) != nil
    case .addOneToOneInverse: return !relationship.isToMany && relationship.inverse == nil
    case .requireSome: return relationship.isToMany && relationship.minCount == 0
    case .moveRelationshipUp: return entity.parent != nil
    case .moveRelationshipDown: return !draft.children(of: entity.name).isEmpty
    default: return true
    }
  }

  private func isAdded(_ relationship: Relationship) -> Bool {
    ["inverse", "newly"].contains { relationship.canonicalName.hasPrefix($0) }
  }

  private func addRelationship(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String?
  {
    guard let from = generator.pick(draft.entities)?.name,
      let to = generator.pick(draft.entities)?.name
    else { return nil }
    let isToMany = generator.chance(50)
    let first = draft.freshName("newly")
    let second = generator.chance(70) ? draft.freshName("newly") : nil
    draft.change(from) {
      $0.relationships.append(
        Relationship(
          first, to: to, inverse: second, toMany: isToMany,
          ordered: isToMany && generator.chance(40), optional: true))
    }
    if let second {
      let isBackToMany = generator.chance(50)
      draft.change(to) {
        $0.relationships.append(
          Relationship(
            second, to: from, inverse: first, toMany: isBackToMany,
            ordered: isBackToMany && generator.chance(40), optional: true))
      }
    }
    return "\(from).\(first) to \(to)" + (second.map { ".\($0)" } ?? "")
  }

  private func remove(_ relationship: Relationship, of entity: String, _ draft: inout Draft) {
    draft.change(entity) { $0.relationships.removeAll { $0.name == relationship.name } }
  }

  private func rename(
    _ relationship: Relationship, of entity: String, to name: String, _ draft: inout Draft
  ) {
    draft.change(relationship: relationship.name, of: entity) {
      $0.name = name
      $0.renamingIdentifier = relationship.canonicalName
      if $0.inverse == relationship.name && $0.destination == entity { $0.inverse = name }
    }
    guard let inverse = relationship.inverse, inverse != relationship.name else { return }
    draft.change(relationship: inverse, of: relationship.destination) { $0.inverse = name }
  }
}
