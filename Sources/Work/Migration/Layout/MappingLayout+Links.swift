import ManagedModel
import ManagedStore
import Mapping

extension MappingLayout {
  /// Source objects that a relationship mapping speaks of.
  struct Origin {
    var value: LinkOrigin
    var entity: String
    /// The source entity's property that is read.
    var property: String
  }

  /// - Returns: `nil` for a mapping without a source.
  func origin(
    of relationshipMapping: RelationshipMapping, in entityMapping: EntityMapping, from: String
  ) throws -> Origin? {
    if let fetched = relationshipMapping.fetched, let table = store.table(of: fetched) {
      let condition = try relationshipMapping.condition.map {
        try $0.compiled(
          in: ExpressionScope(store: store, entity: fetched, row: "f"),
          mapping: entityMapping.name, property: relationshipMapping.name
        ).sql
      }
      return Origin(
        value: .fetched(in: table.table, entities: table.numbers, where: condition ?? "1"),
        entity: fetched, property: "")
    }
    guard let source = relationshipMapping.source else { return nil }
    if source == RelationshipMapping.ofSourceObject {
      return Origin(value: .row(.column("Z_PK")), entity: from, property: "")
    }
    let path = source.split(separator: ".").map(String.init)
    let scope = ExpressionScope(store: store, entity: from)
    var holder = from
    var isThroughMany = false
    var storages: [RelationshipStorage?] = []
    for name in path.dropLast() {
      guard let step = store.model.relationship(named: name, of: holder) else {
        throw scope.unknown(name, in: holder)
      }
      storages.append(store.table(of: holder)?.storage(of: name))
      isThroughMany = isThroughMany || step.isToMany
      holder = step.destination
    }
    guard let last = path.last, let relationship = store.model.relationship(named: last, of: holder)
    else { throw scope.unknown(path.last ?? source, in: holder) }
    let storage = store.table(of: holder)?.storage(of: last)
    func origin(_ value: LinkOrigin) -> Origin {
      Origin(value: value, entity: relationship.destination, property: path[0])
    }
    if isThroughMany {
      let walked = (storages + [storage]).compactMap { $0 }
      return walked.count == path.count ? origin(.walk(walked)) : nil
    }
    guard relationship.isToMany else { return origin(.row(try scope.value(of: path).asValue)) }
    // Pairs that count both ways come once where both ends take them.
    let isOnce =
      entityMapping.destination.map { to in
        schema.storage(of: relationshipMapping.name, in: to)?.kind == .reflexive
          && isCarriedByAll(relationshipMapping.name, of: to, from: source)
      } ?? false
    guard let storage else { return nil }
    guard path.count > 1 else { return origin(.storage(storage, bothWays: !isOnce)) }
    return origin(
      .behind(
        try scope.value(of: Array(path.dropLast())).asValue, storage, bothWays: !isOnce))
  }

  /// Links of a mapping's relationships that its rows cannot give.
  mutating func addLinks(of entityMapping: EntityMapping) throws {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      model.entity(named: to)?.isAbstract == false
    else { return }
    for relationshipMapping in entityMapping.relationships {
      guard let relationship = model.relationship(named: relationshipMapping.name, of: to),
        let origin = try origin(of: relationshipMapping, in: entityMapping, from: from)
      else { continue }
      use([origin.property], of: from)
      try refuseContradiction(relationship, relationshipMapping, entityMapping, from: from)
      guard !isToldOtherwise(relationship, relationshipMapping, origin, entityMapping, to) else {
        if relationship.isToMany {
          toldByInverse.insert("\(entityMapping.name).\(relationship.name)")
        }
        continue
      }
      // Policies carry the relationships of what they made.
      guard !isPolicy(entityMapping) else { continue }
      if let link = try link(
        relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to)
      {
        append(link)
      }
    }
  }

  /// Whether all objects that a relationship references take its inverse from a relationship of the source.
  private func isCarriedByAll(_ name: String, of entity: String, from former: String) -> Bool {
    guard let relationship = model.relationship(named: name, of: entity),
      let inverse = relationship.inverse
    else { return false }
    return makers(of: relationship.destination).allSatisfy {
      $0.relationship(named: inverse)?.source == former
    }
  }

