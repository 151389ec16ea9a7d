import ManagedModel
import ManagedStore

/// Counts and distributions of a store, for making another one like it: how many objects, how often
/// there is no value, how long texts are, between which round numbers the numbers lie, how many links
/// there are. No value of the store is in it.
package struct StoreLikeness: Sendable, Equatable {
  /// What is known of the values of an attribute.
  package struct Values: Sendable, Equatable {
    /// Of a hundred objects, those without one.
    package var emptyPercent = 0
    /// Of a hundred that have one, those that are true.
    package var truePercent: Int?
    /// Lengths of texts, each for as many objects as any other, rounded.
    package var lengths: [Int] = []
    /// Round numbers that the numbers lie between; of dates, months.
    package var range: ClosedRange<Double>?
  }

  /// What is known of a relationship.
  package struct Links: Sendable, Equatable {
    /// Of a hundred objects, those that lead nowhere.
    package var emptyPercent = 0
    /// Links of those that lead somewhere, at an average.
    package var mean = 1.0
    /// Most links of one object, rounded up.
    package var most = 1
  }

  /// Objects of exactly each entity.
  package var objects: [String: Int] = [:]
  var values: [String: [String: Values]] = [:]
  var links: [String: [String: Links]] = [:]
  /// The model that the store was read with.
  let model: Model

  init(model: Model) { self.model = model }

  /// The entity of the store that an entity of another version is: by name, else by renaming identifier.
  private func counterpart(_ entity: String, in other: Model) -> String? {
    if model.entity(named: entity) != nil { return entity }
    guard let canonical = other.entity(named: entity)?.canonicalName else { return nil }
    return model.entities.first { $0.name == canonical || $0.canonicalName == canonical }?.name
  }

  /// How many objects of each concrete entity of a model there were; as many as in the middle of all
  /// where the store does not have the entity.
  func counts(of other: Model) -> [String: Int] {
    let present = objects.values.filter { $0 > 0 }.sorted()
    let usual = present.isEmpty ? 1 : max(1, present[present.count / 2])
    var counts: [String: Int] = [:]
    for entity in other.entities where !entity.isAbstract {
      counts[entity.name] =
        counterpart(entity.name, in: other).map { objects[$0] ?? 0 } ?? usual
    }
    return counts
  }

  /// How many links the objects of a pair have, counted from the side that writes them.
  func shape(of pair: LinkPair) -> LinkShape? {
    guard let relationship = pair.from.relationship,
      let found = find(links, pair.from.entity, [relationship.name, relationship.canonicalName])
    else { return nil }
    return LinkShape(
      emptyPercent: found.emptyPercent, mean: found.mean, most: max(1, found.most))
  }

  /// Has an attribute's values distributed as those of the store, as far as its rules allow it.
  func apply(to maker: inout ValueMaker, of entity: String) {
    let attribute = maker.attribute
    guard let found = find(values, entity, [attribute.name, attribute.canonicalName]) else {
      return
    }
    if attribute.isOptional { maker.emptyPercent = found.emptyPercent }
    maker.defaultPercent = 0
    switch maker.filling {
    case .flag: maker.filling = .flag(percent: found.truePercent ?? 50)
    case .whole(var topic):
      guard let range = found.range else { return }
      topic.range = range
      topic = topic.bounded(
        least: [maker.limits.least, attribute.type.wholeNumbers.map { Double($0.lowerBound) }]
          .compactMap { $0 }.max(),
        most: [maker.limits.most, attribute.type.wholeNumbers.map { Double($0.upperBound) }]
          .compactMap { $0 }.min())
      maker.filling = .whole(topic)
    case .real(var topic):
      guard let range = found.range else { return }
      topic.range = range
      maker.filling = .real(topic.bounded(least: maker.limits.least, most: maker.limits.most))
    case .decimal(var topic):
      guard let range = found.range else { return }
      topic.range = range
      maker.filling = .decimal(topic.bounded(least: maker.limits.least, most: maker.limits.most))
    case .moment:
      guard let range = found.range else { return }
      maker.dates = range
    case .text: maker.lengths = found.lengths
    default: return
    }
  }

  /// What is known under one of the names, of the entity or of one above or below it.
  private func find<Found>(
    _ known: [String: [String: Found]], _ entity: String, _ names: [String]
  ) -> Found? {
    let family = [entity] + model.lineage(of: entity).map(\.name) + model.subtree(of: entity)
    for entity in family {
      for name in names { if let found = known[entity]?[name] { return found } }
    }
    return nil
  }
}
