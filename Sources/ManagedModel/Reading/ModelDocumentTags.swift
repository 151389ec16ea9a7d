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
