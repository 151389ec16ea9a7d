import ManagedModel

extension SourceObject {
  /// The value of a composite attribute: its elements by name, NULL ones included; those of a
  /// composite within it by their path, `inner.element`. `nil` where no element has a value.
  ///
  /// An element can also be asked for by itself: `value("author.person")`.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute.
  public func composite(_ attribute: String) throws -> [String: AttributeValue]? {
    try CompositeElements(attribute, of: id.entity, in: entity.scope.layout.model).value(of: value)
  }
}

extension DestinationObject {
  /// The value of a composite attribute: its elements by name, NULL ones included; those of a
  /// composite within it by their path, `inner.element`. `nil` where no element has a value.
  ///
  /// An element can also be asked for, and set, by itself: `value("author.person")`.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute.
  public func composite(_ attribute: String) throws -> [String: AttributeValue]? {
    try CompositeElements(attribute, of: id.entity, in: entity.model).value(of: value)
  }

  /// Sets a composite attribute as a whole: elements that are not named become NULL, and all of them
  /// without a value.
  ///
  ///     try book.set(elements: ["person": .string("Ann"), "born": .date(0)], for: "author")
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute, or that no such
  ///   element, or for a value of another type: nothing is set then.
  public func set(elements: [String: AttributeValue]?, for attribute: String) throws {
    let composite = try CompositeElements(attribute, of: id.entity, in: entity.model)
    let given = elements ?? [:]
    try composite.requireKnown(given.keys)
    for (name, path) in composite.paths {
      _ = try entity.column(given[name] ?? .null, at: entity.index(of: path))
    }
    for (name, path) in composite.paths { try set(given[name] ?? .null, for: path) }
  }
}

/// The elements of a composite attribute as a program names them.
private struct CompositeElements {
  let entity: String
  let attribute: String
  /// Names within the composite, and the paths of the columns.
  let paths: [(name: String, path: String)]

  init(_ attribute: String, of entity: String, in model: Model) throws {
    guard let composite = model.attribute(at: attribute, of: entity), composite.type == .composite,
      composite.isStored
    else { throw model.unknown(.composite, attribute, of: entity) }
    self.entity = entity
    self.attribute = attribute
    paths = composite.storage.columns.map {
      (String($0.attribute.name.dropFirst(attribute.count + 1)), $0.attribute.name)
    }
  }

  func value(of element: (String) throws -> AttributeValue) rethrows -> [String: AttributeValue]? {
    var values: [String: AttributeValue] = [:]
    for (name, path) in paths { values[name] = try element(path) }
    return values.values.contains { $0 != .null } ? values : nil
  }

  func requireKnown(_ names: some Sequence<String>) throws {
    guard let unknown = names.sorted().first(where: { name in !paths.contains { $0.name == name } })
    else { return }
    throw CoreDataError(
      .usage, "the composite attribute has no such element", entity: entity,
      property: AttributeStorage.path(attribute, unknown),
      hint: Nearest.hint(unknown, in: paths.map(\.name)))
  }
}
