/// What differs between two versions of a model.
public struct ModelDifference: Sendable, Equatable {
  /// Every entity of either version: those of the destination and those that are gone, by name in
  /// byte order; unchanged ones too, so that two versions can be shown side by side.
  public let entities: [EntityDifference]
  /// Changes beside the entities: configurations, fetch requests, version identifiers. As
  /// sentences; none moves a hash.
  public let otherChanges: [String]
  /// Renaming identifiers that several things have, as sentences, where inference refuses it: entities
  /// of either version, properties of an entity of the older one.
  public let conflicts: [String]
  /// Whether every entity has the same version hash in both, so that stores of the one open with
  /// the other.
  public let hashesAreEqual: Bool

  /// Compares two versions; entities and properties are matched by their canonical names, and by
  /// their names alone where the version hashes are equal.
  public init(from source: Model, to destination: Model) {
    let sourceHashes = source.versionHashes
    let destinationHashes = destination.versionHashes
    hashesAreEqual = sourceHashes == destinationHashes
    let alignment = destination.entityAlignment(from: source, isEqual: hashesAreEqual)
    var differences: [EntityDifference] = []
    var conflicts =
      Self.sentences(alignment.sharedSources, "entities", in: "older")
      + Self.sentences(alignment.sharedDestinations, "entities", in: "newer")
    for entity in destination.entities {
      let old = alignment.sources[entity.name].flatMap(source.entity(named:))
      let hashes = (
        old.flatMap { sourceHashes[$0.name] }, destinationHashes[entity.name]
      )
      var comparison = EntityComparison(
        source: source, destination: destination, entities: alignment,
        isSame: old?.name == entity.name && hashes.0 == hashes.1)
      let changes = comparison.changes(from: old, to: entity)
      conflicts += comparison.conflicts
      differences.append(
        EntityDifference(
          source: old, destination: entity, sourceHash: hashes.0, destinationHash: hashes.1,
          changes: Self.explained(changes, of: entity, moved: hashes.0 != hashes.1)))
    }
    for entity in source.entities where alignment.destinations[entity.name] == nil {
      differences.append(
        EntityDifference(
          source: entity, destination: nil, sourceHash: sourceHashes[entity.name],
          destinationHash: nil,
          changes: [
            PropertyChange(
              property: nil, kind: .removed, movesHash: true,
              description: "entity “\(entity.name.printable)” removed")
          ]))
    }
    entities = differences.sortedByBytes(\.name)
    otherChanges = Self.otherChanges(source, destination)
    self.conflicts = conflicts
  }

  /// Whether nothing at all differs.
  public var isIdentical: Bool {
    otherChanges.isEmpty && entities.allSatisfy(\.changes.isEmpty)
  }

  /// Entities that only the destination has.
  public var added: [EntityDifference] { entities.filter { $0.source == nil } }
  /// Entities that only the source has.
  public var removed: [EntityDifference] { entities.filter { $0.destination == nil } }
  /// Entities of both versions with at least one change.
  public var changed: [EntityDifference] {
    entities.filter { $0.source != nil && $0.destination != nil && !$0.changes.isEmpty }
  }

  /// The entity of that name in the destination, or failing that in the source.
  public func entity(named name: String) -> EntityDifference? {
    entities.first { $0.destination?.name == name } ?? entities.first { $0.source?.name == name }
  }

  /// An entity whose hash moved though nothing of its own did has it from its parent, or from a
  /// composite attribute whose new name, itself not hashed, comes elsewhere in the order of names.
  private static func explained(
    _ changes: [PropertyChange], of entity: Entity, moved: Bool
  ) -> [PropertyChange] {
    guard moved, !changes.contains(where: \.movesHash) else { return changes }
    func isRename(_ change: PropertyChange) -> Bool {
      guard case .renamed = change.kind, let name = change.property else { return false }
      return entity.attribute(named: name)?.type == .composite
    }
    if changes.contains(where: isRename) {
      return changes.map { change in
        guard isRename(change) else { return change }
        return PropertyChange(
          property: change.property, kind: change.kind, movesHash: true,
          description: change.description)
      }
    }
    guard let parent = entity.parent else { return changes }
    return changes + [
      PropertyChange(
        property: nil, kind: .inherited(from: parent), movesHash: true,
        description: "its parent “\(parent.printable)” changed")
    ]
  }

  /// - Parameters:
  ///   - shared: renaming identifiers with the names of what has them.
  ///   - noun: what they are, in the plural.
  ///   - version: older or newer.
  static func sentences(
    _ shared: [String: [String]], _ noun: String, in version: String
  ) -> [String] {
    shared.sorted { $0.key < $1.key }.map { identifier, names in
      let list = names.map { "“\($0.printable)”" }.joined(separator: " and ")
      return
        "the \(noun) \(list) of the \(version) version have the same renaming identifier, “\(identifier.printable)”"
    }
  }

