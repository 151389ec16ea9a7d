/// A digest of everything about an entity that affects storage: 32 bytes of SHA-256.
///
/// Two entities with equal hashes can share a table; renaming identifiers, defaults and validation
/// are left out on purpose, as Core Data does.
public struct VersionHash: Sendable, Hashable {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// - Returns: `nil` unless there are exactly 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// - Returns: `nil` unless the text is 64 hexadecimal digits.
  public init?(hex: String) {
    guard let bytes = ByteText.bytes(hex: hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// The digest of the bytes.
  init(of bytes: [UInt8]) { self.bytes = Digest.sha256(bytes) }

  /// 64 lowercase hexadecimal digits.
  public var hex: String { ByteText.hex(bytes) }
}

extension VersionHash: CustomStringConvertible {
  /// The hash in hexadecimal.
  public var description: String { hex }
}

extension Model {
  /// The version hash of every entity by name, as store metadata and VersionInfo.plist hold them.
  ///
  /// Each call computes all of them in one pass; keep the result when asking for several.
  /// The rules are those of Apple's framework, found by recomputing the hashes that it wrote.
  public var versionHashes: [String: VersionHash] {
    var hashing = ModelHashing(model: self)
    hashing.run()
    return hashing.entityHashes
  }

  /// The hash of each property that enters the hash of the entity, own and inherited.
  ///
  /// Comparing two of these shows which property moved an entity's hash. Transient and fetched
  /// properties enter no hash and are not listed. Empty when the model has no such entity.
  public func propertyHashes(of entity: String) -> [String: VersionHash] {
    var result: [String: VersionHash] = [:]
    for ancestor in lineage(of: entity) {
      for (name, hash) in ModelHashing.ownPropertyHashes(of: ancestor, in: self) {
        result.updateValue(hash, forKey: name)
      }
    }
    return result
  }

  /// What NSStoreModelVersionHashesDigest holds: Base64 of a SHA-512 over names and hashes.
  public var versionHashesDigest: String { Self.versionHashesDigest(of: versionHashes) }

  /// What NSStoreModelVersionChecksumKey holds (since about iOS 17): Base64 of a SHA-256 over the
  /// hashes. Xcode shows it and staged migrations refer to it.
  public var versionChecksum: String { Self.versionChecksum(of: versionHashes) }

  /// What a version is called where nothing gives it a name: its identifiers, else the checksum of its hashes;
  /// `unknown` where it has neither.
  public static func versionName(
    identifiers: [String], hashes: [String: VersionHash]
  ) -> String {
    name(ofIdentifiers: identifiers) ?? (hashes.isEmpty ? "unknown" : versionChecksum(of: hashes))
  }

  /// The identifiers that say something, as one name; `nil` where none does.
  package static func name(ofIdentifiers identifiers: [String]) -> String? {
    let names = identifiers.filter { !$0.isEmpty }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }

  /// The digest of hashes that a store or a VersionInfo.plist states.
  public static func versionHashesDigest(of hashes: [String: VersionHash]) -> String {
    var bytes: [UInt8] = []
    for (name, hash) in hashes.sortedByBytes(\.key) {
      bytes.append(contentsOf: name.utf8)
      bytes.append(contentsOf: hash.bytes)
    }
    return ByteText.base64(Digest.sha512(bytes))
  }

  /// The checksum of hashes that a store or a VersionInfo.plist states.
  public static func versionChecksum(of hashes: [String: VersionHash]) -> String {
    ByteText.base64(Digest.sha256(hashes.sortedByBytes(\.key).flatMap(\.value.bytes)))
  }

  /// Why a hash computed here may differ from Apple's: entity name to a sentence, for the features
  /// that no file written by Apple's tools was at hand to check against.
  public var unverifiedVersionHashes: [String: String] {
    func declaring(_ isMatch: (Attribute) -> Bool) -> Set<String> {
      Set(entities.filter { $0.attributes.contains { !$0.isTransient && isMatch($0) } }.map(\.name))
    }
    let nested = declaring { $0.elements.contains { $0.type == .composite } }
    let filtered = declaring { $0.derivation?.filter != nil }
    var result: [String: String] = [:]
    for entity in entities {
      let lineage = entity.parent == nil ? [entity] : lineage(of: entity.name)
      if lineage.contains(where: { nested.contains($0.name) }) {
        result[entity.name] =
          "a composite attribute within another: the hash rule was not checked against Apple's"
      } else if lineage.contains(where: { filtered.contains($0.name) }) {
        result[entity.name] = "a filtering predicate: the hash rule was not checked against Apple's"
      } else if lineage.flatMap(\.relationships).map(\.name).firstRepeated != nil {
        result[entity.name] =
          "an inherited relationship is overridden: the hash rule was not checked against Apple's"
      }
    }
    return result
  }
}

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
