import ManagedModel

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
