import ManagedModel
import ManagedStore

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
