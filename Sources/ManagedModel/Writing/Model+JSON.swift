import JSON

extension Model {
  /// The model as JSON text, the same for the same model; one member a line.
  ///
  /// What is false, empty or absent is left out, so that the text stays small and a line-wise
  /// comparison of two of them tells what differs.
  public var json: String { jsonValue.text(indented: true) + "\n" }

  var jsonValue: JSONValue {
    let hashes = versionHashes
    return .object([
      ("versionIdentifiers", .strings(versionIdentifiers)),
      ("versionChecksum", .string(Self.versionChecksum(of: hashes))),
      ("entities", .array(entities.map { $0.jsonValue(hash: hashes[$0.name]) })),
      (
        "configurations",
        .object(configurations.sorted { $0.key < $1.key }.map { ($0.key, .strings($0.value)) })
      ),
      (
        "fetchRequests",
        .array(
          fetchRequests.map { request in
            .members([
              ("name", .string(request.name)), ("entity", .optional(request.entity)),
              ("predicate", .optional(request.predicate)),
            ])
          })
      ),
    ])
  }
}

extension JSONValue {
  /// An object without the members that say nothing: null, false, and empty lists and objects.
  fileprivate static func members(_ members: [(key: String, value: JSONValue)]) -> JSONValue {
    .object(
      members.filter { member in
        switch member.value {
        case .null, .boolean(false): false
        case .array(let values): !values.isEmpty
        case .object(let values): !values.isEmpty
        default: true
        }
      })
  }

  fileprivate static func userInfo(_ info: [String: String]) -> JSONValue {
    .object(info.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
  }
}

extension Entity {
  fileprivate func jsonValue(hash: VersionHash?) -> JSONValue {
    .members([
      ("name", .string(name)), ("parent", .optional(parent)), ("abstract", .boolean(isAbstract)),
      ("class", .optional(className)), ("renamingIdentifier", .optional(renamingIdentifier)),
      ("versionHashModifier", .optional(versionHashModifier)),
      ("versionHash", .optional(hash?.hex)),
      ("attributes", .array(attributes.map(\.jsonValue))),
      ("relationships", .array(relationships.map(\.jsonValue))),
      ("fetchedProperties", .array(fetchedProperties.map(\.jsonValue))),
      ("uniquenessConstraints", .array(uniquenessConstraints.map { .strings($0) })),
      ("fetchIndexes", .array(fetchIndexes.map(\.jsonValue))),
      ("compoundIndexes", .array(compoundIndexes.map { .strings($0) })),
      ("userInfo", .userInfo(userInfo)),
    ])
  }
}

extension Attribute {
  fileprivate var jsonValue: JSONValue {
    .members([
      ("name", .string(name)), ("type", .string(type.name)), ("optional", .boolean(isOptional)),
      ("transient", .boolean(isTransient)),
      ("default", .optional(defaultValue.flatMap(DefaultValueText.text))),
      ("derivation", .optional(derivation?.expression)),
      ("derivationFilter", .optional(derivation?.filter)),
      ("renamingIdentifier", .optional(renamingIdentifier)),
      ("versionHashModifier", .optional(versionHashModifier)),
      ("externalStorage", .boolean(allowsExternalBinaryDataStorage)),
      ("preservedInHistory", .boolean(preservesValueInHistoryOnDeletion)),
      ("cloudEncryption", .boolean(allowsCloudEncryption)), ("indexed", .boolean(isIndexed)),
      ("spotlight", .boolean(isIndexedBySpotlight)),
      ("valueTransformer", .optional(valueTransformerName)), ("class", .optional(className)),
      ("minimum", .optional(validation.minimum)), ("maximum", .optional(validation.maximum)),
      ("pattern", .optional(validation.pattern)), ("rules", .strings(validation.predicates)),
      ("composite", .optional(compositeName)), ("elements", .array(elements.map(\.jsonValue))),
      ("userInfo", .userInfo(userInfo)),
    ])
  }
}

extension Relationship {
  fileprivate var jsonValue: JSONValue {
    .members([
      ("name", .string(name)), ("destination", .string(destination)),
      ("inverse", .optional(inverse)), ("toMany", .boolean(isToMany)),
      ("ordered", .boolean(isOrdered)), ("optional", .boolean(isOptional)),
      ("transient", .boolean(isTransient)), ("minCount", .integer(Int64(minCount))),
      ("maxCount", .integer(Int64(maxCount))), ("deleteRule", .string(deleteRule.name)),
      ("renamingIdentifier", .optional(renamingIdentifier)),
      ("versionHashModifier", .optional(versionHashModifier)),
      ("spotlight", .boolean(isIndexedBySpotlight)), ("userInfo", .userInfo(userInfo)),
    ])
  }
}

extension FetchedProperty {
  fileprivate var jsonValue: JSONValue {
    .members([
      ("name", .string(name)), ("optional", .boolean(isOptional)), ("entity", .optional(entity)),
      ("predicate", .optional(predicate)),
      ("renamingIdentifier", .optional(renamingIdentifier)), ("userInfo", .userInfo(userInfo)),
    ])
  }
}

extension FetchIndex {
  fileprivate var jsonValue: JSONValue {
    .members([
      ("name", .string(name)),
      (
        "elements",
        .array(
          elements.map { element in
            .members([
              ("property", .optional(element.property)),
              ("expression", .optional(element.expression)),
              ("type", .string(element.kind == .rtree ? "RTree" : "Binary")),
              ("descending", .boolean(!element.isAscending)),
            ])
          })
      ),
      ("partialPredicate", .optional(partialPredicate)),
    ])
  }
}
