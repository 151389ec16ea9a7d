import ManagedModel

/// The visit of all entities, in which inverses meet (store-format-2 §1, step 4).
extension WalkedModel {
  mutating func visitAll() {
    for entity in model.entitiesByName {
      guard let place = places[entity.name] else { continue }
      let order =
        isLarge ? entities[place].links.map { links[$0].key } : self.order(of: place)
      for key in order {
        let link = linkOfKey[Int(key.place)]
        if link >= 0, !links[Int(link)].isDecided { decide(Int(link), visited: place) }
      }
    }
  }

  /// The keys of an entity in the order in which they are visited. Where that decides nothing, none
  /// are listed.
  private func order(of place: Int) -> [WalkKey] {
    let keys = entities[place].keys.keys
    guard keys.contains(where: { isOpen(linkOfKey[Int($0.place)]) }) else { return [] }
    return EarlyTable.order(keys)
  }

  private func isOpen(_ link: Int32) -> Bool {
    guard link >= 0 else { return false }
    return !links[Int(link)].isDecided
  }

  private mutating func decide(_ place: Int, visited entity: Int) {
    let link = links[place]
    switch link.inverse {
    case .unkept:
      links[place].isDecided = true
    case .none:
      links[place].isDecided = true
      if link.relationship.isToMany, let destination = link.destination {
        addVirtualToOne(link, to: destination)
      }
    case .link(let other):
      let inverse = links[other]
      switch (link.relationship.isToMany, inverse.relationship.isToMany) {
      case (true, true):
        links[place].isDecided = true
        links[other].isDecided = true
        addJoin(link, inverse, isReflexive: place == other)
      case (false, true) where inverse.relationship.isOrdered:
        // Only the entity that declares a to-one gives it its order key: an entity below it that
        // is visited earlier does not (all 35 tables of real stores that show it; 26 would agree
        // otherwise).
        guard link.owner == entity else { return }
        links[place].isDecided = true
        addOrder(
          "Z_FOK_" + link.relationship.name.uppercased(),
          .toOneOrder(entity: entities[entity].name, name: link.relationship.name), to: entity)
      default:
        links[place].isDecided = true
      }
    }
  }

  /// Adds an order key, for entities that are visited later in this hierarchy, too.
  private mutating func addOrder(_ name: String, _ content: StoreSchema.Content, to entity: Int) {
    let column = add(name, content, to: entity)
    entities[entity].own.orders.append(column.place)
    enter([key("_" + column.name)], from: entity)
  }

  private mutating func enter(_ keys: [WalkKey], from entity: Int) {
    guard !isLarge else { return }
    for place in entity..<entities[entity].end {
      for key in keys { entities[place].keys.enter(key) }
    }
  }

  /// A to-many without inverse is kept as a to-one of its destination.
  private mutating func addVirtualToOne(_ link: Link, to destination: Int) {
    let owner = entities[link.owner]
    guard let number = owner.number else { return }
    let name = link.relationship.name
    let column = add(
      "Z\(number)\(name.uppercased())", .owner(entity: owner.name, name: name), to: destination)
    entities[destination].own.virtual.append(column.place)
    enter([key("_" + column.name), key("\(number)\(name)")], from: destination)
    guard link.relationship.isOrdered else { return }
    addOrder(
      "Z_FOK_\(number)\(name.uppercased())", .ownerOrder(entity: owner.name, name: name),
      to: destination)
  }

  private mutating func addJoin(_ link: Link, _ inverse: Link, isReflexive: Bool) {
    let (own, other) = (entities[link.owner], entities[inverse.owner])
    guard let number = own.number, let otherNumber = other.number else { return }
    let (name, otherName) = (
      link.relationship.name.uppercased(), inverse.relationship.name.uppercased()
    )
    // The inverse's column is made first.
    let second =
      isReflexive ? "REFLEXIVE" : unused("Z_\(otherNumber)\(name)", in: inverse.owner)
    let first = unused("Z_\(number)\(otherName)", in: link.owner)
    let isOrdered = !isReflexive && link.relationship.isOrdered
    let table = StoreSchema.JoinTable(
      name: "Z_\(number)\(name)", entity: own.name, relationship: link.relationship.name,
      inverseEntity: other.name, inverse: inverse.relationship.name, first: first, second: second,
      firstOrder: inverse.relationship.isOrdered ? "Z_FOK_\(first.dropFirst(2))" : nil,
      secondOrder: isOrdered ? "Z_FOK_\(second.dropFirst(2))" : nil)
    entities[link.owner].joins.append((link.relationship.name, table))
  }

  /// The join tables that an entity names, in the order in which a new store gets them: that of an
  /// ordinary dictionary of its keys, entered as they were made.
  ///
  /// That order of entering was found by trying: it gives the order of making of all tables of the one
  /// store at hand that has several an entity and was never migrated.
  func joinsNamed(by entity: Int) -> [StoreSchema.JoinTable] {
    let joins = entities[entity].joins
    guard joins.count > 1 else { return joins.map(\.table) }
    let tables = Dictionary(joins.map { ($0.relationship, $0.table) }) { first, _ in first }
    return OrdinaryTable.order(keyNames(of: entity)).compactMap { tables[$0] }
  }

  private func keyNames(of entity: Int) -> [String] {
    entities[entity].keys.keys.map(\.place).sorted().map { keyNames[Int($0)] }
  }

  func changeBits(of name: String) -> [ModelWalk.ChangeBit] {
    guard let place = places[name] else { return [] }
    var lineage: [Entity] = []
    var next: Int? = place
    while let entity = next {
      lineage.insert(entities[entity], at: 0)
      next = entities[entity].parent
    }
    let all = columns[entities[place].root] ?? []
    let blocks: [(OwnColumns) -> [Int]] = [
      { $0.toOnes + $0.virtual }, \.entities, \.orders, \.attributes,
    ]
    let stored = blocks.flatMap { block in
      lineage.flatMap { block($0.own) }.map { ModelWalk.ChangeBit.column(all[$0].column) }
    }
    var links: [String: Link] = [:]
    for link in lineage.flatMap(\.links).map({ self.links[$0] }) where link.relationship.isToMany {
      links[link.relationship.name] = link
    }
    let toMany = OrdinaryTable.order(keyNames(of: place)).compactMap { links[$0] }
    func isJoined(_ link: Link) -> Bool {
      if case .link(let inverse) = link.inverse {
        return self.links[inverse].relationship.isToMany
      }
      return false
    }
    return stored
      + (toMany.filter { !isJoined($0) } + toMany.filter(isJoined)).map {
        .toMany(entity: entities[$0.owner].name, name: $0.relationship.name)
      }
  }
}

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
