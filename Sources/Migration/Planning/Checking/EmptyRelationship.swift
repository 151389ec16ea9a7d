import ManagedModel

/// What becomes of objects whose mandatory relationship ends up empty: one rule for every kind of
/// mapping, before a run and after it.
enum EmptyRelationship {
  /// The relationship may be empty.
  case allowed
  /// The migration runs, and the plan shows the objects: only a save in the app looks for it.
  ///
  /// Apple's engine lets a mandatory to-many begin empty (store2-82-0 of the fixtures, migrated from
  /// 2-73-0, has 21 conversations without participantRoles), and apps' stores are full of them.
  case told
  /// The migration is refused.
  case refused

  static func message(_ relationship: Relationship) -> String {
    relationship.isToMany
      ? relationship.minCount > 0
        ? "no objects in a to-many relationship that must have \(relationship.minCount)"
        : "no objects in a mandatory to-many relationship"
      : "missing objects on a mandatory destination relationship"
  }

  static func hint(_ relationship: Relationship, of entity: String) -> String {
    relationship.emptiness == .told
      ? "Such objects cannot be saved until the app gives them some."
      : "Make \(entity).\(relationship.name) optional"
        + (relationship.isToMany ? ", give it no minimum count" : "")
        + ", or set it in those rows first."
  }
}

extension Relationship {
  /// What becomes of objects that have nothing in it.
  var emptiness: EmptyRelationship {
    if isOptional { return .allowed }
    return isToMany && minCount == 0 ? .told : .refused
  }
}
