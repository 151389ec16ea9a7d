/// A property as an archived entity lists it.
struct CompiledProperty {
  enum Content: Equatable {
    case attribute(Attribute)
    case relationship(Relationship)
    case fetched(FetchedProperty)
  }

  var name: String
  /// Whether it is a stand-in for a property of an ancestor.
  var isProxy: Bool
  var content: Content
}

/// Reads the property descriptions of an archived model.
struct CompiledPropertyReader {
  private(set) var warnings: [String] = []
  private var expressions: ArchivedExpressionReader
  /// Work still allowed: an archive's objects may be listed any number of times.
  private var budget: Int

  init(budget: Int) {
    self.budget = budget
    expressions = ArchivedExpressionReader(budget: budget)
  }

  mutating func charge(_ amount: Int) throws(CoreDataError) {
    budget -= amount
    guard budget >= 0 else {
      throw CoreDataError(.unreadable, "the archived model refers to its objects too often")
    }
  }

  mutating func read(
    _ value: ArchivedValue, of entity: String
  ) throws(CoreDataError) -> [CompiledProperty] {
    var references = value.references
    if case .dictionary(let pairs) = value { references = pairs.map(\.value) }
    try charge(references.count * 16)
    var result: [CompiledProperty] = []
    for reference in references {
      guard var object = reference.value.object else { continue }
      let isProxy = object.className == "_NSPropertyDescriptionProxy"
      if isProxy {
        guard let underlying = object["NSUnderlyingProperty"].object else { continue }
        object = underlying
      }
      guard let name = object["NSPropertyName"].string else {
        throw CoreDataError(.unreadable, "a property has no name", entity: entity)
      }
      guard let content = try content(object, name: name, entity: entity) else { continue }
      result.append(CompiledProperty(name: name, isProxy: isProxy, content: content))
    }
    return result.sortedByBytes(\.name)
  }

  private mutating func content(
    _ object: ArchivedObject, name: String, entity: String
  ) throws(CoreDataError) -> CompiledProperty.Content? {
    if object.isKind(of: "NSFetchedPropertyDescription") {
      return .fetched(try fetched(object, name: name, entity: entity))
    }
    if object.isKind(of: "NSRelationshipDescription") {
      return .relationship(try relationship(object, name: name, entity: entity))
    }
    if object.isKind(of: "NSAttributeDescription") || object.has("NSAttributeType") {
      return .attribute(try attribute(object, name: name, entity: entity, depth: 0))
    }
    warn("“\(entity).\(name)” is of the unknown class \(object.className) and was left out")
    return nil
  }

  private mutating func attribute(
    _ object: ArchivedObject, name: String, entity: String, depth: Int
  ) throws(CoreDataError) -> Attribute {
    let number = object["NSAttributeType"].integer ?? 0
    let type = UInt32(exactly: number).flatMap(AttributeType.init(rawValue:))
    if type == nil { warn("“\(entity).\(name)” is of the unknown attribute type \(number)") }
    var attribute = Attribute(name, type ?? .undefined)
    attribute.isOptional = object["NSIsOptional"].boolean ?? false
    attribute.isTransient = object["NSIsTransient"].boolean ?? false
    attribute.isIndexed = object["NSIsIndexed"].boolean ?? false
    attribute.renamingIdentifier = Self.renaming(object, name: name)
    attribute.versionHashModifier = object["NSVersionHashModifier"].nonEmptyString
    attribute.valueTransformerName = object["NSValueTransformerName"].nonEmptyString
    attribute.userInfo = try userInfo(object)
    let flags = object["NSFlagsKey"].integer ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
    attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
    // Every attribute names the class of its type; only another one is worth keeping.
    let className = object["NSAttributeValueClassName"].string
    if className != attribute.type.archivedClassName {
      attribute.className = className
    }
    if object.has("NSDerivationExpression"),
      let text = try expression(
        object["NSDerivationExpression"], "“\(entity).\(name)”", entity: entity)
    {
      attribute.derivation = Attribute.Derivation(
        expression: text,
        filter: try predicate(
          object["NSFilteringPredicate"], "“\(entity).\(name)”", entity: entity))
    }
    attribute.defaultValue = defaultValue(object, attribute, entity: entity)
    attribute.validation = try validation(object, name: name, entity: entity)
    try addElements(object, to: &attribute, entity: entity, depth: depth)
    return attribute
  }

