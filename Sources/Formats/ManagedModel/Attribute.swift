/// A value that objects of an entity hold.
public struct Attribute: Sendable, Equatable {
  /// Name, unique within the entity and its ancestors' properties.
  public var name: String
  /// What kind of value it holds; it decides the column's type.
  public var type: AttributeType
  /// Whether an object may be without a value. Enters the version hash.
  public var isOptional = false
  /// Whether the value lives in memory only: no column, no part in the entity's hash.
  public var isTransient = false
  /// The value a new object starts with, and that existing rows take when a migration adds the
  /// attribute. `nil` when the model gives none.
  public var defaultValue: AttributeValue?
  /// A default that the app evaluates when it makes the model; ``defaultValue`` is `nil` then.
  public var evaluatedDefault: EvaluatedDefault?
  /// Name the attribute had in an older version, by which inference finds its values again.
  public var renamingIdentifier: String?
  /// Text that enters the hash and nothing else: a way to force a migration.
  public var versionHashModifier: String?
  /// Whether large values may lie in files beside the store. Enters the hash.
  public var allowsExternalBinaryDataStorage = false
  /// Whether history keeps the value when the object is deleted. Enters the hash.
  public var preservesValueInHistoryOnDeletion = false
  /// Whether CloudKit keeps the value encrypted. Enters no hash.
  public var allowsCloudEncryption = false
  /// Whether the model asks for an index in the older way, with a flag on the attribute.
  public var isIndexed = false
  /// Whether Core Spotlight may index the value. Enters no hash.
  public var isIndexedBySpotlight = false
  /// Whether generated code uses a scalar; `nil` where the model does not say.
  public var usesScalarValueType: Bool?
  /// Name of the transformer that turns a Transformable's value into bytes.
  public var valueTransformerName: String?
  /// The class of the attribute's values where the model names one (`customClassName`).
  public var className: String?
  /// How the store computes the value, for a derived attribute; `nil` for any other.
  public var derivation: Derivation?
  /// Rules for values, checked when objects are saved.
  public var validation = Validation()
  /// The attributes that make up a composite one.
  public var elements: [Attribute] = []
  /// The name of the composite attribute definition that `elements` came from.
  public var compositeName: String?
  /// Whatever the model's author noted. Enters no hash.
  public var userInfo: [String: String] = [:]

  /// Makes a persistent attribute; everything else starts out as Xcode leaves it.
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

    /// Makes a derivation of texts in predicate format, spelled as the framework prints them.
    public init(expression: String, filter: String? = nil) {
      self.expression = expression
      self.filter = filter
    }
  }

  /// Rules that Core Data checks on saving. They enter no hash and no column.
  public struct Validation: Sendable, Equatable {
    /// Lower and upper bound as the model writes them: a length for a String, else a value.
    public var minimum: String?
    /// Upper bound, or greatest length of a String.
    public var maximum: String?
    /// Regular expression that a String must match.
    public var pattern: String?
    /// Further rules of compiled models, in predicate format.
    public var predicates: [String] = []

    /// Makes a validation without rules.
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

extension Attribute {
  /// Transformers of Foundation's that keep values as keyed archives; none named is one of them.
  private static let archivers: Set<String> = [
    "", "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
    "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName",
  ]

  /// Whether the transformer of a Transformable attribute makes keyed archives; what an app's own makes,
  /// nobody knows.
  package var isArchived: Bool { Self.archivers.contains(valueTransformerName ?? "") }
}

/// A default value that is another each time it is computed, such as `UUID()` in Swift source.
///
/// SwiftData evaluates it once, when it makes the model: every row that a migration adds the attribute
/// to gets one and the same value.
public struct EvaluatedDefault: Sendable, Equatable {
  /// What the expression makes.
  public enum Kind: Sendable, Equatable {
    /// A new UUID, or its text where the attribute is a String.
    case uuid
    /// The current date.
    case now
    /// A random integer within bounds.
    case integer(ClosedRange<Int64>)
    /// What only the running app can compute.
    case unknown
  }

  /// What the expression makes.
  public var kind: Kind
  /// The expression as the source spells it.
  public var expression: String

  /// Makes the default of an expression.
  public init(_ kind: Kind, expression: String) {
    self.kind = kind
    self.expression = expression
  }
}
