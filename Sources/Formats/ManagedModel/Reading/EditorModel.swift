/// A model as Xcode's model editor archived it: the `elements` of an .xcdatamodel of Xcode 3, or one of the two copies
/// in a mapping model.
///
/// It is no NSManagedObjectModel but an archive of the editor's own objects: entities and properties of a diagram, each
/// with “stereotypes” that hold what Core Data cares about as named values. Indexes, fetch requests and the bounds of
/// values are left out; nothing of them enters a version hash.
package struct EditorModel: Sendable, Equatable {
  /// The model.
  package var model: Model
  /// Whether everything in the archive that may enter a version hash was understood.
  package var isComplete: Bool

  package init(model: Model, isComplete: Bool) {
    (self.model, self.isComplete) = (model, isComplete)
  }

  /// Reads an archive of the editor, or of a compiled model.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where it holds no model.
  package init(_ archive: KeyedArchive) throws(CoreDataError) {
    guard let root = archive.root.value.object else {
      throw CoreDataError(.unreadable, "the archive contains no model")
    }
    if root.has(CompiledModelReader.entities) {
      self.init(model: try Model(keyedArchive: archive), isComplete: true)
      return
    }
    guard let package = root[Self.package].object else {
      throw CoreDataError(
        .unreadable, "the archive holds no model, but an object of the class \(root.className)")
    }
    var reader = EditorModelReader()
    var entities: [Entity] = []
    let classes = package["XDBucketForClassesstorage"].entries
    try reader.charge(classes.count)
    for (name, reference) in classes {
      guard let object = reference.value.object else { continue }
      entities.append(try reader.entity(object, name: name))
    }
    let warnings =
      reader.isComplete
      ? []
      : ["Not all of the model editor’s archive is understood: its version hashes may be others."]
    self.init(
      model: try Model(
        entities: entities,
        versionIdentifiers: [root["_modelVersionIdentifier"].string].compactMap { $0 }
          .filter { !$0.isEmpty }, warnings: warnings),
      isComplete: reader.isComplete)
  }

  /// The key by which the root of such an archive names its contents.
  static let package = "_xd_rootPackage"
}

/// Turns the objects of the editor into entities.
private struct EditorModelReader {
  /// Work still allowed: the objects refer to each other in circles.
  private var budget = 2_000_000
  private(set) var isComplete = true

  mutating func charge(_ amount: Int) throws(CoreDataError) {
    budget -= amount
    guard budget >= 0 else {
      throw CoreDataError(.unreadable, "the copy of a model refers to its objects too often")
    }
  }

  mutating func entity(_ object: ArchivedObject, name: String) throws(CoreDataError) -> Entity {
    let values = try self.values(of: object)
    let parents = object["XDBucketForGeneralizationsstorage"].references
    try charge(parents.count)
    let parent = parents.lazy.compactMap { $0.value.object?["_general"].object?["_name"].string }
      .first
    var entity = Entity(name, parent: parent)
    entity.isAbstract =
      values["XD_PSK_isAbstract"]?.boolean ?? object["_isAbstract"].boolean ?? false
    entity.renamingIdentifier = values["XD_PSK_elementID"]?.nonEmptyString
    entity.versionHashModifier = values["XD_PSK_versionHashModifier"]?.nonEmptyString
    entity.className = values["XD_PSK_entityClassName"]?.nonEmptyString
    let constraints = values["XDPMUniquenessConstraints"]?.references ?? []
    try charge(constraints.count)
    entity.uniquenessConstraints = try constraints.map { constraint throws(CoreDataError) in
      try charge(constraint.value.references.count)
      return constraint.value.elements.compactMap { $0.string ?? $0.object?["_name"].string }
    }
    check(values, known: Self.entityKeys)
    let properties = object["XDBucketForOwnedAttributesstorage"].entries
    try charge(properties.count * 32)
    for (name, reference) in properties {
      guard let property = reference.value.object else { continue }
      try add(property, name: name, to: &entity)
    }
    return entity
  }

