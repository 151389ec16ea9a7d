import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Places in ordered relationships that are missing, or that two objects share.
struct OrderCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    let numberings =
      store.schema.tables.flatMap(\.numberings) + store.schema.joins.flatMap(\.storage.numberings)
    return try numberings.flatMap { try findings(of: $0) }
  }

  private func findings(of numbering: OrderNumbering) throws -> [Finding] {
    let columns = store.database.columns(of: numbering.table)
    guard Set([numbering.order, numbering.owner]).isSubset(of: columns) else { return [] }
    let (table, order, owner) = (
      quoted(numbering.table), quoted(numbering.order), quoted(numbering.owner)
    )
    let (missing, equal) = try store.reading {
      (
        try store.connection.value(
          "SELECT count(*) FROM \(table) WHERE \(owner) IS NOT NULL AND \(order) IS NULL")?.integer
          ?? 0,
        try store.connection.value(
          """
          SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM \(table)
          WHERE \(owner) IS NOT NULL AND \(order) IS NOT NULL
          GROUP BY \(owner), \(order) HAVING count(*) > 1)
          """)?.integer ?? 0
      )
    }
    let entity = store.entityTables.first { $0.table == numbering.table && $0.isWholeTable }?.entity
    func finding(_ count: Int64, _ what: String) -> [Finding] {
      guard count > 0 else { return [] }
      return [
        Finding(
          .order, "\(count) rows of \(numbering.table) \(what) (\(numbering.order)).",
          entity: entity ?? numbering.table, property: numbering.order, count: Int(count),
          in: place)
      ]
    }
    return finding(missing, "have no place in their ordered relationship")
      + finding(equal, "share their place in an ordered relationship")
  }
}
