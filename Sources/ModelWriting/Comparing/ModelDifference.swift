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
