import ManagedModel
import ManagedStore
import SQLite

/// Which objects a statement carries the relationships of.
enum CarriedObjects {
  /// Those in `temp.carried`.
  case listed
  /// All that the mapping made behind the key and entity ?1 and ?2, up to ?3 and ?4.
  case between
}

extension PolicyRun {
  /// Compiled statements that set what the mapping says of relationships.
  func defaultLinks(
    of entityMapping: EntityMapping, _ objects: CarriedObjects
  ) throws -> [Statement] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let writer = LinkWriter(schema: mapped.schema, connection: connection)
    var statements: [Statement] = []
    for relationshipMapping in entityMapping.relationships {
      guard let relationship = mapped.model.relationship(named: relationshipMapping.name, of: to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        let select = try mapped.carriedLinks(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to, objects)
      else { continue }
      statements += try writer.statements(select, relationship: relationship.name, of: to).map {
        try connection.prepare($0)
      }
    }
    return statements
  }
}
