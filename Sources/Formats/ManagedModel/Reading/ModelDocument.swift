extension Model {
  /// Reads the XML of a source model: the bytes of a .xcdatamodel's `contents`.
  ///
  /// Attributes and elements that are not known become ``warnings``.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable naming the line and what was expected.
  public init(contents bytes: [UInt8]) throws(CoreDataError) {
    let reader = ModelDocumentReader()
    try XMLReader.read(bytes) { event, xml throws(CoreDataError) in try reader.take(event, xml) }
    self = try reader.model()
  }
}

/// Builds a model from the tags of a `contents` file, one at a time.
///
/// A class, since the XML reader's callback fills it in place.
private final class ModelDocumentReader {
  private var path: [String] = []
  private var hasModel = false
  private var entities: [Entity] = []
  private var entity: Entity?
  /// The attributes that are open, an element inside its composite.
  private var attributes: [Attribute] = []
  private var relationship: Relationship?
  private var fetchedProperty: FetchedProperty?
  private var fetchIndex: FetchIndex?
  /// Name lists of the uniqueness constraint or compound index that is open.
  private var names: [String] = []
  private var composites: [String: [Attribute]] = [:]
  private var composite: (name: String, elements: [Attribute])?
  private var configuration: (name: String, members: [String])?
  private var configurations: [String: [String]] = [:]
  private var fetchRequests: [FetchRequestTemplate] = []
  private var versionIdentifiers: [String] = []
  private var warnings: [String] = []
  /// Depth at which an element that is not known, or is of no interest, was opened.
  private var skippedDepth: Int?

  func model() throws(CoreDataError) -> Model {
    guard hasModel else { throw CoreDataError(.unreadable, "line 1: expected a <model>") }
    let entities = entities.map { withComposites($0).withCompiledIndexes }
    return try Model(
      entities: entities,
      versionIdentifiers: versionIdentifiers, configurations: configurations,
      fetchRequests: fetchRequests.sorted { $0.name < $1.name }, warnings: warnings)
  }

  func take(_ event: XMLReader.Event, _ xml: XMLReader) throws(CoreDataError) {
    switch event {
    case .start(let name, let attributes):
      path.append(name)
      guard skippedDepth == nil else { return }
      try start(XMLTag(name: name, attributes: attributes, xml: xml), xml)
    case .text(let text):
      if skippedDepth == nil, !text.trimmed.isEmpty {
        warn("text between the tags was ignored", xml)
      }
    case .end(let name):
      defer { path.removeLast() }
      if let depth = skippedDepth {
        if depth == path.count { skippedDepth = nil }
        return
      }
      end(name)
    }
  }

