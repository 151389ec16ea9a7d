import ManagedModel
import ManagedStore
import SQLite

extension InPlaceMigration {
  /// Makes, keeps or fills the join tables.
  func migrateLinks() throws {
    try meter.begin(.relationships)
    var renames: [JoinRename] = []
    var plans: [StoreSchema.JoinTable] = []
    var kept: Set<String> = []
    for join in destination.joins {
      let former = schemas.sourceJoin(of: join)
      let ends = schemas.formerEnds(of: join, former: former)
      let all =
        schemas.isKept("0", destination: join.entity, former: ends.first) == nil
        && schemas.isKept("0", destination: join.inverseEntity, former: ends.second) == nil
      if let former, all, source.database.contains(former.name),
        let rename = JoinRename(
          from: former, isStraight: schemas.isStraight(join, former), to: join),
        // Of two that take the links of one table the first has the table.
        try !lacksPositions(former), kept.insert(former.name).inserted
      {
        renames.append(rename)
      } else {
        plans.append(join)
      }
    }
    for join in source.schema.joins
    where !kept.contains(join.name) && source.database.contains(join.name) {
      try connection.execute("DROP TABLE main.\(quoted(join.name))")
    }
    var names = NameExchange(renames.map(\.names), besides: Set(source.database.tables.keys))
    for sql in names.statements({
      "ALTER TABLE main.\(quoted($0)) RENAME TO \(StoreSchema.name($1))"
    }) {
      try connection.execute(sql)
    }
    for rename in renames {
      for sql in rename.columnStatements { try connection.execute(sql) }
    }
    for join in plans {
      try connection.execute(schemas.sql(of: join))
      guard let rows = contents.joins.first(where: { $0.table == join.name }) else { continue }
      try meter.checkCancelled()
      try connection.execute(rows.insert)
    }
    let writer = LinkWriter(schema: destination, connection: connection)
    for link in contents.links {
      try meter.checkCancelled()
      try writer.write(link)
    }
  }

  /// Links without a position, which a damaged store can have, are given one as new ones are.
  private func lacksPositions(_ join: StoreSchema.JoinTable) throws -> Bool {
    let orders = [join.firstOrder, join.secondOrder].compactMap { $0 }
    guard !orders.isEmpty else { return false }
    let conditions = orders.map { "\(quoted($0)) IS NULL" }.joined(separator: " OR ")
    return try connection.value(
      "SELECT EXISTS (SELECT 1 FROM src.\(quoted(join.name)) WHERE \(conditions))")?.integer == 1
  }
}

/// A join table that only changes its names, as entity IDs shift, a side is renamed or the other side
/// comes to name it. The columns stay where they stand: Core Data tells them by name.
private struct JoinRename {
  private let from: StoreSchema.JoinTable
  private let to: StoreSchema.JoinTable
  private let columns: [(from: String, to: String)]

  /// - Parameter isStraight: whether the former first column holds the keys of the new first one.
  /// - Returns: `nil` where one has an order that the other has not.
  init?(from: StoreSchema.JoinTable, isStraight: Bool, to: StoreSchema.JoinTable) {
    let (first, second) = isStraight ? (from.first, from.second) : (from.second, from.first)
    let orders =
      isStraight ? (from.firstOrder, from.secondOrder) : (from.secondOrder, from.firstOrder)
    guard (orders.0 == nil) == (to.firstOrder == nil),
      (orders.1 == nil) == (to.secondOrder == nil), from.isReflexive == to.isReflexive
    else { return nil }
    self.from = from
    self.to = to
    columns = [
      (first, to.first), (second, to.second), (orders.0, to.firstOrder), (orders.1, to.secondOrder),
    ].compactMap { old, new in
      guard let old, let new else { return nil }
      return (old, new)
    }
  }

  /// The table's names.
  var names: (from: String, to: String) { (from.name, to.name) }

  /// Renames the columns of the table, which has its new name.
  var columnStatements: [String] {
    var names = NameExchange(columns, besides: Set(from.columns))
    let table = "main." + quoted(to.name)
    return names.statements {
      "ALTER TABLE \(table) RENAME COLUMN \(quoted($0)) TO \(StoreSchema.name($1))"
    }
  }
}

/// Names that become others, of which one may be another's former name.
///
/// Such a one is put aside as `<name>TEMP` first, as Core Data does.
private struct NameExchange {
  private let changes: [(from: String, to: String)]
  private var taken: Set<String>

