/// How many links objects have, where the model leaves it open.
struct LinkShape: Sendable, Equatable {
  /// Of a hundred objects that need none, those that have none.
  var emptyPercent = 15
  /// Links of an object at an average, for a many-to-many.
  var mean = 2.0
  /// Most links of an object, where there is no rule.
  var most = 6
}

/// What the links of all pairs are made with.
struct LinkContext: Sendable {
  let seed: UInt64
  /// The first objects of each entity that are edge cases; 0 for none.
  var edgeRows = 0
  /// Longest chain in a hierarchy that edge cases ask for; 0 for none.
  var chain = 0
}