  private static func otherChanges(_ source: Model, _ destination: Model) -> [String] {
    var sentences: [String] = []
    if source.versionIdentifiers != destination.versionIdentifiers {
      let old = source.versionIdentifiers.joined(separator: ", ").printable
      let new = destination.versionIdentifiers.joined(separator: ", ").printable
      sentences.append("version identifier “\(old)” became “\(new)”")
    }
    let names = Set(source.configurations.keys).union(destination.configurations.keys)
    for name in names.sorted() {
      switch (source.configurations[name], destination.configurations[name]) {
      case (nil, _?): sentences.append("configuration “\(name.printable)” added")
      case (_?, nil): sentences.append("configuration “\(name.printable)” removed")
      case (let old, let new):
        if old != new { sentences.append("configuration “\(name.printable)” has other entities") }
      }
    }
    let old = Dictionary(
      source.fetchRequests.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let new = Dictionary(
      destination.fetchRequests.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
      let what = old[name] == nil ? "added" : new[name] == nil ? "removed" : "changed"
      sentences.append("fetch request “\(name.printable)” \(what)")
    }
    return sentences
  }
}

/// An entity in two versions of a model.
public struct EntityDifference: Sendable, Equatable {
  /// The entity in the older version; `nil` where it is new.
  public let source: Entity?
  /// The entity in the newer version; `nil` where it is gone.
  public let destination: Entity?
  /// Its version hash in the older version.
  public let sourceHash: VersionHash?
  /// Its version hash in the newer version.
  public let destinationHash: VersionHash?
  /// What differs; empty when nothing does.
  public let changes: [PropertyChange]

  /// The destination's name, or the source's where the entity is gone.
  public var name: String { destination?.name ?? source?.name ?? "" }

  /// Whether it is in both under different names, by its renaming identifier.
  public var isRenamed: Bool {
    source != nil && destination != nil && source?.name != destination?.name
  }

  /// Whether the version hash differs, by which a store of the one does not fit the other.
  public var isHashMoved: Bool { sourceHash != destinationHash }
}

/// One thing that differs between two versions of an entity or of one of its properties.
public struct PropertyChange: Sendable, Equatable {
  /// What changed; a case with one Boolean carries the new state.
  public enum Kind: Sendable, Equatable {
    case added
    case removed
    case renamed(from: String)
    /// What an ancestor declared the entity declares itself now.
    case movedDown(from: String)
    /// What the entity declared an ancestor declares now.
    case movedUp(to: String)
    case type(from: AttributeType, to: AttributeType)
    case optional(Bool)
    case transient(Bool)
    case defaultValue(from: AttributeValue?, to: AttributeValue?)
    case derivation(from: Attribute.Derivation?, to: Attribute.Derivation?)
    case externalStorage(Bool)
    case preservedInHistory(Bool)
    case cloudEncryption(Bool)
    case indexed(Bool)
    case spotlight(Bool)
    case valueTransformer(from: String?, to: String?)
    case className(from: String?, to: String?)
    case validation
    /// The elements of a composite attribute stand in another order.
    case elements
    case destination(from: String, to: String)
    case inverse(from: String?, to: String?)
    case toMany(Bool)
    case ordered(Bool)
    case minCount(from: UInt32, to: UInt32)
    case maxCount(from: UInt32, to: UInt32)
    case deleteRule(from: Relationship.DeleteRule, to: Relationship.DeleteRule)
    case fetchRequest
    case renamingIdentifier(from: String?, to: String?)
    case versionHashModifier(from: String?, to: String?)
    case userInfo
    case parent(from: String?, to: String?)
    case abstract(Bool)
    case constraintAdded([String])
    case constraintRemoved([String])
    case indexAdded(String)
    case indexRemoved(String)
    case indexChanged(String)
    case compoundIndexes
    /// Nothing of its own: the hash of its parent, which enters its own, moved.
    case inherited(from: String)
  }

  /// Name of the property, the destination's where both have it; `nil` when the entity itself
  /// changed. An element of a composite attribute is named by its path, `composite.element`.
  public let property: String?
  /// What changed, for programs.
  public let kind: Kind
  /// Whether the change makes the entity's version hash another, so that a store needs migrating.
  public let movesHash: Bool
  /// The change as a sentence without a full stop.
  public let description: String
}

/// Whether a store opens with a model, and if not, because of which entities.
///
/// Core Data compares version hashes: those the store states must be those of the entities in the
/// configuration it is opened with. It reports 134100 otherwise, without saying which differ.
public struct Compatibility: Sendable, Equatable {
  /// Entities of the model that the store does not know.
  public let missingInStore: [String]
  /// Entities of the store that the model does not have.
  public let missingInModel: [String]
  /// Entities of both whose hashes differ.
  public let differing: [String]
  /// Entities of both whose hashes are equal.
  public let matching: [String]

  /// - Parameters:
  ///   - storeHashes: NSStoreModelVersionHashes of the store's metadata.
  ///   - configuration: the model's configuration the store is opened with; all entities when `nil`
  ///     or unknown.
  public init(
    storeHashes: [String: VersionHash], model: Model, configuration: String? = nil
  ) {
    var hashes = model.versionHashes
    if let members = configuration.flatMap({ model.configurations[$0] }) {
      hashes = hashes.filter { members.contains($0.key) }
    }
    let names = Set(hashes.keys).union(storeHashes.keys).sorted()
    missingInStore = names.filter { storeHashes[$0] == nil }
    missingInModel = names.filter { hashes[$0] == nil }
    let shared = names.filter { storeHashes[$0] != nil && hashes[$0] != nil }
    differing = shared.filter { storeHashes[$0] != hashes[$0] }
    matching = shared.filter { storeHashes[$0] == hashes[$0] }
  }

  /// Whether the store opens: no entity is missing on either side, and no hash differs.
  public var isCompatible: Bool {
    missingInStore.isEmpty && missingInModel.isEmpty && differing.isEmpty
  }

  /// Entities of either.
  package var count: Int {
    matching.count + differing.count + missingInStore.count + missingInModel.count
  }

  /// How many of the entities of either fit, from 0 to 1: the nearest of several versions has the
  /// highest.
  public var likeness: Double { count == 0 ? 1 : Double(matching.count) / Double(count) }
}
