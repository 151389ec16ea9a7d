import ManagedModel

/// How often each value of a property occurs among the objects of an entity.
public struct Frequencies: Sendable, Equatable {
  /// What is counted.
  public enum Kind: Sendable, Equatable {
    /// The values of an attribute.
    case attribute(AttributeType)
    /// The objects that a to-one relationship references.
    case toOne(destination: String)
    /// How many objects a to-many relationship references.
    case toManyCount
    /// Whether there is a value: bytes have no other frequencies.
    case presence
  }

  /// A value with the number of objects that have it.
  public struct Entry: Sendable, Equatable {
    /// The value; text of more than ``Frequencies/longestText`` characters is cut.
    public var value: PropertyValue
    /// Whether ``value`` is only the beginning of what is in the store.
    public var isCut = false
    /// Objects that have it.
    public var count: Int
    /// What a person would call the object that a to-one relationship references.
    public var label: String?
  }

  /// Characters of a text that an entry keeps.
  public static let longestText = 2_000

  /// The entity whose objects were counted, those of subentities included.
  public var entity: String
  /// The property, or the path of to-one relationships that leads to it.
  public var path: String
  /// What is counted.
  public var kind: Kind
  /// Objects in all.
  public var total: Int
  /// Objects without a value.
  public var nulls: Int
  /// Different values, NULL not among them.
  public var distinct: Int
  /// The most frequent values, most frequent first, then the least value; NULL is not among them.
  public var entries: [Entry]
  /// The least value of a number or a date.
  public var minimum: AttributeValue?
  /// The greatest value of a number or a date.
  public var maximum: AttributeValue?
  /// The mean of a number, or of the sizes of a to-many relationship.
  public var mean: Double?

  /// The part of all objects that a count is, from 0 to 1.
  public func share(of count: Int) -> Double {
    total == 0 ? 0 : Double(count) / Double(total)
  }
}
