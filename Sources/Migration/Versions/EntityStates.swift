import ManagedModel

/// Versions of a model, taken apart into states of their entities: what is equal in two versions has
/// one number, so that it need not be compared again.
struct EntityStates {
  /// A version by the numbers of what it is made of.
  struct Version {
    /// Equal for versions whose entities have the same hashes.
    let hashes: Int
    /// Equal for versions of the same entities: their names, identifiers and parents.
    let outline: Int
    /// Names of the entities, in order.
    let names: [String]
    /// Where in ``names`` each is.
    let places: [String: Int]
    /// Of each entity a number that is equal where all it declares and inherits is, and its hash.
    let states: [Int]
  }

  private struct Outline: Hashable {
    var name: String
    var canonicalName: String
    var parent: String?
    var isAbstract: Bool
  }

  private struct State: Hashable {
    /// What the entity and those above it declare, by its numbers.
    var declared: [Int]
    var hash: VersionHash?
  }

  private var hashes: [[String: VersionHash]: Int] = [:]
  private var outlines: [[Outline]: Int] = [:]
  private var states: [State: Int] = [:]
  private var declared: [String: [(entity: Entity, number: Int)]] = [:]
  private var count = 0

  /// Takes a version apart.
  mutating func version(of model: Model, _ hashes: [String: VersionHash]) -> Version {
    let outline = model.entities.map {
      Outline(
        name: $0.name, canonicalName: $0.canonicalName, parent: $0.parent,
        isAbstract: $0.isAbstract)
    }
    return Version(
      hashes: Self.number(of: hashes, in: &self.hashes),
      outline: Self.number(of: outline, in: &outlines), names: model.entities.map(\.name),
      places: Dictionary(
        model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }),
      states: model.entities.map { entity in
        Self.number(
          of: State(
            declared: model.lineage(of: entity.name).map { number(of: $0) },
            hash: hashes[entity.name]), in: &states)
      })
  }

  private mutating func number(of entity: Entity) -> Int {
    if let known = declared[entity.name]?.last(where: { $0.entity == entity }) {
      return known.number
    }
    count += 1
    declared[entity.name, default: []].append((entity, count))
    return count
  }

  private static func number<Key: Hashable>(of key: Key, in numbers: inout [Key: Int]) -> Int {
    if let known = numbers[key] { return known }
    numbers[key] = numbers.count
    return numbers.count - 1
  }
}
