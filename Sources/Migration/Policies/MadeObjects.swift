/// What is known of all that a mapping with a policy made.
struct MadeObjects {
  /// Source objects that were gone through.
  var sources = 0
  /// Those of which the mapping's own object was made: of its destination entity, and under the
  /// source's key moved as the mapping moves keys.
  var own = 0
  /// Whether other objects were associated as well.
  var hasOthers = false

  /// Whether a source object became one object of the destination entity, or none.
  var isPlain: Bool { !hasOthers }
  /// Whether each source object became one.
  var isComplete: Bool { isPlain && own == sources }
}
