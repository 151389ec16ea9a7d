import ManagedModel
import ManagedStore
import SQLite

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