  /// - Parameter taken: the names that are there, those that change among them.
  init(_ names: [(from: String, to: String)], besides taken: Set<String>) {
    changes = names.filter { $0.from != $0.to }
    self.taken = taken.union(names.map(\.to))
  }

  /// The statements, each for a name and what it becomes.
  mutating func statements(_ statement: (String, String) -> String) -> [String] {
    let wanted = Set(changes.map(\.to))
    var away: [String] = []
    var final: [String] = []
    for (from, to) in changes {
      guard wanted.contains(from) else {
        final.append(statement(from, to))
        continue
      }
      var aside = from + "TEMP"
      while !taken.insert(aside).inserted { aside += "TEMP" }
      away.append(statement(from, aside))
      final.append(statement(aside, to))
    }
    return away + final
  }
}

extension StepSchemas {
  /// A join table's columns and the SELECT of its rows from the source; `nil` for links that are new.
  ///
  /// `isWhole` tells whether they are all rows of the former table, and its columns in their order.
  func joinRows(
    of join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?
  ) -> (columns: [String], select: String, isWhole: Bool)? {
    var first = "owner"
    var second = "destination"
    var firstOrder = "inverse"
    var secondOrder = "position"
    let links: String
    if let former {
      // Both positions are in the former table, whichever side names it.
      let isStraight = isStraight(join, former)
      (first, second) =
        isStraight
        ? (quoted(former.first), quoted(former.second))
        : (quoted(former.second), quoted(former.first))
      let orders = [former.firstOrder, former.secondOrder].map { $0.map { quoted($0) } ?? "NULL" }
      (firstOrder, secondOrder) = isStraight ? (orders[0], orders[1]) : (orders[1], orders[0])
      let table = "src.\(quoted(former.name))"
      let names = [first, second].joined(separator: ", ")
      // Pairs that counted both ways are two now.
      links =
        former.isReflexive && !join.isReflexive
        ? "SELECT \(names) FROM \(table) UNION SELECT \(second), \(first) FROM \(table)"
        : "SELECT * FROM \(table)"
      if former.isReflexive, !join.isReflexive { (firstOrder, secondOrder) = ("NULL", "NULL") }
    } else if let own = self.links(of: join.relationship, in: join.entity) {
      links = own
    } else if let back = self.links(of: join.inverse, in: join.inverseEntity) {
      links = back
      (first, second) = ("destination", "owner")
      (firstOrder, secondOrder) = ("position", "inverse")
    } else {
      return nil
    }
    var columns = [join.first, join.second]
    var values = [first, second]
    if let column = join.firstOrder {
      columns.append(column)
      values.append(
        "coalesce(\(firstOrder), \(OrderKey.sql(numbering: second, by: first)))"
      )
    }
    if let column = join.secondOrder {
      columns.append(column)
      values.append(
        "coalesce(\(secondOrder), \(OrderKey.sql(numbering: first, by: second)))"
      )
    }
    let ends = formerEnds(of: join, former: former)
    let conditions = [
      isKept("e." + first, destination: join.entity, former: ends.first),
      isKept("e." + second, destination: join.inverseEntity, former: ends.second),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let named = zip(values, columns).map { "\($0) AS \(quoted($1))" }
    let isWhole =
      conditions.isEmpty && columns.count == 2 && former.map { isStraight(join, $0) } ?? false
    return (columns, "SELECT \(named.joined(separator: ", ")) FROM (\(links)) e\(filter)", isWhole)
  }

  /// Source entities that the two sides of a join table's links were of; `nil` where they can be any.
  func formerEnds(
    of join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?
  ) -> (first: String?, second: String?) {
    if let former {
      return isStraight(join, former)
        ? (former.entity, former.inverseEntity) : (former.inverseEntity, former.entity)
    }
    func ends(_ relationship: String, _ entity: String) -> (String?, String?)? {
      let origins = mapping.origins(of: relationship, in: entity, destinationModel)
      guard let origin = origins.first else { return nil }
      // Several that moved up to one have no common declarer.
      guard Set(origins.map { sourceModel.declaringEntity(of: $0.name, in: $0.entity) }).count == 1
      else { return (nil, nil) }
      return (
        sourceModel.declaringEntity(of: origin.name, in: origin.entity),
        sourceModel.relationship(named: origin.name, of: origin.entity)?.destination
      )
    }
    if let own = ends(join.relationship, join.entity) { return (own.0, own.1) }
    if let back = ends(join.inverse, join.inverseEntity) { return (back.1, back.0) }
    return (nil, nil)
  }
}