  private func start(_ tag: XMLTag, _ xml: XMLReader) throws(CoreDataError) {
    var tag = tag
    let parent = path.count > 1 ? path[path.count - 2] : nil
    // What there is most of comes first.
    switch (parent, tag.name) {
    case ("entity", "attribute"), ("composite", "attribute"), ("compositeAttribute", "attribute"),
      ("attribute", "attribute"):
      attributes.append(try ModelDocumentTags.attribute(&tag, warn: { self.warn($0, xml) }))
    case ("entity", "relationship"):
      relationship = try ModelDocumentTags.relationship(&tag, warn: { self.warn($0, xml) })
    case (nil, "model"):
      hasModel = true
      versionIdentifiers = tag.list("userDefinedModelVersionIdentifier")
      tag.ignore(
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "macOSVersion", "iOSVersion", "tvOSVersion", "watchOSVersion", "name", "sourceLanguage",
        "usedWithSwiftData", "usedWithCloudKit")
    case (nil, _): throw xml.error("expected <model>, found <\(tag.name)>")
    case ("model", "entity"):
      entity = try ModelDocumentTags.entity(&tag)
    case ("model", "elements"): skippedDepth = path.count
    case ("model", "configuration"):
      configuration = (try tag.required("name"), [])
      tag.ignore("usedWithCloudKit", "usedWithSwiftData")
    case ("configuration", "memberEntity"):
      configuration?.members.append(try tag.required("name"))
    case ("model", "fetchRequest"):
      fetchRequests.append(
        FetchRequestTemplate(
          try tag.required("name"), entity: tag.text("entity"),
          predicate: tag.text("predicateString")))
      ignoreFetchRequestOptions(&tag)
    case ("model", "compositeAttribute"), ("model", "composite"):
      composite = (try tag.required("name"), [])
    case ("entity", "fetchedProperty"):
      var property = FetchedProperty(try tag.required("name"))
      property.isOptional = tag.boolean("optional") ?? false
      property.renamingIdentifier = tag.renaming(property.name)
      tag.ignore("transient", "syncable")
      fetchedProperty = property
    case ("fetchedProperty", "fetchRequest"):
      fetchedProperty?.entity = tag.text("entity")
      fetchedProperty?.predicate = tag.text("predicateString")
      tag.ignore("name")
      ignoreFetchRequestOptions(&tag)
    case ("entity", "uniquenessConstraints"), ("entity", "compoundIndexes"): break
    case ("uniquenessConstraints", "uniquenessConstraint"), ("compoundIndexes", "compoundIndex"):
      names = []
    case ("uniquenessConstraint", "constraint"), ("compoundIndex", "index"):
      names.append(try tag.required("value"))
    case ("entity", "fetchIndex"):
      fetchIndex = FetchIndex(
        try tag.required("name"), elements: [],
        partialPredicate: tag.text("partialIndexPredicate"))
    case ("fetchIndex", "fetchIndexElement"):
      fetchIndex?.elements.append(ModelDocumentTags.indexElement(&tag))
    case ("entity", "userInfo"), ("attribute", "userInfo"), ("relationship", "userInfo"),
      ("fetchedProperty", "userInfo"):
      break
    case ("userInfo", "entry"):
      let (key, value) = (try tag.required("key"), tag.text("value") ?? "")
      switch path.dropLast(2).last {
      case "entity": entity?.userInfo[key] = value
      case "attribute": attributes[attributes.count - 1].userInfo[key] = value
      case "relationship": relationship?.userInfo[key] = value
      default: fetchedProperty?.userInfo[key] = value
      }
    default:
      warn("the element <\(tag.name)> in <\(parent ?? "")> is not known", xml)
      skippedDepth = path.count
      return
    }
    guard skippedDepth == nil else { return }
    for name in tag.hasUnread ? tag.unread : [] {
      if name == "renamingIdentifier" {
        let owner = tag.text("name").map { " “\($0)”" } ?? ""
        warn(
          "renamingIdentifier of <\(tag.name)>\(owner) is ignored, as Xcode and Core Data do:"
            + " use elementID", xml)
      } else {
        warn("the attribute \(name) of <\(tag.name)> is not known", xml)
      }
    }
  }

  private func end(_ name: String) {
    switch name {
    case "entity":
      if let entity { entities.append(entity) }
      entity = nil
    case "attribute":
      guard let attribute = attributes.popLast() else { return }
      if !attributes.isEmpty {
        attributes[attributes.count - 1].elements.append(attribute)
      } else if composite != nil {
        composite?.elements.append(attribute)
      } else {
        entity?.attributes.append(attribute)
      }
    case "relationship":
      if let relationship { entity?.relationships.append(relationship) }
      relationship = nil
    case "fetchedProperty":
      if let fetchedProperty { entity?.fetchedProperties.append(fetchedProperty) }
      fetchedProperty = nil
    case "uniquenessConstraint": entity?.uniquenessConstraints.append(names)
    case "compoundIndex": entity?.compoundIndexes.append(names)
    case "fetchIndex":
      if let fetchIndex { entity?.fetchIndexes.append(fetchIndex) }
      fetchIndex = nil
    case "composite", "compositeAttribute":
      if let composite { composites[composite.name] = composite.elements }
      composite = nil
    case "configuration":
      if let configuration { configurations[configuration.name] = configuration.members.sorted() }
      configuration = nil
    default: break
    }
  }

  /// Composite attributes name their definition, which may come behind them in the file.
  private func withComposites(_ entity: Entity) -> Entity {
    guard entity.attributes.contains(where: { $0.type == .composite }) else { return entity }
    var copy = entity
    copy.attributes = entity.attributes.map { filled($0, in: entity, depth: 0) }
    return copy
  }

  private func filled(_ attribute: Attribute, in entity: Entity, depth: Int) -> Attribute {
    guard attribute.type == .composite else { return attribute }
    var copy = attribute
    let place = "the composite attribute “\(entity.name).\(attribute.name)”"
    if copy.elements.isEmpty {
      guard depth < AttributeStorage.maximumDepth else {
        warnings.append("\(place) is defined by itself, or nested too deeply")
        return copy
      }
      guard let name = attribute.compositeName, let elements = composites[name] else {
        warnings.append(
          attribute.compositeName.map { "\(place) is a “\($0)”, which the model does not define" }
            ?? "\(place) does not say which definition it follows")
        return copy
      }
      copy.elements = elements
    }
    copy.elements = copy.elements.map { filled($0, in: entity, depth: depth + 1) }
    return copy
  }

