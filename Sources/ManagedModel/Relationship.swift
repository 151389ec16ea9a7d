/// A link from objects of an entity to objects of another, or of the same.
public struct Relationship: Sendable, Equatable {
  /// What happens to related objects when an object is deleted; raw values are those of archives.
  public enum DeleteRule: UInt32, Sendable, CaseIterable {
    /// Nothing: they keep pointing at an object that is gone.
    case noAction = 0
    /// Their inverse is emptied.
    case nullify = 1
    /// They are deleted, too.
    case cascade = 2
    /// The deletion fails while there are any.
    case deny = 3

    /// The name Xcode writes in a model's XML.
    public var name: String {
      switch self {
      case .noAction: "No Action"
      case .nullify: "Nullify"
      case .cascade: "Cascade"
      case .deny: "Deny"
      }
    }
  }

  /// Name, unique within the entity and its ancestors' properties.
  public var name: String
  /// Name of the destination entity.
  public var destination: String
  /// Name of the inverse relationship, declared by the destination or an ancestor of it.
  public var inverse: String?
  /// Whether it references many objects; Core Data derives it from ``maxCount`` not being 1.
  public var isToMany = false
  /// Whether a to-many keeps its objects in an order. Enters the hash.
  public var isOrdered = false
  /// Whether it may lead nowhere. Enters the hash.
  public var isOptional = false
  /// Whether it lives in memory only: no column, no part in the entity's hash.
  public var isTransient = false
  /// Fewest objects it must lead to, as the version hash sees the number: 0 where the model sets
  /// none.
  public var minCount: UInt32 = 0
  /// Most objects it may reference: 1 for a to-one; 0 for a to-many without limit, or UInt32.max
  /// where code set -1. Both counts enter the hash.
  public var maxCount: UInt32 = 1
  /// What deleting an object does to those it references. Enters no hash.
  public var deleteRule = DeleteRule.nullify
  /// Name the relationship had in an older version, by which inference finds its links again.
  public var renamingIdentifier: String?
  /// Text that enters the hash and nothing else: a way to force a migration.
  public var versionHashModifier: String?
  /// Whether Core Spotlight may index it. Enters no hash.
  public var isIndexedBySpotlight = false
  /// Whatever the model's author noted. Enters no hash.
  public var userInfo: [String: String] = [:]

  /// Makes a relationship; a to-many starts without limit, and deleting nullifies.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, toMany: Bool = false,
    ordered: Bool = false, optional: Bool = false
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = toMany
    self.isOrdered = ordered
    self.isOptional = optional
    self.maxCount = toMany ? 0 : 1
  }

  /// The name that identifies the relationship across versions: the renaming identifier if there is
  /// one, else the name.
  public var canonicalName: String { renamingIdentifier ?? name }
}
