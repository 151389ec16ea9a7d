import ExampleValues
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

/// That there are not too many objects of some entities for those of others.
struct CountRule: Sendable {
  /// `factor` times the objects of `fewer` are not more than `times` times those of `more` and `extra`.
  var fewer: [String]
  var factor = 1
  var more: [String] = []
  var times = 1
  var extra = 0

  private static func sum(_ entities: [String], _ counts: [String: Int]) -> Int {
    entities.reduce(0) { $0 + (counts[$1] ?? 0) }
  }

  private static func product(_ one: Int, _ other: Int) -> Int {
    let (product, overflow) = one.multipliedReportingOverflow(by: other)
    return overflow ? .max / 4 : min(product, .max / 4)
  }

  func holds(_ counts: [String: Int]) -> Bool {
    Self.product(factor, Self.sum(fewer, counts)) <= room(counts)
  }

  private func room(_ counts: [String: Int]) -> Int {
    Self.product(times, Self.sum(more, counts)) + extra
  }

  /// Takes away of the first, at least one of each staying, and adds to the others what is missing then,
  /// up to a limit: a model may ask for more than any disk holds.
  func mend(_ counts: inout [String: Int], limit: Int) {
    let present = Self.sum(fewer, counts)
    let allowed = room(counts) / max(1, factor)
    if present > allowed {
      for entity in fewer {
        let count = counts[entity] ?? 0
        guard count > 1 else { continue }
        let share = Double(allowed) / Double(max(1, present))
        counts[entity] = max(1, Int(Double(count) * share))
      }
    }
    guard !holds(counts), let grown = more.first else { return }
    let missing = Self.product(factor, Self.sum(fewer, counts)) - room(counts)
    let added = (missing + times - 1) / max(1, times)
    counts[grown] = max(counts[grown] ?? 0, min(limit, (counts[grown] ?? 0) + added))
  }
}

extension LinkPair {
  /// What the relationships ask of the numbers of objects.
  var countRules: [CountRule] {
    var rules: [CountRule] = []
    switch form {
    case .child:
      if to.least > 0 {
        rules.append(CountRule(fewer: to.members, factor: to.least, more: from.members))
      }
      if from.isMandatory {
        rules.append(
          CountRule(fewer: from.members, more: to.members, times: mostChildren ?? 1_000_000_000))
      }
    case .oneToOne:
      if from.isMandatory { rules.append(CountRule(fewer: from.members, more: to.members)) }
      if to.isMandatory { rules.append(CountRule(fewer: to.members, more: from.members)) }
    case .manyToMany:
      if from.least > 0, let most = to.most {
        rules.append(
          CountRule(fewer: from.members, factor: from.least, more: to.members, times: most))
      }
      if to.least > 0, let most = from.most {
        rules.append(
          CountRule(fewer: to.members, factor: to.least, more: from.members, times: most))
      }
      if from.least > 1 {
        rules.append(CountRule(fewer: [], more: to.members, extra: -from.least))
      }
      if to.least > 1 { rules.append(CountRule(fewer: [], more: from.members, extra: -to.least)) }
    case .reflexiveOne: break
    case .reflexiveMany:
      if from.least > 1 {
        rules.append(CountRule(fewer: [], more: from.members, extra: -from.least - 1))
      }
    }
    return rules
  }
}

/// Which attribute keeps objects apart that a uniqueness constraint says must differ.
struct UniqueChoice: Sendable {
  /// The entity that declares the constraint: its objects and those below it must differ.
  let entity: String
  /// The attribute, an element by its path; `nil` where to-ones alone have to do it.
  let attribute: String?
  /// The constraint as it is reported.
  let name: String
  /// Whether it is over several properties.
  let isCompound: Bool

  /// One for each constraint of a model.
  static func all(in model: Model) -> [UniqueChoice] {
    model.entitiesInStoreOrder.flatMap { entity in
      entity.uniquenessConstraints.filter { !$0.isEmpty }.map { constraint in
        let stored = constraint.compactMap { name -> Attribute? in
          model.storedAttribute(named: name, of: entity.name)
            ?? model.attribute(named: name, of: entity.name)?.storage.columns.first?.attribute
        }.filter { !$0.isDerived }
        let best = stored.min { rank($0) < rank($1) }
        return UniqueChoice(
          entity: entity.name, attribute: best?.name,
          name: entity.name + "." + constraint.joined(separator: "+"),
          isCompound: constraint.count > 1)
      }
    }
  }

