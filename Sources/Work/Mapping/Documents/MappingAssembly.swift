import ManagedModel

/// Makes a mapping model of what a file says and the two models it fits.
///
/// Properties come in the destination model's order, and those that the file does not name are
/// there too: they begin as in a new object.
struct MappingAssembly {
  let file: MappingSource
  let source: Model
  let destination: Model
  private let sourceHashes: [String: VersionHash]
  private let destinationHashes: [String: VersionHash]
  let names: Set<String>
  /// Destination entity to the mappings that make objects of it or of an entity below it.
  let makers: [String: [String]]

  init(_ file: MappingSource, from source: Model, to destination: Model) {
    self.file = file
    self.source = source
    self.destination = destination
    sourceHashes = source.versionHashes
    destinationHashes = destination.versionHashes
    names = Set(file.entityMappings.map(\.name))
    var makers: [String: [String]] = [:]
    for mapping in file.entityMappings where mapping.source != nil {
      for ancestor in mapping.destination.map(destination.lineage(of:)) ?? [] {
        makers[ancestor.name, default: []].append(mapping.name)
      }
    }
    self.makers = makers
  }

  func mapping() throws -> MappingModel {
    MappingModel(
      kind: .mapping,
      entityMappings: try file.entityMappings.map { entity in
        do {
          return try mapping(of: entity)
        } catch var error as CoreDataError {
          error.entity = error.entity ?? entity.destination ?? entity.source
          throw error
        }
      })
  }

  private func mapping(of entity: MappingSource.Entity) throws -> EntityMapping {
    var mapping = EntityMapping(
      name: entity.name, kind: .transform, source: entity.source, destination: entity.destination)
    mapping.policy = entity.policy
    mapping.userInfo = entity.userInfo
    if let destination = entity.destination {
      // A model walks the hierarchy for each of these lists: once is enough.
      let attributes = self.destination.attributes(of: destination)
      let relationships = self.destination.relationships(of: destination)
      let elements = attributes.flatMap { $0.storage.columns.map(\.attribute.name) }
      try checkNames(
        entity, known: Set(attributes.map(\.name) + relationships.map(\.name) + elements))
      mapping.attributes = try self.attributes(of: entity, attributes)
      mapping.relationships = try relationships.filter { !$0.isTransient }
        .map { try relationship($0, in: entity) }
    }
    mapping.condition = try condition(of: entity)
    mapping.kind = kind(of: mapping)
    return mapping
  }

  /// What the mapping really is: the file's own word is often “undefined”, or “copy” where Xcode did
  /// not look again after the entity changed.
  private func kind(of mapping: EntityMapping) -> EntityMapping.Kind {
    if mapping.policy != nil { return .custom }
    guard let from = mapping.source else { return .add }
    guard let to = mapping.destination else { return .remove }
    let isSame =
      from == to && mapping.condition == nil && sourceHashes[from] == destinationHashes[to]
      && mapping.attributes.allSatisfy { $0.source == $0.name }
      && mapping.relationships.allSatisfy { $0.source == $0.name }
    return isSame ? .copy : .transform
  }

  private func checkNames(_ entity: MappingSource.Entity, known: Set<String>) throws {
    for property in entity.attributes + entity.relationships
    where !known.contains(property.name) {
      throw refusal(
        entity, property.name, "maps a property that the destination does not have",
        hint: "Let Xcode bring the mapping model up to date with the models.")
    }
  }

  private func condition(of entity: MappingSource.Entity) throws -> ValueExpression? {
    var format = entity.predicate
    if let expression = entity.sourceExpression {
      guard let fetch = expression.sourceFetch, fetch.entity == entity.source else {
        throw refusal(
          entity, nil, "takes its objects by an expression that is not understood: \(expression)",
          hint: "Say which objects it takes in a recipe's entity mapping, as “where”.")
      }
      format = fetch.predicate
    }
    guard let format = format?.trimmed, !format.isEmpty, format.uppercased() != "TRUEPREDICATE"
    else { return nil }
    return .predicate(format)
  }

  private func attributes(
    of entity: MappingSource.Entity, _ attributes: [Attribute]
  ) throws -> [AttributeMapping] {
    let values = Dictionary(first: entity.attributes.map { ($0.name, $0.value) })
    return try attributes.filter(\.isStored).flatMap { attribute in
      guard attribute.type == .composite else {
        return [mapping(of: attribute, values[attribute.name] ?? .untouched, entity)]
      }
      return try elements(of: attribute, values[attribute.name] ?? .untouched, entity).map {
        whole in
        guard let value = values[whole.name],
          let element = destination.storedAttribute(named: whole.name, of: entity.destination ?? "")
        else { return whole }
        return mapping(of: element, value, entity)
      }
    }
  }

