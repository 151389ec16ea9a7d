import ManagedStore
import SQLite

/// One step of an inferred migration, by SQL on a clone of the store.
///
/// The source is attached read-only as `src`: rows of tables that are written again, and every
/// value that is looked up, come from there, so that no statement depends on what another did.
struct InPlaceMigration {
  let completion: StepCompletion
  let contents: MigratedContents

  var schemas: StepSchemas { completion.schemas }
  var connection: Connection { completion.connection }
  var meter: ProgressMeter { completion.meter }
  var source: Store { schemas.store }
  var destination: StoreSchema { schemas.destination }

  /// Alters the clone; the caller has begun no transaction.
  func run() throws {
    // The clone is thrown away when anything fails, so it needs no journal of its own. Without the
    // schema's name such a pragma would reach the attached source too.
    try connection.execute(
      """
      PRAGMA main.journal_mode = OFF; PRAGMA main.synchronous = OFF; PRAGMA foreign_keys = OFF;
      PRAGMA legacy_alter_table = ON; PRAGMA main.cache_size = -16000; PRAGMA temp_store = FILE;
      """)
    // Triggers of derived attributes must not run while rows move.
    for name in source.database.triggers.keys.sorted() {
      try connection.execute("DROP TRIGGER IF EXISTS main.\(quoted(name))")
    }
    try completion.dropViews()
    try completion.defineFunctions()
    try connection.transaction("BEGIN EXCLUSIVE") {
      try migrateRows()
      try migrateLinks()
      try completion.run()
    }
  }

  private func migrateRows() throws {
    let rows = Dictionary(grouping: contents.rows, by: \.table)
    let works = destination.tables.map { ($0, schemas.work(for: $0, rows[$0.name] ?? [])) }
    let kept = Set(
      works.compactMap { table, work -> String? in
        if case .alter = work { table.name } else { nil }
      })
    for table in source.schema.tables
    where !kept.contains(table.name) && source.database.contains(table.name) {
      try connection.execute("DROP TABLE main.\(quoted(table.name))")
    }
    for (table, work) in works {
      switch work {
      case .alter(let alteration): try alter(table, alteration)
      case .rebuild: try rebuild(table, rows[table.name] ?? [])
      }
    }
  }

  private func alter(_ table: StoreSchema.Table, _ alteration: TableAlteration) throws {
    let name = "main." + quoted(table.name)
    for (former, to) in alteration.renamings {
      try connection.execute(
        "ALTER TABLE \(name) RENAME COLUMN \(quoted(former)) TO \(StoreSchema.name(to))")
    }
    for column in alteration.added {
      try connection.execute(
        "ALTER TABLE \(name) ADD COLUMN \(StoreSchema.name(column.name)) \(column.type)")
    }
    if !alteration.removed.isEmpty {
      try connection.execute("DELETE FROM \(name) WHERE Z_ENT IN (\(alteration.removed.list))")
    }
    for entityMapping in schemas.mappings(into: table) {
      try meter.begin(.entity, title: entityMapping.title)
    }
    try update(table, alteration)
    for numbering in table.numberings { try numbering.run(on: connection) }
  }

  /// Everything about a row in one UPDATE: what is read is what the row held before, its entity
  /// number too.
  private func update(_ table: StoreSchema.Table, _ alteration: TableAlteration) throws {
    let numbers = Set(alteration.assignments.flatMap { $0.values.map(\.number) })
    guard !numbers.isEmpty else { return }
    let sets = alteration.assignments.map { assignment in
      let column = quoted(assignment.column)
      if alteration.kept.count == 1, let value = assignment.values.first {
        return "\(column) = \(value.sql)"
      }
      let cases = assignment.values.map { "WHEN \($0.number) THEN \($0.sql)" }
      return "\(column) = CASE s.Z_ENT \(cases.joined(separator: " ")) ELSE s.\(column) END"
    }
    try KeyRanges(connection: connection, table: "src." + quoted(table.name)).run(
      """
      UPDATE main.\(quoted(table.name)) AS s SET \(sets.joined(separator: ", "))
      WHERE s.Z_PK BETWEEN ? AND ?
      AND s.Z_ENT IN (\(numbers.sorted().list))
      """, meter)
  }

  private func rebuild(_ table: StoreSchema.Table, _ rows: [RowProgram]) throws {
    try connection.execute(schemas.sql(of: table))
    for row in rows {
      try meter.begin(.entity, title: row.entity)
      try KeyRanges(connection: connection, table: row.ranges.table).run(row.insert, meter)
    }
    for numbering in table.numberings { try numbering.run(on: connection) }
  }
}

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
