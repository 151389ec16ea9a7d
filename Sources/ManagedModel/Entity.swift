/// A kind of object in a model, with the properties it declares itself.
///
/// Inherited properties are the business of the model, which knows the ancestors: ask
/// ``Model/attributes(of:)`` and ``Model/relationships(of:)``.
public struct Entity: Sendable, Equatable {
  public var name: String
  public var isAbstract = false
  /// Name of the parent entity.
  public var parent: String?
  public var attributes: [Attribute] = []
  public var relationships: [Relationship] = []
  public var fetchedProperties: [FetchedProperty] = []
  /// Each constraint is the names of the properties that must be unique together.
  public var uniquenessConstraints: [[String]] = []
  public var fetchIndexes: [FetchIndex] = []
  /// The older form of indexes: lists of property names.
  public var compoundIndexes: [[String]] = []
  public var className: String?
  public var codeGenerationType: String?
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var isSyncable: Bool?
  public var userInfo: [String: String] = [:]

  public init(_ name: String, parent: String? = nil) {
    self.name = name
    self.parent = parent
  }

  /// The name that identifies the entity across versions: the renaming identifier if there is one,
  /// else the name.
  public var canonicalName: String { renamingIdentifier ?? name }

  /// The attribute of that name that this entity declares itself.
  public func attribute(named name: String) -> Attribute? {
    attributes.first { $0.name == name }
  }

  /// The relationship of that name that this entity declares itself.
  public func relationship(named name: String) -> Relationship? {
    relationships.first { $0.name == name }
  }
}
