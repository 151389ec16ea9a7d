import ManagedModel

/// Reads the copy of a model that Xcode keeps in a mapping model.
///
/// It is no NSManagedObjectModel but an archive of the model editor's own objects: entities and
/// properties of a diagram, each with “stereotypes” that hold what Core Data cares about as named
/// values. Only what a version hash is made of, and the renaming identifiers, are read.
struct SnapshotReader {
  /// Work still allowed: the objects refer to each other in circles.
  private var budget = 2_000_000
  private var isComplete = true

  /// - Throws: ``CoreDataError`` of kind unreadable.
  static func read(_ bytes: [UInt8]) throws -> ModelSnapshot {
    let archive = try KeyedArchive(bytes)
    guard let root = archive.root.value.object else {
      throw CoreDataError(.unreadable, "the archive contains no model")
    }
    if root.has("NSEntities") {
      return ModelSnapshot(model: try Model(keyedArchive: archive), isComplete: true)
    }
    guard let package = root["_xd_rootPackage"].object else {
      throw CoreDataError(
        .unreadable, "the copy of a model is of the unknown class \(root.className)")
    }
    var reader = SnapshotReader()
    let classes = package["XDBucketForClassesstorage"].entries
    let entities = try classes.compactMap { name, reference in
      try reference.value.object.map { try reader.entity($0, name: name) }
    }
    return ModelSnapshot(
      model: try Model(
        entities: entities,
        versionIdentifiers: [root["_modelVersionIdentifier"].string].compactMap { $0 }
          .filter { !$0.isEmpty }),
      isComplete: reader.isComplete)
  }

  private mutating func charge(_ amount: Int) throws {
    budget -= amount
    guard budget >= 0 else {
      throw CoreDataError(.unreadable, "the copy of a model refers to its objects too often")
    }
  }

  private mutating func entity(_ object: ArchivedObject, name: String) throws -> Entity {
    let values = try self.values(of: object)
    let parents = object["XDBucketForGeneralizationsstorage"].references
    try charge(parents.count)
    let parent = parents.lazy.compactMap { $0.value.object?["_general"].object?["_name"].string }
      .first
    var entity = Entity(name, parent: parent)
    entity.isAbstract =
      values["XD_PSK_isAbstract"]?.boolean ?? object["_isAbstract"].boolean ?? false
    entity.renamingIdentifier = Self.nonEmpty(values["XD_PSK_elementID"])
    entity.versionHashModifier = Self.nonEmpty(values["XD_PSK_versionHashModifier"])
    let constraints = values["XDPMUniquenessConstraints"]?.references ?? []
    try charge(constraints.count)
    entity.uniquenessConstraints = try constraints.map { constraint in
      try charge(constraint.value.references.count)
      return constraint.value.elements.compactMap { $0.string ?? $0.object?["_name"].string }
    }
    check(values, known: Self.entityKeys)
    for (name, reference) in object["XDBucketForOwnedAttributesstorage"].entries {
      guard let property = reference.value.object else { continue }
      try add(property, name: name, to: &entity)
    }
    return entity
  }

  private mutating func add(
    _ object: ArchivedObject, name: String, to entity: inout Entity
  ) throws {
    let values = try self.values(of: object)
    let isOptional = values["XD_PPSK_isOptional"]?.boolean ?? false
    let isTransient = values["XD_PPSK_isTransient"]?.boolean ?? false
    let modifier = Self.nonEmpty(values["XD_PPSK_versionHashModifier"])
    let renaming = Self.nonEmpty(values["XD_PPSK_elementID"])
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
      check(values, known: Self.relationshipKeys)
      entity.relationships.append(relationship)
    // Fetched properties enter no hash.
    default: break
    }
  }

  /// The named values of all stereotypes of an entity or a property.
  private mutating func values(of object: ArchivedObject) throws -> [String: ArchivedValue] {
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

  private static func nonEmpty(_ value: ArchivedValue?) -> String? {
    value?.string.flatMap { $0.isEmpty ? nil : $0 }
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

/// What a mapping model's file says, before it is applied to two models.
///
/// The two file formats say the same in different words; this is what they have in common.
struct MappingSource: Sendable, Equatable {
  /// What shows the two models that the file was made for.
  enum Origin: Sendable, Equatable {
    /// Each entity mapping states the hashes of its entities: a compiled mapping model.
    case hashes
    /// Xcode's copies of the two models.
    case models(source: ModelSnapshot, destination: ModelSnapshot)
    /// The copies are missing or cannot be read: names are all there is.
    case names
  }

  var origin: Origin
  /// In the order in which they run.
  var entityMappings: [Entity]

  struct Entity: Sendable, Equatable {
    var name: String
    /// NSEntityMappingType's number, 0 where the file leaves it open.
    var type: Int64 = 0
    var source: String?
    var destination: String?
    var sourceHash: VersionHash?
    var destinationHash: VersionHash?
    /// Which source objects it takes: a `FETCH(…)`. All of the source entity without one.
    var sourceExpression: Expression?
    /// The fetch's predicate where the file has it by itself.
    var predicate: String?
    var attributes: [Property] = []
    var relationships: [Property] = []
    var policy: String?
    var userInfo: [String: PropertyListValue] = [:]
  }

  struct Property: Sendable, Equatable {
    var name: String
    var value: Value
  }

  /// Where a property's value comes from.
  enum Value: Sendable, Equatable {
    /// Left as it is in a new object.
    case untouched
    case expression(Expression)
    /// Xcode makes up the expression when it compiles the file: from the source's property of the
    /// same name, or the key path given, by way of the mapping given or the one that fits.
    case automatic(keyPath: String?, through: String?)
  }

  /// The names of the mappings have to distinguish them.
  mutating func makeNamesUnique() {
    var used = Set(entityMappings.map(\.name))
    var counts: [String: Int] = [:]
    for index in entityMappings.indices {
      let name = entityMappings[index].name
      var number = counts[name, default: 0] + 1
      if number > 1 {
        while !used.insert("\(name) \(number)").inserted { number += 1 }
        entityMappings[index].name = "\(name) \(number)"
      }
      counts[name] = number
    }
  }
}

/// A model as Xcode keeps a copy of it in a mapping model.
struct ModelSnapshot: Sendable, Equatable {
  var model: Model
  /// Whether everything in the copy that may enter a version hash was understood.
  var isComplete: Bool
}