  /// The mappings that make objects of an entity, or of one below it, of source objects.
  private func makers(of entity: String) -> [EntityMapping] {
    mapping.mappings(toDestinations: model.subtree(of: entity)).filter { $0.source != nil }
  }

  /// Where a to-many and its to-one inverse are taken from two relationships that are no inverses, each
  /// would say of the same columns what they hold.
  private func refuseContradiction(
    _ relationship: Relationship, _ relationshipMapping: RelationshipMapping,
    _ entityMapping: EntityMapping, from: String
  ) throws {
    guard relationship.isToMany, let (_, inverse) = schema.inverse(of: relationship),
      !inverse.isToMany, let former = relationshipMapping.source,
      let before = store.model.relationship(named: former, of: from)
    else { return }
    for teller in mapping.mappings(toDestinations: model.subtree(of: relationship.destination)) {
      guard let other = teller.relationship(named: inverse.name)?.source, other != before.inverse,
        store.model.relationship(named: other, of: teller.source ?? "") != nil
      else { continue }
      throw CoreDataError(
        .usage,
        "“\(relationship.name)” and its inverse “\(inverse.name)” are taken from two relationships that are not inverses of each other: “\(former)” and “\(other)”",
        entity: entityMapping.destination, property: relationship.name,
        hint: "Leave one of the two empty: \"\(relationship.name)\": null in a recipe.")
    }
  }

  /// The links of a relationship of a mapping's objects; `nil` where nothing was made of what they reference.
  ///
  /// - Parameter mayDangle: whether what they reference is looked for, though its key says all.
  func link(
    _ relationshipMapping: RelationshipMapping, _ relationship: Relationship, _ origin: Origin,
    of entityMapping: EntityMapping, from: String, to: String, mayDangle: Bool = false
  ) throws -> LinkProgram? {
    guard let own = store.table(of: from), let key = keys[entityMapping.name],
      let object = try reference(
        to: origin.entity, through: relationshipMapping.through, in: relationship,
        of: entityMapping, mayDangle: mayDangle)
    else { return nil }
    var link = LinkProgram(
      mapping: entityMapping.name,
      entity: model.declaringEntity(of: relationship.name, in: to) ?? to,
      relationship: relationship.name, origin: origin.value, table: own.table, key: key,
      conditions: try conditions(of: entityMapping, from: from, row: "s"), object: object)
    if case .row = origin.value {
      link.order = order(of: relationship.name, in: entityMapping, from: from)
      if isLoose(relationship.name, of: to) {
        link.partner = store.table(of: origin.entity).map {
          .init(table: $0.table, entities: $0.numbers)
        }
      }
    }
    return link
  }

  /// Whether the rows give these links already, or those of the inverse.
  private func isToldOtherwise(
    _ relationship: Relationship, _ relationshipMapping: RelationshipMapping, _ origin: Origin,
    _ entityMapping: EntityMapping, _ to: String
  ) -> Bool {
    if !relationship.isToMany {
      guard case .row = origin.value, !isPolicy(entityMapping) else { return false }
      let row = row(of: entityMapping)
      let declarer = model.declaringEntity(of: relationship.name, in: to) ?? to
      let column = schema.table(of: to)?.column(.toOne(entity: declarer, name: relationship.name))
      return row != nil
        && column.map { column in
          row?.isLater(column.name) == false || row?.writes(column.name) == true
        } ?? false
    }
    guard let (_, inverse) = schema.inverse(of: relationship) else { return false }
    // The inverse of what this comes from: where that is carried, so is this.
    guard let former = relationshipMapping.source, relationshipMapping.fetched == nil,
      let from = entityMapping.source,
      let formerInverse = store.model.relationship(named: former, of: from)?.inverse
    else { return false }
    // What only some of the other objects carry is left to be determined from here.
    let carriers = makers(of: relationship.destination)
    guard !carriers.isEmpty,
      carriers.allSatisfy({ $0.relationship(named: inverse.name)?.source == formerInverse })
    else { return false }
    // A to-one does; of two to-many sides the one that names the table does.
    if !inverse.isToMany { return !carriers.contains(where: isPolicy) }
    let isFirst = schema.joins.contains {
      $0.relationship == relationship.name && model.isKind(to, of: $0.entity)
    }
    return !isFirst && !carriers.contains(where: isPolicy)
  }
}

