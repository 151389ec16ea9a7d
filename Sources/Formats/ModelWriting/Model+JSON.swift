import JSON

extension Model {
  /// The model as JSON text, the same for the same model; one member a line.
  ///
  /// What is false, empty or absent is left out, so that the text stays small and a line-wise
  /// comparison of two of them shows what differs.
  public var json: String {
    let hashes = versionHashes
    var json = JSONWriter(indented: true)
    json.object { json in
      json.field("versionIdentifiers", versionIdentifiers)
      json.field("versionChecksum", Self.versionChecksum(of: hashes))
      json.objects("entities", entities) { $1.write(to: &$0, hash: hashes[$1.name]) }
      json.object("configurations") { json in
        for (name, entities) in configurations.sorted(by: { $0.key < $1.key }) {
          json.field(name, entities)
        }
      }
      json.objects("fetchRequests", fetchRequests) { json, request in
        json.told([
          "name": request.name, "entity": request.entity, "predicate": request.predicate,
        ])
      }
    }
    return String(decoding: json.bytes, as: UTF8.self) + "\n"
  }
}

extension JSONWriter {
  /// Members without those that say nothing: absent, false, or empty lists.
  fileprivate mutating func told(_ members: JSONMembers) {
    for (name, value) in members {
      guard let value, value as? Bool != false, (value as? [any JSONField])?.isEmpty != true
      else { continue }
      key(name)
      value.write(to: &self)
    }
  }

  fileprivate mutating func told<Element>(
    _ name: String, _ elements: [Element], _ body: (inout JSONWriter, Element) -> Void
  ) {
    if !elements.isEmpty { objects(name, elements, body) }
  }

  fileprivate mutating func told(userInfo: [String: String]) {
    guard !userInfo.isEmpty else { return }
    object("userInfo") { json in
      for (key, text) in userInfo.sorted(by: { $0.key < $1.key }) { json.field(key, text) }
    }
  }
}

extension Entity {
  fileprivate func write(to json: inout JSONWriter, hash: VersionHash?) {
    json.told([
      "name": name, "parent": parent, "abstract": isAbstract, "class": className,
      "renamingIdentifier": renamingIdentifier, "versionHashModifier": versionHashModifier,
      "versionHash": hash?.hex,
    ])
    json.told("attributes", attributes) { $1.write(to: &$0) }
    json.told("relationships", relationships) { $1.write(to: &$0) }
    json.told("fetchedProperties", fetchedProperties) { json, property in
      json.told([
        "name": property.name, "optional": property.isOptional, "entity": property.entity,
        "predicate": property.predicate, "renamingIdentifier": property.renamingIdentifier,
      ])
      json.told(userInfo: property.userInfo)
    }
    json.told(["uniquenessConstraints": uniquenessConstraints])
    json.told("fetchIndexes", fetchIndexes) { $1.write(to: &$0) }
    json.told(["compoundIndexes": compoundIndexes])
    json.told(userInfo: userInfo)
  }
}

extension Attribute {
  fileprivate func write(to json: inout JSONWriter) {
    json.told([
      "name": name, "type": type.name, "optional": isOptional, "transient": isTransient,
      "default": defaultValue.flatMap(DefaultValueText.text),
      "derivation": derivation?.expression, "derivationFilter": derivation?.filter,
      "renamingIdentifier": renamingIdentifier, "versionHashModifier": versionHashModifier,
      "externalStorage": allowsExternalBinaryDataStorage,
      "preservedInHistory": preservesValueInHistoryOnDeletion,
      "cloudEncryption": allowsCloudEncryption, "indexed": isIndexed,
      "spotlight": isIndexedBySpotlight, "valueTransformer": valueTransformerName,
      "class": className, "minimum": validation.minimum, "maximum": validation.maximum,
      "pattern": validation.pattern, "rules": validation.predicates, "composite": compositeName,
    ])
    json.told("elements", elements) { $1.write(to: &$0) }
    json.told(userInfo: userInfo)
  }
}

extension Relationship {
  fileprivate func write(to json: inout JSONWriter) {
    json.told([
      "name": name, "destination": destination, "inverse": inverse, "toMany": isToMany,
      "ordered": isOrdered, "optional": isOptional, "transient": isTransient,
      "minCount": Int(minCount), "maxCount": Int(maxCount), "deleteRule": deleteRule.name,
      "renamingIdentifier": renamingIdentifier, "versionHashModifier": versionHashModifier,
      "spotlight": isIndexedBySpotlight,
    ])
    json.told(userInfo: userInfo)
  }
}

extension FetchIndex {
  fileprivate func write(to json: inout JSONWriter) {
    json.field("name", name)
    json.told("elements", elements) { json, element in
      json.told([
        "property": element.property, "expression": element.expression,
        "type": element.kind == .rtree ? "RTree" : "Binary", "descending": !element.isAscending,
      ])
    }
    json.told(["partialPredicate": partialPredicate])
  }
}
