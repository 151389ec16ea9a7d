import ManagedModel

extension StoreSchema {
  /// The schema with the names that a real store has, and the join tables that were not found in it.
  package func fitted(to database: DatabaseTables) -> (schema: StoreSchema, missing: [JoinTable]) {
    columnsFitted(to: database).joinsFitted(to: database)
  }

  /// Finds the join table of each many-to-many relationship among the tables of a real store, and in it
  /// the columns by their names: a migration in place renames a table to the other side's name and
  /// leaves its columns where they stand.
  ///
  /// The computed name comes first, then any table that has the computed columns. What another program
  /// left under former entity IDs or under a relationship's former name is found by the names without
  /// their numbers. A relationship whose table is nowhere keeps the computed one.
  private func joinsFitted(
    to database: DatabaseTables
  ) -> (schema: StoreSchema, missing: [JoinTable]) {
    var found: [Int: JoinTable] = [:]
    var taken: Set<String> = []
    for (place, join) in joins.enumerated() where !taken.contains(join.name) {
      let columns = database.columns(of: join.name)
      guard columns.contains(join.first), columns.contains(join.second) else { continue }
      found[place] = join.fitted(to: columns)
      taken.insert(join.name)
    }
    // Looked through only where a table is not under its name: of thousands none is, mostly.
    guard found.count < joins.count else {
      return (replacing(joins: joins.indices.compactMap { found[$0] }), [])
    }
    var left = database.tables.keys.sorted().filter { !taken.contains($0) }.compactMap {
      JoinCandidate(table: $0, columns: database.tables[$0] ?? [])
    }
    var byColumn = JoinCandidate.byColumn(left)
    for (place, join) in joins.enumerated() where found[place] == nil {
      guard
        let candidate = byColumn[join.first]?.first(where: {
          !taken.contains($0.table) && $0.names == [join.first, join.second]
        })
      else { continue }
      var copy = join
      copy.name = candidate.table
      found[place] = copy.fitted(to: database.columns(of: candidate.table))
      taken.insert(candidate.table)
    }
    left.removeAll { taken.contains($0.table) }
    byColumn = JoinCandidate.byBase(left)
    for (place, join) in joins.enumerated() where found[place] == nil {
      let names = Names(
        forward: formerNames(join.relationship, in: join.entity),
        backward: formerNames(join.inverse, in: join.inverseEntity))
      let options = names.forward.flatMap { byColumn[$0] ?? [] }
        .filter { !taken.contains($0.table) }.compactMap { match(join, names, $0) }
      guard let best = options.max(by: { $0.score < $1.score }) else { continue }
      found[place] = best.join
      taken.insert(best.join.name)
    }
    let missing = joins.indices.filter { found[$0] == nil }.map { joins[$0] }
    return (replacing(joins: joins.indices.map { found[$0] ?? joins[$0] }), missing)
  }

  /// What the two relationships of a join table have been called.
  private struct Names {
    var forward: [String]
    var backward: [String]
  }

  /// A table whose columns are called as the relationships are or were, whatever their numbers.
  private func match(
    _ expected: JoinTable, _ names: Names, _ candidate: JoinCandidate
  ) -> (score: Int, join: JoinTable)? {
    let (forward, backward) = (names.forward, names.backward)
    let number = numbers[expected.entity] ?? 0
    let other = numbers[expected.inverseEntity] ?? 0
    let isNamed = candidate.table == expected.name
    var join = expected
    join.name = candidate.table
    if expected.isReflexive {
      guard candidate.second.name == "REFLEXIVE", candidate.first.isCalled(forward) else {
        return nil
      }
      (join.first, join.second) = (candidate.first.name, candidate.second.name)
      join.firstOrder = candidate.order(of: candidate.first)
      return (isNamed ? 1 : 0, join)
    }
    // The column named after the inverse holds this side's keys.
    func fit(_ own: JoinCandidate.Column, _ others: JoinCandidate.Column) -> Int? {
      guard own.isCalled(backward), others.isCalled(forward) else { return nil }
      return (own.number == number ? 2 : 0) + (others.number == other ? 2 : 0)
        + (own.base == backward.first && others.base == forward.first ? 1 : 0)
    }
    let straight = fit(candidate.first, candidate.second)
    let turned = fit(candidate.second, candidate.first)
    guard let score = [straight, turned].compactMap({ $0 }).max() else { return nil }
    let (own, others) =
      straight == score ? (candidate.first, candidate.second) : (candidate.second, candidate.first)
    (join.first, join.second) = (own.name, others.name)
    (join.firstOrder, join.secondOrder) = (candidate.order(of: own), candidate.order(of: others))
    return (score * 2 + (isNamed ? 1 : 0), join)
  }

