import ManagedModel
import ManagedStore

/// What becomes of the names of join tables in a migration.
extension StoreSchema {
  /// The tables that a mapping leads to: named as the model asks, and where it leaves open which side
  /// names a join table, from the side that does now.
  ///
  /// - Parameter naming: relationships chosen to name their table.
  func followed(
    by model: Model, mapping: MappingModel, naming chosen: Set<JoinTable.Side> = []
  ) -> StoreSchema {
    let fresh = StoreSchema(model: model)
    let kept = fresh.joins.compactMap { join -> JoinTable.Side? in
      guard !join.isNamedByModel, !chosen.contains(where: join.isOf),
        let former = self.join(before: join, of: model, mapping: mapping)
      else { return nil }
      return isStraight(join, after: former, of: model, mapping: mapping)
        ? join.side : join.otherSide
    }
    let naming = chosen.union(kept)
    return naming.isEmpty ? fresh : StoreSchema(model: model, naming: naming)
  }

  /// The join table that holds the links of one of the destination's.
  func join(before join: JoinTable, of destination: Model, mapping: MappingModel) -> JoinTable? {
    func find(_ side: JoinTable.Side) -> JoinTable? {
      mapping.origins(of: side.relationship, in: side.entity, destination).lazy
        .compactMap { self.join(of: $0.name, in: $0.entity) }.first
    }
    return find(join.side) ?? find(join.otherSide)
  }

  /// Whether the first column of a destination's join table holds keys of the side whose keys the
  /// former's first column holds.
  func isStraight(
    _ join: JoinTable, after former: JoinTable, of destination: Model, mapping: MappingModel
  ) -> Bool {
    if join.isReflexive { return true }
    let forward = mapping.origins(of: join.relationship, in: join.entity, destination)
    if let origin = forward.first {
      return former.relationship == origin.name && model.isKind(origin.entity, of: former.entity)
    }
    guard let origin = mapping.origins(of: join.inverse, in: join.inverseEntity, destination).first
    else { return true }
    return former.inverse == origin.name && model.isKind(origin.entity, of: former.inverseEntity)
  }
}
