import ManagedModel

extension StoreSchema.JoinTable {
  /// One side of a many-to-many: a relationship, with the entity that declares it.
  package struct Side: Hashable, Sendable, CustomStringConvertible {
    /// The entity that declares the relationship.
    package var entity: String
    /// The relationship's name.
    package var relationship: String

    /// Names one side; nobody asks whether a model has it.
    package init(entity: String, relationship: String) {
      self.entity = entity
      self.relationship = relationship
    }

    /// The side as `Entity.relationship`, as `--join-name` takes it.
    package var description: String { "\(entity).\(relationship)" }
  }

  /// The side that names the table.
  package var side: Side { Side(entity: entity, relationship: relationship) }
  /// The other side.
  package var otherSide: Side { Side(entity: inverseEntity, relationship: inverse) }

  /// Whether the table holds the links of that side.
  package func isOf(_ side: Side) -> Bool { side == self.side || side == otherSide }

  /// Its columns, in the order of a fresh table.
  package var columns: [String] {
    [first, second] + [firstOrder, secondOrder].compactMap { $0 }
  }
}

/// Which of a many-to-many's two relationships names its table.
///
/// Core Data computes the name from the model whenever it opens a store, and looks for no other. It
/// goes through the entities by name, and the first that has one of the two relationships, inherited
/// ones too, names the table from it. Where that entity has both sides, the order of its
/// properties decides, which no model shows: such a table keeps the side it is named from.
extension StoreSchema {
  func makeJoins() -> [JoinTable] {
    // Column names of join tables are unique across the store, not only within a table.
    var names = NumberedNames()
    return manyToManys().compactMap { pair in
      let (own, other) = (pair.own.side, pair.other.side)
      guard let number = numbers[own.entity], let otherNumber = numbers[other.entity] else {
        return nil
      }
      let (base, otherBase) = (own.relationship.uppercased(), other.relationship.uppercased())
      let isReflexive = own == other
      let first = names.unused("Z_\(number)\(otherBase)")
      let second = isReflexive ? "REFLEXIVE" : names.unused("Z_\(otherNumber)\(base)")
      return JoinTable(
        name: "Z_\(number)\(base)", entity: own.entity, relationship: own.relationship,
        inverseEntity: other.entity, inverse: other.relationship,
        isNamedByModel: pair.isNamedByModel, first: first, second: second,
        firstOrder: pair.other.isOrdered && !isReflexive ? "Z_FOK_\(first.dropFirst(2))" : nil,
        secondOrder: pair.own.isOrdered && !isReflexive ? "Z_FOK_\(second.dropFirst(2))" : nil)
    }
  }

  /// A relationship of a many-to-many.
  private struct Half {
    var side: JoinTable.Side
    var isOrdered: Bool
  }

  /// A many-to-many, the side that names its table first.
  private struct ManyToMany {
    var own: Half
    var other: Half
    var isNamedByModel: Bool
  }

  /// Every many-to-many once, in the order in which Core Data comes upon them.
  private func manyToManys() -> [ManyToMany] {
    let firsts = firstBearers()
    var seen: Set<JoinTable.Side> = []
    var pairs: [(first: Int, name: String, pair: ManyToMany)] = []
    for entity in model.entities {
      for relationship in entity.relationships
      where relationship.isToMany && !relationship.isTransient {
        // What an ancestor declares too is kept where that does.
        guard let own = half(relationship.name, of: entity.name), own.side.entity == entity.name,
          !seen.contains(own.side), let (inverseEntity, inverse) = inverse(of: relationship),
          inverse.isToMany, !inverse.isTransient, let other = half(inverse.name, of: inverseEntity)
        else { continue }
        seen.formUnion([own.side, other.side])
        let (ours, theirs) = (firsts[own.side.entity] ?? 0, firsts[other.side.entity] ?? 0)
        let hasBoth = ours == theirs && own.side != other.side
        let isTurned = hasBoth ? names(other.side, before: own.side) : theirs < ours
        let pair = ManyToMany(
          own: isTurned ? other : own, other: isTurned ? own : other, isNamedByModel: !hasBoth)
        // Which side names a table has no part in the numbers of columns.
        let (mine, its) = (own.side.relationship, other.side.relationship)
        let name = hasBoth ? (mine.precedes(its) ? mine : its) : pair.own.side.relationship
        pairs.append((min(ours, theirs), name, pair))
      }
    }
    return pairs.sorted { a, b in
      a.first == b.first ? a.name.precedes(b.name) : a.first < b.first
    }.map(\.pair)
  }

  /// For each entity the place, among all by name, of the first that has what it declares: itself or
  /// one below it.
  private func firstBearers() -> [String: Int] {
    var firsts: [String: Int] = [:]
    for (place, entity) in model.entitiesByName.enumerated() {
      var next: Entity? = entity
      // Whoever has one already has it from an earlier name, and so have all above.
      while let bearer = next, firsts[bearer.name] == nil {
        firsts[bearer.name] = place
        next = bearer.parent.flatMap { model.entity(named: $0) }
      }
    }
    return firsts
  }

  /// Whether a side names the table of two that one entity has: the one that was chosen, such as
  /// that of a store that is there; else the alphabetically later.
  private func names(_ side: JoinTable.Side, before other: JoinTable.Side) -> Bool {
    if naming.contains(side) != naming.contains(other) { return naming.contains(side) }
    return other.relationship.precedes(side.relationship)
  }

  private func half(_ relationship: String, of entity: String) -> Half? {
    guard let declarer = model.declaringEntity(of: relationship, in: entity),
      let declared = model.entity(named: declarer)?.relationship(named: relationship)
    else { return nil }
    return Half(
      side: .init(entity: declarer, relationship: relationship), isOrdered: declared.isOrdered)
  }

  /// The join table that a relationship, own or inherited, is kept in.
  package func join(of relationship: String, in entity: String) -> JoinTable? {
    model.declaringEntity(of: relationship, in: entity).flatMap { declarer in
      joinPlaces[declarer]?[relationship].map { joins[$0] }
    }
  }

  /// The same table named from its other side.
  package func turned(_ join: JoinTable) -> JoinTable {
    guard !join.isReflexive, let number = numbers[join.inverseEntity] else { return join }
    var copy = join
    copy.name = "Z_\(number)\(join.inverse.uppercased())"
    (copy.entity, copy.inverseEntity) = (join.inverseEntity, join.entity)
    (copy.relationship, copy.inverse) = (join.inverse, join.relationship)
    (copy.first, copy.second) = (join.second, join.first)
    (copy.firstOrder, copy.secondOrder) = (join.secondOrder, join.firstOrder)
    return copy
  }

  /// The tables by the names that Core Data computes for this model and these numbers; of join tables
  /// that the model leaves open, the side that they are named from here.
  package var expected: StoreSchema {
    StoreSchema(
      model: model, numbers: numbers,
      naming: Set(joins.filter { !$0.isNamedByModel }.map(\.side)))
  }
}
