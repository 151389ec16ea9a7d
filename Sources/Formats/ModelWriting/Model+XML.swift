extension Model {
  /// The model as the XML that Xcode writes into a .xcdatamodel's `contents`.
  ///
  /// It reads back equal, save for what only a compiled model can hold: validation rules other
  /// than bounds and a pattern, and composite attributes without a definition that they follow: one
  /// is made for them. How Xcode spells the name of the definition no file at hand shows.
  public func xcdatamodelContents() -> String {
    var xml = XMLText()
    xml.line(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)
    xml.open(
      "model",
      [
        ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"),
        ("lastSavedToolsVersion", "22758"), ("systemVersion", "23E224"),
        ("minimumToolsVersion", "Automatic"), ("sourceLanguage", "Swift"),
        ("userDefinedModelVersionIdentifier", versionIdentifiers.first ?? ""),
      ])
    let composites = CompositeDefinitions(self)
    for entity in composites.entities { xml.write(entity) }
    for composite in composites.definitions {
      xml.open("composite", [("name", composite.name)])
      for element in composite.elements { xml.write(element) }
      xml.close("composite")
    }
    for request in fetchRequests {
      xml.empty(
        "fetchRequest",
        [
          ("name", request.name), ("entity", request.entity),
          ("predicateString", request.predicate),
        ])
    }
    for (name, members) in configurations.sorted(by: { $0.key < $1.key }) {
      xml.open("configuration", [("name", name)])
      for member in members { xml.empty("memberEntity", [("name", member)]) }
      xml.close("configuration")
    }
    xml.close("model")
    return xml.text
  }
}

extension XMLText {
  fileprivate mutating func write(_ entity: Entity) {
    open(
      "entity",
      [
        ("name", entity.name), ("representedClassName", entity.className),
        ("isAbstract", Self.yes(entity.isAbstract)), ("parentEntity", entity.parent),
        ("elementID", entity.renamingIdentifier),
        ("versionHashModifier", entity.versionHashModifier),
        ("syncable", Self.flag(entity.isSyncable)),
        ("codeGenerationType", entity.codeGenerationType),
      ])
    for attribute in entity.attributes { write(attribute) }
    for relationship in entity.relationships { write(relationship) }
    for property in entity.fetchedProperties { write(property) }
    for index in entity.fetchIndexes where !entity.isAddedByCompiler(index) { write(index) }
    write(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index")
    write(
      entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint")
    write(userInfo: entity.userInfo)
    close("entity")
  }

  fileprivate mutating func write(_ attribute: Attribute) {
    let isDate = attribute.type == .date
    let defaultText = attribute.defaultValue.flatMap(DefaultValueText.text)
    element(
      "attribute",
      [
        ("name", attribute.name), ("optional", Self.yes(attribute.isOptional)),
        ("transient", Self.yes(attribute.isTransient)),
        ("attributeType", attribute.type == .undefined ? nil : attribute.type.name),
        (isDate ? "minDateTimeInterval" : "minValueString", attribute.validation.minimum),
        (isDate ? "maxDateTimeInterval" : "maxValueString", attribute.validation.maximum),
        ("regularExpressionString", attribute.validation.pattern),
        ("derived", Self.yes(attribute.isDerived)),
        ("derivationExpression", attribute.derivation?.expression),
        ("derivationFilter", attribute.derivation?.filter),
        (isDate ? "defaultDateTimeInterval" : "defaultValueString", defaultText),
        ("usesScalarValueType", Self.flag(attribute.usesScalarValueType)),
        ("valueTransformerName", attribute.valueTransformerName),
        ("customClassName", attribute.className), ("elementName", attribute.compositeName),
        ("allowsExternalBinaryDataStorage", Self.yes(attribute.allowsExternalBinaryDataStorage)),
        ("allowsCloudEncryption", Self.yes(attribute.allowsCloudEncryption)),
        ("preserveAfterDeletion", Self.yes(attribute.preservesValueInHistoryOnDeletion)),
        ("indexed", Self.yes(attribute.isIndexed)),
        ("spotlightIndexingEnabled", Self.yes(attribute.isIndexedBySpotlight)),
        ("elementID", attribute.renamingIdentifier),
        ("versionHashModifier", attribute.versionHashModifier),
      ], isEmpty: attribute.userInfo.isEmpty
    ) { $0.write(userInfo: attribute.userInfo) }
  }

  private mutating func write(_ relationship: Relationship) {
    let count = relationship.maxCount
    let maximum: String? =
      count == 0 ? nil : count == UInt32.max ? "-1" : String(count)
    element(
      "relationship",
      [
        ("name", relationship.name), ("optional", Self.yes(relationship.isOptional)),
        ("transient", Self.yes(relationship.isTransient)),
        ("toMany", Self.yes(relationship.isToMany)),
        ("minCount", relationship.minCount == 0 ? nil : String(relationship.minCount)),
        ("maxCount", maximum), ("deletionRule", relationship.deleteRule.name),
        ("ordered", Self.yes(relationship.isOrdered)),
        ("destinationEntity", relationship.destination), ("inverseName", relationship.inverse),
        ("inverseEntity", relationship.inverse == nil ? nil : relationship.destination),
        ("spotlightIndexingEnabled", Self.yes(relationship.isIndexedBySpotlight)),
        ("elementID", relationship.renamingIdentifier),
        ("versionHashModifier", relationship.versionHashModifier),
      ], isEmpty: relationship.userInfo.isEmpty
    ) { $0.write(userInfo: relationship.userInfo) }
  }

  private mutating func write(_ property: FetchedProperty) {
    open(
      "fetchedProperty",
      [
        ("name", property.name), ("optional", Self.yes(property.isOptional)),
        ("elementID", property.renamingIdentifier),
      ])
    if property.entity != nil || property.predicate != nil {
      empty(
        "fetchRequest",
        [
          ("name", "fetchedPropertyFetchRequest"), ("entity", property.entity),
          ("predicateString", property.predicate),
        ])
    }
    write(userInfo: property.userInfo)
    close("fetchedProperty")
  }

  private mutating func write(_ index: FetchIndex) {
    open(
      "fetchIndex",
      [("name", index.name), ("partialIndexPredicate", index.partialPredicate)])
    for element in index.elements {
      empty(
        "fetchIndexElement",
        [
          ("property", element.property), ("expression", element.expression),
          ("type", element.kind == .rtree ? "RTree" : "Binary"),
          ("order", element.isAscending ? "ascending" : "descending"),
        ])
    }
    close("fetchIndex")
  }

  private mutating func write(
    _ lists: [[String]], _ outer: String, _ middle: String, _ inner: String
  ) {
    guard !lists.isEmpty else { return }
    open(outer, [])
    for names in lists {
      open(middle, [])
      for name in names { empty(inner, [("value", name)]) }
      close(middle)
    }
    close(outer)
  }

  private mutating func write(userInfo: [String: String]) {
    guard !userInfo.isEmpty else { return }
    open("userInfo", [])
    for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
      empty("entry", [("key", key), ("value", value)])
    }
    close("userInfo")
  }

  private static func yes(_ value: Bool) -> String? { value ? "YES" : nil }

  private static func flag(_ value: Bool?) -> String? { value.map { $0 ? "YES" : "NO" } }
}

/// XML as Xcode lays it out: a tag a line, four spaces a level.
struct XMLText {
  typealias Attributes = [(String, String?)]

