import ManagedModel

/// Turns values, links and trees of a recipe into mappings of properties, over one source entity.
struct RecipeValues {
  let text: RecipeSource
  let source: Model
  let destination: Model
  /// Source entity whose properties the expressions name.
  let entity: String
  /// Names besides the properties.
  var variables: Set<String> = []

  /// The expression, after SQLite had a look at it.
  func expression(_ value: RecipeDocument.Value) throws -> ValueExpression? {
    guard case .expression(let expression, let word) = value else { return nil }
    _ = try parsed(expression, word)
    return expression
  }

  private func parsed(_ expression: ValueExpression, _ word: RecipeWord) throws -> SQLExpression? {
    guard case .sql(let sql) = expression.form else { return nil }
    do {
      // As written: a number in uuid() would move the places behind it.
      return try SQLExpression.tried(
        word.text.isEmpty ? sql : word.text, entity: entity, model: source, variables: variables)
    } catch let error as CoreDataError {
      throw text.located(error, in: word)
    }
  }

  /// The mappings of attributes that a recipe gives; what it says of an element goes before what it
  /// says of its composite.
  ///
  /// - Parameter copies: whether a bare name is reported as the attribute that is copied, where the
  ///   types allow; objects of a tree only have expressions.
  func attributes(
    _ given: [RecipeDocument.Attribute], of to: String, copies: Bool = true
  ) throws -> [AttributeMapping] {
    var mappings: [AttributeMapping] = []
    func depth(_ attribute: RecipeDocument.Attribute) -> Int {
      attribute.name.text.count { $0 == "." }
    }
    for attribute in given.sorted(by: { depth($0) < depth($1) }) {
      for mapping in try self.mappings(attribute, of: to, copies: copies) {
        mappings.removeAll { $0.name == mapping.name }
        mappings.append(mapping)
      }
    }
    return mappings
  }

  private func mappings(
    _ given: RecipeDocument.Attribute, of to: String, copies: Bool
  ) throws -> [AttributeMapping] {
    let attribute = try self.attribute(given.name, of: to)
    guard attribute.type == .composite else {
      return [try mapping(given, attribute, copies: copies)]
    }
    return try elements(of: attribute, given, copies: copies)
  }

  private func mapping(
    _ given: RecipeDocument.Attribute, _ attribute: Attribute, copies: Bool
  ) throws -> AttributeMapping {
    var mapping: AttributeMapping
    switch given.value {
    case .none: mapping = AttributeMapping(new: attribute)
    case .source(let word):
      guard let former = source.storedAttribute(named: word.text, of: entity) else {
        throw text.wrong(
          UnknownName(
            "stored attribute", word.text, of: "the source entity \(entity)",
            known: source.storedAttributes(of: entity).map(\.name)), word.range)
      }
      mapping = .copy(of: former, to: attribute)
    case .expression(let expression, let word):
      let parsed = try parsed(expression, word)
      if copies, !given.isExact, let name = parsed?.plainPath,
        let former = source.storedAttribute(named: name, of: entity), Self.isCopy(former, attribute)
      {
        mapping = .copy(of: former, to: attribute)
      } else {
        mapping = AttributeMapping(
          name: attribute.name, source: nil,
          defaultValue: attribute.isOptional ? nil : attribute.defaultValue, expression: expression)
      }
    }
    if let word = given.defaultText {
      mapping.defaultValue = word.text == "NULL" ? nil : try defaultValue(word, attribute)
    }
    return mapping
  }

  private func defaultValue(_ word: RecipeWord, _ attribute: Attribute) throws -> AttributeValue {
    guard let value = DefaultValueText.value(word.text, as: attribute.type) else {
      throw text.wrong("“\(word.text)” is no \(attribute.type.name)", word.range)
    }
    return value
  }

  /// Whether a bare name is a copy: nothing is to be computed.
  static func isCopy(_ former: Attribute, _ attribute: Attribute) -> Bool {
    former.type != .composite && TypeChange.refusal(from: former, to: attribute) == nil
      && former.allowsExternalBinaryDataStorage == attribute.allowsExternalBinaryDataStorage
  }

  private func attribute(_ word: RecipeWord, of to: String) throws -> Attribute {
    guard let attribute = destination.attribute(at: word.text, of: to) else {
      let isLink = destination.relationship(named: word.text, of: to) != nil
      let unknown = destination.unknownName(
        .attribute, word.text, of: to, calling: "the destination entity \(to)")
      throw text.wrong(
        unknown.message, word.range,
        hint: isLink
          ? "It is a relationship: it belongs under \"relationships\"." : unknown.hint)
    }
    guard attribute.isStored else {
      throw text.wrong("“\(word.text)” is not kept in the store", word.range)
    }
    guard !attribute.isDerived else {
      throw text.wrong("“\(word.text)” is derived: the store computes it", word.range)
    }
    return attribute
  }

