/// A link from objects of an entity to objects of another, or of the same.
public struct Relationship: Sendable, Equatable {
  public enum DeleteRule: UInt32, Sendable, CaseIterable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
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

  public var name: String
  /// Name of the destination entity.
  public var destination: String
  /// Name of the inverse relationship, declared by the destination or an ancestor of it.
  public var inverse: String?
  public var isToMany = false
  public var isOrdered = false
  public var isOptional = false
  public var isTransient = false
  /// As the version hash sees them: 1 for a to-one; 0 for a to-many without limit, or UInt32.max
  /// where code set -1.
  public var minCount: UInt32 = 0
  public var maxCount: UInt32 = 1
  public var deleteRule = DeleteRule.nullify
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var isIndexedBySpotlight = false
  public var userInfo: [String: String] = [:]

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
