import ManagedStore
import SQLite

/// Links of a new store that name what is not in it, told with what was saved: whoever made the store
/// has to know before an app opens it.
enum DanglingLinks {
  private static let mostListed = 5

  /// How many there are, in a sentence; `nil` where there are none.
  static func note(_ connection: Connection, _ schema: StoreSchema) throws -> String? {
    var found: [(name: String, count: Int64)] = []
    let present = try DatabaseTables(connection)
    for table in schema.tables where present.contains(table.name) {
      for column in table.columns {
        guard case .toOne(let entity, let name) = column.content,
          let relationship = schema.model.relationship(named: name, of: entity),
          let target = schema.table(of: relationship.destination), present.contains(target.name)
        else { continue }
        let count =
          try connection.value(
            """
            SELECT count(*) FROM \(quoted(table.name)) WHERE \(quoted(column.name)) IS NOT NULL \
            AND \(quoted(column.name)) NOT IN (SELECT Z_PK FROM \(quoted(target.name)))
            """)?.integer ?? 0
        if count > 0 { found.append(("\(entity).\(name)", count)) }
      }
    }
    for join in schema.joins where present.contains(join.name) {
      guard let own = schema.table(of: join.entity), present.contains(own.name),
        let other = schema.table(of: join.inverseEntity), present.contains(other.name)
      else { continue }
      let count =
        try connection.value(
          """
          SELECT count(*) FROM \(quoted(join.name)) \
          WHERE \(quoted(join.first)) NOT IN (SELECT Z_PK FROM \(quoted(own.name))) \
          OR \(quoted(join.second)) NOT IN (SELECT Z_PK FROM \(quoted(other.name)))
          """)?.integer ?? 0
      if count > 0 { found.append(("\(join.entity).\(join.relationship)", count)) }
    }
    guard !found.isEmpty else { return nil }
    found.sort { ($1.count, $0.name) < ($0.count, $1.name) }
    let names = found.prefix(mostListed).map { "\($0.name) \($0.count)" }
    let rest = found.count > mostListed ? " …" : ""
    return
      "Links lead to objects that are not there (\(names.joined(separator: ", "))\(rest)): an app that follows one ends with an error. strata repair of the new store (open it, then 5 and f) empties them; which object they named cannot be told afterwards."
  }
}
