import ManagedModel

/// How objects of one model version become objects of another.
public struct MappingModel: Sendable, Equatable {
  /// Where the mapping comes from.
  public enum Kind: String, Sendable {
    /// The models have equal version hashes: nothing to move.
    case none
    /// Worked out from the two models, as lightweight migration does.
    case inferred
    /// A mapping model that Xcode made: .cdm or .xcmappingmodel.
    case mapping
    /// A recipe.
    case recipe
  }

  /// Where the mapping comes from.
  public var kind: Kind
  /// In the order in which they run: removals last, else by destination entity.
  public var entityMappings: [EntityMapping] {
    didSet { places = nil }
  }
  /// What policies find in the manager's `userInfo`.
  public var userInfo: [String: PropertyListValue]
  /// Where which mapping is; `nil` since one was changed: they are looked through then.
  private var places: Places?

  /// Makes a mapping model of entity mappings in the order in which they run.
  public init(
    kind: Kind, entityMappings: [EntityMapping], userInfo: [String: PropertyListValue] = [:]
  ) {
    self.kind = kind
    self.entityMappings = entityMappings
    self.userInfo = userInfo
    places = Places(entityMappings)
  }

  /// Whether both say the same.
  public static func == (a: MappingModel, b: MappingModel) -> Bool {
    a.kind == b.kind && a.entityMappings == b.entityMappings && a.userInfo == b.userInfo
  }

  /// The mapping of that name.
  public func mapping(named name: String) -> EntityMapping? {
    guard let places else { return entityMappings.first { $0.name == name } }
    return places.named[name].map { entityMappings[$0] }
  }

  /// The mapping whose objects become objects of that entity.
  public func mapping(toDestination entity: String) -> EntityMapping? {
    guard let places else { return entityMappings.first { $0.destination == entity } }
    return places.toDestination[entity]?.first.map { entityMappings[$0] }
  }

  /// The source entities whose objects have a place in the destination; `nil` for all, where nothing changes.
  package var takenEntities: Set<String>? {
    guard kind != .none else { return nil }
    return Set(entityMappings.compactMap { $0.destination == nil ? nil : $0.source })
  }

  /// The mapping that takes the objects of that source entity.
  public func mapping(fromSource entity: String) -> EntityMapping? {
    mappings(fromSource: entity).first
  }

  /// All mappings that take objects of that source entity, in order.
  package func mappings(fromSource entity: String) -> [EntityMapping] {
    guard let places else { return entityMappings.filter { $0.source == entity } }
    return (places.fromSource[entity] ?? []).map { entityMappings[$0] }
  }

  /// All mappings that take objects of one of these source entities, in order.
  package func mappings(fromSources entities: [String]) -> [EntityMapping] {
    all(entities, \.fromSource)
  }

  /// All mappings whose objects become objects of one of these entities, in order.
  package func mappings(toDestinations entities: [String]) -> [EntityMapping] {
    all(entities, \.toDestination)
  }

  private func all(
    _ entities: [String], _ side: KeyPath<Places, [String: [Int]]>
  ) -> [EntityMapping] {
    let known = (places ?? Places(entityMappings))[keyPath: side]
    return entities.flatMap { known[$0] ?? [] }.sorted().map { entityMappings[$0] }
  }

  /// The same with its mappings found by name and entity, also where one was changed.
  package var indexed: MappingModel {
    places != nil
      ? self : MappingModel(kind: kind, entityMappings: entityMappings, userInfo: userInfo)
  }

  /// Places of mappings: a model of thousands of entities asks for each of them.
  private struct Places: Sendable {
    var named: [String: Int] = [:]
    var toDestination: [String: [Int]] = [:]
    var fromSource: [String: [Int]] = [:]

    init(_ mappings: [EntityMapping]) {
      for (place, mapping) in mappings.enumerated() {
        if named[mapping.name] == nil { named[mapping.name] = place }
        if let to = mapping.destination { toDestination[to, default: []].append(place) }
        if let from = mapping.source { fromSource[from, default: []].append(place) }
      }
    }
  }
}

