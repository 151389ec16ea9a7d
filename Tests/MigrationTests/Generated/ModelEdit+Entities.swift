import ManagedModel
import TestSupport

extension ModelEdit {
  /// Edits of entities and of how they descend from each other.
  func changeEntities(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    switch self {
    case .addEntity, .addChild:
      let parent = self == .addChild ? generator.pick(draft.entities)?.name : nil
      let name = draft.freshName(generator.pick(["Apple", "Middle", "Zebra"]) ?? "")
      var entity = Entity(name, parent: parent)
      entity.attributes = [Attribute(draft.freshName("inside"), .string, optional: true)]
      draft.entities.append(entity)
      return name + (parent.map { " below \($0)" } ?? "")
    case .swapEntities, .chainEntities: return exchange(&draft, &generator)
    case .moveWithinHierarchy, .mergeHierarchies: return move(&draft, &generator)
    default: break
    }
    guard let entity = generator.pick(draft.entities.filter { isPossible($0, draft) }) else {
      return nil
    }
    let name = entity.name
    switch self {
    case .renameEntity:
      let fresh = draft.freshName(generator.pick(["Aaa", "Other", "Zzz"]) ?? "")
      rename(entity, to: fresh, &draft)
      return "\(name) → \(fresh)"
    case .removeEntity:
      // Children take the parent's place, without what it gave them.
      draft.entities.removeAll { $0.name == name }
      for child in draft.entities where child.parent == name {
        draft.change(child.name) { $0.parent = entity.parent }
      }
      for other in draft.entities {
        draft.change(other.name) { $0.relationships.removeAll { $0.destination == name } }
      }
      for other in draft.entities {
        for relationship in other.relationships where draft.inverse(of: relationship) == nil {
          draft.change(relationship: relationship.name, of: other.name) { $0.inverse = nil }
        }
      }
      return name
    case .insertParent:
      let parent = draft.freshName(generator.pick(["Base", "Upper"]) ?? "")
      var made = Entity(parent, parent: entity.parent)
      made.isAbstract = generator.chance(50)
      if let attribute = generator.pick(entity.attributes), generator.chance(60) {
        made.attributes = [attribute]
        draft.change(name) {
          $0.attributes.removeAll { $0.name == attribute.name }
          $0.uniquenessConstraints.removeAll { $0.contains(attribute.name) }
        }
      }
      draft.entities.append(made)
      draft.change(name) { $0.parent = parent }
      return "\(parent) over \(name)"
    case .moveOut:
      // Attributes of the ancestors come along in some cases, and are lost in others.
      if generator.chance(60) {
        let inherited = draft.lineage(of: name).dropFirst().flatMap(\.attributes)
        draft.change(name) { $0.attributes += inherited }
      }
      let to = entity.parent.flatMap { draft.entity($0)?.parent }
      draft.change(name) { $0.parent = generator.chance(50) ? to : nil }
      return "\(name) out of \(entity.parent ?? "")"
    case .makeAbstract, .makeConcrete:
      draft.change(name) { $0.isAbstract = self == .makeAbstract }
      return name
    case .addConstraint:
      let stored = entity.attributes.filter { $0.isStored && $0.type != .composite }.map(\.name)
        .shuffled(using: &generator)
      let names = Array(stored.prefix(generator.chance(70) ? 1 : 2))
      guard !names.isEmpty else { return nil }
      draft.change(name) { $0.uniquenessConstraints.append(names) }
      return "\(name): \(names.joined(separator: ", "))"
    case .removeConstraint:
      draft.change(name) { $0.uniquenessConstraints = [] }
      return name
    case .changeModifier:
      let modifier = draft.freshName("modifier")
      draft.change(name) { $0.versionHashModifier = modifier }
      return name
    case .claimEntityTwice:
      var claimant = Entity(draft.freshName("Claim"))
      claimant.renamingIdentifier = entity.canonicalName
      draft.entities.append(claimant)
      return "\(name) by \(claimant.name)"
    default: return nil
    }
  }

  private func isPossible(_ entity: Entity, _ draft: Draft) -> Bool {
    switch self {
    case .moveOut: entity.parent != nil
    case .makeAbstract: !entity.isAbstract
    case .makeConcrete: entity.isAbstract
    case .removeConstraint: !entity.uniquenessConstraints.isEmpty
    default: true
    }
  }

  /// Below another entity: of its own hierarchy, or of another one.
  private func move(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    guard let entity = generator.pick(draft.entities)?.name else { return nil }
    let isMerge = self == .mergeHierarchies
    let targets = draft.entities.map(\.name).filter {
      !draft.isKind($0, of: entity) && (draft.root(of: $0) == draft.root(of: entity)) != isMerge
        && draft.entity(entity)?.parent != $0
    }
    guard let target = generator.pick(targets) else { return nil }
    draft.change(entity) { $0.parent = target }
    return "\(entity) below \(target)"
  }

  private func exchange(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    let pair = Array(draft.entities.shuffled(using: &generator).prefix(2))
    guard pair.count == 2 else { return nil }
    rename(pair[0], to: "Exchanged", &draft)
    if self == .chainEntities {
      let fresh = draft.freshName("Chained")
      rename(pair[1], to: fresh, &draft)
    } else {
      rename(pair[1], to: pair[0].name, &draft)
    }
    guard let former = draft.entity("Exchanged") else { return nil }
    rename(former, to: pair[1].name, &draft)
    return "\(pair[0].name) → \(pair[1].name) → …"
  }

  private func rename(_ entity: Entity, to name: String, _ draft: inout Draft) {
    draft.change(entity.name) {
      $0.name = name
      $0.renamingIdentifier = entity.canonicalName
    }
    for other in draft.entities {
      draft.change(other.name) { other in
        if other.parent == entity.name { other.parent = name }
        for index in other.relationships.indices
        where other.relationships[index].destination == entity.name {
          other.relationships[index].destination = name
        }
      }
    }
  }
}
