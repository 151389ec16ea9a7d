import ManagedModel
import ManagedStore
import SQLite

/// Rows of which history says that they are of another entity: Core Data never changes an object's.
struct EntityCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    guard
      Set(["ZENTITY", "ZENTITYPK"]).isSubset(of: store.database.columns(of: "ACHANGE"))
    else { return [] }
    return try store.entityTables.compactMap { table in
      guard table.isWholeTable, table.numbers.count > 1, store.database.contains(table.table)
      else { return nil }
      let numbers = table.numbers.list
      let rows = """
        FROM ACHANGE c CROSS JOIN \(quoted(table.table)) t ON t.Z_PK = c.ZENTITYPK
        WHERE c.ZENTITY IN (\(numbers)) AND t.Z_ENT IN (\(numbers)) AND c.ZENTITY <> t.Z_ENT
        """
      let (count, first) = try store.counted(
        "SELECT count(DISTINCT t.Z_PK) \(rows)",
        "SELECT DISTINCT t.Z_PK, t.Z_ENT \(rows) ORDER BY 1 LIMIT 5")
      guard count > 0 else { return nil }
      let objects = first.compactMap { store.id($0, else: table.entity) }
      return Finding(
        .entityWrong,
        "\(count) objects of \(table.table) are of another entity than history says.",
        entity: table.entity, count: Int(count),
        first: objects.map(\.description), in: place,
        remedy: .objects(objects, of: table.entity))
    }
  }
}
