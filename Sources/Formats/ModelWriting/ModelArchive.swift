/// How a model is written, and how two of them differ.
@_exported import ManagedModel

extension Model {
  /// The model as a keyed archive, as a .mom or, deflated, a store's model cache holds it.
  ///
  /// It has the classes and keys that Apple's own archives have, and reads back with equal version
  /// hashes. An archive has no place for a few things that only matter to Xcode: scalar types, code
  /// generation, syncing and encryption flags.
  public func archived() -> [UInt8] {
    var writer = ModelArchiveWriter(model: self)
    return writer.bytes()
  }
}

/// Writes the objects of an NSManagedObjectModel.
private struct ModelArchiveWriter {
  private let model: Model
  private var writer = KeyedArchiveWriter()
  private var references: [String: PropertyListValue] = [:]
  private var relationships: [String: [String: PropertyListValue]] = [:]
  private var emptyDictionary = KeyedArchiveWriter.null

  init(model: Model) { self.model = model }

  mutating func bytes() -> [UInt8] {
    let root = writer.reserve()
    for entity in model.entities {
      references[entity.name] = writer.reserve()
      for relationship in entity.relationships {
        relationships[entity.name, default: [:]][relationship.name] = writer.reserve()
      }
    }
    emptyDictionary = writer.dictionary([])
    for entity in model.entities { write(entity, root: root) }
    var fields: [String: PropertyListValue] = [
      "NSEntities": entities(model.entities.map(\.name)),
      "NSVersionIdentifiers": writer.set(model.versionIdentifiers.map { writer.string($0) }),
      "NSFetchRequestTemplates": fetchRequests(),
    ]
    if !model.configurations.isEmpty {
      fields["NSConfigurations"] = writer.dictionary(
        model.configurations.sorted { $0.key < $1.key }.map { name, members in
          (writer.string(name), writer.set(members.compactMap { references[$0] }))
        }, mutable: true)
    }
    writer.fill(root, class: ["NSManagedObjectModel", "NSObject"], fields)
    return writer.bytes(root: root)
  }

  private mutating func entities(_ names: [String]) -> PropertyListValue {
    writer.dictionary(
      names.compactMap { name in references[name].map { (writer.string(name), $0) } },
      mutable: true)
  }

  private mutating func write(_ entity: Entity, root: PropertyListValue) {
    guard let reference = references[entity.name] else { return }
    var properties: [(PropertyListValue, PropertyListValue)] = []
    for attribute in entity.attributes {
      properties.append((writer.string(attribute.name), add(attribute, of: reference)))
    }
    for relationship in entity.relationships {
      guard let place = relationships[entity.name]?[relationship.name] else { continue }
      fill(place, relationship, of: reference)
      properties.append((writer.string(relationship.name), place))
    }
    for property in entity.fetchedProperties {
      properties.append((writer.string(property.name), add(property, of: reference)))
    }
    var fields: [String: PropertyListValue] = [
      "NSEntityName": writer.string(entity.name),
      "NSClassNameForEntity": writer.string(entity.className),
      "NSManagedObjectModel": root,
      "NSProperties": writer.dictionary(properties.map { (key: $0.0, value: $0.1) }, mutable: true),
      "NSRenamingIdentifier": writer.string(entity.renamingIdentifier ?? entity.name),
      "NSSubentities": entities(model.children(of: entity.name)),
      "NSSuperentity": entity.parent.flatMap { references[$0] } ?? KeyedArchiveWriter.null,
      "NSUserInfo": userInfo(entity.userInfo),
      "NSVersionHashModifier": writer.string(entity.versionHashModifier),
      "NSCompoundIndexes": tuples(entity.compoundIndexes),
    ]
    if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
    if !entity.uniquenessConstraints.isEmpty {
      fields["NSUniqueTuples"] = tuples(entity.uniquenessConstraints)
    }
    fields["NSFetchIndexDescriptions"] = writer.array(
      entity.fetchIndexes.map { add($0, of: reference) }, mutable: true)
    writer.fill(reference, class: ["NSEntityDescription", "NSObject"], fields)
  }