  private mutating func add(
    _ object: ArchivedObject, name: String, to entity: inout Entity
  ) throws(CoreDataError) {
    let values = try self.values(of: object)
    let isOptional = values["XD_PPSK_isOptional"]?.boolean ?? false
    let isTransient = values["XD_PPSK_isTransient"]?.boolean ?? false
    let modifier = values["XD_PPSK_versionHashModifier"]?.nonEmptyString
    let renaming = values["XD_PPSK_elementID"]?.nonEmptyString
    switch object.className {
    case "XDPMAttribute":
      let number = values["XD_PAttK_attributeType"]?.integer ?? 0
      let type = UInt32(exactly: number).flatMap(AttributeType.init(rawValue:))
      if type == nil || type == .composite || object["_isDerived"].boolean == true {
        isComplete = false
      }
      var attribute = Attribute(name, type ?? .undefined, optional: isOptional)
      attribute.isTransient = isTransient
      attribute.versionHashModifier = modifier
      attribute.renamingIdentifier = renaming
      attribute.allowsExternalBinaryDataStorage =
        values["XD_PAttK_allowsExternalBinaryDataStorage"]?.boolean ?? false
      attribute.isIndexed = values["XD_PPSK_isIndexed"]?.boolean ?? false
      attribute.valueTransformerName = values["XD_PAttK_valueTransformerName"]?.nonEmptyString
      attribute.defaultValue = values["XD_PAttK_defaultValueAsString"]?.nonEmptyString.flatMap {
        DefaultValueText.value($0, as: attribute.type)
      }
      check(values, known: Self.attributeKeys)
      entity.attributes.append(attribute)
    case "XDPMRelationship":
      guard let destination = values["XD_PRK_destination"]?.object?["_name"].string else {
        throw CoreDataError(
          .unreadable, "a relationship has no destination", entity: entity.name, property: name)
      }
      var relationship = Relationship(
        name, to: destination,
        inverse: values["XD_PRK_inverseRelationship"]?.object?["_name"].string)
      relationship.isOptional = isOptional
      relationship.isTransient = isTransient
      relationship.versionHashModifier = modifier
      relationship.renamingIdentifier = renaming
      relationship.isToMany = values["XD_PRK_isToMany"]?.boolean ?? false
      relationship.isOrdered = values["XD_PRK_ordered"]?.boolean ?? false
      relationship.minCount = Self.count(values["XD_PRK_minCount"])
      relationship.maxCount = Self.count(values["XD_PRK_maxCount"])
      if let rule = values["XD_PRK_deleteRule"]?.integer.flatMap({ UInt32(exactly: $0) }),
        let known = Relationship.DeleteRule(rawValue: rule)
      {
        relationship.deleteRule = known
      }
      check(values, known: Self.relationshipKeys)
      entity.relationships.append(relationship)
    // Fetched properties enter no hash.
    default: break
    }
  }

  /// The named values of all stereotypes of an entity or a property.
  private mutating func values(
    of object: ArchivedObject
  ) throws(CoreDataError) -> [String: ArchivedValue] {
    var result: [String: ArchivedValue] = [:]
    let stereotypes = object["XDBucketForStereotypesstorage"].entries
    try charge(stereotypes.count)
    for (_, reference) in stereotypes {
      let entries = reference.value.object?["XDBucketForOwnedAttributesstorage"].entries ?? []
      try charge(entries.count * 4)
      for (key, value) in entries {
        result[key] = value.value.object?["_default"]
      }
    }
    return result
  }

  /// A key that newer versions of Xcode write may enter the hash in a way not known here.
  private mutating func check(_ values: [String: ArchivedValue], known: Set<String>) {
    if !values.keys.allSatisfy(known.contains) { isComplete = false }
  }

  private static func count(_ value: ArchivedValue?) -> UInt32 {
    UInt32(truncatingIfNeeded: value?.integer ?? 0)
  }

  private static let entityKeys: Set<String> = [
    "XDPMCompoundIndexes", "XDPMUniquenessConstraints", "XD_PSK_classMapping",
    "XD_PSK_elementID", "XD_PSK_entityClassName", "XD_PSK_fetchRequestsArray",
    "XD_PSK_isAbstract", "XD_PSK_userInfo", "XD_PSK_versionHashModifier",
  ]
  private static let propertyKeys: Set<String> = [
    "XD_PPSK_elementID", "XD_PPSK_isIndexed", "XD_PPSK_isOptional", "XD_PPSK_isSpotlightIndexed",
    "XD_PPSK_isStoredInTruthFile", "XD_PPSK_isTransient", "XD_PPSK_userInfo",
    "XD_PPSK_versionHashModifier",
  ]
  private static let attributeKeys: Set<String> = propertyKeys.union([
    "XD_PAttK_allowsExternalBinaryDataStorage", "XD_PAttK_attributeType",
    "XD_PAttK_defaultValueAsString", "XD_PAttK_maxValueString", "XD_PAttK_minValueString",
    "XD_PAttK_regularExpressionString", "XD_PAttK_valueTransformerName",
  ])
  private static let relationshipKeys: Set<String> = propertyKeys.union([
    "XD_PRK_deleteRule", "XD_PRK_destination", "XD_PRK_inverseRelationship", "XD_PRK_isToMany",
    "XD_PRK_maxCount", "XD_PRK_minCount", "XD_PRK_ordered",
  ])
}
