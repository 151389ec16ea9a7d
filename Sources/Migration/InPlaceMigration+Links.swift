import ManagedModel
import ManagedStore
import SQLite

extension InPlaceMigration {
  /// Makes, keeps or fills the join tables.
  func migrateLinks() throws {
    try meter.begin(.relationships)
    var plans: [(join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?)] = []
    var kept: Set<String> = []
    for join in destination.joins {
      let former = StepSchemas.sourceJoin(of: join, store: source, mapping: schemas.mapping)
      let same = former.map { join.hasSameColumns(as: $0) } ?? false
      let all =
        schemas.isKept("0", destination: join.entity) == nil
        && schemas.isKept("0", destination: join.inverseEntity) == nil
      if same, all, source.database.contains(join.name), try !lacksPositions(join) {
        kept.insert(join.name)
      } else {
        plans.append((join, former))
      }
    }
    for join in source.schema.joins
    where !kept.contains(join.name) && source.database.contains(join.name) {
      try connection.execute("DROP TABLE main.\(quoted(join.name))")
    }
    for (join, former) in plans {
      try connection.execute(join.sql)
      guard let links = schemas.links(of: join, former: former) else { continue }
      try meter.checkCancelled()
      try connection.execute(
        "INSERT OR IGNORE INTO main.\(quoted(join.name)) (\(links.columns)) \(links.select)")
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

extension StoreSchema.JoinTable {
  func hasSameColumns(as other: StoreSchema.JoinTable) -> Bool {
    name == other.name && first == other.first && second == other.second
      && firstOrder == other.firstOrder && secondOrder == other.secondOrder
  }
}

extension StepSchemas {
  /// A join table's columns and the SELECT of its rows from the source; `nil` for links that are new.
  func links(
    of join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?
  ) -> (
    columns: String, select: String
  )? {
    var first = "owner"
    var second = "destination"
    var firstOrder = "NULL"
    var secondOrder = "position"
    let edges: String
    if let former {
      // Both positions are in the former table, whichever side names it.
      let isStraight = isStraight(join, former)
      (first, second) =
        isStraight
        ? (quoted(former.first), quoted(former.second))
        : (quoted(former.second), quoted(former.first))
      let orders = [former.firstOrder, former.secondOrder].map { $0.map { quoted($0) } ?? "NULL" }
      (firstOrder, secondOrder) = isStraight ? (orders[0], orders[1]) : (orders[1], orders[0])
      edges = "SELECT * FROM src.\(quoted(former.name))"
    } else if let own = self.edges(of: join.relationship, in: join.entity) {
      edges = own
    } else if let back = self.edges(of: join.inverse, in: join.inverseEntity) {
      edges = back
      (first, second) = ("destination", "owner")
      (firstOrder, secondOrder) = ("position", "NULL")
    } else {
      return nil
    }
    var columns = [quoted(join.first), quoted(join.second)]
    var values = [first, second]
    if let column = join.firstOrder {
      columns.append(quoted(column))
      values.append(
        "coalesce(\(firstOrder), 1024 * row_number() OVER (PARTITION BY \(second) ORDER BY \(first)))"
      )
    }
    if let column = join.secondOrder {
      columns.append(quoted(column))
      values.append(
        "coalesce(\(secondOrder), 1024 * row_number() OVER (PARTITION BY \(first) ORDER BY \(second)))"
      )
    }
    let conditions = [
      isKept("e." + first, destination: join.entity),
      isKept("e." + second, destination: join.inverseEntity),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    return (
      columns.joined(separator: ", "),
      "SELECT \(values.joined(separator: ", ")) FROM (\(edges)) e\(filter)"
    )
  }

  /// Whether the former table's first column holds keys of the same side.
  private func isStraight(_ join: StoreSchema.JoinTable, _ former: StoreSchema.JoinTable) -> Bool {
    guard !join.isReflexive, let entityMapping = mapping.mapping(toDestination: join.entity),
      let from = entityMapping.source,
      let name = entityMapping.relationships.first(where: { $0.name == join.relationship })?.source
    else { return true }
    let declarer = sourceModel.declaringEntity(of: name, in: from) ?? from
    return former.entity == declarer && former.relationship == name
  }
}
