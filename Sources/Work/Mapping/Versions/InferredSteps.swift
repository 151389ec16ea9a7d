import ManagedModel

/// What can be inferred between versions of a model, found out once for each two states of an entity:
/// of a hundred versions an entity has only a few.
///
/// The answers are those of ``Inference``, entity by entity, and of composing such mappings; only
/// through which mapping links go is left out, which nothing here asks.
struct InferredSteps {
  /// A version, with the model that it is of.
  struct Version {
    var model: Model
    var hashes: [String: VersionHash]
    var parts: EntityStates.Version
  }

  /// What a mapping carries, entity by entity of the destination.
  struct Carried {
    /// Places in the list of entity mappings; `nil` where the hashes are equal and nothing moves.
    var places: [Int32]?
  }

  /// What two lists of entities say of each other.
  private struct Pairing {
    var refusal: CoreDataError?
    /// For each entity of the destination, where the source has its former; -1 where it is new.
    var formers: [Int]
  }

  private struct Pair: Hashable {
    var from: Int
    var to: Int
  }

  private struct Ask: Hashable {
    var outlines: Pair
    var states: Pair
  }

  private enum Answer {
    case mapping(Int32)
    case refusal(CoreDataError)
  }

  private var states = EntityStates()
  private var pairings: [Pair: Pairing] = [:]
  private var answers: [Ask: Answer] = [:]
  private var mappings: [EntityMapping] = []
  /// Of each mapping, whether all that there is stays as it is, under its name.
  private var isPlain: [Bool] = []
  /// Mappings of which the second follows the first; -1 where they cannot be put into each other.
  private var composites: [Pair: Int32] = [:]
  private var gaps: [Pair: EntityMapping.Gap?] = [:]

  /// Takes a version in.
  mutating func version(of model: Model, _ hashes: [String: VersionHash]) -> Version {
    Version(model: model, hashes: hashes, parts: states.version(of: model, hashes))
  }

  /// What inference says of two versions.
  mutating func carried(
    from source: Version, to destination: Version
  ) -> Result<Carried, CoreDataError> {
    guard source.parts.hashes != destination.parts.hashes else { return .success(Carried()) }
    var made: Inference?
    func inference() -> Inference {
      if let made { return made }
      let new = Inference(
        source: source.model, destination: destination.model,
        hashes: (source.hashes, destination.hashes))
      made = new
      return new
    }
    let outlines = Pair(from: source.parts.outline, to: destination.parts.outline)
    if pairings[outlines] == nil {
      let inference = inference()
      var pairing = Pairing(
        formers: destination.parts.names.map { name in
          inference.entities.sources[name].flatMap { source.parts.places[$0] } ?? -1
        })
      do { try inference.refuseEntities() } catch { pairing.refusal = error }
      pairings[outlines] = pairing
    }
    guard let pairing = pairings[outlines] else { return .success(Carried()) }
    if let refusal = pairing.refusal { return .failure(refusal) }
    var places: [Int32] = []
    places.reserveCapacity(pairing.formers.count)
    for (place, former) in pairing.formers.enumerated() {
      let ask = Ask(
        outlines: outlines,
        states: Pair(
          from: former < 0 ? -1 : source.parts.states[former],
          to: destination.parts.states[place]))
      if answers[ask] == nil {
        do {
          answers[ask] = .mapping(
            add(try inference().mapping(of: destination.model.entities[place])))
        } catch {
          answers[ask] = .refusal(error)
        }
      }
      switch answers[ask] {
      case .mapping(let mapping): places.append(mapping)
      case .refusal(let error): return .failure(error)
      case nil: break
      }
    }
    return .success(Carried(places: places))
  }

  /// What two do one after the other; `nil` where they cannot be put into each other.
  ///
  /// - Parameter middle: the version that the first leads to and the second from.
  mutating func composed(
    _ first: Carried, _ last: Carried, through middle: Version
  ) -> Carried? {
    guard let one = first.places else { return last }
    guard let next = last.places else { return first }
    var places: [Int32] = []
    places.reserveCapacity(next.count)
    for place in next {
      guard let name = mappings[Int(place)].source else {
        places.append(place)
        continue
      }
      guard let former = middle.parts.places[name], one.indices.contains(former),
        let composite = composite(Int(one[former]), Int(place))
      else { return nil }
      places.append(composite)
    }
    return Carried(places: places)
  }

  /// The first thing that `whole` carries and `own` does not, or from elsewhere.
  mutating func firstMissing(
    of whole: Carried, in own: Carried, to destination: Version
  ) -> (entity: String, property: String?)? {
    guard let theirs = whole.places else { return nil }
    for (place, mapping) in theirs.enumerated() {
      let mine = own.places.map { $0[place] }
      guard mine != mapping else { continue }
      let pair = Pair(from: mine.map(Int.init) ?? -1, to: Int(mapping))
      let gap: EntityMapping.Gap?
      if let known = gaps[pair] {
        gap = known
      } else {
        gap = mappings[pair.to].gap(in: mine.map { mappings[Int($0)] })
        gaps[pair] = .some(gap)
      }
      switch gap {
      case nil: continue
      case .entity: return (destination.parts.names[place], nil)
      case .property(let name): return (destination.parts.names[place], name)
      }
    }
    return nil
  }

  private mutating func composite(_ one: Int, _ last: Int) -> Int32? {
    if isPlain[last] { return Int32(one) }
    let pair = Pair(from: one, to: last)
    if let known = composites[pair] { return known < 0 ? nil : known }
    let made = mappings[last].composed(after: mappings[one]).map { add($0) }
    composites[pair] = made ?? -1
    return made
  }

  private mutating func add(_ mapping: EntityMapping) -> Int32 {
    mappings.append(mapping)
    isPlain.append(
      mapping.kind == .copy
        && mapping.attributes.allSatisfy { $0.source == $0.name }
        && mapping.relationships.allSatisfy { $0.source == $0.name })
    return Int32(mappings.count - 1)
  }
}

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
