import ManagedModel

/// What becomes of objects whose mandatory relationship ends up empty: one rule for every kind of
/// mapping, before a run and after it.
enum EmptyRelationship {
  /// The relationship may be empty.
  case allowed
  /// The migration runs, and the plan tells the objects: only a save in the app looks for it.
  ///
  /// Apple's engine lets a mandatory to-many begin empty (store2-82-0 of the fixtures, migrated from
  /// 2-73-0, has 21 conversations without participantRoles), and apps' stores are full of them.
  case told
  /// The migration is refused.
  case refused
}

extension Relationship {
  /// What becomes of objects that have nothing in it.
  var emptiness: EmptyRelationship {
    if isOptional { return .allowed }
    return isToMany && minCount == 0 ? .told : .refused
  }
}
