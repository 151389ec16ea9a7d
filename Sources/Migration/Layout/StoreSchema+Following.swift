import ManagedModel
import ManagedStore

/// Which join table of a source holds the links of one of the destination's.
extension StoreSchema {
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
