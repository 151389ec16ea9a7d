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
