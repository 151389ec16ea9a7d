import ManagedModel
import ManagedStore

extension StepSchemas {
  /// The join table of the source that holds the same links.
  func sourceJoin(of join: StoreSchema.JoinTable) -> StoreSchema.JoinTable? {
    func find(_ side: StoreSchema.JoinTable.Side) -> StoreSchema.JoinTable? {
      mapping.origins(of: side.relationship, in: side.entity, destinationModel).lazy
        .compactMap { store.schema.join(of: $0.name, in: $0.entity) }.first
    }
    return find(join.side) ?? find(join.otherSide)
  }

  /// Whether the former table's first column holds keys of the same side.
  func isStraight(_ join: StoreSchema.JoinTable, _ former: StoreSchema.JoinTable) -> Bool {
    if join.isReflexive { return true }
    if let origin = mapping.origins(of: join.relationship, in: join.entity, destinationModel).first
    {
      return former.relationship == origin.name
        && sourceModel.isKind(origin.entity, of: former.entity)
    }
    guard
      let origin = mapping.origins(of: join.inverse, in: join.inverseEntity, destinationModel).first
    else { return true }
    return former.inverse == origin.name
      && sourceModel.isKind(origin.entity, of: former.inverseEntity)
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

extension StepSchemas {
  /// Whether a to-one's columns are filled when all objects are there.
  func isLoose(_ relationship: String, of declarer: String) -> Bool {
    loose.contains { $0.contains(relationship, of: declarer) }
  }

  /// Links of an inferred step's loose one-to-ones, in the order in which they are set.
  var looseLinks: [LinkProgram] {
    guard !loose.isEmpty else { return [] }
    return mapping.entityMappings.flatMap { entityMapping -> [LinkProgram] in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let table = store.table(of: from), store.database.contains(table.table)
      else { return [] }
      return loose.flatMap(\.sides).compactMap { side -> LinkProgram? in
        guard destinationModel.isKind(to, of: side.entity),
          let former = entityMapping.relationship(named: side.name)?.source,
          table.toOneColumn(of: former) != nil,
          let key = key(of: side.name, entityMapping, table),
          let kind = sourceModel.relationship(named: former, of: from)?.destination,
          let other = store.table(of: kind)?.table
        else { return nil }
        return LinkProgram(
          mapping: entityMapping.name, entity: side.entity, relationship: side.name,
          origin: .row(key), table: table.table,
          conditions: [RowCondition("s.Z_ENT = \(table.entityID)", entity: table.entityID)],
          partner: other)
      }
    }
  }
}
