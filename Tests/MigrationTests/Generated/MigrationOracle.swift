import ManagedModel
import ManagedStore

/// Says what an inferred migration must do, by the rules of the specification, in memory.
///
/// It knows nothing of tables, and nothing of the module that migrates.
struct MigrationOracle {
  enum Outcome {
    /// The version hashes are equal.
    case nothing
    case refused([OracleRefusal])
    case planned(checks: Set<Check>, losses: Losses, objects: [GeneratedObject])
  }

  /// A rule of the destination that data break: what a plan must say about it.
  struct Check: Hashable {
    var code: Int
    var entity: String
    var property: String?
    var rows: Int
  }

  /// What goes: exact counts of objects and values, and links under either of their two names.
  struct Losses: Equatable {
    struct Links: Equatable {
      var names: Set<String>
      /// Links between objects that both stay, and all those with at least one that does.
      var least: Int
      var most: Int
    }

    var exact: [String: Int] = [:]
    var links: [Links] = []
  }

  let matching: OracleMatching
  let objects: GeneratedObjects
  var source: Model { matching.source }
  var destination: Model { matching.destination }
  private let broken: OracleRule?

  init(
    from source: Model, to destination: Model, objects: GeneratedObjects,
    breaking broken: OracleRule? = nil
  ) {
    matching = OracleMatching(from: source, to: destination, breaking: broken)
    self.objects = objects
    self.broken = broken
  }

  func isBroken(_ rule: OracleRule) -> Bool { broken == rule }

  func outcome() -> Outcome {
    if source.versionHashes == destination.versionHashes { return .nothing }
    if !matching.refusals.isEmpty { return .refused(matching.refusals) }
    let results = migrated()
    return .planned(
      checks: checks(results), losses: losses(results), objects: results.map(\.after))
  }

  struct Result {
    var before: GeneratedObject
    var after: GeneratedObject
  }

  /// Every object that goes on, with what it becomes; keys stay.
  private func migrated() -> [Result] {
    var results: [Result] = []
    for before in objects.all {
      guard let id = follower(of: before.id) else { continue }
      results.append(
        Result(
          before: before,
          after: GeneratedObject(id: id, attributes: attributes(of: before, as: id.entity))))
    }
    link(&results)
    return results
  }

  func follower(of id: ObjectID) -> ObjectID? {
    let entity =
      matching.followers[id.entity]
      ?? (isBroken(.removedObjects) ? destination.entities.first?.name : nil)
    return entity.map { ObjectID(entity: $0, key: id.key) }
  }

  /// Source attribute of each stored destination attribute whose values go on.
  func carriedAttributes(of entity: String) -> [String: String] {
    guard let former = matching.formers[entity] else { return [:] }
    var carried: [String: String] = [:]
    for (name, claimants) in matching.attributes(of: entity) {
      guard let old = source.attribute(named: name, of: former), old.isStored else { continue }
      for claimant in claimants {
        guard let new = destination.attribute(named: claimant, of: entity), new.isStored,
          matching.isOfOneKind(old, new)
        else { continue }
        if old.type == .composite, new.type == .composite {
          for (element, makers) in matching.elements(of: new, in: entity, from: old) {
            guard !isBroken(.elements) else { continue }
            for maker in makers { carried["\(claimant).\(maker)"] = "\(name).\(element)" }
          }
        } else {
          carried[claimant] = name
        }
      }
    }
    return carried
  }

  /// Source relationship of each destination relationship whose links go on.
  func carriedRelationships(of entity: String) -> [String: String] {
    var carried: [String: String] = [:]
    for (name, claimants) in matching.relationships(of: entity) {
      for claimant in claimants { carried[claimant] = name }
    }
    return carried
  }

  private func attributes(
    of before: GeneratedObject, as entity: String
  ) -> [String: AttributeValue] {
    let carried = carriedAttributes(of: entity)
    var values: [String: AttributeValue] = [:]
    for attribute in OracleElements.values(of: entity, in: destination) {
      guard let former = carried[attribute.name] else {
        if isBroken(.defaultsOfAdded) { continue }
        if isBroken(.transientStarts),
          source.attribute(named: attribute.name, of: before.id.entity)?.isTransient == true
        {
          continue
        }
        values[attribute.name] = attribute.defaultValue
        continue
      }
      if isBroken(.keptValues) { continue }
      if let value = before.attributes[former] {
        values[attribute.name] = OracleNumber.converted(value, to: attribute.type)
      } else if !attribute.isOptional, !isBroken(.fillingNulls),
        OracleElements.value(former, of: before.id.entity, in: source)?.isOptional == true
      {
        values[attribute.name] = attribute.defaultValue
      }
    }
    return values
  }

