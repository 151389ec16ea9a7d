import ManagedModel
import ManagedStore
import SQLite

extension MappingLayout {
  /// Source objects that a relationship mapping speaks of.
  struct Origin {
    enum Value {
      /// At most one: its key.
      case one(ColumnValue)
      /// SELECT of owner (a source row's key), destination, position and inverse position.
      case many(String)
    }

    var value: Value
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
      guard let own = store.table(of: from) else { return nil }
      let numbers = table.numbers.list
      return Origin(
        value: .many(
          """
          SELECT s.Z_PK AS owner, f.Z_PK AS destination, NULL AS position, NULL AS inverse
          FROM src.\(quoted(own.table)) s, src.\(quoted(table.table)) f
          WHERE f.Z_ENT IN (\(numbers)) AND (\(condition ?? "1"))
          """), entity: fetched, property: "")
    }
    guard let source = relationshipMapping.source else { return nil }
    if source == RelationshipMapping.ofSourceObject {
      return Origin(value: .one(.column("Z_PK")), entity: from, property: "")
    }
    let path = source.split(separator: ".").map(String.init)
    let scope = ExpressionScope(store: store, entity: from)
    var holder = from
    var isThroughMany = false
    for name in path.dropLast() {
      guard let step = store.model.relationship(named: name, of: holder) else {
        throw scope.unknown(name, in: holder)
      }
      isThroughMany = isThroughMany || step.isToMany
      holder = step.destination
    }
    guard let last = path.last, let relationship = store.model.relationship(named: last, of: holder)
    else { throw scope.unknown(path.last ?? source, in: holder) }
    if isThroughMany {
      guard let links = store.links(along: path, from: from) else { return nil }
      return Origin(value: .many(links), entity: relationship.destination, property: path[0])
    }
    if !relationship.isToMany {
      return Origin(
        value: .one(try scope.value(of: path).asValue), entity: relationship.destination,
        property: path[0])
    }
    // Pairs that count both ways come once where both ends take them.
    let isOnce =
      entityMapping.destination.map { to in
        schema.storage(of: relationshipMapping.name, in: to)?.kind == .reflexive
          && isCarriedByAll(relationshipMapping.name, of: to, from: source)
      } ?? false
    guard
      let links = store.table(of: holder)?.storage(of: last)?.allLinks(
        in: "src.", bothWays: !isOnce)
    else {
      return nil
    }
    guard path.count > 1, let own = store.table(of: from) else {
      return Origin(value: .many(links), entity: relationship.destination, property: path[0])
    }
    let middle = try scope.value(of: Array(path.dropLast())).sql
    return Origin(
      value: .many(
        """
        SELECT s.Z_PK AS owner, e.destination, e.position, NULL AS inverse
        FROM src.\(quoted(own.table)) s JOIN (\(links)) e ON e.owner = \(middle)
        """), entity: relationship.destination, property: path[0])
  }

  /// Links of a mapping's relationships that its rows cannot tell.
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
      if let select = try linkSelect(
        relationshipMapping, relationship, origin, of: entityMapping, from: from)
      {
        append(
          LinkSource(
            entity: model.declaringEntity(of: relationship.name, in: to) ?? to,
            relationship: relationship.name, mapping: entityMapping.name, select: select))
      }
    }
  }

  /// Whether all objects that a relationship leads to take its inverse from a relationship of the source.
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
        "“\(relationship.name)” and its inverse “\(inverse.name)” are taken from two relationships that are no inverses of each other: “\(former)” and “\(other)”",
        entity: entityMapping.destination, property: relationship.name,
        hint: "Leave one of the two empty: \"\(relationship.name)\": null in a recipe.")
    }
  }

  /// SELECT of a relationship's links in keys of the new store.
  func linkSelect(
    _ relationshipMapping: RelationshipMapping, _ relationship: Relationship, _ origin: Origin,
    of entityMapping: EntityMapping, from: String
  ) throws -> String? {
    guard let own = store.table(of: from), let assignment = keys[entityMapping.name] else {
      return nil
    }
    let conditions = try conditions(of: entityMapping, from: from, row: "s")
    let links: String
    switch origin.value {
    case .one(let key):
      links = """
        SELECT s.Z_PK AS owner, \(key.sql ?? "NULL") AS destination, NULL AS position, NULL AS inverse
        FROM src.\(quoted(own.table)) s
        """
    case .many(let select): links = select
    }
    guard
      let object = try reference(
        to: origin.entity, through: relationshipMapping.through, in: relationship,
        of: entityMapping)
    else { return nil }
    let many = relationship.isToMany ? object.pairs : nil
    let found = object.key(of: .lookup("e.destination", reading: [])).sql ?? "NULL"
    // What claims an object that is not there claims nothing.
    var there = ""
    if case .one = origin.value, let to = entityMapping.destination,
      isLoose(relationship.name, of: to), let other = store.table(of: origin.entity)
    {
      there = " JOIN src.\(quoted(other.table)) d ON d.Z_PK = e.destination"
    }
    return """
      SELECT owner, destination, position, inverse FROM (
      SELECT \(assignment.destination(of: "e.owner")) AS owner,
      \(many == nil ? found : "m.destination") AS destination, e.position, e.inverse
      FROM (\(links)) e JOIN src.\(quoted(own.table)) s ON s.Z_PK = e.owner\(there)
      \(many.map { "JOIN (\($0)) m ON m.source = e.destination" } ?? "")\(conditions.filter))
      WHERE owner IS NOT NULL AND destination IS NOT NULL
      """
  }

  /// SELECT of a relationship's links for objects that a policy's mapping made.
  func carriedLinks(
    _ relationshipMapping: RelationshipMapping, _ relationship: Relationship, _ origin: Origin,
    of entityMapping: EntityMapping, from: String, to: String, _ objects: CarriedObjects
  ) throws -> String? {
    guard let own = store.table(of: from) else { return nil }
    let made = associations(of: entityMapping.name)
    let (key, position, inverse, links): (ColumnValue, String, String, String)
    switch origin.value {
    case .one(let value):
      let order = order(of: relationship.name, in: entityMapping, from: from)
      (key, position, inverse, links) = (value, "NULL", order.sql ?? "NULL", "")
    case .many(let select):
      (key, position, inverse) = (
        .lookup("e.destination", reading: []), "e.position", "e.inverse"
      )
      links = " CROSS JOIN (\(select)) e ON e.owner = s.Z_PK"
    }
    guard
      let object = try reference(
        to: origin.entity, through: relationshipMapping.through, in: relationship,
        of: entityMapping)
    else { return nil }
    // In this order: SQLite knows nothing of how few rows the temporary table has.
    let many = relationship.isToMany ? object.pairs : nil
    // A policy may have associated objects of other entities as well.
    let numbers = model.subtree(of: to).compactMap { schema.numbers[$0] }.list
    let carried =
      switch objects {
      case .listed:
        """
        temp.carried b CROSS JOIN temp.\(made) a ON a.destination = b.key AND a.entity = b.entity
        AND a.entity IN (\(numbers))
        """
      case .between:
        """
        (SELECT source, destination, entity FROM temp.\(made)
        WHERE (destination, entity) > (?1, ?2) AND (destination, entity) <= (?3, ?4)
        AND +entity IN (\(numbers))) a
        """
      }
    return """
      SELECT owner, destination, position, inverse FROM (
      SELECT a.destination AS owner, \(many == nil ? object.key(of: key).sql ?? "NULL" : "m.destination") AS destination,
      \(position) AS position, \(inverse) AS inverse
      FROM \(carried) CROSS JOIN src.\(quoted(own.table)) s ON s.Z_PK = a.source\(links)
      \(many.map { "CROSS JOIN (\($0)) m ON m.source = \(key.sql ?? "NULL")" } ?? ""))
      WHERE destination IS NOT NULL
      """
  }

  /// Whether the rows tell these links already, or those of the inverse.
  private func isToldOtherwise(
    _ relationship: Relationship, _ relationshipMapping: RelationshipMapping, _ origin: Origin,
    _ entityMapping: EntityMapping, _ to: String
  ) -> Bool {
    if !relationship.isToMany {
      guard case .one = origin.value, !isPolicy(entityMapping) else { return false }
      let row = rows.first { $0.mapping == entityMapping.name }
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
    // What only some of the other objects carry is left to be told from here.
    let carriers = makers(of: relationship.destination)
    guard !carriers.isEmpty,
      carriers.allSatisfy({ $0.relationship(named: inverse.name)?.source == formerInverse })
    else { return false }
    // A to-one tells; of two to-many sides the one that names the table does.
    if !inverse.isToMany { return !carriers.contains(where: isPolicy) }
    let isFirst = schema.joins.contains {
      $0.relationship == relationship.name && model.isKind(to, of: $0.entity)
    }
    return !isFirst && !carriers.contains(where: isPolicy)
  }
}