/// What becomes of the objects of one entity.
public struct EntityMapping: Sendable, Equatable {
  /// The raw value is the number of NSEntityMappingType.
  public enum Kind: UInt32, Sendable, CaseIterable {
    /// NSEntityMappingType's custom mapping, which inference never makes.
    case custom = 1
    /// Only the destination has the entity: it begins without objects.
    case add = 2
    /// Only the source has the entity: its objects go.
    case remove = 3
    /// The entity's version hash is the same in both models.
    case copy = 4
    /// The version hashes differ: the objects stay and their properties are mapped.
    case transform = 5

    /// The kind as plans and receipts write it.
    public var name: String { "\(self)" }
  }

  /// `IEM_Copy_Person` and the like, as Core Data names inferred mappings.
  public var name: String
  /// What happens to the objects.
  public var kind: Kind
  /// Name of the source entity; `nil` for an entity that is new.
  public var source: String?
  /// Name of the destination entity; `nil` for one that is removed.
  public var destination: String?
  /// Where each stored attribute of the destination comes from, inherited ones included.
  public var attributes: [AttributeMapping]
  /// Where each persistent relationship of the destination comes from, inherited ones included.
  public var relationships: [RelationshipMapping]
  /// True of the source objects that the mapping takes; `nil` takes all of exactly that entity.
  public var condition: ValueExpression?
  /// Objects with equal values of this become one destination object, made of the first of them;
  /// those with NULL become none. `nil` makes one object of each.
  ///
  /// Mappings to one entity with the same expression share what they make: a maker of cars is one
  /// object, whether the cars that name it are of one entity or of several.
  public var distinct: ValueExpression?
  /// Objects that are made along with each destination object and hang on it.
  public var children: [ChildMapping] = []
  /// Name of the NSEntityMigrationPolicy that carries the mapping out, as the mapping model has it.
  public var policy: String?
  /// The entity mapping's own user info.
  public var userInfo: [String: PropertyListValue] = [:]
  /// Whether a person wrote down that these objects, or those that ``condition`` leaves out, go.
  public var isDeletionIntended = false

  /// Makes a mapping of one entity.
  public init(
    name: String, kind: Kind, source: String?, destination: String?,
    attributes: [AttributeMapping] = [], relationships: [RelationshipMapping] = []
  ) {
    self.name = name
    self.kind = kind
    self.source = source
    self.destination = destination
    self.attributes = attributes
    self.relationships = relationships
  }
}

/// Where a destination attribute takes its value from.
public struct AttributeMapping: Sendable, Equatable {
  /// Name in the destination entity.
  public var name: String
  /// Name in the source entity; `nil` for an attribute that is new.
  public var source: String?
  /// What a new attribute starts with, and what a NULL becomes where the attribute turned
  /// mandatory; `nil` is NULL.
  public var defaultValue: AttributeValue?
  /// The value is computed: ``source`` is `nil` then, and a NULL still takes ``defaultValue``.
  public var expression: ValueExpression?

  /// Makes a mapping of one attribute.
  public init(
    name: String, source: String?, defaultValue: AttributeValue? = nil,
    expression: ValueExpression? = nil
  ) {
    self.name = name
    self.source = source
    self.defaultValue = defaultValue
    self.expression = expression
  }

  /// Whether the values come from an attribute of another name.
  public var isRenamed: Bool { source != nil && source != name }
}

/// Where a destination relationship takes its objects from.
public struct RelationshipMapping: Sendable, Equatable {
  /// Name in the destination entity.
  public var name: String
  /// Name in the source entity, or a key path of relationships; `nil` for a relationship that is
  /// new. ``ofSourceObject`` stands for the source object itself.
  public var source: String?
  /// The mapping that took the related objects over. `nil`: whichever mapping of the mapping model
  /// took each of them to an entity that the relationship can reference.
  public var through: String?
  /// True of the source objects to link to, over their own properties: a FETCH with a predicate
  /// that a mapping model has in place of a key path. ``source`` is `nil` then, ``fetched`` names
  /// the source entity.
  public var condition: ValueExpression?
  /// Source entity of ``condition``.
  public var fetched: String?

  /// Stands in ``source`` for the source object itself: what another mapping made of it.
  public static let ofSourceObject = "self"

  /// Makes a mapping of one relationship.
  public init(name: String, source: String?, through: String? = nil) {
    self.name = name
    self.source = source
    self.through = through
  }