  private func mapping(
    of attribute: Attribute, _ value: MappingSource.Value, _ entity: MappingSource.Entity
  ) -> AttributeMapping {
    switch value {
    case .untouched: return AttributeMapping(new: attribute)
    case .automatic(let path, _):
      let former = path.map(Self.names) ?? [attribute.name]
      guard let first = former.first, former.count > 1 || isStored(first, in: entity.source)
      else { return AttributeMapping(new: attribute) }
      return computed(attribute, by: Self.keyPath(former), entity)
    case .expression(let expression): return computed(attribute, by: expression, entity)
    }
  }

  /// A value that the expression gives is taken as it is: where it is nil, so is the attribute.
  func computed(
    _ attribute: Attribute, by expression: Expression, _ entity: MappingSource.Entity
  ) -> AttributeMapping {
    if case .constant(.null) = expression {
      return AttributeMapping(name: attribute.name, source: nil)
    }
    // One of another type is computed too: Core Data makes of a number that a mapping model assigns
    // the attribute's kind of number, and cuts a fraction off.
    if let path = expression.sourcePath?.joined(separator: "."),
      let former = entity.source.flatMap({ source.storedAttribute(named: path, of: $0) }),
      former.type == attribute.type || (former.type.isInteger && attribute.type.isInteger)
    {
      return AttributeMapping(name: attribute.name, source: former.name)
    }
    return AttributeMapping(
      name: attribute.name, source: nil, expression: ValueExpression(.expression(expression)))
  }

  func isStored(_ attribute: String, in entity: String?) -> Bool {
    entity.flatMap { source.attribute(named: attribute, of: $0) }?.isStored ?? false
  }

  /// The expression of a key path on the source object.
  static func keyPath(_ names: [String]) -> Expression {
    .keyPath(names.joined(separator: "."), of: .variable(Expression.sourceName))
  }

  /// The names of a key path as Xcode's field has it: `$source.a.b`.
  static func names(_ keyPath: String) -> [String] {
    var names = keyPath.split(separator: ".").map(String.init)
    if names.first == "$source" { names.removeFirst() }
    return names
  }

  func refusal(
    _ entity: MappingSource.Entity, _ property: String?, _ message: String, hint: String? = nil
  ) -> CoreDataError {
    CoreDataError(
      .refused, code: .migration, "the mapping “\(entity.name)” \(message)",
      entity: entity.destination ?? entity.source, property: property, hint: hint)
  }
}

extension MappingAssembly {
  /// What a file says of a whole composite attribute, as a mapping for each of its elements.
  func elements(
    of attribute: Attribute, _ value: MappingSource.Value, _ entity: MappingSource.Entity
  ) throws -> [AttributeMapping] {
    let columns = attribute.storage.columns.map(\.attribute)
    let path: [String]
    switch value {
    case .untouched: return columns.map(AttributeMapping.init(new:))
    case .automatic(let keyPath, _):
      path = keyPath.map(Self.names) ?? [attribute.name]
      guard keyPath != nil || isStored(attribute.name, in: entity.source) else {
        return columns.map(AttributeMapping.init(new:))
      }
    case .expression(.constant(.null)):
      return columns.map { AttributeMapping(name: $0.name, source: nil) }
    case .expression(let expression):
      if case .function(_, receiver: .variable("entityPolicy")?, _) = expression {
        // Whatever stands in for the policy gives them; compiling these shows that something must.
        return columns.map { computed($0, by: expression, entity) }
      }
      guard let names = expression.sourcePath else {
        throw refusal(
          entity, attribute.name,
          "gives a composite attribute a value that is not understood: \(expression)",
          hint: "Give its elements values in a recipe, such as \"\(columns.first?.name ?? "")\".")
      }
      path = names
    }
    guard let (steps, former) = composite(at: path, of: entity.source) else {
      throw refusal(
        entity, attribute.name,
        "gives a composite attribute the value of “\(path.joined(separator: "."))”, which is not one",
        hint: "Give its elements values in a recipe, such as \"\(columns.first?.name ?? "")\".")
    }
    return try ElementAlignment(attribute, from: former).pairs.map { pair in
      guard let before = pair.former else { return AttributeMapping(new: pair.element) }
      guard pair.isPlain else {
        throw refusal(
          entity, pair.element.name,
          "gives it the value of “\(before.name)”: one of them is a composite attribute",
          hint: "Give it a value in a recipe.")
      }
      return computed(pair.element, by: Self.keyPath(steps + [before.name]), entity)
    }
  }

  /// The composite attribute that a key path leads to, and the relationships before it.
  private func composite(
    at path: [String], of entity: String?
  ) -> (steps: [String], attribute: Attribute)? {
    guard var holder = entity else { return nil }
    for (index, name) in path.enumerated() {
      if let relationship = source.relationship(named: name, of: holder) {
        holder = relationship.destination
        continue
      }
      guard let attribute = source.attribute(at: path[index...].joined(separator: "."), of: holder),
        attribute.type == .composite, attribute.isStored
      else { return nil }
      return (Array(path[..<index]), attribute)
    }
    return nil
  }
}

