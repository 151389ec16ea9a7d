import ManagedModel
import ManagedStore
import SQLite

/// One step of an inferred migration, by SQL on a clone of the store.
///
/// The source is attached read-only as `src`: rows of tables that are written again, and every
/// value that is looked up, come from there, so that no statement depends on what another did.
struct InPlaceMigration {
  let step: MigrationPlan.Step
  let schemas: StepSchemas
  let connection: Connection
  let meter: ProgressMeter
  let archive: [UInt8]?

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
    let triggers = try dropTriggers()
    try defineFunctions(for: triggers)
    try connection.transaction("BEGIN EXCLUSIVE") {
      try migrateRows()
      try migrateLinks()
      try makeIndexes()
      try fillDerivedAttributes()
      try makeTrees()
      try makeTriggers(insteadOf: triggers)
      try updateBookkeeping()
    }
  }

  /// Triggers of derived attributes must not run while rows move.
  private func dropTriggers() throws -> [SchemaStatement] {
    var dropped: [SchemaStatement] = []
    for (name, table) in source.database.triggers.sorted(by: { $0.key < $1.key }) {
      if let sql = source.database.sql[name] {
        dropped.append(SchemaStatement(name: name, table: table, sql: sql))
      }
      try connection.execute("DROP TRIGGER IF EXISTS main.\(quoted(name))")
    }
    return dropped
  }

  private func migrateRows() throws {
    let works = destination.tables.map { ($0, schemas.work(for: $0)) }
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
      case .rebuild: try rebuild(table)
      }
    }
  }

  private func alter(_ table: StoreSchema.Table, _ alteration: TableAlteration) throws {
    let name = "main." + quoted(table.name)
    for column in alteration.added {
      try connection.execute(
        "ALTER TABLE \(name) ADD COLUMN \(StoreSchema.name(column.name)) \(column.type)")
    }
    let mappings = schemas.mappings(into: table)
    let kept = Set(mappings.compactMap { $0.source.flatMap { source.table(of: $0)?.number } })
    let actual = source.schema.tables.first { $0.name == table.name }
    let removed =
      actual.map { source.model.subtree(of: $0.root) }?.compactMap { source.table(of: $0)?.number }
      .filter { !kept.contains($0) } ?? []
    if !removed.isEmpty {
      try connection.execute(
        "DELETE FROM \(name) WHERE Z_ENT IN (\(removed.map(String.init).joined(separator: ", ")))")
    }
    for entityMapping in mappings {
      guard let from = entityMapping.source, let sourceTable = source.table(of: from) else {
        continue
      }
      try meter.begin(.entity, title: Self.title(of: entityMapping))
      guard let fill = alteration.fills.first(where: { $0.mapping.name == entityMapping.name })
      else { continue }
      let assignments = fill.assignments.map { "\(quoted($0.column)) = \($0.sql)" }
      try forEachRange(of: sourceTable) { range in
        // The row's own columns are still the source's, so `s` may be the row itself.
        try connection.run(
          """
          UPDATE \(name) AS s SET \(assignments.joined(separator: ", "))
          WHERE s.Z_PK BETWEEN ? AND ? AND s.Z_ENT = ?
          """, range + [.integer(sourceTable.number)])
        return connection.changes
      }
    }
    try numberNewOrders(of: table)
    // New numbers come last: until here rows are told apart by the old ones.
    let renumbering = schemas.renumbering.filter { $0.old != $0.new && kept.contains($0.old) }
    if !renumbering.isEmpty {
      let cases = renumbering.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
      let old = renumbering.map { String($0.old) }.joined(separator: ", ")
      // Once over the whole table: an old number may be another entity's new one.
      guard let any = mappings.lazy.compactMap({ $0.source.flatMap(source.table(of:)) }).first
      else {
        return
      }
      try forEachRange(of: any, counts: false) { range in
        try connection.run(
          """
          UPDATE \(name) SET Z_ENT = CASE Z_ENT \(cases) END
          WHERE Z_PK BETWEEN ? AND ? AND Z_ENT IN (\(old))
          """, range)
        return connection.changes
      }
    }
  }

  private func rebuild(_ table: StoreSchema.Table) throws {
    try connection.execute(table.sql)
    for entityMapping in schemas.mappings(into: table) {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let sourceTable = source.table(of: from), let number = destination.numbers[to]
      else { continue }
      try meter.begin(.entity, title: Self.title(of: entityMapping))
      var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
      var values = ["s.Z_PK", String(number), "s.Z_OPT"]
      for column in table.columns {
        guard let sql = schemas.expression(for: column.content, in: entityMapping) else { continue }
        columns.append(quoted(column.name))
        values.append(sql)
      }
      guard source.database.contains(sourceTable.table) else { continue }
      let sql = """
        INSERT INTO main.\(quoted(table.name)) (\(columns.joined(separator: ", ")))
        SELECT \(values.joined(separator: ", ")) FROM src.\(quoted(sourceTable.table)) s
        WHERE s.Z_PK BETWEEN ? AND ? AND s.Z_ENT = ? ORDER BY s.Z_PK
        """
      try forEachRange(of: sourceTable) { range in
        try connection.run(sql, range + [.integer(sourceTable.number)])
        return connection.changes
      }
    }
    try numberNewOrders(of: table)
  }

  /// Positions in a to-many that was not ordered before: by key, with room in between as Core Data
  /// leaves it.
  private func numberNewOrders(of table: StoreSchema.Table) throws {
    for column in table.columns {
      let key: StoreSchema.Column?
      switch column.content {
      case .toOneOrder(let entity, let name): key = table.column(.toOne(entity: entity, name: name))
      case .ownerOrder(let entity, let name): key = table.column(.owner(entity: entity, name: name))
      default: key = nil
      }
      guard let key else { continue }
      let (order, owner) = (quoted(column.name), quoted(key.name))
      try connection.execute(
        """
        UPDATE main.\(quoted(table.name)) AS t SET \(order) = n.position FROM (
          SELECT Z_PK, 1024 * row_number() OVER (PARTITION BY \(owner) ORDER BY Z_PK) AS position
          FROM main.\(quoted(table.name)) WHERE \(owner) IS NOT NULL
        ) n WHERE n.Z_PK = t.Z_PK AND t.\(order) IS NULL
        """)
    }
  }

  /// Runs `body` over ranges of keys of a source entity's table, and reports the rows it returns.
  private func forEachRange(
    of table: EntityTable, counts: Bool = true, _ body: ([Value]) throws -> Int
  ) throws {
    guard source.database.contains(table.table) else { return }
    try KeyRanges(connection, table: "src." + quoted(table.table)).forEach { low, high in
      try meter.checkCancelled()
      let rows = try body([.integer(low), .integer(high)])
      if counts { try meter.advance(by: rows) }
    }
  }

  /// What the progress of an entity mapping is called.
  static func title(of entityMapping: EntityMapping) -> String {
    entityMapping.destination ?? entityMapping.source ?? entityMapping.name
  }
}
