/// One pass over a model that computes every entity's version hash, parents before children.
///
/// Integers enter little-endian and strings as UTF-8 without a terminator.
struct ModelHashing {
  let model: Model
  private(set) var entityHashes: [String: VersionHash] = [:]

  init(model: Model) { self.model = model }

  mutating func run() {
    var pending: [(entity: Entity, inherited: NamedDigests)] =
      model.entities.filter { $0.parent == nil }.map { ($0, NamedDigests()) }
    while let (entity, inherited) = pending.popLast() {
      // Where both hold a name, the entity's own stands.
      var properties = inherited
      for (name, hash) in Self.ownPropertyHashes(of: entity, in: model) {
        properties.set(name, hash.bytes)
      }
      var bytes: [UInt8] = []
      bytes.append(text: entity.name)
      bytes.append(entity.isAbstract ? 1 : 0)
      if let parent = entity.parent.flatMap({ entityHashes[$0] }) { bytes += parent.bytes }
      properties.append(to: &bytes)
      bytes.append(text: entity.versionHashModifier ?? "")
      let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      for constraint in constraints.sortedByBytes(\.self) { bytes.append(text: constraint) }
      entityHashes[entity.name] = VersionHash(of: bytes)
      for child in model.children(of: entity.name).compactMap(model.entity(named:)) {
        pending.append((child, properties))
      }
    }
  }

  /// Hashes of the persistent properties that the entity declares itself.
  static func ownPropertyHashes(
    of entity: Entity, in model: Model
  ) -> [(name: String, hash: VersionHash)] {
    var hashes: [(name: String, hash: VersionHash)] = []
    for property in entity.attributes where !property.isTransient {
      hashes.append((property.name, hash(of: property)))
    }
    for property in entity.relationships where !property.isTransient {
      hashes.append((property.name, hash(of: property, in: entity, of: model)))
    }
    return hashes
  }

  static func hash(of attribute: Attribute) -> VersionHash {
    if let derivation = attribute.derivation {
      return VersionHash(of: Array((derivation.expression + (derivation.filter ?? "")).utf8))
    }
    if attribute.type == .composite {
      // Its leaves alone, of all depths: no composite's own name, nor whether it is optional, enters.
      let leaves = leaves(of: attribute, depth: 0).sortedByBytes(\.name)
      return VersionHash(of: leaves.flatMap { hash(of: $0).bytes })
    }
    var bytes = base(
      attribute.name, optional: attribute.isOptional, transient: attribute.isTransient,
      modifier: attribute.versionHashModifier)
    bytes.append(number: attribute.type.rawValue)
    if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
    if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
    return VersionHash(of: bytes)
  }

  private static func leaves(of composite: Attribute, depth: Int) -> [Attribute] {
    guard depth <= AttributeStorage.maximumDepth else { return [] }
    return composite.elements.filter { !$0.isTransient }.flatMap {
      $0.type == .composite ? leaves(of: $0, depth: depth + 1) : [$0]
    }
  }

  static func hash(
    of relationship: Relationship, in entity: Entity, of model: Model
  ) -> VersionHash {
    var bytes = base(
      relationship.name, optional: relationship.isOptional, transient: relationship.isTransient,
      modifier: relationship.versionHashModifier)
    bytes.append(text: relationship.destination)
    func isOwnInverse(_ relationship: Relationship?, of entity: Entity) -> Bool {
      relationship?.inverse == relationship?.name && relationship?.destination == entity.name
    }
    // One that overrides another is judged by the topmost of its name as well.
    let topmost =
      entity.parent == nil
      ? nil
      : model.lineage(of: entity.name).first { $0.relationship(named: relationship.name) != nil }
    let isOwnInverse =
      isOwnInverse(relationship, of: entity)
      || topmost.map { isOwnInverse($0.relationship(named: relationship.name), of: $0) } ?? false
    if let inverse = relationship.inverse, !isOwnInverse { bytes.append(text: inverse) }
    bytes.append(number: relationship.maxCount)
    bytes.append(number: relationship.minCount)
    if relationship.isOrdered { bytes.append(contentsOf: [1, 0]) }
    return VersionHash(of: bytes)
  }

  private static func base(
    _ name: String, optional: Bool, transient: Bool, modifier: String?
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(text: name)
    // The third flag, read-only (4), is set for derived and fetched properties alone, which never
    // come here.
    bytes.append((optional ? 1 : 0) | (transient ? 2 : 0))
    bytes.append(0)
    bytes.append(text: modifier ?? "")
    return Digest.sha256(bytes)
  }
}
