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
  ///
  /// Those of all objects in a range leave out what is told otherwise; those of some do not.
  func defaultLinks(
    of entityMapping: EntityMapping, _ objects: CarriedObjects
  ) throws -> [CarriedLinks] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let writer = LinkWriter(schema: mapped.schema, connection: connection)
    var carried: [CarriedLinks] = []
    var set: Set<String> = []
    if objects == .between,
      let plain = try plainLinks(of: entityMapping, from: from, to: to)
    {
      carried.append(CarriedLinks(statements: [try connection.prepare(plain.sql)]))
      set = plain.names
    }
    for relationshipMapping in entityMapping.relationships
    where !set.contains(relationshipMapping.name) {
      guard let relationship = mapped.model.relationship(named: relationshipMapping.name, of: to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        let select = try mapped.carriedLinks(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to, objects)
      else { continue }
      let statements = try writer.statements(select, relationship: relationship.name, of: to)
      carried.append(
        CarriedLinks(
          statements: try statements.map { try connection.prepare($0) },
          side: mirrors.side(of: relationship.name, in: entityMapping.name)))
    }
    return carried
  }

  /// Writes links that turned out not to be told by the other side.
  func write(_ owed: [MirroredLinks.Owed]) throws {
    for owed in owed {
      for statement in owed.links.statements { try statement.run(first: owed.range) }
    }
  }

  /// Notes that a mapping is associated with more than what it makes by itself: what follows from
  /// that it was not holds up to here.
  func noteOthers(of name: String) throws {
    guard madeObjects[name]?.hasOthers != true else { return }
    madeObjects[name, default: MadeObjects()].hasOthers = true
    try write(mirrors.settleAll())
    guard !carryingAll.isEmpty, let current = manager.currentEntityMapping else { return }
    carryingAll = try defaultLinks(of: current, .between)
  }
}
