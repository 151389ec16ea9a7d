import ManagedModel
import ManagedStore

extension MigrationOracle {
  /// What the destination does not allow, by destination entity, property and number of objects.
  func checks(_ results: [Result]) -> Set<Check> {
    var counts: [Check: Int] = [:]
    func count(_ code: Int, _ entity: String, _ property: String?) {
      counts[Check(code: code, entity: entity, property: property, rows: 0), default: 0] += 1
    }
    for result in results {
      let after = result.after
      let entity = after.id.entity
      if destination.entity(named: entity)?.isAbstract == true, !isBroken(.abstractEntities) {
        count(134110, entity, nil)
      }
      for attribute in OracleElements.values(of: entity, in: destination) {
        if !attribute.isOptional, after.attributes[attribute.name] == nil, !isBroken(.missingValues)
        {
          count(134110, entity, attribute.name)
        }
      }
      for relationship in destination.relationships(of: entity) where !relationship.isOptional {
        guard after.links[relationship.name]?.isEmpty ?? true, !isBroken(.mandatoryLinks) else {
          continue
        }
        // Only a save looks for the objects of a to-many.
        let isOnlyTold = relationship.isToMany && relationship.minCount == 0
        count(isOnlyTold ? 1570 : 134110, entity, relationship.name)
      }
    }
    var checks = Set(
      counts.map { Check(code: $0.code, entity: $0.entity, property: $0.property, rows: $1) })
    if !isBroken(.constraints) { checks.formUnion(duplicates(results)) }
    return checks
  }

  /// Objects that agree in all values of a constraint; one without a value agrees with none.
  private func duplicates(_ results: [Result]) -> Set<Check> {
    var checks: Set<Check> = []
    for entity in destination.entities {
      let objects = results.map(\.after).filter {
        destination.isKind($0.id.entity, of: entity.name)
      }
      for constraint in entity.uniquenessConstraints {
        var groups: [[[UInt8]]: Int] = [:]
        for object in objects {
          // As bytes: two spellings of one letter are two values.
          let key = constraint.map { name in
            object.attributes[name].map { Array(OracleText.of($0).utf8) }
              ?? (isBroken(.nullsInConstraints) ? [] : nil)
          }
          let known = key.compactMap { $0 }
          if known.count == constraint.count { groups[known, default: 0] += 1 }
        }
        let rows = groups.values.filter { $0 > 1 }.reduce(0, +)
        guard rows > 0 else { continue }
        checks.insert(
          Check(
            code: 134111, entity: entity.name, property: constraint.joined(separator: ", "),
            rows: rows))
      }
    }
    return checks
  }
}