  private func ignoreFetchRequestOptions(_ tag: inout XMLTag) {
    tag.ignore(
      "fetchBatchSize", "fetchLimit", "fetchOffset", "includesSubentities",
      "includesPropertyValues", "includesPendingChanges", "returnObjectsAsFaults",
      "returnDistinctResults", "resultType", "selected")
  }

  private func warn(_ sentence: String, _ xml: XMLReader) {
    guard warnings.count < 1_000 else { return }
    warnings.append("line \(xml.line): \(sentence)")
  }
}

/// What the tags of a `contents` file say about entities and properties.
enum ModelDocumentTags {
  static func entity(_ tag: inout XMLTag) throws(CoreDataError) -> Entity {
    var entity = Entity(try tag.required("name"), parent: tag.nonEmpty("parentEntity"))
    entity.className = tag.nonEmpty("representedClassName")
    entity.isAbstract = tag.boolean("isAbstract") ?? false
    entity.renamingIdentifier = tag.renaming(entity.name)
    entity.versionHashModifier = tag.nonEmpty("versionHashModifier")
    entity.codeGenerationType = tag.nonEmpty("codeGenerationType")
    entity.isSyncable = tag.boolean("syncable")
    tag.ignore("coreSpotlightDisplayNameExpression")
    return entity
  }

  static func attribute(
    _ tag: inout XMLTag, warn: (String) -> Void
  ) throws(CoreDataError) -> Attribute {
    let typeName = tag.nonEmpty("attributeType")
    let type = typeName.map { AttributeType(name: $0) } ?? .undefined
    var attribute = Attribute(try tag.required("name"), type ?? .undefined)
    if type == nil { warn("“\(typeName ?? "")” is not a known attribute type") }
    attribute.isOptional = tag.boolean("optional") ?? false
    // Most tags say no more, and everything else starts out as without a word.
    guard tag.hasUnread else { return attribute }
    attribute.isTransient = tag.boolean("transient") ?? false
    attribute.isIndexed = tag.boolean("indexed") ?? false
    attribute.isIndexedBySpotlight = tag.boolean("spotlightIndexingEnabled") ?? false
    attribute.allowsExternalBinaryDataStorage =
      tag.boolean("allowsExternalBinaryDataStorage") ?? false
    attribute.preservesValueInHistoryOnDeletion = tag.boolean("preserveAfterDeletion") ?? false
    attribute.allowsCloudEncryption = tag.boolean("allowsCloudEncryption") ?? false
    attribute.usesScalarValueType = tag.boolean("usesScalarValueType")
    attribute.valueTransformerName = tag.nonEmpty("valueTransformerName")
    attribute.className = tag.nonEmpty("customClassName")
    attribute.renamingIdentifier = tag.renaming(attribute.name)
    attribute.versionHashModifier = tag.nonEmpty("versionHashModifier")
    // Which of these Xcode writes no file at hand shows.
    for key in ["compositeName", "elementName", "composite", "compositeAttributeName"] {
      let name = tag.nonEmpty(key)
      attribute.compositeName = attribute.compositeName ?? name
    }
    attribute.validation.minimum = tag.nonEmpty("minValueString")
    attribute.validation.maximum = tag.nonEmpty("maxValueString")
    if let seconds = tag.nonEmpty("minDateTimeInterval") { attribute.validation.minimum = seconds }
    if let seconds = tag.nonEmpty("maxDateTimeInterval") { attribute.validation.maximum = seconds }
    attribute.validation.pattern = tag.nonEmpty("regularExpressionString")
    let expression = tag.nonEmpty("derivationExpression")
    let filter = tag.nonEmpty("derivationFilter") ?? tag.nonEmpty("filteringPredicate")
    if tag.boolean("derived") == true, let expression {
      // The hash is made of the text as NSExpression prints it, which may be spaced otherwise.
      attribute.derivation = Attribute.Derivation(
        expression: (try? Expression(format: expression).description) ?? expression,
        filter: filter.map { (try? Predicate(format: $0).description) ?? $0 })
    }
    let seconds = tag.text("defaultDateTimeInterval")
    if let text = attribute.type == .date ? seconds : tag.text("defaultValueString") {
      attribute.defaultValue = DefaultValueText.value(text, as: attribute.type)
      if attribute.defaultValue == nil, !text.isEmpty {
        warn(
          "the default value “\(text)” of “\(attribute.name)” does not fit \(attribute.type.name)")
      }
    }
    tag.ignore("defaultValueString", "syncable", "storedInTruthFile")
    return attribute
  }

