/// A key of an entity, as the tables of the walk know it: its place among all keys, and its hashes.
///
/// Two keys of one entity have different texts, so the place stands for the text.
struct WalkKey: Sendable {
  var place: Int32
  var late: UInt32
  var early: UInt32
}

/// The dictionary in which Core Data keeps an entity's keys: open addressing with linear probing.
///
/// It has room for three keys in four places, and then for twice as many in twice the places; when it
/// grows, the keys are entered in the order of their old places (store-format-2 §1).
struct LateTable: Sendable {
  private var places: [WalkKey?]
  private(set) var count = 0

  /// An empty table of the smallest size.
  init() { places = Array(repeating: nil, count: 4) }

  /// The keys in the order of their places.
  var keys: [WalkKey] { places.compactMap { $0 } }

  /// Enters a key; a full table grows even where it holds the key already.
  mutating func enter(_ key: WalkKey) {
    if count >= places.count / 4 * 3 {
      let old = places
      places = Array(repeating: nil, count: old.count * 2)
      for case let key? in old { places[free(for: key)] = key }
    }
    let place = free(for: key)
    if places[place] == nil {
      places[place] = key
      count += 1
    }
  }

  /// The place of a key, or the one that it would have. There is one: the table is never full.
  private func free(for key: WalkKey) -> Int {
    let mask = places.count - 1
    var place = Int(key.late) & mask
    while let other = places[place], other.place != key.place { place = (place + 1) & mask }
    return place
  }
}

/// The dictionary out of which Core Data visits an entity's keys: sized for their number, it does not
/// grow.
enum EarlyTable {
  /// The keys in the order of their places, having been entered in theirs.
  static func order(_ keys: [WalkKey]) -> [WalkKey] {
    let size = UInt32(size(for: keys.count))
    var places = [WalkKey?](repeating: nil, count: Int(size))
    for key in keys {
      var place = Int(key.early % size)
      while let other = places[place], other.place != key.place {
        place = place + 1 == places.count ? 0 : place + 1
      }
      places[place] = key
    }
    return places.compactMap { $0 }
  }

  /// The number of places for a number of keys.
  ///
  /// Core Foundation lists them up to some four thousand million; no entity has more keys than the
  /// last of these, and more would only be visited in another order.
  static func size(for count: Int) -> Int {
    sizes.first { count <= $0.keys }?.places ?? count * 2 + 1
  }

  private static let sizes: [(keys: Int, places: Int)] = [
    (4, 5), (8, 11), (17, 23), (29, 41), (47, 67), (76, 113), (123, 199), (199, 317), (322, 521),
    (521, 839), (843, 1361), (1364, 2207), (2207, 3571), (3571, 5779), (5778, 9349),
    (9349, 15121), (15127, 24473), (24476, 39607), (39603, 64081), (64079, 103_681),
    (103_682, 167_759), (167_761, 271_429), (271_443, 439_199), (439_204, 710_647),
  ]
}

/// The order in which today's dictionaries list texts.
enum OrdinaryTable {
  /// The texts in the order of their places, having been entered in theirs.
  static func order(_ names: [String]) -> [String] {
    var places: [(name: String, hash: UInt64)?] = []
    var count = 0
    func place(_ hash: UInt64) -> Int {
      var place = Int(hash % UInt64(places.count))
      while places[place] != nil { place = place + 1 == places.count ? 0 : place + 1 }
      return place
    }
    for name in names {
      if let size = size(after: places.count, holding: count) {
        let old = places
        places = Array(repeating: nil, count: size)
        for case let entry? in old { places[place(entry.hash)] = entry }
      }
      let hash = NameHash.ordinary(name)
      places[place(hash)] = (name, hash)
      count += 1
    }
    return places.compactMap { $0?.name }
  }

  /// The size that a table grows to before one more key; `nil` where it has room.
  private static func size(after size: Int, holding count: Int) -> Int? {
    let capacity = sizes.first { $0.places == size }?.keys ?? size / 2
    guard count >= capacity else { return nil }
    return sizes.first { $0.keys > count }?.places ?? (size + count) * 2 + 1
  }

  private static let sizes: [(keys: Int, places: Int)] = [
    (3, 3), (6, 7), (11, 13), (19, 23), (32, 41), (52, 71), (85, 127), (118, 191), (155, 251),
    (237, 383), (390, 631), (672, 1087), (1065, 1723), (1732, 2803), (2795, 4523), (4543, 7351),
    (7391, 11959), (12019, 19447), (19302, 31231), (31324, 50683), (50629, 81919),
  ]
}