  private(set) var text = ""
  private var depth = 0

  mutating func line(_ content: String) {
    text += String(repeating: "    ", count: depth) + content + "\n"
  }

  /// Opens a tag; attributes without a value are left out.
  mutating func open(_ name: String, _ attributes: Attributes) {
    line("<\(name)\(Self.list(attributes))>")
    depth += 1
  }

  mutating func close(_ name: String) {
    depth -= 1
    line("</\(name)>")
  }

  mutating func empty(_ name: String, _ attributes: Attributes) {
    line("<\(name)\(Self.list(attributes))/>")
  }

  mutating func element(
    _ name: String, _ attributes: Attributes, isEmpty: Bool, _ content: (inout XMLText) -> Void
  ) {
    guard !isEmpty else { return empty(name, attributes) }
    open(name, attributes)
    content(&self)
    close(name)
  }

  private static func list(_ attributes: Attributes) -> String {
    attributes.map { name, value in value.map { " \(name)=\"\($0.escapedForXML)\"" } ?? "" }
      .joined()
  }
}

/// The composite attributes of a model as Xcode's XML has them: definitions with a name, which
/// attributes refer to.
///
/// SwiftData's models have no such names; those of the attributes stand in for them.
struct CompositeDefinitions {
  /// The model's entities, with composite attributes that name their definition.
  private(set) var entities: [Entity]
  /// In the order in which attributes refer to them first.
  private(set) var definitions: [(name: String, elements: [Attribute])] = []

  init(_ model: Model) {
    entities = model.entities
    for entity in entities.indices {
      for index in entities[entity].attributes.indices {
        entities[entity].attributes[index] = defined(
          entities[entity].attributes[index], in: entities[entity].name)
      }
    }
  }

  private mutating func defined(_ attribute: Attribute, in place: String) -> Attribute {
    guard attribute.type == .composite, !attribute.elements.isEmpty else { return attribute }
    var copy = attribute
    let plain = attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
    let elements = attribute.elements.map { defined($0, in: place + plain) }
    copy.compositeName = name(
      for: elements, wishes: [attribute.compositeName ?? plain, place + plain])
    return copy
  }

  /// The name of the definition with these elements: one that is there, or the first wish that is
  /// not taken by others.
  private mutating func name(for elements: [Attribute], wishes: [String]) -> String {
    var number = 2
    var wishes = wishes
    while true {
      let name = wishes.isEmpty ? "Composite\(number)" : wishes.removeFirst()
      guard let known = definitions.first(where: { $0.name == name }) else {
        definitions.append((name, elements))
        return name
      }
      if known.elements == elements { return name }
      if wishes.isEmpty { number += 1 }
    }
  }
}