extension MappingAssembly {
  func relationship(
    _ relationship: Relationship, in entity: MappingSource.Entity
  ) throws -> RelationshipMapping {
    let name = relationship.name
    let value = entity.relationships.first { $0.name == name }?.value ?? .untouched
    switch value {
    case .untouched: return RelationshipMapping(name: name, source: nil)
    case .automatic(let keyPath, let through):
      let path = keyPath.map(Self.names) ?? [name]
      let exists = entity.source.flatMap { source.relationship(named: name, of: $0) } != nil
      guard keyPath != nil || exists else { return RelationshipMapping(name: name, source: nil) }
      return try links(
        name, along: path, through: through ?? onlyMapping(to: relationship.destination), entity)
    case .expression(.constant(.null)): return RelationshipMapping(name: name, source: nil)
    case .expression(let expression):
      return try links(name, by: expression, entity)
    }
  }

  /// The one mapping that makes objects a relationship can reference. Where there are several, Xcode
  /// too leaves it to each object which one took it.
  private func onlyMapping(to entity: String) -> String? {
    makers[entity].flatMap { $0.count == 1 ? $0.first : nil }
  }

  private func links(
    _ name: String, by expression: Expression, _ entity: MappingSource.Entity
  ) throws -> RelationshipMapping {
    func unclear() -> CoreDataError {
      refusal(
        entity, name, "links objects by an expression that is not understood: \(expression)",
        hint: "Give the relationship in a recipe's entity mapping, with “from” and “through”.")
    }
    guard case .function(let selector, receiver: .variable("manager")?, let arguments) = expression,
      arguments.count == 2, case .constant(.string(let word)) = arguments[0]
    else {
      guard case .function(_, receiver: .variable("entityPolicy")?, _) = expression else {
        throw unclear()
      }
      // Whatever stands in for the policy makes the links; compiling this shows that something must.
      var mapping = RelationshipMapping(name: name, source: nil)
      mapping.condition = ValueExpression(.expression(expression))
      mapping.fetched = entity.source
      return mapping
    }
    let through: String?
    switch selector {
    case "destinationInstancesForEntityMappingNamed:sourceInstances:": through = word
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:": through = nil
    default: throw unclear()
    }
    var objects = arguments[1]
    if case .aggregate(let elements) = objects, elements.count == 1 { objects = elements[0] }
    if let fetch = objects.sourceFetch {
      guard source.entity(named: fetch.entity) != nil else { throw unclear() }
      var mapping = RelationshipMapping(
        name: name, source: nil, through: try known(through, entity, name))
      mapping.fetched = fetch.entity
      mapping.condition = .predicate(fetch.predicate)
      return mapping
    }
    guard let path = objects.sourcePath else { throw unclear() }
    return try links(name, along: path, through: through, entity)
  }

  private func links(
    _ name: String, along path: [String], through: String?, _ entity: MappingSource.Entity
  ) throws -> RelationshipMapping {
    let through = try known(through, entity, name)
    guard !path.isEmpty else {
      return RelationshipMapping(
        name: name, source: RelationshipMapping.ofSourceObject, through: through)
    }
    // Links are a set whatever the collections in between were.
    let names = path.filter { !Self.unions.contains($0) }
    var holder = entity.source
    for step in names {
      guard let next = holder.flatMap({ source.relationship(named: step, of: $0) }) else {
        throw refusal(
          entity, name,
          "follows “\(step)”, which is not a relationship of \(holder ?? "the source")")
      }
      holder = next.destination
    }
    return RelationshipMapping(name: name, source: names.joined(separator: "."), through: through)
  }

  private func known(
    _ mapping: String?, _ entity: MappingSource.Entity, _ property: String
  ) throws -> String? {
    guard let mapping, !names.contains(mapping) else {
      return mapping
    }
    throw refusal(
      entity, property, "asks for the objects of a mapping “\(mapping)”, which does not exist",
      hint: "The mappings are " + file.entityMappings.map(\.name).joined(separator: ", ") + ".")
  }

  private static let unions: Set<String> = [
    "@distinctUnionOfSets", "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@unionOfSets",
    "@unionOfObjects", "@unionOfArrays",
  ]
}

extension Expression {
  /// What a `FETCH` asks the manager for: a source entity and a predicate's format.
  var sourceFetch: (entity: String, predicate: String)? {
    guard case .fetch(let request, _, countOnly: false) = self,
      case .function(
        "fetchRequestForSourceEntityNamed:predicateString:", receiver: .variable("manager")?,
        let arguments) = request,
      arguments.count == 2, case .constant(.string(let entity)) = arguments[0],
      case .constant(.string(let predicate)) = arguments[1]
    else { return nil }
    return (entity, predicate)
  }
}
