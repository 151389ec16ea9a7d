/// A kind of object in a model, with the properties it declares itself.
///
/// Inherited properties are the business of the model, which knows the ancestors: ask
/// ``Model/attributes(of:)`` and ``Model/relationships(of:)``.
public struct Entity: Sendable, Equatable {
  /// Name, unique in the model.
  public var name: String
  /// Whether no object is of exactly this entity. Enters the hash.
  public var isAbstract = false
  /// Name of the parent entity.
  public var parent: String?
  /// Attributes declared here, in declaration order where the source keeps one.
  public var attributes: [Attribute] = []
  /// Relationships declared here.
  public var relationships: [Relationship] = []
  /// Fetched properties declared here.
  public var fetchedProperties: [FetchedProperty] = []
  /// Each constraint is the names of the properties that must be unique together.
  public var uniquenessConstraints: [[String]] = []
  /// Indexes the store keeps for it. They enter no hash.
  public var fetchIndexes: [FetchIndex] = []
  /// The older form of indexes: lists of property names.
  public var compoundIndexes: [[String]] = []
  /// Name of the class of its objects. Enters no hash.
  public var className: String?
  /// What code Xcode generates: `class`, `category` or none.
  public var codeGenerationType: String?
  /// Name the entity had in an older version, by which inference finds its objects again.
  public var renamingIdentifier: String?
  /// Text that enters the hash and nothing else: a way to force a migration.
  public var versionHashModifier: String?
  /// Whether Sync Services took part, an attribute of old models; `nil` where it does not say.
  public var isSyncable: Bool?
  /// Whatever the model's author noted. Enters no hash.
  public var userInfo: [String: String] = [:]

  /// Makes a concrete entity without properties; `parent` is the parent entity's name.
  public init(_ name: String, parent: String? = nil) {
    self.name = name
    self.parent = parent
  }

  /// The name that identifies the entity across versions: the renaming identifier if there is one,
  /// else the name.
  public var canonicalName: String { renamingIdentifier ?? name }

  /// Names of all properties that this entity declares itself.
  package var propertyNames: [String] {
    attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
  }

  /// The attribute of that name that this entity declares itself.
  public func attribute(named name: String) -> Attribute? {
    attributes.first { $0.name == name }
  }

  /// The relationship of that name that this entity declares itself.
  public func relationship(named name: String) -> Relationship? {
    relationships.first { $0.name == name }
  }
}

/// An index that a model asks the store to keep.
public struct FetchIndex: Sendable, Equatable {
  /// One column or expression of an index.
  public struct Element: Sendable, Equatable {
    /// The form of an index element: ordinary, or an R-tree for ranges of coordinates.
    public enum Kind: Sendable, Equatable { case binary, rtree }

    /// Name of the indexed property; `nil` when an expression is indexed instead.
    public var property: String?
    /// The indexed expression in predicate format.
    public var expression: String?
    /// Ordinary or R-tree.
    public var kind: Kind
    /// Whether the element is sorted upwards.
    public var isAscending: Bool

    /// Makes an element over a property or over an expression, not both.
    public init(
      property: String? = nil, expression: String? = nil, kind: Kind = .binary,
      isAscending: Bool = true
    ) {
      self.property = property
      self.expression = expression
      self.kind = kind
      self.isAscending = isAscending
    }
  }

  /// Name of the index, unique within its entity.
  public var name: String
  /// What is indexed, the most significant first.
  public var elements: [Element]
  /// Predicate format of the rows a partial index covers.
  public var partialPredicate: String?

  /// Makes an index; `partialPredicate` restricts the rows it covers.
  public init(_ name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }
}

extension Entity {
  /// The entity with the indexes that Xcode's compiler adds: for an index over one of its attributes a
  /// second one that is called like the attribute, such as `date` for `byDate`. Stores show both.
  var withCompiledIndexes: Entity {
    var copy = self
    for index in fetchIndexes {
      guard let name = attribute(ofSingle: index), index.name != name,
        !copy.fetchIndexes.contains(where: { $0.name == name })
      else { continue }
      copy.fetchIndexes.append(FetchIndex(name, elements: [FetchIndex.Element(property: name)]))
    }
    return copy
  }

  /// Whether Xcode's compiler adds the index by itself, for another one over the same attribute.
  package func isAddedByCompiler(_ index: FetchIndex) -> Bool {
    guard let name = attribute(ofSingle: index), index.name == name,
      index.elements.first?.isAscending == true
    else { return false }
    return fetchIndexes.contains { $0.name != name && attribute(ofSingle: $0) == name }
  }

  /// The stored attribute of the entity that an index covers alone; `nil` for any other index.
  private func attribute(ofSingle index: FetchIndex) -> String? {
    guard index.elements.count == 1, let element = index.elements.first, element.kind == .binary,
      index.partialPredicate == nil, let name = element.property,
      let attribute = attributes.first(where: { $0.name == name }), attribute.isStored,
      attribute.type != .composite
    else { return nil }
    return name
  }
}

/// A property whose objects a stored fetch request finds; it occupies no column and enters no hash.
public struct FetchedProperty: Sendable, Equatable {
  /// Name, unique within the entity.
  public var name: String
  /// Whether it is marked optional, which has no effect on storage.
  public var isOptional = true
  /// The entity fetched, where the model names it.
  public var entity: String?
  /// The request's predicate in predicate format.
  public var predicate: String?
  /// Name the property had in an older version.
  public var renamingIdentifier: String?
  /// Whatever the model's author noted.
  public var userInfo: [String: String] = [:]

  /// Makes a fetched property without a request.
  public init(_ name: String) { self.name = name }
}

/// Where in its entity a property is.
enum PropertyPlace: Sendable {
  case attribute(Int)
  case relationship(Int)
  case fetchedProperty

  /// The places of all properties that an entity declares, and a name that two of them share.
  static func places(in entity: Entity) -> (places: [String: PropertyPlace], repeated: String?) {
    var places: [String: PropertyPlace] = [:]
    places.reserveCapacity(
      entity.attributes.count + entity.relationships.count + entity.fetchedProperties.count)
    var repeated: String?
    func add(_ name: String, _ place: PropertyPlace) {
      if places.updateValue(place, forKey: name) != nil { repeated = repeated ?? name }
    }
    for (index, attribute) in entity.attributes.enumerated() {
      add(attribute.name, .attribute(index))
    }
    for (index, relationship) in entity.relationships.enumerated() {
      add(relationship.name, .relationship(index))
    }
    for fetched in entity.fetchedProperties { add(fetched.name, .fetchedProperty) }
    return (places, repeated)
  }
}
