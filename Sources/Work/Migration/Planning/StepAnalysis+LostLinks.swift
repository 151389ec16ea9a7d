import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Links between objects that both go on, and what carries them.
extension StepAnalysis {
  /// Links between objects that both go on, which neither the relationship nor its inverse carries.
  func linkLosses(_ entity: String, _ guess: RenameGuess?) throws -> [Loss] {
    try source.relationships(of: entity).compactMap { relationship in
      guard !relationship.isTransient else { return nil }
      if isReplaced(relationship, of: entity) {
        let count = try data.links(relationship.name, of: entity)
        return count > 0
          ? Loss(entity: entity, property: relationship.name, values: count) : nil
      }
      guard let lost = try lostLinks(relationship, of: entity) else { return nil }
      let count = try connection.number("SELECT count(*) \(lost)")
      guard count > 0 else { return nil }
      let samples = try connection.rows(
        "SELECT e.owner, e.destination, d.Z_ENT \(lost) ORDER BY 1, 2 LIMIT 5")
      return Loss(
        entity: entity, property: relationship.name, values: count,
        samples: samples.compactMap { row in
          guard row.count == 3, let owner = row[0].integer, let key = row[1].integer else {
            return nil
          }
          let other =
            row[2].integer.flatMap { store.entityNames[$0] } ?? relationship.destination
          return "\(ObjectID(entity: entity, key: owner)) → \(ObjectID(entity: other, key: key))"
        }, suggestion: guess.flatMap { suggestion(for: relationship, of: entity, $0) })
    }
  }

  /// `FROM … WHERE …` of the links `e` that are lost, counted where the plan counts them; `nil` where none
  /// can be.
  private func lostLinks(_ relationship: Relationship, of entity: String) throws -> String? {
    let inverse = relationship.inverse.flatMap {
      source.relationship(named: $0, of: relationship.destination)
    }
    let isCounted = isCounted(relationship, of: entity, inverse)
    guard isCounted || layout?.mapped.policyMappings.isEmpty == false else { return nil }
    let others = source.subtree(of: relationship.destination).filter {
      let takers = takers(of: $0)
      // Of what a policy takes nothing is counted: these links are counted from here.
      return !takers.isEmpty && (isCounted || takers.contains(where: isPolicy))
    }
    let places = data.sides(of: relationship, of: entity, inverse)
    let taken = try takers(of: entity).map { try self.taken(by: $0, of: entity, row: "o") }
    var lost: [String] = []
    var carried: [String: [String]] = [:]
    for other in others {
      guard let number = store.table(of: other)?.entityID else { continue }
      let isOther = "d.Z_ENT = \(number)"
      let here = try ways(relationship, inverse, of: entity, "o", to: other, "d")
      let there =
        try inverse.map { try ways($0, relationship, of: other, "d", to: entity, "o") } ?? []
      // What one side takes whole, of links that all count as its own, is not asked for.
      let otherTaken = try takers(of: other).map { try self.taken(by: $0, of: other, row: "d") }
      let isHereWhole = isWhole(here, from: taken, to: otherTaken)
      let isThereWhole = isWhole(there, from: otherTaken, to: taken)
      if isHereWhole && (places.isAlwaysHere || isThereWhole)
        || isThereWhole && places.isAlwaysThere
      {
        continue
      }
      lost.append([isOther, try kept(other, row: "d")].compactMap { $0 }.allTrue)
      for (side, ways) in [("here", here.map(\.sql)), ("there", there.map(\.sql))]
      where !ways.isEmpty {
        carried[side, default: []].append([isOther, ways.anyTrue].compactMap { $0 }.allTrue)
      }
    }
    guard !lost.isEmpty else { return nil }
    var conditions = [lost.map { "(\($0))" }.joined(separator: " OR ")]
    for (side, ways) in carried.sorted(by: { $0.key < $1.key }) {
      let any = ways.map { "(\($0))" }.joined(separator: " OR ")
      conditions.append("NOT (e.\(side) AND (\(any)))")
    }
    if let kept = try kept(entity, row: "o") { conditions.append(kept) }
    return data.links(
      relationship, of: entity, inverse, to: others, in: prefix, where: conditions)
  }

  /// Whether conditions hold wherever one of others does, as can be told from their text: each of these is
  /// among them. Then no row needs to be asked.
  func covers(_ conditions: [String?], _ others: [String?]) -> Bool {
    !others.isEmpty && Set(others).isSubset(of: conditions)
  }

  /// Whether ways carry each link between objects that both go on.
  private func isWhole(_ ways: [LinkWay], from taken: [String?], to other: [String?]) -> Bool {
    ways.contains { $0.sql == nil }
      || covers(ways.filter { $0.ends.map { covers($0, other) } ?? true }.map(\.own), taken)
  }