  /// The elements of a composite attribute. The first key is the framework's; the others are
  /// spellings of what former versions of this program, and other writers, may have used.
  private mutating func addElements(
    _ object: ArchivedObject, to attribute: inout Attribute, entity: String, depth: Int
  ) throws(CoreDataError) {
    guard attribute.type == .composite else { return }
    let place = "“\(entity).\(attribute.name)”"
    guard depth < AttributeStorage.maximumDepth else {
      warn("composite attributes within \(place) are nested too deeply and were left out")
      return
    }
    let key = ["NSCompositeElements", "NSElements", "_elements"].first { object.has($0) }
    guard let key else {
      warn("the composite attribute \(place) names no elements")
      return
    }
    let elements = object[key]
    try charge(elements.references.count * 16)
    attribute.elements = try elements.elements.compactMap(\.object).map {
      element throws(CoreDataError) in
      guard let name = element["NSPropertyName"].string else {
        throw CoreDataError(
          .unreadable, "an element of a composite attribute has no name", entity: entity,
          property: attribute.name)
      }
      return try self.attribute(element, name: name, entity: entity, depth: depth + 1)
    }
    // A default of the whole is what its elements start with.
    for (name, value) in object["NSDefaultValue"].entries {
      guard let index = attribute.elements.firstIndex(where: { $0.name == name }),
        attribute.elements[index].defaultValue == nil
      else { continue }
      attribute.elements[index].defaultValue = ArchivedDefault.value(
        value.value, as: attribute.elements[index].type)
    }
  }

  private mutating func defaultValue(
    _ object: ArchivedObject, _ attribute: Attribute, entity: String
  ) -> AttributeValue? {
    let value = object["NSDefaultValue"]
    guard !value.isNull, attribute.type != .composite else { return nil }
    if let known = ArchivedDefault.value(value, as: attribute.type) { return known }
    let place = "“\(entity).\(attribute.name)”"
    if let name = value.object?.className {
      warn("the default value of \(place) is a \(name), which only its app can read")
    } else {
      warn("the default value of \(place) does not fit its type")
    }
    return nil
  }

  private mutating func validation(
    _ object: ArchivedObject, name: String, entity: String
  ) throws(CoreDataError) -> Attribute.Validation {
    var validation = Attribute.Validation()
    let rules = object["NSValidationPredicates"]
    try charge(rules.references.count)
    for rule in rules.elements {
      do {
        validation.add(try expressions.predicate(rule))
      } catch {
        warn("a validation rule of “\(entity).\(name)” was left out: \(error.message)")
      }
    }
    return validation
  }

  private mutating func relationship(
    _ object: ArchivedObject, name: String, entity: String
  ) throws(CoreDataError) -> Relationship {
    guard
      let destination = object["_NSDestinationEntityName"].string
        ?? object["NSDestinationEntity"].object?["NSEntityName"].string
    else {
      throw CoreDataError(
        .unreadable, "a relationship has no destination", entity: entity, property: name)
    }
    var relationship = Relationship(name, to: destination)
    relationship.inverse =
      object["_NSInverseRelationshipName"].string
      ?? object["NSInverseRelationship"].object?["NSPropertyName"].string
    relationship.isOptional = object["NSIsOptional"].boolean ?? false
    relationship.isTransient = object["NSIsTransient"].boolean ?? false
    relationship.isOrdered = object["NSIsOrdered"].boolean ?? false
    // -1, which code sets for "no limit", wraps around as it does in the hash.
    relationship.maxCount = UInt32(truncatingIfNeeded: object["NSMaxCount"].integer ?? 0)
    relationship.minCount = UInt32(truncatingIfNeeded: object["NSMinCount"].integer ?? 0)
    relationship.isToMany = relationship.maxCount != 1
    let rule = object["NSDeleteRule"].integer ?? 1
    if let known = UInt32(exactly: rule).flatMap(Relationship.DeleteRule.init(rawValue:)) {
      relationship.deleteRule = known
    } else {
      warn("“\(entity).\(name)” has the unknown delete rule \(rule)")
    }
    relationship.renamingIdentifier = Self.renaming(object, name: name)
    relationship.versionHashModifier = object["NSVersionHashModifier"].nonEmptyString
    relationship.userInfo = try userInfo(object)
    return relationship
  }

  private mutating func fetched(
    _ object: ArchivedObject, name: String, entity: String
  ) throws(CoreDataError) -> FetchedProperty {
    var property = FetchedProperty(name)
    property.isOptional = object["NSIsOptional"].boolean ?? false
    let request = object["NSFetchRequest"].object
    property.entity =
      object["_NSFetchRequestEntityName"].string
      ?? request?["NSEntity"].object?["NSEntityName"].string
    property.predicate = try predicate(
      request?["NSPredicate"] ?? .null, "“\(entity).\(name)”", entity: entity)
    property.renamingIdentifier = Self.renaming(object, name: name)
    property.userInfo = try userInfo(object)
    return property
  }

