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