  func relationship(
    _ given: RecipeDocument.Relationship, of to: String
  ) throws -> RelationshipMapping {
    let relationship = try self.relationship(given.name, of: to)
    var mapping = RelationshipMapping(
      name: relationship.name, source: given.from?.text, through: given.through?.text)
    if let word = given.from { try check(word, for: relationship) }
    if let word = given.fetched {
      _ = try text.entity(word, in: source, "source")
      mapping.fetched = word.text
      mapping.condition = try given.condition.flatMap { condition in
        try RecipeValues(text: text, source: source, destination: destination, entity: word.text)
          .expression(condition)
      }
    }
    return mapping
  }

  private func relationship(_ word: RecipeWord, of to: String) throws -> Relationship {
    guard let relationship = destination.relationship(named: word.text, of: to),
      !relationship.isTransient
    else {
      throw text.wrong(
        UnknownName(
          "stored relationship", word.text, of: "the destination entity \(to)",
          known: destination.relationships(of: to).filter { !$0.isTransient }.map(\.name)),
        word.range)
    }
    return relationship
  }

  /// A key path of relationships of the source; one that leads to many objects needs a to-many.
  private func check(_ word: RecipeWord, for relationship: Relationship) throws {
    guard word.text != RelationshipMapping.ofSourceObject else { return }
    var holder = entity
    for name in word.text.split(separator: ".", omittingEmptySubsequences: false) {
      guard let step = source.relationship(named: String(name), of: holder), !step.isTransient
      else {
        throw text.wrong(
          UnknownName(
            "stored relationship", String(name), of: "the source entity \(holder)",
            known: source.relationships(of: holder).filter { !$0.isTransient }.map(\.name)
              + [RelationshipMapping.ofSourceObject]), word.range)
      }
      guard relationship.isToMany || !step.isToMany else {
        throw text.wrong(
          "“\(name)” is to-many, and “\(relationship.name)” is to-one", word.range,
          hint: "Take a path of to-one relationships, or null to leave it empty.")
      }
      holder = step.destination
    }
  }

  func child(_ given: RecipeDocument.Child, of parent: String) throws -> ChildMapping {
    let relationship = try self.relationship(given.relationship, of: parent)
    let child = try text.entity(given.destination, in: destination, "destination")
    guard destination.isKind(child.name, of: relationship.destination) else {
      throw text.wrong(
        "the destination of “\(relationship.name)” is \(relationship.destination), not \(child.name)",
        given.relationship.range)
    }
    guard !child.isAbstract else {
      throw text.wrong(
        "“\(child.name)” is abstract: no object is of exactly this entity", given.destination.range)
    }
    guard relationship.isToMany || given.each == nil else {
      throw text.wrong(
        "“\(relationship.name)” is to-one: it cannot have an object for each element",
        given.relationship.range)
    }
    let each = try given.each.flatMap { try expression($0) }
    var inner = self
    if each != nil { inner.variables.formUnion(["item", "position"]) }
    return ChildMapping(
      destination: child.name, relationship: relationship.name, each: each,
      attributes: try inner.attributes(
        given.attributes.filter { $0.value != .none || $0.defaultText != nil }, of: child.name,
        copies: false), children: try given.children.map { try inner.child($0, of: child.name) })
  }
}

extension RecipeValues {
  /// What a recipe gives a whole composite attribute: those elements of another one that it has too,
  /// or nothing.
  func elements(
    of attribute: Attribute, _ given: RecipeDocument.Attribute, copies: Bool
  ) throws -> [AttributeMapping] {
    if let word = given.defaultText {
      throw text.wrong(
        "“\(attribute.name)” has no value of its own", word.range, hint: advice(attribute))
    }
    let word: RecipeWord
    switch given.value {
    case .none: return attribute.storage.columns.map { AttributeMapping(new: $0.attribute) }
    case .source(let name): word = name
    case .expression(_, let expression): word = expression
    }
    guard let former = source.attribute(at: word.text.trimmed, of: entity),
      former.type == .composite, former.isStored
    else {
      throw text.wrong(
        attribute.withoutElement.message, word.range,
        hint: advice(attribute))
    }
    return try ElementAlignment(attribute, from: former).pairs.map { pair in
      guard let before = pair.former else { return AttributeMapping(new: pair.element) }
      guard Self.isCopy(before, pair.element) else {
        throw text.wrong(
          "“\(pair.element.name)” is \(pair.element.type.name), and “\(before.name)” \(before.type.name)",
          word.range, hint: "Give “\(pair.element.name)” a value of its own.")
      }
      return copies
        ? .copy(of: before, to: pair.element)
        : AttributeMapping(name: pair.element.name, source: nil, expression: .sql(before.name))
    }
  }

  private func advice(_ composite: Attribute) -> String {
    let names = composite.storage.columns.map { "\"\($0.attribute.name)\"" }
    return
      "Give each of its elements one (\(names.joined(separator: ", "))), or name a composite attribute of \(entity)."
  }
}
