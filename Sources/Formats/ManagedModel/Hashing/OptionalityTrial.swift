/// Finds out which properties of an entity are optional by the hash that a store states for it.
///
/// A document that holds objects, and not their model, shows names, types and counts. Whether a property may be
/// empty stands nowhere, but enters the version hash: the choice that gives the hash is the one (atomic-stores,
/// 8 of 11 entities were found so).
package struct OptionalityTrial {
  /// Most properties of which each may be either.
  package static let mostProperties = 16

  private let model: Model
  private let hashes: [String: VersionHash]
  /// Properties by entity, of those whose hash was found.
  private var found: [String: [String: Bool]] = [:]
  private var parents: [String: String] = [:]
  /// Hashes that may still be tried: a second's work, whatever the document holds.
  private var room = 1 << 20

  /// Tries the entities of a model without hierarchy, each with all its properties.
  ///
  /// - Parameter hashes: what the store states.
  /// - Returns: the model as the hashes have it, with the parents that they show, and the names of the entities whose
  ///   hash it has: the rest is as it was given.
  package static func run(
    _ model: Model, hashes: [String: VersionHash]
  ) throws(CoreDataError) -> (model: Model, proved: Set<String>) {
    var trial = OptionalityTrial(model: model, hashes: hashes)
    trial.run()
    return try trial.result()
  }

  private init(model: Model, hashes: [String: VersionHash]) {
    self.model = model
    self.hashes = hashes
  }

  private mutating func run() {
    var waiting = model.entities.filter { hashes[$0.name] != nil }
    while true {
      let before = waiting.count
      waiting.removeAll { entity in
        guard let hash = hashes[entity.name] else { return false }
        for parent in [nil] + found.keys.sorted().map(Optional.some) {
          guard let choice = choice(of: entity, below: parent, for: hash) else { continue }
          found[entity.name] = choice
          parents[entity.name] = parent
          return true
        }
        return false
      }
      guard waiting.count < before, !waiting.isEmpty else { return }
    }
  }

  private mutating func choice(
    of entity: Entity, below parent: String?, for wanted: VersionHash
  ) -> [String: Bool]? {
    let given = parent.flatMap { found[$0] } ?? [:]
    let names = entity.propertyNames.sortedByBytes(\.self)
    guard Set(given.keys).isSubset(of: names), parent == nil || !given.isEmpty else { return nil }
    let free = names.filter { given[$0] == nil }
    guard free.count <= Self.mostProperties, room >> free.count > 0 else { return nil }
    room -= 1 << free.count
    let digests = [false, true].map { isOptional in
      let all = ModelHashing.ownPropertyHashes(of: Self.made(entity, isOptional), in: model)
      return Dictionary(all.map { ($0.name, $0.hash.bytes) }) { _, last in last }
    }
    var start: [UInt8] = []
    start.append(text: entity.name)
    start.append(0)
    if let parent, let hash = hashes[parent] { start += hash.bytes }
    for number in 0..<(1 << free.count) {
      var bytes = start
      var choice = given
      for (place, name) in free.enumerated() { choice[name] = number >> place & 1 == 1 }
      for name in names { bytes += digests[choice[name] == true ? 1 : 0][name] ?? [] }
      if VersionHash(of: bytes) == wanted { return choice }
    }
    return nil
  }

  /// An entity with all properties optional, or none.
  private static func made(_ entity: Entity, _ isOptional: Bool) -> Entity {
    var copy = entity
    for index in copy.attributes.indices { copy.attributes[index].isOptional = isOptional }
    for index in copy.relationships.indices { copy.relationships[index].isOptional = isOptional }
    return copy
  }

  private func result() throws(CoreDataError) -> (model: Model, proved: Set<String>) {
    let entities = model.entities.map { entity in
      guard let choice = found[entity.name] else { return entity }
      var copy = entity
      copy.parent = parents[entity.name]
      let inherited = copy.parent.flatMap { found[$0] } ?? [:]
      copy.attributes = entity.attributes.filter { inherited[$0.name] == nil }
      copy.relationships = entity.relationships.filter { inherited[$0.name] == nil }
      for index in copy.attributes.indices {
        copy.attributes[index].isOptional = choice[copy.attributes[index].name] ?? true
      }
      for index in copy.relationships.indices {
        copy.relationships[index].isOptional = choice[copy.relationships[index].name] ?? true
      }
      return copy
    }
    let made = try Model(entities: entities, versionIdentifiers: model.versionIdentifiers)
    let own = made.versionHashes
    return (made, Set(own.keys.filter { own[$0] == hashes[$0] }))
  }
}
