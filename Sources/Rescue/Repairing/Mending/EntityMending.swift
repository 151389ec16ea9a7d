import ManagedModel
import ManagedStore
import SQLite

/// Rows whose Z_ENT is of no entity of their table, where it can be known which they are of: from
/// history, or since only one entity of the table has objects. The others become of the entity that a
/// person names.
struct EntityMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.entityUnknown), source.modelSource != .raw else { return }
    let chosen = try chosenNumber()
    for table in source.entityTables
    where table.isWholeTable && source.database.columns(of: table.table).contains("Z_ENT") {
      let known = table.numbers.list
      let unknown = "ifnull(t.Z_ENT, 0) NOT IN (\(known))"
      if let told = history(of: table) {
        try set(told, of: table, where: "\(unknown) AND \(told) IS NOT NULL")
      }
      let own = table.numbers.filter { number in
        source.entityNames[number].flatMap { source.model.entity(named: $0) }?.isAbstract == false
      }
      if own.count == 1, let only = own.first {
        try set(String(only), of: table, where: unknown)
      }
      if let chosen, table.numbers.contains(chosen) {
        try set(String(chosen), of: table, where: unknown)
      }
    }
  }

  /// The number of the entity that a person named.
  private func chosenNumber() throws -> Int64? {
    try work.options.entity.map { name in
      do throws(CoreDataError) {
        return try source.schema.knownTable(of: name).entityID
      } catch {
        throw error.at(path: source.path)
      }
    }
  }

  /// The entity of which history says that a row is, as SQL; `nil` without history.
  private func history(of table: EntityTable) -> String? {
    guard
      Set(["ZENTITY", "ZENTITYPK"]).isSubset(of: source.database.columns(of: "ACHANGE"))
    else { return nil }
    return """
      (SELECT max(c.ZENTITY) FROM main.ACHANGE c WHERE c.ZENTITYPK = t.Z_PK
      AND c.ZENTITY IN (\(table.numbers.list)) HAVING count(DISTINCT c.ZENTITY) = 1)
      """
  }

  private func set(_ number: String, of table: EntityTable, where rows: String) throws {
    let name = "main." + quoted(table.table)
    let entity = "(SELECT name FROM log.entities WHERE number = \(number))"
    try work.note(
      .entityUnknown, entity: entity, key: "t.Z_PK", property: "NULL", old: "'Z_ENT ' || t.Z_ENT",
      new: "'Z_ENT ' || \(number)", "FROM \(name) t WHERE \(rows)")
    try work.connection.execute("UPDATE \(name) AS t SET Z_ENT = \(number) WHERE \(rows)")
  }
}
