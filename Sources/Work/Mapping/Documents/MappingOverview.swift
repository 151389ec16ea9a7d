import ManagedModel

/// What a mapping model or a recipe says, reported of the file by itself, or of the two versions that it
/// is for.
public struct MappingOverview: Sendable, Equatable {
  /// A property of the destination, and what it is given.
  public struct Property: Sendable, Equatable {
    /// Its name in the destination entity.
    public let name: String
    /// A property of the source under whatever name, or the expression that computes it.
    public let value: String
    /// Whether it is computed.
    public let isComputed: Bool
    /// The mapping that made what a relationship references, where the file names one.
    public let through: String?
  }

  /// What becomes of the objects of one entity.
  public struct Entity: Sendable, Equatable {
    /// What the mapping is called.
    public let name: String
    /// What happens to the objects.
    public let kind: EntityMapping.Kind
    /// The source entity; `nil` for an entity that begins without objects.
    public let source: String?
    /// The destination entity; `nil` where the objects go.
    public let destination: String?
    /// Hash of the source entity that the file was made for, where it states one.
    public var sourceHash: VersionHash?
    /// Hash of the destination entity that the file was made for, where it states one.
    public var destinationHash: VersionHash?
    /// Which source objects it takes; `nil` for all.
    public let condition: String?
    /// The class that carries it out.
    public let policy: String?
    /// What the destination's properties are given.
    public let carried: [Property]
    /// Properties of the destination that it has no value for: they begin empty, or with their default.
    public var forgotten: [String] = []
    /// Properties of the source that go nowhere; `nil` where the source's model is not known.
    public var dropped: [String]?
    /// Whether a recipe says that the objects go on purpose.
    public let isDeletionIntended: Bool
  }

  /// Two versions that the file is for.
  public struct Pair: Sendable, Equatable {
    /// The source version.
    public let from: ModelVersions.Version
    /// The destination version.
    public let to: ModelVersions.Version
  }

  /// What a file calls the versions that it is for.
  public struct Names: Sendable, Equatable {
    /// The source version's name or digest.
    public let from: String
    /// The destination version's name or digest.
    public let to: String
  }

  /// What shows the versions that a file is for.
  public enum Origin: String, Sendable {
    /// The hashes of the entities that it maps.
    case hashes
    /// Copies of both models in it.
    case models
    /// Names of entities and properties alone.
    case names
    /// Names of versions, or their digests.
    case versions
  }

  /// The file.
  public let path: String
  /// Whether it is a mapping model of Xcode's or a recipe.
  public let kind: MappingModel.Kind
  /// What shows the versions that it is for.
  public let origin: Origin
  /// What the file itself calls the two versions, or the digests of the models in it.
  public internal(set) var names: Names?
  /// The pairs among the versions at hand that it is for; ``entities`` describe the first.
  public internal(set) var pairs: [Pair] = []
  /// The entity mappings, in the order in which they run.
  public internal(set) var entities: [Entity] = []
  /// Source entities that no mapping takes; `nil` where the source's model is not known.
  public internal(set) var untaken: [String]?
  /// Destination entities that no mapping makes objects of; `nil` where their model is not known.
  public internal(set) var unmade: [String]?
  /// Classes that its mappings leave their work to, or that a recipe stands in for.
  public let policies: [String]
  /// What else there is to know, as sentences.
  public internal(set) var notes: [String] = []
}

extension MappingOverview {
  /// Reports what a mapping model says.
  ///
  /// - Parameter versions: versions at hand, among which those that it is for are looked for.
  public init(_ document: MappingModelDocument, among versions: [ModelVersions.Version] = []) {
    path = document.path
    kind = .mapping
    policies = document.policies
    let file = document.source
    var models: (from: Model, to: Model)?
    switch file.origin {
    case .hashes: origin = .hashes
    case .names: origin = .names
    case .models(let before, let after):
      origin = .models
      models = (before.model, after.model)
      names = Names(
        from: before.model.versionHashesDigest, to: after.model.versionHashesDigest)
      if !before.isComplete || !after.isComplete {
        notes.append(
          "The copies of the models in it contain something that is not understood: their digests may differ."
        )
      }
    }
    pairs = Self.pairs(of: document, versions)
    if let first = pairs.first { models = (first.from.model, first.to.model) }
    var mappings = file.entityMappings.map(EntityMapping.init(asWritten:))
    if let models {
      do {
        mappings = try MappingAssembly(file, from: models.from, to: models.to).mapping()
          .entityMappings
      } catch {
        notes.append(
          "It cannot be carried out: \(error).")
      }
    }
    let written = Dictionary(first: file.entityMappings.map { ($0.name, $0) })
    let hashes = models.map { ($0.from.versionHashes, $0.to.versionHashes) }
    entities = mappings.map { mapping in
      var entity = Entity(mapping)
      let stated = written[mapping.name]
      entity.sourceHash = stated?.sourceHash ?? mapping.source.flatMap { hashes?.0[$0] }
      entity.destinationHash =
        stated?.destinationHash ?? mapping.destination.flatMap { hashes?.1[$0] }
      return entity
    }
    if let models { compare(mappings, models) }
  }

