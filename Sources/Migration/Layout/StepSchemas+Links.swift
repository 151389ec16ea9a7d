import ManagedModel
import ManagedStore

extension StepSchemas {
  /// The join table of the source that holds the same links.
  func sourceJoin(of join: StoreSchema.JoinTable) -> StoreSchema.JoinTable? {
    store.schema.join(before: join, of: destinationModel, mapping: mapping)
  }

  /// SQL for the links (owner, destination, position, inverse position) of a destination relationship
  /// as the source keeps them; a position is NULL where there is none.
  ///
  /// A relationship that moved up comes from each of the subentities that had it.
  func links(of relationship: String, in entity: String) -> String? {
    var selects: [String] = []
    for origin in mapping.origins(of: relationship, in: entity, destinationModel) {
      guard let select = formerLinks(origin, to: relationship, in: entity),
        !selects.contains(select)
      else { continue }
      selects.append(select)
    }
    return selects.isEmpty ? nil : selects.joined(separator: " UNION ALL ")
  }

  private func formerLinks(
    _ origin: (entity: String, name: String), to relationship: String, in entity: String
  ) -> String? {
    let declarer = sourceModel.declaringEntity(of: origin.name, in: origin.entity) ?? origin.entity
    return store.table(of: origin.entity)?.storage(of: origin.name)?.allLinks(
      in: "src.", of: store.table(of: declarer)?.numbers,
      bothWays: !isReflexive(relationship, of: entity))
  }

  /// Whether a destination relationship is its own inverse, and so keeps each pair once.
  func isReflexive(_ relationship: String, of entity: String) -> Bool {
    destination.storage(of: relationship, in: entity)?.kind == .reflexive
  }

  /// Whether the former table's first column holds keys of the same side.
  func isStraight(_ join: StoreSchema.JoinTable, _ former: StoreSchema.JoinTable) -> Bool {
    store.schema.isStraight(join, after: former, of: destinationModel, mapping: mapping)
  }
}

extension MappingModel {
  /// Where a destination relationship comes from: the mappings of the entity and of those below it
  /// that carry it, each as a source entity and the relationship's name there.
  func origins(
    of relationship: String, in entity: String, _ model: Model
  ) -> [(entity: String, name: String)] {
    model.subtree(of: entity).compactMap { name in
      guard let entityMapping = mapping(toDestination: name), let from = entityMapping.source,
        let former = entityMapping.relationship(named: relationship)?.source
      else { return nil }
      return (from, former)
    }
  }
}
