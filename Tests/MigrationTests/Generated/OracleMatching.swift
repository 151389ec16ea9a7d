import ManagedModel

/// Which entity and property of the source is which of the destination, by the specification's
/// words, for the oracle only.
struct OracleMatching {
  let source: Model
  let destination: Model
  let broken: OracleRule?
  /// Destination entity to source entity.
  private(set) var formers: [String: String] = [:]
  /// Source entity to destination entity.
  private(set) var followers: [String: String] = [:]
  /// Places a refusal may name: any of them for each cause.
  private(set) var refusals: [OracleRefusal] = []
  private let copied: Set<String>

  init(from source: Model, to destination: Model, breaking broken: OracleRule? = nil) {
    self.source = source
    self.destination = destination
    self.broken = broken
    let hashes = (source.versionHashes, destination.versionHashes)
    copied = Set(
      destination.entities.map(\.name).filter {
        hashes.0[$0] != nil && hashes.0[$0] == hashes.1[$0]
      })
    let matches = Self.match(
      source.entities.map { ($0.name, $0.renamingIdentifier) },
      destination.entities.map { ($0.name, $0.renamingIdentifier) }, breaking: broken)
    for (former, claimants) in matches {
      for claimant in claimants { formers[claimant] = former }
      followers[former] = claimants.first
    }
    for model in [source, destination] where broken != .sharedIdentifiers {
      let groups = Dictionary(grouping: model.entities) { $0.renamingIdentifier ?? $0.name }
      for sharers in groups.values where sharers.count > 1 {
        refusals.append(
          OracleRefusal(cause: .entityClaims, places: sharers.map { .init($0.name, nil) }))
      }
    }
    findMergedHierarchies()
    for entity in destination.entities { findRefusals(of: entity.name) }
  }

  typealias Named = (name: String, identifier: String?)

  /// Source name to those that take its place: the same canonical name; or failing that the name, if
  /// nobody has the canonical name of that one.
  private static func match(
    _ sources: [Named], _ destinations: [Named], breaking broken: OracleRule?
  ) -> [(former: String, claimants: [String])] {
    func canonical(_ thing: Named) -> String {
      broken == .renamingIdentifiers ? thing.name : thing.identifier ?? thing.name
    }
    let identified = Set(destinations.map(canonical))
    var result: [(former: String, claimants: [String])] = []
    for destination in destinations {
      let wanted = canonical(destination)
      let former =
        sources.first { ($0.identifier ?? $0.name) == wanted }
        ?? sources.first { $0.name == wanted && !identified.contains($0.identifier ?? $0.name) }
        ?? (broken == .unknownIdentifiers ? sources.first { $0.name == destination.name } : nil)
      guard let former else { continue }
      if let index = result.firstIndex(where: { $0.former == former.name }) {
        result[index].claimants.append(destination.name)
      } else {
        result.append((former.name, [destination.name]))
      }
    }
    return result
  }

  /// Whether the entity kept name and hash, so that its properties are the same by name.
  func isCopied(_ entity: String) -> Bool {
    broken != .copiesByName && formers[entity] == entity && copied.contains(entity)
  }

  /// Destination attribute to source attribute, for objects of exactly that entity.
  func attributes(of entity: String) -> [(former: String, claimants: [String])] {
    guard let former = formers[entity] else { return [] }
    let byName = isCopied(entity)
    return Self.match(
      source.attributes(of: former).filter { !$0.isTransient }
        .map { ($0.name, byName ? nil : $0.renamingIdentifier) },
      destination.attributes(of: entity).filter { !$0.isTransient }
        .map { ($0.name, byName ? nil : $0.renamingIdentifier) },
      breaking: broken)
  }

  /// Element of one composite to element of another, under the names they have in them.
  func elements(
    of composite: Attribute, in entity: String, from former: Attribute
  ) -> [(former: String, claimants: [String])] {
    let byName = isCopied(entity)
    return Self.match(
      former.elements.map { ($0.name, byName ? nil : $0.renamingIdentifier) },
      composite.elements.map { ($0.name, byName ? nil : $0.renamingIdentifier) }, breaking: broken)
  }

  /// Destination relationship to source relationship, for objects of exactly that entity.
  func relationships(of entity: String) -> [(former: String, claimants: [String])] {
    guard let former = formers[entity] else { return [] }
    let byName = isCopied(entity)
    return Self.match(
      source.relationships(of: former).map { ($0.name, byName ? nil : $0.renamingIdentifier) },
      destination.relationships(of: entity).map { ($0.name, byName ? nil : $0.renamingIdentifier) },
      breaking: broken
    ).map { name, claimants in
      (name, claimants.filter { !losesItsLinks(name, of: former, as: $0, of: entity) })
    }
  }

