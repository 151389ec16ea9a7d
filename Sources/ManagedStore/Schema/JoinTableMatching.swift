import ManagedModel

extension StoreSchema {
  /// Finds the join table of each many-to-many relationship among the tables of a real store.
  ///
  /// The expected name comes first. A store that was migrated in place can name its join tables by
  /// other entity numbers, by the other side, or by a relationship's former name; then the columns
  /// tell. A relationship whose table is nowhere keeps the expected one.
  package func fitted(to database: DatabaseTables) -> (schema: StoreSchema, missing: [JoinTable]) {
    let candidates = database.tables.keys.sorted().compactMap {
      JoinCandidate(table: $0, columns: database.tables[$0] ?? [])
    }
    let named = Dictionary(candidates.map { ($0.table, $0) }) { first, _ in first }
    // Looked through only where a table is not under its name: of thousands none is, mostly.
    var byColumn: [String: [JoinCandidate]]?
    func bearing(_ names: [String]) -> [JoinCandidate] {
      let index = byColumn ?? JoinCandidate.byColumn(candidates)
      byColumn = index
      return names.flatMap { index[$0] ?? [] }
    }
    var missing: [JoinTable] = []
    var taken: Set<String> = []
    let fitted = joins.map { expected -> JoinTable in
      let names = Names(
        forward: formerNames(expected.relationship, in: expected.entity),
        backward: formerNames(expected.inverse, in: expected.inverseEntity))
      var best: (score: Int, join: JoinTable)?
      if let candidate = named[expected.name], !taken.contains(candidate.table) {
        best = match(expected, names, candidate)
      }
      if (best?.score ?? -1) < Self.fullScore(of: expected) {
        let options = bearing(names.forward).filter { !taken.contains($0.table) }
          .compactMap { match(expected, names, $0) }
        best = (options + [best].compactMap { $0 }).max { $0.score < $1.score }
      }
      guard let best else {
        missing.append(expected)
        return expected
      }
      taken.insert(best.join.name)
      return orientedLikeItsName(best.join)
    }
    return (replacing(joins: fitted), missing)
  }

  /// What the two relationships of a join table have been called.
  private struct Names {
    var forward: [String]
    var backward: [String]
  }

  /// What a table has whose own name and columns are all as expected.
  private static func fullScore(of expected: JoinTable) -> Int { expected.isReflexive ? 4 : 11 }

  /// Turned where the table is called by the other side, as far as its name tells.
  private func orientedLikeItsName(_ found: JoinTable) -> JoinTable {
    guard !found.isReflexive, let label = JoinCandidate.Column(found.name)?.base else {
      return found
    }
    guard !formerNames(found.relationship, in: found.entity).contains(label),
      formerNames(found.inverse, in: found.inverseEntity).contains(label)
    else { return found }
    var turned = turned(found)
    turned.name = found.name
    return turned
  }

  private func match(
    _ expected: JoinTable, _ names: Names, _ candidate: JoinCandidate
  ) -> (score: Int, join: JoinTable)? {
    let (forward, backward) = (names.forward, names.backward)
    let number = numbers[expected.entity] ?? 0
    let other = numbers[expected.inverseEntity] ?? 0
    var join = expected
    join.name = candidate.table
    if expected.isReflexive {
      guard candidate.second.name == "REFLEXIVE",
        forward.contains(candidate.first.base) || forward.contains(candidate.first.unnumbered)
      else { return nil }
      join.first = candidate.first.name
      join.second = candidate.second.name
      return (candidate.table == expected.name ? 4 : 1, join)
    }
    // The column named after the inverse holds this side's keys.
    func fit(_ own: JoinCandidate.Column, _ others: JoinCandidate.Column) -> Int? {
      guard backward.contains(own.base) || backward.contains(own.unnumbered),
        forward.contains(others.base) || forward.contains(others.unnumbered)
      else { return nil }
      return (own.number == number ? 2 : 0) + (others.number == other ? 2 : 0)
        + (own.base == backward.first && others.base == forward.first ? 1 : 0)
    }
    let straight = fit(candidate.first, candidate.second)
    let turned = fit(candidate.second, candidate.first)
    guard straight != nil || turned != nil else { return nil }
    let isStraight = (straight ?? -1) >= (turned ?? -1)
    let own = isStraight ? candidate.first : candidate.second
    let others = isStraight ? candidate.second : candidate.first
    join.first = own.name
    join.second = others.name
    join.firstOrder = candidate.order(of: own)
    join.secondOrder = candidate.order(of: others)
    let score = (isStraight ? straight : turned) ?? 0
    return (score * 2 + (candidate.table == expected.name ? 1 : 0), join)
  }

  /// Upper-cased names a relationship has had, the present one first.
  private func formerNames(_ relationship: String, in entity: String) -> [String] {
    let declared = model.relationship(named: relationship, of: entity)
    return [relationship, declared?.renamingIdentifier].compactMap { $0?.uppercased() }
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

  /// Those that have a column of a name, with or without the number that made it unique.
  static func byColumn(_ candidates: [JoinCandidate]) -> [String: [JoinCandidate]] {
    var index: [String: [JoinCandidate]] = [:]
    for candidate in candidates {
      let columns = [candidate.first, candidate.second]
      for name in Set(columns.flatMap { [$0.base, $0.unnumbered] }) {
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
