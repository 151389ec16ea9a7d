import ManagedModel

/// How many objects of each entity there are: parts more numerous than the whole they belong to, as
/// many as relationships and uniqueness constraints ask for or allow, and about as many as were asked
/// for in all.
struct ObjectCounts: Sendable {
  private(set) var counts: [String: Int] = [:]
  private let rules: [CountRule]
  /// Most objects of an entity that rules alone may ask for.
  private let limit: Int

  /// - Parameters:
  ///   - total: objects of all entities.
  ///   - least: of each entity, where the rules allow it.
  ///   - given: shares that are known, such as those of another store.
  init(
    _ model: Model, pairs: [LinkPair], rules more: [CountRule], total: Int, least: Int,
    given: [String: Int]?
  ) {
    rules = pairs.flatMap(\.countRules) + more
    limit = max(10_000, total)
    let entities = model.entitiesInStoreOrder.filter { !$0.isAbstract }.map(\.name)
    var weights: [String: Double] = [:]
    if let given {
      for name in entities { weights[name] = Double(given[name] ?? 0) }
    } else {
      weights = Self.weights(entities, pairs)
    }
    let sum = max(1e-9, weights.values.reduce(0, +))
    // Where shares are known, an entity may have no object.
    let least = given == nil ? max(1, least) : least - 1
    let room = max(0, total - least * entities.count)
    for name in entities {
      let share = Double(room) * (weights[name] ?? 0) / sum
      counts[name] = least + Int(given == nil ? share : share.rounded())
    }
    mend()
    fill(to: total, entities.sortedByBytes { $0 }, weights)
  }

  /// A child is two or three times as frequent as its parent.
  private static func weights(_ entities: [String], _ pairs: [LinkPair]) -> [String: Double] {
    var weights = Dictionary(uniqueKeysWithValues: entities.map { ($0, 1.0) })
    for _ in 0..<3 {
      for pair in pairs where pair.form == .child && !pair.isWithinOne {
        guard pair.from.relationship != nil, pair.to.relationship != nil else { continue }
        let parents = pair.to.members.compactMap { weights[$0] }.max() ?? 1
        for child in pair.from.members {
          weights[child] = min(8, max(weights[child] ?? 1, parents * 2))
        }
      }
    }
    return weights
  }

  private mutating func mend() {
    for _ in 0..<200 {
      let broken = rules.filter { !$0.holds(counts) }
      if broken.isEmpty { return }
      for rule in broken { rule.mend(&counts, limit: limit) }
    }
  }

  /// Adds what is missing where it breaks no rule: to all alike first, then to the most frequent.
  private mutating func fill(to total: Int, _ entities: [String], _ weights: [String: Double]) {
    func sum(_ counts: [String: Int]) -> Int { counts.values.reduce(0, +) }
    for _ in 0..<8 {
      let missing = total - sum(counts)
      guard missing > entities.count else { break }
      let factor = Double(total) / Double(max(1, sum(counts)))
      var grown = self
      for name in entities {
        grown.counts[name] = Int(Double(counts[name] ?? 0) * factor)
      }
      grown.mend()
      guard sum(grown.counts) > sum(counts), sum(grown.counts) <= total else { break }
      counts = grown.counts
    }
    let wasHeld = rules.count { $0.holds(counts) }
    for name in entities.sorted(by: {
      ((weights[$1] ?? 0), $0) < ((weights[$0] ?? 0), $1)
    }) where (weights[name] ?? 0) > 0 {
      let missing = total - sum(counts)
      guard missing != 0 else { return }
      var changed = counts
      changed[name] = max(1, (counts[name] ?? 0) + missing)
      if rules.count(where: { $0.holds(changed) }) == wasHeld { counts = changed }
    }
  }
}