  private func link(_ results: inout [Result]) {
    let carried = Dictionary(
      uniqueKeysWithValues: destination.entities.map {
        ($0.name, carriedRelationships(of: $0.name))
      })
    // First every relationship that goes on by itself, then those that only their inverse keeps.
    for index in results.indices {
      let (before, entity) = (results[index].before, results[index].after.id.entity)
      for relationship in destination.relationships(of: entity) {
        guard let former = carried[entity]?[relationship.name], !isBroken(.keptLinks),
          let old = source.relationship(named: former, of: before.id.entity)
        else { continue }
        let ids = (before.links[former] ?? []).compactMap(follower)
        let keepsOrder = relationship.isOrdered && old.isOrdered && !isBroken(.order)
        results[index].after.links[relationship.name] =
          keepsOrder ? ids : sorted(ids, isOrdered: relationship.isOrdered)
      }
    }
    if !isBroken(.roomForOneOwner) { leaveOneOwner(&results, carried) }
    guard !isBroken(.linksOfInverse) else { return }
    settleClaims(&results, carried)
    let places = Dictionary(results.indices.map { (results[$0].after.id, $0) }) { first, _ in first
    }
    for owner in results {
      let entity = owner.after.id.entity
      for relationship in destination.relationships(of: entity) {
        guard carried[entity]?[relationship.name] != nil, let inverse = relationship.inverse,
          !isOneSided(relationship, of: entity, carried)
        else { continue }
        for target in owner.after.links[relationship.name] ?? [] {
          guard let place = places[target], carried[target.entity]?[inverse] == nil,
            let back = destination.relationship(named: inverse, of: target.entity)
          else { continue }
          let ids = (results[place].after.links[inverse] ?? []) + [owner.after.id]
          results[place].after.links[inverse] = sorted(ids, isOrdered: back.isOrdered)
        }
      }
    }
  }

  /// A to-many without an inverse, or with a to-one, keeps its owner in the row of each object, which has
  /// room for one: the first one.
  private func leaveOneOwner(
    _ results: inout [Result], _ carried: [String: [String: String]]
  ) {
    for entity in destination.entities {
      for relationship in entity.relationships where relationship.isToMany {
        if let name = relationship.inverse {
          guard
            destination.relationship(named: name, of: relationship.destination)?.isToMany == false,
            !destination.entities.contains(where: {
              destination.isKind($0.name, of: relationship.destination)
                && carried[$0.name]?[name] != nil
            })
          else { continue }
        }
        var first: [ObjectID: Int64] = [:]
        let owners = results.indices.filter {
          destination.isKind(results[$0].after.id.entity, of: entity.name)
        }
        for index in owners {
          for target in results[index].after.links[relationship.name] ?? [] {
            first[target] = min(first[target] ?? .max, results[index].after.id.key)
          }
        }
        for index in owners {
          let key = results[index].after.id.key
          results[index].after.links[relationship.name]?.removeAll { first[$0] != key }
        }
      }
    }
  }

  /// Whether a relationship is the one side of a one-to-one that goes on.
  private func isOneSided(
    _ relationship: Relationship, of entity: String, _ carried: [String: [String: String]]
  ) -> Bool {
    guard !relationship.isToMany, let name = relationship.inverse,
      let inverse = destination.relationship(named: name, of: relationship.destination),
      !inverse.isToMany,
      // What is its own inverse goes on from both ends, or from none.
      name != relationship.name
        || destination.declaringEntity(of: name, in: entity)
          != destination.declaringEntity(of: name, in: relationship.destination)
    else { return false }
    return destination.entities.contains { other in
      destination.isKind(other.name, of: relationship.destination)
        && matching.formers[other.name] != nil && carried[other.name]?[name] == nil
    }
  }

  /// Of a one-to-one that one side carries, object by object: who takes an object takes it away from
  /// whoever had it.
  private func settleClaims(
    _ results: inout [Result], _ carried: [String: [String: String]]
  ) {
    let places = Dictionary(results.indices.map { (results[$0].after.id, $0) }) { first, _ in first
    }
    var order = Array(results.indices)
    order.sort {
      let (a, b) = (results[$0].after.id, results[$1].after.id)
      return a.entity == b.entity ? a.key < b.key : OracleText.precedes(a.entity, b.entity)
    }
    if isBroken(.laterClaims) { order.reverse() }
    for index in order {
      let id = results[index].after.id
      for relationship in destination.relationships(of: id.entity) {
        guard carried[id.entity]?[relationship.name] != nil,
          isOneSided(relationship, of: id.entity, carried), let inverse = relationship.inverse,
          let target = results[index].after.links[relationship.name]?.first,
          let place = places[target]
        else { continue }
        if let former = results[place].after.links[inverse]?.first, former != id,
          let other = places[former]
        {
          results[other].after.links[relationship.name] = []
        }
        results[place].after.links[inverse] = [id]
      }
    }
  }

  /// Without an order of their own: by key where there must be one, else as a dump lists them.
  private func sorted(_ ids: [ObjectID], isOrdered: Bool) -> [ObjectID] {
    isOrdered ? ids.sorted { $0.key < $1.key } : ids.sorted(by: OracleText.precedes)
  }
}
