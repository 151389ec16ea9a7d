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
