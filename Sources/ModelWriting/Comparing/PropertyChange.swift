/// One thing that differs between two versions of an entity or of one of its properties.
public struct PropertyChange: Sendable, Equatable {
  /// What changed; a case with one Boolean carries the new state.
  public enum Kind: Sendable, Equatable {
    case added
    case removed
    case renamed(from: String)
    /// What an ancestor declared the entity declares itself now.
    case movedDown(from: String)
    /// What the entity declared an ancestor declares now.
    case movedUp(to: String)
    case type(from: AttributeType, to: AttributeType)
    case optional(Bool)
    case transient(Bool)
    case defaultValue(from: AttributeValue?, to: AttributeValue?)
    case derivation(from: Attribute.Derivation?, to: Attribute.Derivation?)
    case externalStorage(Bool)
    case preservedInHistory(Bool)
    case cloudEncryption(Bool)
    case indexed(Bool)
    case spotlight(Bool)
    case valueTransformer(from: String?, to: String?)
    case className(from: String?, to: String?)
    case validation
    /// The elements of a composite attribute stand in another order.
    case elements
    case destination(from: String, to: String)
    case inverse(from: String?, to: String?)
    case toMany(Bool)
    case ordered(Bool)
    case minCount(from: UInt32, to: UInt32)
    case maxCount(from: UInt32, to: UInt32)
    case deleteRule(from: Relationship.DeleteRule, to: Relationship.DeleteRule)
    case fetchRequest
    case renamingIdentifier(from: String?, to: String?)
    case versionHashModifier(from: String?, to: String?)
    case userInfo
    case parent(from: String?, to: String?)
    case abstract(Bool)
    case constraintAdded([String])
    case constraintRemoved([String])
    case indexAdded(String)
    case indexRemoved(String)
    case indexChanged(String)
    case compoundIndexes
    /// Nothing of its own: the hash of its parent, which enters its own, moved.
    case inherited(from: String)
  }

  /// Name of the property, the destination's where both have it; `nil` when the entity itself
  /// changed. An element of a composite attribute is named by its path, `composite.element`.
  public let property: String?
  /// What changed, for programs.
  public let kind: Kind
  /// Whether the change makes the entity's version hash another, so that a store needs migrating.
  public let movesHash: Bool
  /// The change as a sentence without a full stop.
  public let description: String
}
