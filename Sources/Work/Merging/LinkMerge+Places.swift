import ManagedStore
import SQLite

/// Places in ordered relationships.
extension LinkMerge {
  /// Gives objects whose to-one comes from the older store a place behind those that are there, in their order.
  func place() throws {
    for entity in map.entities {
      for reference in entity.references {
        guard let position = reference.newPosition else { continue }
        let name = StoreSchema.text(entity.new.table + "." + position)
        let former = reference.oldPosition.map { "o." + quoted($0) } ?? "NULL"
        try connection.execute(
          """
          INSERT OR IGNORE INTO temp.merge_placed SELECT \(name), m.r, \(former)
          FROM \(map.rows(of: entity)) AND m.kind > 0
          """)
      }
    }
    var done: Set<String> = []
    for entity in map.entities {
      for reference in entity.references {
        guard let position = reference.newPosition else { continue }
        let name = entity.new.table + "." + position
        guard done.insert(name).inserted else { continue }
        let (table, column) = ("main." + quoted(entity.new.table), quoted(reference.new))
        let row = OrderKey.sql(numbering: "n.\(column)", by: "c.p IS NULL, c.p, n.Z_PK")
        let last = """
          (SELECT max(x.\(quoted(position))) FROM \(table) x WHERE x.\(column) = n.\(column))
          """
        let renumbered = try makeRoom(
          in: entity.new.table, of: reference.new, behind: position, by: "Z_PK",
          for: """
            SELECT n.\(column) FROM temp.merge_placed c CROSS JOIN \(table) n ON n.Z_PK = c.r
            WHERE c.c = \(StoreSchema.text(name)) AND n.\(quoted(position)) IS NULL
            """)
        for key in renumbered { try map.touch(key, in: entity.old.table) }
        try connection.execute(
          """
          UPDATE \(table) AS t SET \(quoted(position)) = e.place FROM (
          SELECT n.Z_PK AS k, coalesce(\(last), \(OrderKey.spacing)) + \(row) AS place
          FROM temp.merge_placed c CROSS JOIN \(table) n ON n.Z_PK = c.r
          WHERE c.c = \(StoreSchema.text(name)) AND n.\(column) IS NOT NULL AND n.\(quoted(position)) IS NULL) e
          WHERE t.Z_PK = e.k
          """)
      }
    }
  }

  /// Numbers the objects of owners anew whose last place leaves no room for others behind it.
  ///
  /// - Parameter owners: SQL of the owners that get others.
  /// - Returns: keys of the objects, of the column that distinguishes them.
  @discardableResult
  func makeRoom(
    in table: String, of owner: String, behind position: String, by key: String, for owners: String
  ) throws -> [Int64] {
    let (place, owner, position, key) = (
      "main." + quoted(table), quoted(owner), quoted(position), quoted(key)
    )
    let full = try connection.rows(
      """
      SELECT x.\(owner) FROM \(place) x WHERE x.\(owner) IN (\(owners))
      GROUP BY x.\(owner) HAVING max(x.\(position)) > \(Int64.max / 2)
      """
    ).compactMap { $0.first?.integer }
    guard !full.isEmpty else { return [] }
    let rows = """
      \(place) x WHERE x.\(owner) IN (\(full.list)) AND x.\(position) IS NOT NULL
      """
    let keys = try connection.rows("SELECT x.\(key) FROM \(rows)").compactMap { $0.first?.integer }
    let row = OrderKey.sql(numbering: "x.\(owner)", by: "x.\(position), x.\(key)")
    try connection.execute(
      """
      UPDATE \(place) AS t SET \(position) = e.p FROM (
      SELECT x.\(owner) AS o, x.\(key) AS k, \(OrderKey.spacing) + \(row) AS p FROM \(rows)) e
      WHERE t.\(owner) = e.o AND t.\(key) = e.k
      """)
    return keys
  }
}