  /// How links of a relationship from an entity to another are carried.
  private func ways(
    _ relationship: Relationship, _ inverse: Relationship?, of entity: String, _ row: String,
    to other: String, _ otherRow: String
  ) throws -> [LinkWay] {
    var ways: [LinkWay] = []
    for taker in takers(of: entity) {
      guard let to = taker.destination else { continue }
      let taken = try taken(by: taker, of: entity, row: row)
      if let mapped = layout?.mapped {
        let uses = try expressionUses(of: taker, entity).union(mapped.treeUses[taker.name] ?? [])
        if uses.contains(relationship.name) { ways.append(LinkWay(own: taken)) }
      }
      for mapping in taker.relationships {
        // Only what a person wrote goes on from a relationship to another.
        guard let path = mapping.source,
          path == relationship.name
            || layout != nil && path.hasPrefix(relationship.name + "."),
          let now = destination.relationship(named: mapping.name, of: to)
        else { continue }
        let end = takers(of: other, through: mapping.through, in: now)
        guard !isToldByInverse(now, inverse, by: taker, to: end) else { continue }
        // What another relationship goes on from is not where the link leads.
        guard path == relationship.name else {
          ways.append(LinkWay(own: taken))
          continue
        }
        guard let end else { continue }
        ways.append(
          LinkWay(own: taken, ends: [try self.taken(by: end, of: other, row: otherRow)]))
      }
    }
    return ways
  }

  /// The mapping that takes objects of exactly an entity to where a relationship leads.
  private func takers(
    of entity: String, through: String?, in relationship: Relationship
  ) -> EntityMapping? {
    guard let through, !through.hasPrefix("IEM_") else {
      return mapping.mappings(fromSource: entity).first {
        $0.makes(relationship.destination, in: destination)
      }
    }
    return mapping.mapping(named: through).flatMap { $0.source == entity ? $0 : nil }
  }

  /// Whether a to-many adds nothing to the to-one at its other side, which is carried as well: that one's column
  /// holds the links.
  private func isToldByInverse(
    _ now: Relationship, _ inverse: Relationship?, by taker: EntityMapping, to other: EntityMapping?
  ) -> Bool {
    if let mapped = layout?.mapped {
      return mapped.toldByInverse.contains("\(taker.name).\(now.name)")
    }
    guard now.isToMany, let inverse, let back = now.inverse,
      destination.relationship(named: back, of: now.destination)?.isToMany == false
    else { return false }
    return other?.relationship(named: back)?.source == inverse.name
  }

  /// What expressions of a mapping read.
  private func expressionUses(of taker: EntityMapping, _ entity: String) throws -> Set<String> {
    let scope = ExpressionScope(store: store, entity: entity)
    return try taker.attributes.compactMap(\.expression).reduce(into: []) {
      $0.formUnion(
        try $1.compiled(in: scope, mapping: taker.name, property: nil).properties)
    }
  }

  /// Whether links are counted from this side: each pair once.
  private func isCounted(
    _ relationship: Relationship, of entity: String, _ inverse: Relationship?
  ) -> Bool {
    guard let inverse else { return true }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    guard relationship.name == inverse.name else { return relationship.name < inverse.name }
    let (own, other) = (
      source.declaringEntity(of: relationship.name, in: entity) ?? entity,
      source.declaringEntity(of: inverse.name, in: relationship.destination)
        ?? relationship.destination
    )
    return own <= other
  }

  /// Whether new objects take the place of those that a to-one references.
  private func isReplaced(_ relationship: Relationship, of entity: String) -> Bool {
    mapping.mappings(fromSource: entity).contains { entityMapping in
      guard let to = entityMapping.destination else { return false }
      return entityMapping.children.contains { child in
        destination.relationship(named: child.relationship, of: to)?.isToMany == false
          && entityMapping.relationships.contains {
            $0.name == child.relationship && $0.source == relationship.name
          }
      }
    }
  }

  /// Whether the lost links are of a to-one that new objects take the place of: those are reported.
  func isReplaced(_ loss: Loss) -> Bool {
    guard let property = loss.property else { return false }
    return source.subtree(of: loss.entity).contains { entity in
      source.relationship(named: property, of: entity).map { isReplaced($0, of: entity) }
        ?? false
    }
  }
}

/// One way in which links are carried: what is true of their owners, and of what they lead to.
private struct LinkWay {
  /// SQL of the owner's row; `nil`: of all.
  var own: String?
  /// SQL of the other end's row, one of which has to hold; `nil`: whatever it is.
  var ends: [String?]?

  /// SQL of both; `nil`: it carries all.
  var sql: String? {
    let both = [own, ends.flatMap(\.anyTrue)].compactMap { $0 }
    return both.isEmpty ? nil : both.allTrue
  }
}