  private mutating func add(
    _ attribute: Attribute, of entity: PropertyListValue
  ) -> PropertyListValue {
    var fields = property(
      attribute.name, of: entity, optional: attribute.isOptional,
      transient: attribute.isTransient, readOnly: attribute.isDerived,
      renaming: attribute.renamingIdentifier, modifier: attribute.versionHashModifier,
      userInfo: attribute.userInfo)
    fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    fields["NSAttributeValueClassName"] = writer.string(
      attribute.className ?? attribute.type.archivedClassName)
    fields["NSValueTransformerName"] = writer.string(attribute.valueTransformerName)
    fields["NSDefaultValue"] =
      attribute.defaultValue.map { writer.add(attributeValue: $0) } ?? KeyedArchiveWriter.null
    fields["NSFlagsKey"] = .integer(
      (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
        | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0))
    if attribute.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
    let rules = attribute.validation.rules(for: attribute.type)
    if !rules.isEmpty {
      fields["NSValidationPredicates"] = writer.array(
        rules.map { writer.add(predicate: $0.predicate) }, mutable: true)
      fields["NSValidationWarnings"] = writer.array(
        rules.map { writer.add(.integer(Int64($0.code.rawValue))) }, mutable: true)
      fields["_P"] = fields["_P"]?.integer.map { .integer($0 & ~0x30) }
    }
    var ancestry = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
    if let derivation = attribute.derivation {
      ancestry.insert("NSDerivedAttributeDescription", at: 0)
      fields["NSDerivationExpression"] = expression(derivation.expression)
      fields["NSFilteringPredicate"] = predicate(derivation.filter)
    } else if attribute.type == .composite {
      ancestry.insert("NSCompositeAttributeDescription", at: 0)
      fields["NSCompositeElements"] = writer.array(attribute.elements.map { add($0, of: entity) })
    }
    return writer.add(class: ancestry, fields)
  }

