import ManagedModel
import ManagedStore
import SQLite

extension PolicyRun {
  /// Compiled statements that set what the mapping says of relationships.
  ///
  /// Those of all objects in a range leave out what is given otherwise; those of some do not.
  func defaultLinks(
    of entityMapping: EntityMapping, _ objects: CarriedObjects
  ) throws -> [CarriedLinks] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let writer = LinkWriter(schema: mapped.schema, connection: connection)
    // A policy may have associated objects of other entities as well.
    let entities = mapped.model.subtree(of: to).compactMap { mapped.schema.numbers[$0] }
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
        let select = try mapped.link(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to
        )?.carried(objects, entities: entities)
      else { continue }
      let statements = try writer.statements(select, relationship: relationship.name, of: to)
      carried.append(
        CarriedLinks(
          statements: try statements.map { try connection.prepare($0) },
          side: mirrors.side(of: relationship.name, in: entityMapping.name)))
    }
    return carried
  }

  /// Writes links that turned out not to be given by the other side.
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

  /// UPDATE of the to-ones of all that a mapping made by itself, for keys behind ?1 up to ?3, each
  /// row once.
  ///
  /// - Returns: the statement and the relationships that it sets; `nil` where the keys do not say
  ///   of which source object an object was made.
  private func plainLinks(
    of entityMapping: EntityMapping, from: String, to: String
  ) throws -> (names: Set<String>, sql: String)? {
    let others = mapped.mapping.entityMappings
    guard madeObjects[entityMapping.name]?.isPlain == true,
      let distance = mapped.keys[entityMapping.name]?.distance,
      // Whatever else is of that entity has been made by hand, and has a key beyond all of these.
      others.filter({ $0.destination == to }).count == 1, others.allSatisfy(\.children.isEmpty),
      let table = mapped.schema.table(of: to), let number = mapped.schema.numbers[to]
    else { return nil }
    let known = mapped.knowingKeys(of: Set(madeObjects.filter(\.value.isComplete).keys))
    var links: [(program: LinkProgram, storage: RelationshipStorage, other: String)] = []
    for relationshipMapping in entityMapping.relationships {
      guard
        let (relationship, storage) = plainToOne(relationshipMapping.name, of: entityMapping, to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        case .row = origin.value,
        let link = try known.link(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to,
          mayDangle: true),
        let other = mapped.schema.table(of: relationship.destination)
      else { continue }
      links.append((link, storage, other.name))
    }
    return LinkProgram.update(links, of: number, in: table.name, moved: distance).map {
      (Set(links.map(\.program.relationship)), $0)
    }
  }

  /// A to-one that is set by its own side alone, so that it does not matter when.
  private func plainToOne(
    _ name: String, of entityMapping: EntityMapping, _ to: String
  ) -> (Relationship, RelationshipStorage)? {
    let schema = mapped.schema
    guard let relationship = mapped.model.relationship(named: name, of: to),
      let storage = schema.storage(of: name, in: to), storage.kind == .toOne,
      schema.inverse(of: relationship)?.1.isToMany != false,
      let column = schema.linkColumn(of: name, in: to)
    else { return nil }
    // To the same object at both sides: `boss` and `staff`.
    let sides = entityMapping.relationships.filter {
      schema.linkColumn(of: $0.name, in: to) == column
    }
    return sides.count == 1 || mirrors.isMirrored(column) ? (relationship, storage) : nil
  }
}
