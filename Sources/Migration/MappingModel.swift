import ManagedModel

/// How objects of one model version become objects of another.
public struct MappingModel: Sendable, Equatable {
  /// Where the mapping comes from.
  public enum Kind: String, Sendable {
    /// The models have equal version hashes: nothing to move.
    case none
    /// Worked out from the two models, as lightweight migration does.
    case inferred
    case mapping
    case recipe
  }

  /// Where the mapping comes from.
  public var kind: Kind
  /// In the order in which they run: removals last, else by destination entity.
  public var entityMappings: [EntityMapping]

  /// Makes a mapping model of entity mappings in the order in which they run.
  public init(kind: Kind, entityMappings: [EntityMapping]) {
    self.kind = kind
    self.entityMappings = entityMappings
  }

  /// The mapping whose objects become objects of that entity.
  public func mapping(toDestination entity: String) -> EntityMapping? {
    entityMappings.first { $0.destination == entity }
  }

  /// The mapping that takes the objects of that source entity.
  public func mapping(fromSource entity: String) -> EntityMapping? {
    entityMappings.first { $0.source == entity }
  }
}

/// What becomes of the objects of one entity.
public struct EntityMapping: Sendable, Equatable {
  /// The raw value is the number of NSEntityMappingType.
  public enum Kind: UInt32, Sendable {
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
    public var name: String {
      switch self {
      case .custom: "custom"
      case .add: "add"
      case .remove: "remove"
      case .copy: "copy"
      case .transform: "transform"
      }
    }
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

  /// Makes a mapping of one attribute.
  public init(name: String, source: String?, defaultValue: AttributeValue? = nil) {
    self.name = name
    self.source = source
    self.defaultValue = defaultValue
  }

  /// Whether the values come from an attribute of another name.
  public var isRenamed: Bool { source != nil && source != name }
}

/// Where a destination relationship takes its objects from.
public struct RelationshipMapping: Sendable, Equatable {
  /// Name in the destination entity.
  public var name: String
  /// Name in the source entity; `nil` for a relationship that is new.
  public var source: String?
  /// The mapping that took the related objects over; `nil` for a relationship that is new.
  public var through: String?

  /// Makes a mapping of one relationship.
  public init(name: String, source: String?, through: String? = nil) {
    self.name = name
    self.source = source
    self.through = through
  }

  /// Whether the links come from a relationship of another name.
  public var isRenamed: Bool { source != nil && source != name }
}