  mutating func expression(
    _ value: ArchivedValue, _ place: String, entity: String?
  ) throws(CoreDataError) -> String? {
    try text(value, "an expression of \(place)", entity) { reader throws(CoreDataError) in
      try reader.expression(value).description
    }
  }

  mutating func predicate(
    _ value: ArchivedValue, _ place: String, entity: String?
  ) throws(CoreDataError) -> String? {
    try text(value, "a predicate of \(place)", entity) { reader throws(CoreDataError) in
      try reader.predicate(value).description
    }
  }

  private mutating func text(
    _ value: ArchivedValue, _ what: String, _ entity: String?,
    _ read: (inout ArchivedExpressionReader) throws(CoreDataError) -> String
  ) throws(CoreDataError) -> String? {
    guard !value.isNull else { return nil }
    do {
      return try read(&expressions)
    } catch {
      let place = entity.map { " in \($0)" } ?? ""
      warn("\(what)\(place) was left out: \(error.message)")
      return nil
    }
  }

  mutating func userInfo(_ object: ArchivedObject) throws(CoreDataError) -> [String: String] {
    var result: [String: String] = [:]
    let entries = object["NSUserInfo"].entries
    try charge(entries.count)
    for (key, value) in entries {
      if let text = value.value.string { result[key] = text }
    }
    return result
  }

  /// Archives always carry a renaming identifier: the name, when the model sets none.
  static func renaming(_ object: ArchivedObject, name: String) -> String? {
    object["NSRenamingIdentifier"].nonEmptyString.flatMap { $0 == name ? nil : $0 }
  }

  private mutating func warn(_ sentence: String) {
    guard warnings.count < 1_000 else { return }
    warnings.append(sentence)
  }
}

/// Default values of attributes as archives keep them.
enum ArchivedDefault {
  /// The value as the attribute's type has it; `nil` when it does not fit.
  static func value(_ value: ArchivedValue, as type: AttributeType) -> AttributeValue? {
    switch (type, value) {
    case (.boolean, .real(let number)): .boolean(number != 0)
    case (.boolean, .decimal(let digits)): .boolean(Double(digits) != 0)
    case (.boolean, _): value.boolean.map { .boolean($0) }
    case (.integer16, .real(let number)), (.integer32, .real(let number)),
      (.integer64, .real(let number)):
      Int64(exactly: number.rounded(.towardZero)).map { .integer($0) }
    case (.integer16, .decimal(let digits)), (.integer32, .decimal(let digits)),
      (.integer64, .decimal(let digits)):
      Int64(digits).map { .integer($0) }
    case (.integer16, _), (.integer32, _), (.integer64, _): value.integer.map { .integer($0) }
    case (.double, .real(let number)), (.float, .real(let number)): .double(number)
    case (.double, .decimal(let digits)), (.float, .decimal(let digits)):
      Double(digits).map { .double($0) }
    case (.double, _), (.float, _): value.integer.map { .double(Double($0)) }
    case (.decimal, .decimal(let digits)): .decimal(digits)
    case (.decimal, .real(let number)): .decimal(String(number))
    case (.decimal, _): value.integer.map { .decimal(String($0)) }
    case (.string, _): value.string.map { .string($0) }
    case (.date, .date(let seconds)), (.date, .real(let seconds)): .date(seconds)
    case (.binary, .data(let bytes)): .bytes(bytes)
    case (.uuid, .uuid(let bytes)): .uuid(bytes)
    case (.uri, .url(let text)): .uri(text)
    default: nil
    }
  }
}

extension Attribute.Validation {
  /// Takes a compiled rule: as a bound or a pattern where it is one that Xcode's fields give rise
  /// to, else as its text.
  mutating func add(_ predicate: Predicate) {
    if case .comparison(let comparison) = predicate, comparison.options.isEmpty,
      comparison.quantifier == nil, case .constant(let constant) = comparison.right
    {
      let isBound =
        comparison.left == .selfObject || comparison.left == .keyPath("length", of: nil)
      switch (comparison.comparator, constant) {
      case (.greaterOrEqual, .integer), (.greaterOrEqual, .real), (.greaterOrEqual, .decimal):
        if isBound, minimum == nil { return minimum = constant.description }
      case (.lessOrEqual, .integer), (.lessOrEqual, .real), (.lessOrEqual, .decimal):
        if isBound, maximum == nil { return maximum = constant.description }
      case (.matches, .string(let text)):
        if comparison.left == .selfObject, pattern == nil { return pattern = text }
      default: break
      }
    }
    predicates.append(predicate.description)
  }
}
