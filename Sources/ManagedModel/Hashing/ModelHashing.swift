/// One pass over a model that computes every entity's version hash, parents before children.
///
/// Integers enter little-endian and strings as UTF-8 without a terminator.
struct ModelHashing {
  let model: Model
  private(set) var entityHashes: [String: VersionHash] = [:]

  init(model: Model) { self.model = model }

  private typealias NamedHash = (name: String, hash: VersionHash)

  mutating func run() {
    var pending: [(entity: Entity, inherited: [NamedHash])] =
      model.entities.filter { $0.parent == nil }.map { ($0, []) }
    while let (entity, inherited) = pending.popLast() {
      let properties = Self.merged(inherited, Self.ownPropertyHashes(of: entity))
      var bytes = Array(entity.name.utf8)
      bytes.append(entity.isAbstract ? 1 : 0)
      if let parent = entity.parent.flatMap({ entityHashes[$0] }) {
        bytes.append(contentsOf: parent.bytes)
      }
      for property in properties { bytes.append(contentsOf: property.hash.bytes) }
      bytes.append(contentsOf: (entity.versionHashModifier ?? "").utf8)
      let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      for constraint in constraints.sortedByBytes(\.self) {
        bytes.append(contentsOf: constraint.utf8)
      }
      entityHashes[entity.name] = VersionHash(of: bytes)
      for child in model.children(of: entity.name).compactMap(model.entity(named:)) {
        pending.append((child, properties))
      }
    }
  }

  /// Hashes of the persistent properties that the entity declares itself, sorted by name.
  static func ownPropertyHashes(of entity: Entity) -> [(name: String, hash: VersionHash)] {
    let attributes = entity.attributes.filter { !$0.isTransient }
      .map { ($0.name, hash(of: $0)) }
    let relationships = entity.relationships.filter { !$0.isTransient }
      .map { ($0.name, hash(of: $0, in: entity)) }
    return (attributes + relationships).sortedByBytes(\.0)
  }

  static func hash(of attribute: Attribute) -> VersionHash {
    if let derivation = attribute.derivation {
      return VersionHash(of: Array((derivation.expression + (derivation.filter ?? "")).utf8))
    }
    if attribute.type == .composite {
      // Its elements alone: neither its own name nor whether it is optional enters.
      let elements = attribute.elements.sortedByBytes(\.name)
      return VersionHash(of: elements.flatMap { hash(of: $0).bytes })
    }
    var bytes = base(
      attribute.name, optional: attribute.isOptional, transient: attribute.isTransient,
      modifier: attribute.versionHashModifier)
    append(attribute.type.rawValue, to: &bytes)
    if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
    if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
    return VersionHash(of: bytes)
  }

  static func hash(of relationship: Relationship, in entity: Entity) -> VersionHash {
    var bytes = base(
      relationship.name, optional: relationship.isOptional, transient: relationship.isTransient,
      modifier: relationship.versionHashModifier)
    bytes.append(contentsOf: relationship.destination.utf8)
    let isOwnInverse =
      relationship.inverse == relationship.name && relationship.destination == entity.name
    if let inverse = relationship.inverse, !isOwnInverse {
      bytes.append(contentsOf: inverse.utf8)
    }
    append(relationship.maxCount, to: &bytes)
    append(relationship.minCount, to: &bytes)
    if relationship.isOrdered { bytes.append(contentsOf: [1, 0]) }
    return VersionHash(of: bytes)
  }

  private static func base(
    _ name: String, optional: Bool, transient: Bool, modifier: String?
  ) -> [UInt8] {
    var bytes = Array(name.utf8)
    // The third flag, read-only (4), is set for derived and fetched properties alone, which never
    // come here.
    bytes.append((optional ? 1 : 0) | (transient ? 2 : 0))
    bytes.append(0)
    bytes.append(contentsOf: (modifier ?? "").utf8)
    return Digest.sha256(bytes)
  }

  private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Two lists sorted by name as one; where both hold a name, the entity's own stands.
  private static func merged(_ inherited: [NamedHash], _ own: [NamedHash]) -> [NamedHash] {
    guard !inherited.isEmpty else { return own }
    let names = Set(own.map(\.name))
    let kept = inherited.filter { !names.contains($0.name) }
    return (kept + own).sortedByBytes(\.name)
  }
}