  /// The links of a one-to-many are in its to-one: where both ends become to-many, they go on if the
  /// other end is what the to-one was.
  private func losesItsLinks(
    _ name: String, of former: String, as claimant: String, of entity: String
  ) -> Bool {
    guard broken != .linksOfToOnes, let before = source.relationship(named: name, of: former),
      let back = before.inverse.flatMap({ source.relationship(named: $0, of: before.destination) }),
      before.isToMany, !back.isToMany,
      let after = destination.relationship(named: claimant, of: entity),
      let now = after.inverse.flatMap({ destination.relationship(named: $0, of: after.destination) }
      ), now.isToMany
    else { return false }
    let wanted = now.renamingIdentifier ?? now.name
    return wanted != back.renamingIdentifier ?? back.name && wanted != back.name
  }

  private mutating func findMergedHierarchies() {
    guard broken != .mergedHierarchies else { return }
    for root in destination.entities where root.parent == nil {
      let members = destination.entities.filter { destination.isKind($0.name, of: root.name) }
      let roots = Set(members.compactMap { formers[$0.name] }.map { source.root(of: $0) })
      if roots.count > 1 {
        refusals.append(OracleRefusal(cause: .mergedHierarchies, places: [.init(root.name, nil)]))
      }
    }
  }

  /// Attribute, derived attribute, relationship and composite are different kinds.
  func isOfOneKind(_ old: Attribute, _ new: Attribute) -> Bool {
    (old.type == .composite) == (new.type == .composite) && old.isDerived == new.isDerived
  }

  private mutating func findRefusals(of entity: String) {
    guard let former = formers[entity] else { return }
    if broken != .sharedIdentifiers {
      let properties =
        source.attributes(of: former).filter { !$0.isTransient }
        .map { ($0.name, $0.renamingIdentifier ?? $0.name) }
        + source.relationships(of: former).filter { !$0.isTransient }
        .map { ($0.name, $0.renamingIdentifier ?? $0.name) }
      for sharers in Dictionary(grouping: properties, by: \.1).values where sharers.count > 1 {
        refusals.append(
          OracleRefusal(cause: .propertyClaims, places: sharers.map { .init(entity, $0.0) }))
      }
    }
    for (name, claimants) in attributes(of: entity) {
      for claimant in claimants {
        guard let before = source.attribute(named: name, of: former), before.isStored,
          let after = destination.attribute(named: claimant, of: entity), after.isStored,
          before.type != after.type, isOfOneKind(before, after), broken != .typeChanges
        else { continue }
        let numbers: Set<AttributeType> = [
          .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
        ]
        if numbers.contains(before.type) && numbers.contains(after.type) { continue }
        refusals.append(OracleRefusal(cause: .typeChange, places: [.init(entity, claimant)]))
      }
    }
    for (name, claimants) in relationships(of: entity) {
      for claimant in claimants {
        guard let before = source.relationship(named: name, of: former),
          let after = destination.relationship(named: claimant, of: entity)
        else { continue }
        if before.isToMany && !after.isToMany && broken != .toManyToOne {
          refusals.append(OracleRefusal(cause: .toManyToOne, places: [.init(entity, claimant)]))
        }
        // Links are kept, so all that may be at their ends must be allowed there.
        let ends = source.entities.filter { source.isKind($0.name, of: before.destination) }
          .compactMap { followers[$0.name] }
        if broken != .otherDestination,
          !ends.allSatisfy({ destination.isKind($0, of: after.destination) })
        {
          refusals.append(
            OracleRefusal(cause: .otherDestination, places: [.init(entity, claimant)]))
        }
      }
    }
  }
}

/// A reason for which no mapping can be inferred, and the places that may stand for it.
struct OracleRefusal: Equatable {
  enum Cause: String, CaseIterable {
    case entityClaims, propertyClaims, mergedHierarchies, typeChange, toManyToOne, otherDestination
  }

  struct Place: Hashable {
    var entity: String
    var property: String?

    init(_ entity: String, _ property: String?) {
      self.entity = entity
      self.property = property
    }
  }

  var cause: Cause
  var places: [Place]
}

/// The oracle's rules, each of which can be broken to see that the test would notice.
enum OracleRule: String, CaseIterable, Sendable {
  case renamingIdentifiers, unknownIdentifiers, copiesByName, mergedHierarchies, typeChanges
  case toManyToOne, otherDestination, defaultsOfAdded, fillingNulls, transientStarts
  case keptValues, keptLinks, linksOfInverse, order, removedObjects, missingValues
  case narrowerIntegers, abstractEntities, mandatoryLinks, constraints
  case nullsInConstraints, lossOfEntities, lossOfAttributes, lossOfLinks, laterClaims
  case elements, sharedIdentifiers, linksOfToOnes, roomForOneOwner
}
