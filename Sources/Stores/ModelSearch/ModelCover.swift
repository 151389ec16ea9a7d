/// Several models that together have just the entities of a store: an app merged them.
enum ModelCover {
  /// Most models that an app is taken to have merged.
  static let limit = 8

  /// The fewest of some sets of entities, found one after the other, that together are all entities of a store.
  ///
  /// The largest set is taken first, then each time the one with the most entities that are missing still.
  ///
  /// - Parameter sets: what each candidate has of the store's entities; nothing else is in it.
  /// - Returns: the places of the sets, at least two; `nil` where they do not have all.
  static func places(of sets: [Set<String>], covering all: Set<String>) -> [Int]? {
    var missing = all
    var chosen: [Int] = []
    while !missing.isEmpty {
      let gains = sets.map { $0.intersection(missing).count }
      guard let most = gains.max(), most > 0, let place = gains.firstIndex(of: most),
        chosen.count < limit
      else { return nil }
      chosen.append(place)
      missing.subtract(sets[place])
    }
    return chosen.count > 1 ? chosen.sorted() : nil
  }
}
