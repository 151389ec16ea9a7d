import ManagedModel
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