  private mutating func fill(
    _ place: PropertyListValue, _ relationship: Relationship, of entity: PropertyListValue
  ) {
    var fields = property(
      relationship.name, of: entity, optional: relationship.isOptional,
      transient: relationship.isTransient, readOnly: false,
      renaming: relationship.renamingIdentifier, modifier: relationship.versionHashModifier,
      userInfo: relationship.userInfo)
    let inverseOwner = relationship.inverse.flatMap {
      model.declaringEntity(of: $0, in: relationship.destination)
    }
    let inverse = relationship.inverse.flatMap { relationships[inverseOwner ?? ""]?[$0] }
    fields["NSDestinationEntity"] =
      references[relationship.destination] ?? KeyedArchiveWriter.null
    fields["_NSDestinationEntityName"] = writer.string(relationship.destination)
    fields["NSInverseRelationship"] = inverse ?? KeyedArchiveWriter.null
    fields["_NSInverseRelationshipName"] = writer.string(relationship.inverse)
    fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    fields["NSMinCount"] = .integer(Int64(relationship.minCount))
    fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
    if relationship.isOrdered {
      fields["NSIsOrdered"] = .boolean(true)
      fields["_P"] = fields["_P"]?.integer.map { .integer($0 | 0x400) }
    }
    writer.fill(
      place, class: ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"], fields)
  }

  private mutating func add(
    _ fetched: FetchedProperty, of entity: PropertyListValue
  ) -> PropertyListValue {
    var fields = property(
      fetched.name, of: entity, optional: fetched.isOptional, transient: true, readOnly: true,
      renaming: fetched.renamingIdentifier, modifier: nil, userInfo: fetched.userInfo)
    fields["_NSFetchRequestEntityName"] = writer.string(fetched.entity)
    fields["NSFetchRequest"] = fetchRequest(entity: fetched.entity, predicate: fetched.predicate)
    return writer.add(
      class: ["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"], fields)
  }

  /// The keys of every property. `_P` packs its flags: 2 optional, 4 read-only, 8 transient, and
  /// bits that are clear where there are validation rules (0x30), user info (0x40) or a hash
  /// modifier (0x80).
  private mutating func property(
    _ name: String, of entity: PropertyListValue, optional: Bool, transient: Bool, readOnly: Bool,
    renaming: String?, modifier: String?, userInfo: [String: String]
  ) -> [String: PropertyListValue] {
    var flags: Int64 = 0xF1
    if optional { flags |= 2 }
    if readOnly { flags |= 4 }
    if transient { flags |= 8 }
    if !userInfo.isEmpty { flags &= ~0x40 }
    if modifier != nil { flags &= ~0x80 }
    var fields: [String: PropertyListValue] = [
      "NSPropertyName": writer.string(name), "NSEntity": entity,
      "NSRenamingIdentifier": writer.string(renaming ?? name), "_P": .integer(flags),
    ]
    if optional { fields["NSIsOptional"] = .boolean(true) }
    if transient { fields["NSIsTransient"] = .boolean(true) }
    if readOnly { fields["NSIsReadOnly"] = .boolean(true) }
    if let modifier { fields["NSVersionHashModifier"] = writer.string(modifier) }
    if !userInfo.isEmpty { fields["NSUserInfo"] = self.userInfo(userInfo) }
    return fields
  }

  private mutating func add(_ index: FetchIndex, of entity: PropertyListValue) -> PropertyListValue
  {
    let place = writer.reserve()
    let elements = index.elements.map { element in
      var fields: [String: PropertyListValue] = [
        "NSAscending": .boolean(element.isAscending), "NSFetchIndexDescription": place,
        "NSFetchIndexElementType": .integer(element.kind == .rtree ? 1 : 0),
        "NSPropertyName": writer.string(element.property ?? element.expression),
      ]
      if let text = element.expression {
        var described = property(
          text, of: KeyedArchiveWriter.null, optional: true, transient: false, readOnly: true,
          renaming: nil, modifier: nil, userInfo: [:])
        described["NSExpression"] = expression(text)
        described["NSExpressionType"] = .integer(0)
        fields["NSIndexedProperty"] = writer.add(
          class: ["NSExpressionDescription", "NSPropertyDescription", "NSObject"], described)
      }
      return writer.add(class: ["NSFetchIndexElementDescription", "NSObject"], fields)
    }
    writer.fill(
      place, class: ["NSFetchIndexDescription", "NSObject"],
      [
        "NSEntity": entity, "NSIndexName": writer.string(index.name),
        "NSIndexElements": writer.array(elements, mutable: true),
        "NSPartialIndexPredicate": predicate(index.partialPredicate),
      ])
    return place
  }

  private mutating func fetchRequests() -> PropertyListValue {
    guard !model.fetchRequests.isEmpty else { return KeyedArchiveWriter.null }
    return writer.dictionary(
      model.fetchRequests.map { request in
        (
          writer.string(request.name),
          fetchRequest(entity: request.entity, predicate: request.predicate)
        )
      }, mutable: true)
  }

  private mutating func fetchRequest(entity: String?, predicate text: String?) -> PropertyListValue
  {
    let null = KeyedArchiveWriter.null
    return writer.add(
      class: ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"],
      [
        "NSEntity": entity.flatMap { references[$0] } ?? null, "NSPredicate": predicate(text),
        "NSAllocationType": .integer(0), "NSBatchSize": .integer(0), "NSFetchLimit": .integer(0),
        "NSFetchOffset": .integer(0), "NSFetchRequestFlags": .integer(30),
        "NSHasFetchRequestFlags": .boolean(true), "NSHavingPredicate": null,
        "NSRelationshipKeyPathsForPrefetching": null, "NSResultType": .integer(0),
        "NSSortDescriptors": null, "NSValuesToFetch": null, "NSValuesToGroupBy": null,
      ])
  }

  private mutating func tuples(_ lists: [[String]]) -> PropertyListValue {
    let tuples = lists.map { names in
      writer.array(names.map { writer.string($0) }, mutable: true)
    }
    return writer.array(tuples, mutable: true)
  }

  private mutating func userInfo(_ info: [String: String]) -> PropertyListValue {
    guard !info.isEmpty else { return emptyDictionary }
    return writer.dictionary(
      info.sorted { $0.key < $1.key }.map { (writer.string($0.key), writer.string($0.value)) })
  }

  /// Text that is not understood is archived as a key path, which prints, and so hashes, the same.
  private mutating func expression(_ text: String) -> PropertyListValue {
    if let parsed = try? Expression(format: text), parsed.description == text {
      return writer.add(expression: parsed)
    }
    return writer.add(expression: .keyPath(text, of: nil))
  }

  /// Text that is not understood is left out, since a wrong predicate is worse than none.
  private mutating func predicate(_ text: String?) -> PropertyListValue {
    guard let text, let parsed = try? Predicate(format: text) else {
      return KeyedArchiveWriter.null
    }
    return writer.add(predicate: parsed)
  }
}

extension Attribute.Validation {
  /// The rules as a compiled model keeps them, each with the error code of its violation.
  func rules(for type: AttributeType) -> [(predicate: Predicate, code: CoreDataError.Code)] {
    var rules: [(predicate: Predicate, code: CoreDataError.Code)] = []
    let isText = type == .string
    let subject = isText ? Expression.keyPath("length", of: nil) : .selfObject
    func add(
      _ subject: Expression, _ comparator: Predicate.Comparator, _ bound: Expression,
      _ code: CoreDataError.Code
    ) {
      rules.append((.comparison(Predicate.Comparison(subject, comparator, bound)), code))
    }
    if let bound = minimum.flatMap(Self.bound) {
      add(
        subject, .greaterOrEqual, bound,
        isText ? .validationStringTooShort : .validationNumberTooSmall)
    }
    if let bound = maximum.flatMap(Self.bound) {
      add(
        subject, .lessOrEqual, bound, isText ? .validationStringTooLong : .validationNumberTooLarge)
    }
    if let pattern {
      add(.selfObject, .matches, .constant(.string(pattern)), .validationStringPatternMatching)
    }
    for text in predicates {
      // NSManagedObjectValidationError: the code of the rule itself is not kept.
      if let predicate = try? Predicate(format: text) { rules.append((predicate, 1550)) }
    }
    return rules
  }

  private static func bound(_ text: String) -> Expression? {
    if let value = Int64(text) { return .constant(.integer(value)) }
    return Double(text).map { .constant(.real($0)) }
  }
}
