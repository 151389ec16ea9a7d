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
      let former = StepSchemas.sourceJoin(
        of: join, store: source, mapping: schemas.mapping, to: schemas.destinationModel)
      let same = former.map { join.hasSameColumns(as: $0) } ?? false
      let ends = schemas.formerEnds(of: join, former: former)
      let all =
        schemas.isKept("0", destination: join.entity, former: ends.first) == nil
        && schemas.isKept("0", destination: join.inverseEntity, former: ends.second) == nil
      if same, all, source.database.contains(join.name) {
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
    var firstOrder = "inverse"
    var secondOrder = "position"
    let edges: String
    if let former {
      // Both positions are in the former table, whichever side names it.
      let isStraight = Self.isStraight(
        join, former, store: store, mapping: mapping, to: destinationModel)
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
      (firstOrder, secondOrder) = ("position", "inverse")
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
    let ends = formerEnds(of: join, former: former)
    let conditions = [
      isKept("e." + first, destination: join.entity, former: ends.first),
      isKept("e." + second, destination: join.inverseEntity, former: ends.second),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    return (
      columns.joined(separator: ", "),
      "SELECT \(values.joined(separator: ", ")) FROM (\(edges)) e\(filter)"
    )
  }

  /// Source entities that the two sides of a join table's links were of; `nil` where they can be any.
  func formerEnds(
    of join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?
  ) -> (first: String?, second: String?) {
    if let former {
      return Self.isStraight(join, former, store: store, mapping: mapping, to: destinationModel)
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