  static func relationship(
    _ tag: inout XMLTag, warn: (String) -> Void
  ) throws(CoreDataError) -> Relationship {
    let toMany = tag.boolean("toMany") ?? false
    let name = try tag.required("name")
    var relationship = Relationship(
      name, to: try tag.required("destinationEntity"), inverse: tag.nonEmpty("inverseName"),
      toMany: toMany, ordered: tag.boolean("ordered") ?? false,
      optional: tag.boolean("optional") ?? false)
    relationship.maxCount = try tag.number("maxCount") ?? (toMany ? 0 : 1)
    relationship.minCount = try tag.number("minCount") ?? 0
    // Core Data knows no other flag: a relationship of at most one is a to-one.
    relationship.isToMany = relationship.maxCount != 1
    relationship.isTransient = tag.boolean("transient") ?? false
    relationship.isIndexedBySpotlight = tag.boolean("spotlightIndexingEnabled") ?? false
    relationship.renamingIdentifier = tag.renaming(name)
    relationship.versionHashModifier = tag.nonEmpty("versionHashModifier")
    if let rule = tag.text("deletionRule") {
      if let known = Relationship.DeleteRule.allCases.first(where: { $0.name == rule }) {
        relationship.deleteRule = known
      } else {
        warn("“\(rule)” is not a known deletion rule")
      }
    }
    tag.ignore("inverseEntity", "syncable", "storedInTruthFile", "indexed")
    return relationship
  }

  static func indexElement(_ tag: inout XMLTag) -> FetchIndex.Element {
    let expression = tag.nonEmpty("expression")
    tag.ignore("expressionType")
    return FetchIndex.Element(
      property: expression == nil ? tag.nonEmpty("property") : nil, expression: expression,
      kind: tag.text("type")?.lowercased() == "rtree" ? .rtree : .binary,
      isAscending: tag.text("order") != "descending")
  }
}

/// Default values as a model's XML writes them.
package enum DefaultValueText {
  /// The value that the text stands for; `nil` when it does not fit the type.
  ///
  /// Xcode's compiler is lenient: a Boolean may be 0 or 1, and an Integer NO or YES, which is what
  /// is left when the type of an attribute was changed.
  package static func value(_ text: String, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .string: return .string(text)
    case .boolean:
      switch text.uppercased() {
      case "YES", "TRUE", "1": return .boolean(true)
      case "NO", "FALSE", "0": return .boolean(false)
      default: return Double(text).map { .boolean($0 != 0) }
      }
    case .integer16, .integer32, .integer64:
      if text == "YES" { return .integer(1) }
      if text == "NO" { return .integer(0) }
      if let value = Int64(text) { return .integer(value) }
      return Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map { .integer($0) }
    case .double, .float:
      if text == "YES" { return .double(1) }
      if text == "NO" { return .double(0) }
      return Double(text).map { .double($0) }
    case .decimal:
      guard let (words, exponent, isNegative) = DecimalText.words(text) else { return nil }
      return .decimal(
        DecimalText.text(
          words: words.map { UInt32($0) }, exponent: exponent, isNegative: isNegative))
    case .date: return Double(text).map { .date($0) }
    case .uuid: return UUIDText.bytes(text).map { .uuid($0) }
    case .uri: return text.isEmpty ? nil : .uri(text)
    case .binary: return ByteText.bytes(base64: text).map { .bytes($0) }
    case .undefined, .transformable, .objectID, .composite: return nil
    }
  }

  /// The text of a value, which reads back equal; `nil` for null.
  package static func text(_ value: AttributeValue) -> String? {
    switch value {
    case .null: nil
    case .integer(let value): String(value)
    case .boolean(let value): value ? "YES" : "NO"
    case .double(let value), .date(let value): number(value)
    case .decimal(let digits): digits
    case .string(let text), .uri(let text): text
    case .bytes(let bytes): ByteText.base64(bytes)
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }

  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return String(whole) }
    return String(value)
  }
}
