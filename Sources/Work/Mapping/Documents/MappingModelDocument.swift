import Files
import ManagedModel

/// A mapping model as Xcode keeps it: a compiled `.cdm`, or an `.xcmappingmodel`.
///
///     let document = try MappingModelDocument(path: "V2toV3.cdm")
///     if let reason = document.misfit(from: model2, to: model3) { print(reason) }
///     let mapping = try document.mapping(from: model2, to: model3)
///
/// Custom policy classes live in an app and cannot run here: the mapping names them in
/// ``EntityMapping/policy``, and a recipe or a policy in Swift has to stand in.
public struct MappingModelDocument: Sendable, Equatable {
  /// The file or folder it was read from.
  public let path: String
  let source: MappingSource

  /// Reads a `.cdm`, an `.xcmappingmodel` folder, or the `xcmapping.xml` in one.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable naming the file.
  public init(path: String) throws {
    self.path = path
    do {
      let file = FileSystem.isDirectory(path) ? path + "/xcmapping.xml" : path
      guard let size = FileSystem.status(file)?.size, size <= Self.maximumSize else {
        throw CoreDataError(
          .unreadable,
          FileSystem.status(file) == nil
            ? "there is no mapping model here" : "the file is too large for a mapping model",
          hint: "A mapping model is a .cdm file or an .xcmappingmodel folder.")
      }
      source = try Self.read(FileSystem.read(file))
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// Reads a mapping model from the bytes of its file.
  package init(bytes: [UInt8], path: String = "") throws {
    self.path = path
    source = try Self.read(bytes)
  }

  /// What the mapping model says about two versions of a model, or `nil` where it was made for
  /// other versions; ``misfit(from:to:)`` says why.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where it speaks of a property or a mapping that
  ///   does not exist, or in a way that is not understood.
  public func mapping(from source: Model, to destination: Model) throws -> MappingModel? {
    guard fits(from: source, to: destination) else { return nil }
    do {
      return try MappingAssembly(self.source, from: source, to: destination).mapping()
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// Whether it was made for these two versions of a model.
  ///
  /// As in Core Data, only the entities that it maps count: a compiled mapping model states their
  /// version hashes, an `.xcmappingmodel` holds copies of the two models. Where those cannot be read
  /// the names of entities and properties decide.
  public func fits(from source: Model, to destination: Model) -> Bool {
    misfit(from: source, to: destination) == nil
  }

  /// A clause that says why it does not fit two versions, naming the first entity that differs;
  /// `nil` where it fits.
  public func misfit(from source: Model, to destination: Model) -> String? {
    MappingFit(self.source, from: source, to: destination).misfit()
  }

  /// Names of the classes that its entity mappings leave their work to, sorted.
  public var policies: [String] { Set(source.entityMappings.compactMap(\.policy)).sorted() }

  /// Names of the entities that it maps, of both versions.
  package var entities: Set<String> {
    Set(source.entityMappings.flatMap { [$0.source, $0.destination].compactMap { $0 } })
  }

  /// Real ones, which hold two copies of a model, stay below a megabyte.
  private static let maximumSize = 1 << 26
  private static let maximumMappings = 5_000

  private static func read(_ bytes: [UInt8]) throws -> MappingSource {
    var source =
      if bytes.starts(with: Array("bplist".utf8)) {
        try CompiledMapping(bytes).source()
      } else {
        try MappingDocumentReader.read(bytes)
      }
    guard !source.entityMappings.isEmpty else {
      throw CoreDataError(.unreadable, "the mapping model maps no entity")
    }
    guard source.entityMappings.allSatisfy({ $0.source != nil || $0.destination != nil }) else {
      throw CoreDataError(.unreadable, "an entity mapping names no entity")
    }
    guard source.entityMappings.count <= maximumMappings else {
      throw CoreDataError(.unreadable, "the mapping model maps too many entities")
    }
    source.makeNamesUnique()
    return source
  }
}

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

extension EntityMapping {
  /// Words of its expressions, of which some are names of the source's properties.
  package var namedProperties: Set<String> {
    var texts = [condition, distinct].compactMap { $0?.text }
    texts += attributes.compactMap { $0.expression?.text }
    for relationship in relationships {
      texts += [relationship.condition?.text, relationship.source].compactMap { $0 }
    }
    func add(_ child: ChildMapping) {
      texts += [child.each?.text].compactMap { $0 }
      texts += child.attributes.compactMap { $0.expression?.text ?? $0.source }
      child.children.forEach(add)
    }
    children.forEach(add)
    return Set(
      texts.flatMap { text in
        text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
      })
  }
}