  /// The more values a type has, the less it shows that they are numbered through.
  private static func rank(_ attribute: Attribute) -> Int {
    let type =
      switch attribute.type {
      case .uuid: 0
      case .string: 1
      case .uri: 2
      case .integer64, .integer32: 3
      case .date: 4
      case .double: 5
      case .decimal: 6
      case .binary: 7
      case .transformable: 8
      case .integer16: 20
      case .float: 21
      case .boolean: 30
      default: 40
      }
    return type + (ValueLimits(attribute).isFree ? 0 : 10)
  }
}

/// Keys of a hierarchy that follow each other: those of an entity and everything below it.
struct KeySpan: Sendable, Equatable {
  let root: String
  let first: Int64
  let count: Int

  func key(_ ordinal: Int) -> Int64 { first + Int64(ordinal) }

  /// The place of a key in it.
  func ordinal(of key: Int64) -> Int? {
    key >= first && key < first + Int64(count) ? Int(key - first) : nil
  }

  /// How many of its keys are smaller than a key.
  func count(below key: Int64) -> Int { Int(min(max(0, key - first), Int64(count))) }

  func overlaps(_ other: KeySpan) -> Bool {
    root == other.root && first < other.first + Int64(other.count)
      && other.first < first + Int64(count)
  }
}

/// Which keys the objects of each entity have: in a hierarchy one entity after the other, in the order
/// of their numbers.
struct KeyPlan: Sendable {
  struct Part: Sendable {
    let entity: String
    let number: Int64
    let keys: KeySpan
  }

  /// Concrete entities in the order in which their objects are written.
  let parts: [Part]
  private let places: [String: Int]
  /// Per hierarchy, the first key and number of each part that has objects.
  private let segments: [String: [(first: Int64, number: Int64)]]

  /// - Parameters:
  ///   - counts: objects of exactly each entity.
  ///   - numbers: Z_ENT of each entity.
  init(_ model: Model, counts: [String: Int], numbers: [String: Int64]) {
    var parts: [Part] = []
    var places: [String: Int] = [:]
    var segments: [String: [(first: Int64, number: Int64)]] = [:]
    var next: [String: Int64] = [:]
    for entity in model.entitiesInStoreOrder {
      let root = model.root(of: entity.name)
      let first = next[root] ?? 1
      let count = entity.isAbstract ? 0 : counts[entity.name] ?? 0
      places[entity.name] = parts.count
      let number = numbers[entity.name] ?? 0
      parts.append(
        Part(
          entity: entity.name, number: number,
          keys: KeySpan(root: root, first: first, count: count)))
      if count > 0 { segments[root, default: []].append((first, number)) }
      next[root] = first + Int64(count)
    }
    self.parts = parts
    self.places = places
    self.segments = segments
  }

  /// The keys of exactly one entity.
  func own(_ entity: String) -> KeySpan? { places[entity].map { parts[$0].keys } }

  /// The keys of the entities named, which follow each other in a hierarchy.
  func span(of entities: [String]) -> KeySpan? {
    let spans = entities.compactMap(own).filter { $0.count > 0 }
    guard let first = spans.first else { return nil }
    let start = spans.map(\.first).min() ?? first.first
    return KeySpan(root: first.root, first: start, count: spans.reduce(0) { $0 + $1.count })
  }

  /// Z_ENT of the objects of a hierarchy, by their keys.
  func numbers(in root: String) -> EntityLookup { EntityLookup(segments[root] ?? []) }
}

/// Z_ENT of an object by its key.
struct EntityLookup: Sendable {
  private let firsts: [Int64]
  private let numbers: [Int64]

  init(_ segments: [(first: Int64, number: Int64)]) {
    firsts = segments.map(\.first)
    numbers = segments.map(\.number)
  }

  func number(of key: Int64) -> Int64 {
    var index = firsts.count - 1
    while index > 0, firsts[index] > key { index -= 1 }
    return index >= 0 ? numbers[index] : 0
  }
}