  /// Whether the links come from a relationship of another name.
  public var isRenamed: Bool { source != nil && source != name }
}

/// Objects that an entity mapping makes besides its own, one or many for each source object.
public struct ChildMapping: Sendable, Equatable {
  /// Destination entity of the objects.
  public var destination: String
  /// Relationship of the object they hang on that references them.
  public var relationship: String
  /// A JSON array: an object is made for each element, which is called `item` and its place, from
  /// 0, `position`. `nil` makes one object.
  public var each: ValueExpression?
  /// Values over the source object's properties, `item` and `position`; defaults where none is given.
  public var attributes: [AttributeMapping]
  /// Objects that hang on these.
  public var children: [ChildMapping]

  /// Makes a mapping of objects that hang on others.
  public init(
    destination: String, relationship: String, each: ValueExpression? = nil,
    attributes: [AttributeMapping] = [], children: [ChildMapping] = []
  ) {
    self.destination = destination
    self.relationship = relationship
    self.each = each
    self.attributes = attributes
    self.children = children
  }
}

extension MappingModel {
  /// The same with a mapping for each element of a composite attribute, where a Swift program mapped
  /// the attribute as a whole; what it says of an element goes before that.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a composite attribute that is given anything else
  ///   than another one.
  package func elementwise(from source: Model, to destination: Model) throws -> MappingModel {
    MappingModel(
      kind: kind,
      entityMappings: try entityMappings.map { try $0.elementwise(source, destination) },
      userInfo: userInfo)
  }
}

extension EntityMapping {
  fileprivate func elementwise(_ source: Model, _ model: Model) throws -> EntityMapping {
    guard let to = destination else { return self }
    var result = self
    let names = Set(attributes.map(\.name))
    result.attributes = try attributes.flatMap { mapping in
      guard let whole = model.attribute(at: mapping.name, of: to), whole.type == .composite else {
        return [mapping]
      }
      return try mapping.elements(of: whole, former: former(of: mapping, in: source), to)
        .filter { !names.contains($0.name) }
    }
    return result
  }

  private func former(of mapping: AttributeMapping, in source: Model) -> Attribute? {
    guard let from = self.source, let name = mapping.source else { return nil }
    return source.attribute(at: name, of: from)
  }
}

extension AttributeMapping {
  fileprivate func elements(
    of whole: Attribute, former: Attribute?, _ entity: String
  ) throws -> [AttributeMapping] {
    if source == nil, expression == nil {
      return whole.storage.columns.map { AttributeMapping(new: $0.attribute) }
    }
    let pairs = former.map { ElementAlignment(whole, from: $0).pairs } ?? []
    guard former?.type == .composite, pairs.allSatisfy(\.isPlain) else {
      throw CoreDataError(
        .usage, "a composite attribute takes the value of another one only", entity: entity,
        property: name,
        hint: "Map its elements: "
          + whole.storage.columns.map(\.attribute.name).joined(separator: ", "))
    }
    return pairs.map { pair in
      pair.former.map { .copy(of: $0, to: pair.element) } ?? AttributeMapping(new: pair.element)
    }
  }
}

extension Model {
  /// What composite attributes of an entity were called in a version that gives it the same hash.
  ///
  /// A composite's own name does not enter the hash, so that it may have changed; its columns are
  /// those of the composite that was in its place among the entity's properties.
  package func formerComposites(of entity: String, in source: Model) -> [String: String] {
    var names: [String: String] = [:]
    for (new, old) in zip(lineage(of: entity), source.lineage(of: entity)) {
      let composites = [new, old].map { entity in
        entity.attributes.filter { $0.type == .composite && $0.isStored }.map(\.name)
          .sortedByBytes(\.self)
      }
      guard composites[0].count == composites[1].count else { continue }
      for (name, former) in zip(composites[0], composites[1]) { names[name] = former }
    }
    return names
  }
}

/// Names of elements, taken apart.
package enum ElementPath {
  /// The composite that a path goes into last; `nil` for an attribute's own name.
  package static func composite(of path: String) -> String? {
    path.lastIndex(of: ".").map { String(path[..<$0]) }
  }

  package static func last(of path: String) -> String {
    path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }
}
