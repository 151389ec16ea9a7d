import ManagedModel

extension MappingModel {
  /// One-to-ones whose two sides do not come, object by object, from the two sides of one in the
  /// source: one side is carried alone, or made, or they meet for the first time.
  ///
  /// Their links are set when all objects are there, as setting one side does in Core Data: the
  /// other side follows, and where two claim one object the later wins. All other one-to-ones are as
  /// the source has them.
  func looseOneToOnes(from source: Model, to destination: Model) -> [OneToOne] {
    destination.oneToOnes.filter { pair in
      guard !isMade(pair, destination) else { return true }
      let makers = pair.sides.map { side in
        mappings(toDestinations: destination.subtree(of: side.entity)).filter { $0.source != nil }
      }
      // Without objects on one side there is nothing to link.
      guard makers.allSatisfy({ !$0.isEmpty }) else { return false }
      let carried = zip(pair.sides, makers).map { side, makers in
        makers.map { maker in maker.relationship(named: side.name) }
      }
      guard carried.joined().contains(where: { $0?.source != nil || $0?.fetched != nil }) else {
        return false
      }
      return !isKept(pair, zip(pair.sides, makers).map { ($0, $1) }, source)
    }
  }

  /// Whether objects are made that hang on others by the pair.
  private func isMade(_ pair: OneToOne, _ model: Model) -> Bool {
    func makes(_ children: [ChildMapping], of entity: String) -> Bool {
      children.contains { child in
        let declarer = model.declaringEntity(of: child.relationship, in: entity) ?? entity
        return pair.contains(child.relationship, of: declarer)
          || makes(child.children, of: child.destination)
      }
    }
    return entityMappings.contains { entityMapping in
      entityMapping.destination.map { makes(entityMapping.children, of: $0) } ?? false
    }
  }

  private func isKept(
    _ pair: OneToOne, _ sides: [(side: OneToOne.Side, makers: [EntityMapping])], _ source: Model
  ) -> Bool {
    struct Origin: Hashable {
      var entity: String
      var name: String
    }
    var origins: [Set<Origin>] = []
    var inverses: [Set<Origin>] = []
    for (side, makers) in sides {
      var own: Set<Origin> = []
      var back: Set<Origin> = []
      for maker in makers {
        // Of an object that becomes several, or of several that become one, only one can be referenced.
        guard let from = maker.source, maker.distinct == nil,
          mappings(fromSource: from).count(where: { $0.destination != nil }) == 1,
          let relationshipMapping = maker.relationship(named: side.name),
          relationshipMapping.fetched == nil, let former = relationshipMapping.source,
          let relationship = source.relationship(named: former, of: from), !relationship.isToMany,
          let inverse = relationship.inverse,
          source.relationship(named: inverse, of: relationship.destination)?.isToMany == false,
          let declarer = source.declaringEntity(of: former, in: from),
          let other = source.declaringEntity(of: inverse, in: relationship.destination)
        else { return false }
        own.insert(Origin(entity: declarer, name: former))
        back.insert(Origin(entity: other, name: inverse))
      }
      origins.append(own)
      inverses.append(back)
    }
    guard origins.first == inverses.last, origins.last == inverses.first else { return false }
    // Where subentities take it from several, the two ends of each link must take it from the same one.
    return sides.allSatisfy { side, makers in
      let other = sides.first { $0.side != side } ?? (side, makers)
      return makers.allSatisfy { maker in
        guard let from = maker.source,
          let former = maker.relationship(named: side.name)?.source,
          let relationship = source.relationship(named: former, of: from)
        else { return false }
        return other.makers.allSatisfy {
          !source.isKind($0.source ?? "", of: relationship.destination)
            || $0.relationship(named: other.side.name)?.source == relationship.inverse
        }
      }
    }
  }
}