  /// Upper-cased names a relationship has had, the present one first.
  private func formerNames(_ relationship: String, in entity: String) -> [String] {
    let declared = model.relationship(named: relationship, of: entity)
    return [relationship, declared?.renamingIdentifier].compactMap { $0?.uppercased() }
  }
}

extension StoreSchema.JoinTable {
  /// The same without order keys that the table does not have.
  fileprivate func fitted(to columns: Set<String>) -> StoreSchema.JoinTable {
    var copy = self
    copy.firstOrder = firstOrder.flatMap { columns.contains($0) ? $0 : nil }
    copy.secondOrder = secondOrder.flatMap { columns.contains($0) ? $0 : nil }
    return copy
  }
}

/// A table that has the shape of a join table: `Z_<n>NAME` with two key columns.
private struct JoinCandidate {
  struct Column {
    var name: String
    var number: Int64
    /// The name without `Z_<n>`, and without the number that made it unique in the store.
    var base: String
    var unnumbered: String

    func isCalled(_ names: [String]) -> Bool {
      names.contains(base) || names.contains(unnumbered)
    }

    init?(_ name: String) {
      guard name.hasPrefix("Z_") else {
        guard name == "REFLEXIVE" else { return nil }
        self.name = name
        (number, base, unnumbered) = (0, name, name)
        return
      }
      let rest = name.dropFirst(2)
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard let number = Int64(digits), digits.count < rest.count else { return nil }
      self.name = name
      self.number = number
      base = String(rest.dropFirst(digits.count))
      unnumbered = String(
        base.reversed().drop { $0.isASCII && $0.isNumber }.reversed())
    }
  }

  var table: String
  var first: Column
  var second: Column
  var orders: [String]

  /// The two columns of keys.
  var names: Set<String> { [first.name, second.name] }

  /// Those that have a column of a name.
  static func byColumn(_ candidates: [JoinCandidate]) -> [String: [JoinCandidate]] {
    index(candidates) { [$0.name] }
  }

  /// The same by the name without its entity ID, with or without the number that made it unique.
  static func byBase(_ candidates: [JoinCandidate]) -> [String: [JoinCandidate]] {
    index(candidates) { [$0.base, $0.unnumbered] }
  }

  private static func index(
    _ candidates: [JoinCandidate], _ names: (Column) -> [String]
  ) -> [String: [JoinCandidate]] {
    var index: [String: [JoinCandidate]] = [:]
    for candidate in candidates {
      for name in Set([candidate.first, candidate.second].flatMap(names)) {
        index[name, default: []].append(candidate)
      }
    }
    return index
  }

  init?(table: String, columns: [DatabaseTables.Column]) {
    guard Column(table) != nil, !columns.contains(where: { $0.name == "Z_PK" }) else { return nil }
    let names = columns.map(\.name)
    let keys = names.filter { !$0.hasPrefix("Z_FOK_") }
    guard keys.count == 2, let first = Column(keys[0]), let second = Column(keys[1]) else {
      return nil
    }
    self.table = table
    self.first = first
    self.second = second
    orders = names.filter { $0.hasPrefix("Z_FOK_") }
  }

  func order(of column: Column) -> String? {
    func expected(_ column: Column) -> String { "Z_FOK_" + column.name.dropFirst(2) }
    let other = column.name == first.name ? second : first
    return orders.first { $0 == expected(column) }
      ?? orders.first {
        $0 != expected(other) && Column("Z_" + $0.dropFirst(6))?.unnumbered == column.unnumbered
      }
  }
}

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

    /// The side as `Entity.relationship`.
    package var description: String { "\(entity).\(relationship)" }
  }

  /// The side that names the table.
  package var side: Side { Side(entity: entity, relationship: relationship) }
  /// The other side.
  package var otherSide: Side { Side(entity: inverseEntity, relationship: inverse) }

  /// Its columns, in the order of a fresh table.
  package var columns: [String] {
    [first, second] + [firstOrder, secondOrder].compactMap { $0 }
  }
}

extension StoreSchema {
  /// The join table that a relationship, own or inherited, is kept in.
  package func join(of relationship: String, in entity: String) -> JoinTable? {
    model.declaringEntity(of: relationship, in: entity).flatMap { declarer in
      joinPlaces[declarer]?[relationship].map { joins[$0] }
    }
  }

  /// The tables by the names that Core Data computes for this model and these entity IDs.
  package var expected: StoreSchema { StoreSchema(model: model, numbers: numbers) }
}
