import ManagedModel
import ManagedStore
import SQLite

extension StepSchemas {
  /// Whether a to-one's columns are filled when all objects are there.
  func isLoose(_ relationship: String, of declarer: String) -> Bool {
    loose.contains { $0.contains(relationship, of: declarer) }
  }

  /// Links of an inferred step's loose one-to-ones, in the order in which they are set.
  var looseLinks: [LinkSource] {
    guard !loose.isEmpty else { return [] }
    return mapping.entityMappings.flatMap { entityMapping -> [LinkSource] in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let table = store.table(of: from), store.database.contains(table.table)
      else { return [] }
      return loose.flatMap(\.sides).compactMap { side -> LinkSource? in
        guard destinationModel.isKind(to, of: side.entity),
          let former = entityMapping.relationship(named: side.name)?.source,
          table.toOneColumn(of: former) != nil,
          let key = key(of: side.name, entityMapping, table)?.sql,
          let kind = sourceModel.relationship(named: former, of: from)?.destination,
          let other = store.table(of: kind)?.table
        else { return nil }
        return LinkSource(
          entity: side.entity, relationship: side.name, mapping: entityMapping.name,
          select: """
            SELECT * FROM (SELECT s.Z_PK AS owner, \(key) AS destination, NULL AS position,
            NULL AS inverse FROM src.\(quoted(table.table)) s WHERE s.Z_ENT = \(table.entityID))
            WHERE destination IN (SELECT d.Z_PK FROM src.\(quoted(other)) d)
            """)
      }
    }
  }
}