  /// Reports what a recipe says.
  ///
  /// - Parameter versions: versions at hand, among which those that it is for are looked for.
  public init(_ recipe: Recipe, among versions: [ModelVersions.Version] = []) {
    path = recipe.path
    kind = .recipe
    origin = .versions
    policies = recipe.policies
    names = recipe.isFor.map { Names(from: $0.from, to: $0.to) }
    pairs = Self.pairs(
      versions.filter { recipe.leads(from: $0.model, called: $0.name) },
      versions.filter { recipe.leads(to: $0.model, called: $0.name) })
    var mappings = recipe.document.mappings.map(EntityMapping.init(asWritten:))
    if let first = pairs.first {
      do {
        let made = try recipe.mapping(
          from: first.from.model, to: first.to.model, names: (first.from.name, first.to.name))
        if let made {
          mappings = made.entityMappings
          compare(mappings, (first.from.model, first.to.model))
        }
      } catch {
        notes.append(
          "It cannot be carried out: \(error).")
      }
    } else if recipe.isFor != nil {
      notes.append("What it does not name is inferred from the two models, which are not in it.")
    }
    if entities.isEmpty { entities = mappings.map(Entity.init) }
  }

  private static func pairs(
    _ sources: [ModelVersions.Version], _ destinations: [ModelVersions.Version],
    limit: Int = .max, fit: (Model, Model) -> Bool = { _, _ in true }
  ) -> [Pair] {
    var (found, asked) = ([Pair](), 0)
    for from in sources {
      for to in destinations where from.hashes != to.hashes {
        guard asked < limit else { return found }
        asked += 1
        if fit(from.model, to.model) { found.append(Pair(from: from, to: to)) }
      }
    }
    return found
  }

  /// The pairs that a mapping model is for: each side is looked through by its hashes first.
  private static func pairs(
    of document: MappingModelDocument, _ versions: [ModelVersions.Version]
  ) -> [Pair] {
    let file = document.source
    var known: (from: [String: VersionHash], to: [String: VersionHash])?
    switch file.origin {
    case .hashes:
      known = (
        Dictionary(first: file.entityMappings.compactMap(\.statedSource)),
        Dictionary(first: file.entityMappings.compactMap(\.statedDestination))
      )
    case .models(let before, let after) where before.isComplete && after.isComplete:
      known = (before.model.versionHashes, after.model.versionHashes)
    default: break
    }
    func fitting(
      _ hashes: [String: VersionHash]?, _ name: (MappingSource.Entity) -> String?
    ) -> [ModelVersions.Version] {
      let names = Set(file.entityMappings.compactMap(name))
      return versions.filter { version in
        names.allSatisfy { name in
          guard let hash = version.hashes[name] else { return false }
          return hashes.map { $0[name] == hash } ?? true
        }
      }
    }
    // By names alone nearly all versions may be meant: a few are reported.
    return pairs(
      fitting(known?.from, \.source), fitting(known?.to, \.destination),
      limit: known == nil ? 200 : 10_000, fit: { document.fits(from: $0, to: $1) })
  }

  /// Finds what of the two models no mapping speaks of.
  private mutating func compare(
    _ mappings: [EntityMapping], _ models: (from: Model, to: Model)
  ) {
    if entities.isEmpty { entities = mappings.map(Entity.init) }
    for (index, mapping) in mappings.enumerated() {
      guard let from = mapping.source, mapping.destination != nil else { continue }
      let taken = mapping.taken
      let attributes: [String] = models.from.storedAttributes(of: from).filter { !$0.isDerived }
        .map(\.name)
      let relationships: [String] = models.from.relationships(of: from).filter { !$0.isTransient }
        .map(\.name)
      let dropped = attributes.filter { name in
        !taken.contains(name) && !taken.contains(String(name.prefix { $0 != "." }))
      }
      entities[index].dropped = dropped + relationships.filter { !taken.contains($0) }
    }
    let takers = Set(mappings.compactMap(\.source))
    untaken = models.from.entities.filter { !$0.isAbstract && !takers.contains($0.name) }.map(
      \.name)
    let made = Set(mappings.filter { $0.source != nil }.compactMap(\.destination))
      .union(mappings.flatMap { $0.children.flatMap(\.destinations) })
    unmade = models.to.entities.filter { !$0.isAbstract && !made.contains($0.name) }.map(\.name)
  }
}

extension MappingOverview.Entity {
  init(_ mapping: EntityMapping) {
    name = mapping.name
    kind = mapping.kind
    source = mapping.source
    destination = mapping.destination
    condition = mapping.condition?.text
    policy = mapping.policy
    isDeletionIntended = mapping.isDeletionIntended
    let made = Set(mapping.children.map(\.relationship))
    var carried: [MappingOverview.Property] = []
    for attribute in mapping.attributes {
      if let expression = attribute.expression {
        carried.append(
          .init(name: attribute.name, value: expression.text, isComputed: true, through: nil))
      } else if let source = attribute.source {
        carried.append(.init(name: attribute.name, value: source, isComputed: false, through: nil))
      } else if mapping.source != nil {
        forgotten.append(attribute.name)
      }
    }
    for link in mapping.relationships {
      if let condition = link.condition {
        let fetched = link.fetched.map { $0 + " where " } ?? ""
        carried.append(
          .init(
            name: link.name, value: fetched + condition.text, isComputed: true,
            through: link.through))
      } else if let source = link.source {
        carried.append(
          .init(name: link.name, value: source, isComputed: false, through: link.through))
      } else if mapping.source != nil, !made.contains(link.name) {
        forgotten.append(link.name)
      }
    }
    self.carried = carried
  }
}
