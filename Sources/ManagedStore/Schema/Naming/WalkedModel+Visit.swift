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
