import ManagedModel
import ManagedStore

extension MappingSource.Entity {
  /// The source entity with the hash that the file states.
  var statedSource: (String, VersionHash)? {
    source.flatMap { name in sourceHash.map { (name, $0) } }
  }

  /// The destination entity with the hash that the file states.
  var statedDestination: (String, VersionHash)? {
    destination.flatMap { name in destinationHash.map { (name, $0) } }
  }
}

extension ChildMapping {
  /// The entities of which it makes objects, along with what hangs on them.
  var destinations: [String] { [destination] + children.flatMap(\.destinations) }
}

extension EntityMapping {
  /// The source's properties that some value or link is made of.
  var taken: Set<String> {
    Set(attributes.compactMap(\.source)).union(
      relationships.compactMap(\.source).map { String($0.prefix { $0 != "." }) }
    ).union(namedProperties)
  }

  /// As the file has it, without the models.
  init(asWritten entity: MappingSource.Entity) {
    let kind = UInt32(exactly: entity.type).flatMap(EntityMapping.Kind.init(rawValue:))
    self.init(
      name: entity.name,
      kind: entity.policy != nil
        ? .custom
        : kind ?? (entity.source == nil ? .add : entity.destination == nil ? .remove : .transform),
      source: entity.source, destination: entity.destination)
    policy = entity.policy
    userInfo = entity.userInfo
    let predicate = entity.sourceExpression?.sourceFetch?.predicate ?? entity.predicate
    if let predicate, !predicate.isEmpty, predicate.uppercased() != "TRUEPREDICATE" {
      condition = .predicate(predicate)
    }
    attributes = entity.attributes.map { property in
      switch property.value {
      case .untouched, .expression(.constant(.null)):
        return AttributeMapping(name: property.name, source: nil)
      case .automatic(let path, _):
        return AttributeMapping(
          name: property.name,
          source: path.map { MappingAssembly.names($0).joined(separator: ".") } ?? property.name)
      case .expression(let expression):
        if let path = expression.sourcePath {
          return AttributeMapping(name: property.name, source: path.joined(separator: "."))
        }
        return AttributeMapping(
          name: property.name, source: nil, expression: ValueExpression(.expression(expression)))
      }
    }
    relationships = entity.relationships.map { property in
      var link = RelationshipMapping(name: property.name, source: nil)
      switch property.value {
      case .untouched, .expression(.constant(.null)): break
      case .automatic(let path, let through):
        link.source = path.map { MappingAssembly.names($0).joined(separator: ".") } ?? property.name
        link.through = through
      case .expression(let expression):
        if case .function(let selector, receiver: .variable("manager")?, let arguments) =
          expression,
          arguments.count == 2, let path = arguments[1].sourcePath
        {
          link.source =
            path.isEmpty ? RelationshipMapping.ofSourceObject : path.joined(separator: ".")
          if selector == "destinationInstancesForEntityMappingNamed:sourceInstances:",
            case .constant(.string(let word)) = arguments[0]
          {
            link.through = word
          }
        } else {
          link.condition = ValueExpression(.expression(expression))
        }
      }
      return link
    }
  }

  /// As a recipe has it, without the models.
  init(asWritten mapping: RecipeDocument.Mapping) {
    let (source, destination) = (mapping.source?.text, mapping.destination?.text)
    self.init(
      name: mapping.name?.text ?? MappingDocumentReader.name(from: source, to: destination),
      kind: mapping.kind ?? (destination == nil ? .remove : source == nil ? .add : .transform),
      source: source, destination: destination)
    policy = mapping.policy
    isDeletionIntended = mapping.isDeletion ?? (destination == nil)
    if case .expression(let expression, _)? = mapping.condition { condition = expression }
    attributes = mapping.attributes.map { attribute in
      switch attribute.value {
      case .expression(let expression, _):
        return AttributeMapping(name: attribute.name.text, source: nil, expression: expression)
      case .source(let word): return AttributeMapping(name: attribute.name.text, source: word.text)
      case .none: return AttributeMapping(name: attribute.name.text, source: nil)
      }
    }
    relationships = mapping.relationships.map { relationship in
      var link = RelationshipMapping(
        name: relationship.name.text, source: relationship.from?.text,
        through: relationship.through?.text)
      link.fetched = relationship.fetched?.text
      if case .expression(let expression, _)? = relationship.condition {
        link.condition = expression
      }
      return link
    }
  }
}
