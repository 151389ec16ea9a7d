/// A value that objects of an entity hold.
public struct Attribute: Sendable, Equatable {
  public var name: String
  public var type: AttributeType
  public var isOptional = false
  public var isTransient = false
  /// The value a new object starts with, and that existing rows take when a migration adds the
  /// attribute. `nil` when the model gives none.
  public var defaultValue: AttributeValue?
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var allowsExternalBinaryDataStorage = false
  public var preservesValueInHistoryOnDeletion = false
  public var allowsCloudEncryption = false
  public var isIndexed = false
  public var isIndexedBySpotlight = false
  public var usesScalarValueType: Bool?
  public var valueTransformerName: String?
  /// The class of the attribute's values where the model names one (`customClassName`).
  public var className: String?
  public var derivation: Derivation?
  public var validation = Validation()
  /// The attributes that make up a composite one.
  public var elements: [Attribute] = []
  /// The name of the composite attribute definition that `elements` came from.
  public var compositeName: String?
  public var userInfo: [String: String] = [:]

  public init(_ name: String, _ type: AttributeType, optional: Bool = false) {
    self.name = name
    self.type = type
    self.isOptional = optional
  }

  /// How a derived attribute is computed by the store.
  public struct Derivation: Sendable, Equatable {
    /// The expression in predicate format, such as `pages.@count`, `count:(pages)` or `now()`.
    public var expression: String
    /// The filtering predicate in predicate format.
    public var filter: String?

    public init(expression: String, filter: String? = nil) {
      self.expression = expression
      self.filter = filter
    }
  }

  /// Rules that Core Data checks on saving. They enter no hash and no column.
  public struct Validation: Sendable, Equatable {
    /// Lower and upper bound as the model writes them: a length for a String, else a value.
    public var minimum: String?
    public var maximum: String?
    public var pattern: String?
    /// Further rules of compiled models, in predicate format.
    public var predicates: [String] = []

    public init() {}
  }

  /// Whether the store keeps a column for it.
  ///
  /// Transient attributes live in memory only, and an attribute of undefined type has nothing to
  /// store; a composite is kept through its elements.
  public var isStored: Bool { !isTransient && type != .undefined && type != .objectID }

  /// Whether the store computes it: Core Data marks such an attribute read-only.
  public var isDerived: Bool { derivation != nil }

  /// The name that identifies the attribute across versions: the renaming identifier if there is
  /// one, else the name.
  public var canonicalName: String { renamingIdentifier ?? name }
}
