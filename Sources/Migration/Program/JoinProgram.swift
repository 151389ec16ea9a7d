import ManagedModel
import ManagedStore
import SQLite

/// The rows of a join table of an inferred step.
struct JoinProgram {
  var entity: String
  var relationship: String
  var table: String
  var columns: [String]
  var select: String
  /// The join table of the source that had the links, and whether its first column holds keys of the same side.
  var former: (table: StoreSchema.JoinTable, isStraight: Bool)?
  /// Whether no link is left out.
  var takesAll: Bool

  /// Whether they are all rows of the former table, and its columns in their order.
  var isWhole: Bool { takesAll && columns.count == 2 && former?.isStraight == true }

  /// The columns as SQL.
  var names: String { columns.map { quoted($0) }.joined(separator: ", ") }
  var insert: String { "INSERT OR IGNORE INTO main.\(quoted(table)) (\(names)) \(select)" }
}

extension StepSchemas {
  /// The rows of a join table; `nil` for links that are new.
  func program(of join: StoreSchema.JoinTable) -> JoinProgram? {
    let before = sourceJoin(of: join).map { (table: $0, isStraight: isStraight(join, $0)) }
    var first = "owner"
    var second = "destination"
    var firstOrder = "inverse"
    var secondOrder = "position"
    let links: String
    if let (former, isStraight) = before {
      // Both positions are in the former table, whichever side names it.
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
    let ends = formerEnds(of: join, before)
    let conditions = [
      isKept("e." + first, destination: join.entity, former: ends.first),
      isKept("e." + second, destination: join.inverseEntity, former: ends.second),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let named = zip(values, columns).map { "\($0) AS \(quoted($1))" }
    return JoinProgram(
      entity: join.entity, relationship: join.relationship, table: join.name, columns: columns,
      select: "SELECT \(named.joined(separator: ", ")) FROM (\(links)) e\(filter)", former: before,
      takesAll: conditions.isEmpty)
  }

  /// Source entities that the two sides of a join table's links were of; `nil` where they can be any.
  private func formerEnds(
    of join: StoreSchema.JoinTable, _ former: (table: StoreSchema.JoinTable, isStraight: Bool)?
  ) -> (first: String?, second: String?) {
    if let (former, isStraight) = former {
      return isStraight
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
