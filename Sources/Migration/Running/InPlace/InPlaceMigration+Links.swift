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
    let programs = Dictionary(first: contents.joins.map { ($0.table, $0) })
    for join in destination.joins {
      if let rows = programs[join.name], rows.takesAll,
        let (former, isStraight) = rows.former, source.database.contains(former.name),
        let rename = JoinRename(from: former, isStraight: isStraight, to: join),
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
      guard let rows = programs[join.name] else { continue }
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
/// comes to name it. The columns stay where they stand: Core Data finds them by name.
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
