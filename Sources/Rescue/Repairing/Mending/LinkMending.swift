import ManagedModel
import ManagedStore
import SQLite

/// Links that lead to objects which are not there are taken out.
struct LinkMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    if work.kinds.contains(.toOneDangling) {
      for table in source.entityTables where source.database.contains(table.table) {
        for entry in table.relationships { try toOne(entry, of: table) }
      }
      try ownerless()
    }
    if work.kinds.contains(.joinDangling) { try joins() }
  }

  private func toOne(_ entry: EntityTable.RelationshipColumns, of table: EntityTable) throws {
    guard let storage = entry.storage, let column = storage.toOneColumn,
      let other = source.table(of: entry.relationship.destination),
      source.database.contains(other.table)
    else { return }
    let key = "t." + quoted(column)
    let rows = """
      t.Z_ENT = \(table.entityID) AND \(key) IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM main.\(quoted(other.table)) d WHERE d.Z_PK = \(key))
      """
    let name = "main." + quoted(table.table)
    guard
      try work.note(
        .toOneDangling, entity: table.entity.literal, key: "t.Z_PK",
        property: entry.relationship.name.literal,
        old: "\(entry.relationship.destination.literal) || '/p' || \(key)",
        "FROM \(name) t WHERE \(rows)") > 0
    else { return }
    let columns = [column, storage.entityColumn, storage.inversePosition].compactMap { $0 }
    try empty(columns, "\(name) AS t", where: rows)
  }

  private func empty(_ columns: [String], _ table: String, where rows: String) throws {
    let assignments = columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
    try work.connection.execute("UPDATE \(table) SET \(assignments) WHERE \(rows)")
  }

  /// Rows that name an owner which is not there, in a to-many without an inverse.
  private func ownerless() throws {
    var done: Set<String> = []
    for table in source.entityTables where source.database.contains(table.table) {
      for entry in table.relationships {
        guard let storage = entry.storage, storage.kind == .withoutInverse,
          done.insert(storage.table + "." + storage.owner).inserted
        else { continue }
        let (owner, name) = ("t." + quoted(storage.owner), "main." + quoted(storage.table))
        let rows = """
          \(owner) IS NOT NULL AND NOT EXISTS
          (SELECT 1 FROM main.\(quoted(table.table)) o WHERE o.Z_PK = \(owner))
          """
        guard
          try work.note(
            .toOneDangling, entity: work.entity(of: "t", else: entry.relationship.destination),
            key: "t.Z_PK", property: "\(table.entity).\(entry.relationship.name)".literal,
            old: "\(table.entity.literal) || '/p' || \(owner)", "FROM \(name) t WHERE \(rows)") > 0
        else { continue }
        try empty(
          [storage.owner, storage.position].compactMap { $0 }, "\(name) AS t", where: rows)
      }
    }
  }

  /// Rows of join tables of which one end is not there.
  private func joins() throws {
    for join in source.schema.joins {
      guard Set([join.first, join.second]).isSubset(of: source.database.columns(of: join.name)),
        let own = source.table(of: join.entity)?.table, source.database.contains(own),
        let other = source.table(of: join.inverseEntity)?.table, source.database.contains(other)
      else { continue }
      let (first, second) = ("t." + quoted(join.first), "t." + quoted(join.second))
      func object(_ table: String, _ key: String, _ entity: String) -> String {
        """
        coalesce((SELECT e.name FROM main.\(quoted(table)) o JOIN log.entities e
        ON e.number = o.Z_ENT WHERE o.Z_PK = \(key)), \(entity.literal))
        """
      }
      let name = "main." + quoted(join.name)
      let rows = """
        NOT EXISTS (SELECT 1 FROM main.\(quoted(own)) o WHERE o.Z_PK = \(first))
        OR NOT EXISTS (SELECT 1 FROM main.\(quoted(other)) o WHERE o.Z_PK = \(second))
        """
      guard
        try work.note(
          .joinDangling, entity: object(own, first, join.entity), key: first,
          property: join.relationship.literal,
          old: "\(object(other, second, join.inverseEntity)) || '/p' || \(second)",
          "FROM \(name) t WHERE \(rows)") > 0
      else { continue }
      try work.connection.execute("DELETE FROM \(name) AS t WHERE \(rows)")
    }
  }
}
