import ManagedModel
import ManagedStore

extension MappingLayout {
  /// The mappings that may have made an object that a relationship can lead to of a source object.
  func takers(
    of sourceEntity: String, through: String?, to destination: String,
    in entityMapping: EntityMapping, _ property: String
  ) throws -> [EntityMapping] {
    // Inferred mappings are one an entity: the others of the hierarchy come along.
    if let through, !through.hasPrefix("IEM_") {
      guard let named = mapping.mapping(named: through), let made = named.destination,
        named.source != nil
      else {
        throw CoreDataError(
          .usage, "there is no mapping “\(through)” that makes objects",
          entity: entityMapping.destination, property: property,
          hint: "The mappings: " + mapping.entityMappings.map(\.name).joined(separator: ", "))
      }
      guard model.isKind(made, of: destination) else {
        throw CoreDataError(
          .usage,
          "the mapping “\(through)” makes \(made), and the relationship leads to \(destination)",
          entity: entityMapping.destination, property: property)
      }
      return [named]
    }
    return store.model.subtree(of: sourceEntity).compactMap { entity in
      mapping.entityMappings.first { $0.source == entity && $0.makes(destination, in: model) }
    }
  }

  /// Of a to-many that policies' objects are in: SELECT of source and destination keys, since a
  /// policy may make several objects of one; `nil` where there is one at most.
  func destinations(
    of sourceEntity: String, through: String?, to relationship: Relationship,
    in entityMapping: EntityMapping
  ) throws -> String? {
    guard relationship.isToMany else { return nil }
    let candidates = try takers(
      of: sourceEntity, through: through, to: relationship.destination, in: entityMapping,
      relationship.name)
    guard candidates.contains(where: isPolicy) else { return nil }
    let numbers = model.subtree(of: relationship.destination).compactMap { schema.numbers[$0] }.list
    return try candidates.compactMap { candidate -> String? in
      guard let from = candidate.source, let assignment = keys[candidate.name] else { return nil }
      if isPolicy(candidate) {
        return """
          SELECT source, destination FROM temp.\(associations(of: candidate.name))
          WHERE entity IN (\(numbers))
          """
      }
      let rows = try sourceRows(of: candidate, from: from)
      return """
        SELECT s.Z_PK AS source, \(assignment.destination(of: "s.Z_PK")) AS destination
        FROM \(rows.from)\(rows.conditions.filter)
        """
    }.joined(separator: " UNION ALL ")
  }
}
