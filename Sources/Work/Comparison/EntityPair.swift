import ManagedModel
import ManagedStore
import Migration

/// An entity of the first store and the one that its objects would be of in the second, with the properties that
/// both have.
struct EntityPair {
  /// Its place among all pairs.
  let place: Int
  /// Where the objects are; `nil` on the side whose model has no such entity.
  let a: EntityTable?
  let b: EntityTable?
  private(set) var attributes: [(a: EntityTable.AttributeColumn, b: EntityTable.AttributeColumn)] =
    []
  private(set) var relationships:
    [(a: EntityTable.RelationshipColumns, b: EntityTable.RelationshipColumns)] = []
  /// Names of properties that are not reported, of an object that one store has, either.
  private(set) var ignored: (a: Set<String>, b: Set<String>) = ([], [])
  /// Whether changes of it are reported.
  let isReported: Bool

  /// Name of the entity, as the second store has it where it is there.
  var entity: String { (b ?? a)?.entity ?? "" }

  init(
    place: Int, _ a: EntityTable?, _ b: EntityTable?, _ models: ModelAlignment,
    _ request: ComparisonRequest, _ stores: (a: Store, b: Store)
  ) {
    (self.place, self.a, self.b) = (place, a, b)
    let kinds = [(stores.a, a), (stores.b, b)].map { store, table in
      table.map { store.model.lineage(of: $0.entity).map(\.name) } ?? []
    }
    let names = Set(kinds.joined())
    isReported =
      (request.entities.isEmpty || !names.isDisjoint(with: request.entities))
      && names.isDisjoint(with: request.ignored)
    func ignored(_ kinds: [String]) -> Set<String> {
      Set(
        request.ignored.compactMap { name in
          kinds.first { name.hasPrefix($0 + ".") }.map { String(name.dropFirst($0.count + 1)) }
        })
    }
    self.ignored = (ignored(kinds[0]), ignored(kinds[1]))
    guard let a, let b else { return }
    let sources = models.properties[b.entity] ?? [:]
    func isIgnored(_ former: String, _ name: String) -> Bool {
      self.ignored.a.contains(former) || self.ignored.b.contains(name)
    }
    for column in b.attributes {
      guard let name = column.path.first, let former = sources[name], !isIgnored(former, name),
        let source = a.attributes.first(where: { $0.path == [former] + column.path.dropFirst() })
      else { continue }
      attributes.append((source, column))
    }
    for entry in b.relationships {
      let name = entry.relationship.name
      guard let former = sources[name], !isIgnored(former, name),
        let source = a.relationship(named: former)
      else { continue }
      relationships.append((source, entry))
    }
  }
}

/// Which entities and properties of two models are the same.
struct ModelAlignment {
  /// Name in the second model of entities of the first.
  private(set) var entities: [String: String] = [:]
  /// Names in the first model of properties of the second, by entity of the second.
  private(set) var properties: [String: [String: String]] = [:]
  private(set) var pairing = ModelPairing()
  /// How the first model becomes the second, as a migration would have it; of kind none for one version, `nil`
  /// where not all of it can be inferred.
  let mapping: MappingModel?

  init(_ a: Model, _ b: Model) {
    guard a.versionHashes != b.versionHashes else {
      mapping = MappingModel(kind: .none, entityMappings: [])
      for entity in b.entities where a.entity(named: entity.name) != nil {
        entities[entity.name] = entity.name
        properties[entity.name] = Self.common(a, entity.name, b, entity.name)
      }
      return
    }
    let rest = MappingInference.remainder(from: a, to: b)
    mapping = rest.refusals.isEmpty ? rest.mapping : nil
    pairing.notes = rest.refusals.map { "Not inferred: \($0.message)." }
    if let mapping = rest.mapping {
      for entity in mapping.entityMappings {
        guard let from = entity.source, let to = entity.destination else { continue }
        entities[from] = to
        let named =
          entity.attributes.map { ($0.name, $0.source) }
          + entity.relationships.map { ($0.name, $0.source) }
        // A property that the inference left out as unchanged has its name.
        var sources = entity.kind == .copy ? Self.common(a, from, b, to) : [:]
        for (name, source) in named { sources[name] = source }
        properties[to] = sources
      }
    } else {
      for entity in b.entities where a.entity(named: entity.name) != nil {
        entities[entity.name] = entity.name
        properties[entity.name] = Self.common(a, entity.name, b, entity.name)
      }
    }
    describe(a, b)
  }

  private static func names(_ model: Model, _ entity: String) -> [String] {
    model.lineage(of: entity).flatMap {
      $0.attributes.filter { !$0.isTransient }.map(\.name)
        + $0.relationships.filter { !$0.isTransient }.map(\.name)
    }
  }

  private static func common(
    _ a: Model, _ former: String, _ b: Model, _ entity: String
  ) -> [String: String] {
    let known = Set(names(a, former))
    return Dictionary(
      names(b, entity).filter(known.contains).map { ($0, $0) }, uniquingKeysWith: { $1 })
  }

  private mutating func describe(_ a: Model, _ b: Model) {
    let formers = Dictionary(entities.map { ($0.value, $0.key) }, uniquingKeysWith: { $1 })
    for entity in b.entities {
      guard let former = formers[entity.name] else {
        pairing.added.append(entity.name)
        continue
      }
      if former != entity.name { pairing.renamed.append(.init(from: former, to: entity.name)) }
      let sources = properties[entity.name] ?? [:]
      let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
      for name in own.sorted() {
        guard let source = sources[name] else {
          if Self.names(b, entity.name).contains(name) {
            pairing.added.append("\(entity.name).\(name)")
          }
          continue
        }
        if source != name {
          pairing.renamed.append(.init(from: "\(former).\(source)", to: "\(entity.name).\(name)"))
        }
      }
    }
    for entity in a.entities {
      guard let to = entities[entity.name] else {
        pairing.removed.append(entity.name)
        continue
      }
      let kept = Set((properties[to] ?? [:]).values)
      let own =
        entity.attributes.filter { !$0.isTransient }.map(\.name)
        + entity.relationships.filter { !$0.isTransient }.map(\.name)
      for name in own.sorted() where !kept.contains(name) {
        pairing.removed.append("\(entity.name).\(name)")
      }
    }
  }
}
