import ManagedModel
import ManagedStore

/// A to-many of a mapping whose links the to-ones at its other side tell as well.
///
/// Where no policy does anything by itself, setting the to-ones comes to the same as setting both
/// sides, as each object of the source is one of the destination, by one mapping.
struct MirroredSide: Equatable {
  var mapping: String
  var relationship: String
  /// Where the to-ones are kept, as ``StoreSchema/linkColumn(of:in:)`` calls it.
  var column: String
  /// The mappings whose objects have the to-one.
  var tellers: [String]
}

extension MappingLayout {
  /// The to-manys of mappings with policies that to-ones tell as well, where nothing but these two
  /// sides is written into the to-ones.
  func mirroredSides() throws -> [MirroredSide] {
    var sides: [MirroredSide] = []
    var others = Set(links.compactMap { schema.linkColumn(of: $0.relationship, in: $0.entity) })
    for entityMapping in mapping.entityMappings {
      guard let to = entityMapping.destination else { continue }
      for relationshipMapping in entityMapping.relationships
      where relationshipMapping.source != nil || relationshipMapping.fetched != nil {
        guard let relationship = model.relationship(named: relationshipMapping.name, of: to),
          let column = schema.linkColumn(of: relationship.name, in: to)
        else { continue }
        if relationship.isToMany {
          let tellers = try tellers(of: relationship, relationshipMapping, entityMapping)
          sides.append(
            MirroredSide(
              mapping: entityMapping.name, relationship: relationship.name, column: column,
              tellers: tellers))
          if tellers.isEmpty { others.insert(column) }
        } else if !isPolicy(entityMapping) {
          others.insert(column)
        }
      }
    }
    return sides.filter { !others.contains($0.column) }
  }

  /// The mappings whose to-ones come from the very column that a to-many comes from; none where
  /// some do not.
  private func tellers(
    of relationship: Relationship, _ relationshipMapping: RelationshipMapping,
    _ entityMapping: EntityMapping
  ) throws -> [String] {
    guard isPolicy(entityMapping), relationshipMapping.fetched == nil,
      let from = entityMapping.source, let name = relationshipMapping.source,
      let former = store.model.relationship(named: name, of: from), former.isToMany,
      let formerBack = former.inverse.flatMap({
        store.model.relationship(named: $0, of: former.destination)
      }),
      let kept = store.table(of: from)?.storage(of: name), kept.kind == .inverseOfToOne,
      let (_, inverse) = schema.inverse(of: relationship)
    else { return [] }
    let tellers = try takers(
      of: former.destination, through: relationshipMapping.through, in: relationship,
      of: entityMapping)
    let areMirrors = try tellers.allSatisfy { teller in
      guard isPolicy(teller), let own = teller.source,
        let back = teller.relationship(named: inverse.name), back.fetched == nil,
        back.source == formerBack.name,
        let key = store.table(of: own)?.storage(of: formerBack.name), key.kind == .toOne,
        key.table == kept.table, key.destination == kept.owner,
        key.inversePosition == kept.position
      else { return false }
      return try takers(
        of: formerBack.destination, through: back.through, in: inverse, of: teller
      ).contains { $0.name == entityMapping.name }
    }
    return areMirrors ? tellers.map(\.name) : []
  }
}

extension StoreSchema {
  /// The column, with its table, of a to-one or of the to-one that a to-many is the inverse of;
  /// `nil` for what is kept in other ways.
  func linkColumn(of relationship: String, in entity: String) -> String? {
    guard let storage = storage(of: relationship, in: entity) else { return nil }
    switch storage.kind {
    case .toOne: return "\(storage.table).\(storage.destination)"
    case .inverseOfToOne: return "\(storage.table).\(storage.owner)"
    case .withoutInverse, .join, .reflexive: return nil
    }
  }
}