/// A to-many of a mapping whose links the to-ones at its other side give as well.
///
/// Where no policy does anything by itself, setting the to-ones comes to the same as setting both
/// sides, as each object of the source is one of the destination, by one mapping.
struct MirroredSide: Equatable {
  var mapping: String
  var relationship: String
  /// Where the to-ones are kept, as ``StoreSchema/linkColumn(of:in:)`` calls it.
  var column: String
  /// The mappings whose objects have the to-one.
  var tellers: [String]
}

extension MappingLayout {
  /// The to-manys of mappings with policies that to-ones give as well, where nothing but these two
  /// sides is written into the to-ones.
  func mirroredSides() throws -> [MirroredSide] {
    var sides: [MirroredSide] = []
    var others = Set(links.compactMap { schema.linkColumn(of: $0.relationship, in: $0.entity) })
    for entityMapping in mapping.entityMappings {
      guard let to = entityMapping.destination else { continue }
      for relationshipMapping in entityMapping.relationships
      where relationshipMapping.source != nil || relationshipMapping.fetched != nil {
        guard let relationship = model.relationship(named: relationshipMapping.name, of: to),
          let column = schema.linkColumn(of: relationship.name, in: to)
        else { continue }
        if relationship.isToMany {
          let tellers = try tellers(of: relationship, relationshipMapping, entityMapping)
          sides.append(
            MirroredSide(
              mapping: entityMapping.name, relationship: relationship.name, column: column,
              tellers: tellers))
          if tellers.isEmpty { others.insert(column) }
        } else if !isPolicy(entityMapping) {
          others.insert(column)
        }
      }
    }
    return sides.filter { !others.contains($0.column) }
  }

  /// The mappings whose to-ones come from the very column that a to-many comes from; none where
  /// some do not.
  private func tellers(
    of relationship: Relationship, _ relationshipMapping: RelationshipMapping,
    _ entityMapping: EntityMapping
  ) throws -> [String] {
    guard isPolicy(entityMapping), relationshipMapping.fetched == nil,
      let from = entityMapping.source, let name = relationshipMapping.source,
      let former = store.model.relationship(named: name, of: from), former.isToMany,
      let formerBack = former.inverse.flatMap({
        store.model.relationship(named: $0, of: former.destination)
      }),
      let kept = store.table(of: from)?.storage(of: name), kept.kind == .inverseOfToOne,
      let (_, inverse) = schema.inverse(of: relationship)
    else { return [] }
    let tellers = try takers(
      of: former.destination, through: relationshipMapping.through, in: relationship,
      of: entityMapping)
    let areMirrors = try tellers.allSatisfy { teller in
      guard isPolicy(teller), let own = teller.source,
        let back = teller.relationship(named: inverse.name), back.fetched == nil,
        back.source == formerBack.name,
        let key = store.table(of: own)?.storage(of: formerBack.name), key.kind == .toOne,
        key.table == kept.table, key.destination == kept.owner,
        key.inversePosition == kept.position
      else { return false }
      return try takers(
        of: formerBack.destination, through: back.through, in: inverse, of: teller
      ).contains { $0.name == entityMapping.name }
    }
    return areMirrors ? tellers.map(\.name) : []
  }
}

extension StoreSchema {
  /// The column, with its table, of a to-one or of the to-one that a to-many is the inverse of;
  /// `nil` for what is kept in other ways.
  func linkColumn(of relationship: String, in entity: String) -> String? {
    guard let storage = storage(of: relationship, in: entity) else { return nil }
    switch storage.kind {
    case .toOne: return "\(storage.table).\(storage.destination)"
    case .inverseOfToOne: return "\(storage.table).\(storage.owner)"
    case .withoutInverse, .join, .reflexive: return nil
    }
  }
}
