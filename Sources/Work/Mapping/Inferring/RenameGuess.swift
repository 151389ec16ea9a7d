import ManagedModel

/// Which new entity or property could be a former one under another name: plans suggest it, lint warns
/// of it, and lists to choose from begin with it.
package final class RenameGuess {
  private let source: Model
  private let destination: Model
  private let mapping: MappingModel?
  private var guesses: [Set<String>: String?] = [:]

  /// From which likeness on a name is probably the other.
  package static let likely = 0.5

  /// Guesses by what a mapping leaves over; without one nothing is new.
  package init(_ mapping: MappingModel?, from source: Model, to destination: Model) {
    (self.source, self.destination, self.mapping) = (source, destination, mapping)
  }

  // MARK: Properties

  /// Attributes and elements that nothing fills, of the type of one that goes.
  ///
  /// - Parameter former: the entity that has the one that goes.
  package func candidates(
    for attribute: Attribute, of former: String, in taker: EntityMapping
  ) -> [String] {
    guard let to = taker.destination else { return [] }
    return taker.attributes.filter { $0.source == nil && $0.expression == nil }.map(\.name)
      .filter { name in
        guard isNew(name, beside: former),
          let new = destination.storedAttribute(named: name, of: to)
        else { return false }
        return !new.isDerived && new.type == attribute.type
      }
  }

  /// Relationships that nothing fills, to as many objects of the same entity as one that goes.
  package func candidates(
    for relationship: Relationship, of former: String, in taker: EntityMapping
  ) -> [String] {
    guard let to = taker.destination else { return [] }
    return taker.relationships.filter { $0.source == nil }.map(\.name).filter { name in
      guard isNew(name, beside: former),
        let new = destination.relationship(named: name, of: to)
      else { return false }
      return new.isToMany == relationship.isToMany
        && mapping?.mapping(toDestination: new.destination)?.source == relationship.destination
    }
  }

  /// What the version before has under that name is no new thing, whatever takes it.
  private func isNew(_ name: String, beside former: String) -> Bool {
    !source.declares(name, atOrAbove: former)
  }

  /// The likeliest, where it is half alike, or the only one that came where only one is gone.
  ///
  /// - Parameter rivals: what else is gone and could have become the same; none of them may be more alike.
  package static func best(
    for name: String, among candidates: [String], rivals: [String]
  ) -> String? {
    let ranked = candidates.map { ($0, NameSimilarity.likeness(name, $0)) }
    guard let best = ranked.max(by: { $0.1 < $1.1 }),
      best.1 >= likely || (candidates.count == 1 && rivals.isEmpty),
      !rivals.contains(where: { NameSimilarity.likeness($0, best.0) > best.1 })
    else { return nil }
    return best.0
  }

  // MARK: Entities

  /// The new entities: each set of attributes with the first entity that has it, and for each
  /// attribute the sets that it is in.
  private lazy var added: (names: [String], sets: [String: [Int]]) = {
    var known: Set<Set<String>> = []
    var (names, sets): ([String], [String: [Int]]) = ([], [:])
    for case let name? in mapping?.entityMappings.filter({ $0.source == nil }).map(\.destination)
      ?? []
    {
      let attributes = Self.attributes(of: name, in: destination)
      guard known.insert(attributes).inserted else { continue }
      for attribute in attributes { sets[attribute, default: []].append(names.count) }
      names.append(name)
    }
    return (names, sets)
  }()

  /// The new entity that has most of the attributes of one that is gone, and at least half of them; the
  /// first of several.
  package func newEntity(like entity: String) -> String? {
    let own = Self.attributes(of: entity, in: source)
    guard !own.isEmpty else { return nil }
    if let known = guesses[own] { return known }
    var counts = [Int](repeating: 0, count: added.names.count)
    for attribute in own { for place in added.sets[attribute] ?? [] { counts[place] += 1 } }
    var best: String?
    if let most = counts.max(), 2 * most >= own.count, let place = counts.firstIndex(of: most) {
      best = added.names[place]
    }
    guesses[own] = .some(best)
    return best
  }

  /// How many attributes of a source entity a destination entity has under the same name and type.
  package func shared(_ from: String, _ to: String) -> (same: Int, of: Int) {
    let names = Self.attributes(of: from, in: source)
    return (names.intersection(Self.attributes(of: to, in: destination)).count, names.count)
  }

  /// Names and types of an entity's attributes.
  private static func attributes(of entity: String, in model: Model) -> Set<String> {
    Set(model.attributes(of: entity).map { "\($0.name) \($0.type)" })
  }
}

/// How alike two names are.
package enum NameSimilarity {
  /// 0…1: one less the share of letters that must change, case aside.
  package static func of(_ a: String, _ b: String) -> Double {
    // As many letters as ``Nearest`` looks at.
    let (a, b) = (String(a.lowercased().prefix(64)), String(b.lowercased().prefix(64)))
    guard !a.isEmpty, !b.isEmpty else { return 0 }
    return 1 - Double(Nearest.distance(a, b)) / Double(max(a.count, b.count))
  }

  /// How alike names are of which one or both may be an element's path. An element is known by its own
  /// name and by its composite's with it: `authorName` is like `author.name`.
  package static func likeness(_ a: String, _ b: String) -> Double {
    func spellings(_ path: String) -> [String] {
      [ElementPath.last(of: path), path.filter { $0 != "." }]
    }
    return spellings(a).flatMap { one in spellings(b).map { of(one, $0) } }.max() ?? 0
  }
}
