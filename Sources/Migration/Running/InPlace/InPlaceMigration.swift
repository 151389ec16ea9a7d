import ManagedModel
import ManagedStore
import SQLite

/// One step of an inferred migration, by SQL on a clone of the store.
///
/// The source is attached read-only as `src`: rows of tables that are written again, and every
/// value that is looked up, come from there, so that no statement depends on what another did.
struct InPlaceMigration {
  let step: MigrationStep
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
    try dropViews()
    try defineFunctions(for: triggers)
    try connection.transaction("BEGIN EXCLUSIVE") {
      try migrateRows()
      try migrateLinks()
      try makeIndexes()
      try fillDerivedAttributes()
      try makeTrees()
      try makeTriggers(insteadOf: triggers)
      try makeViews()
      try updateBookkeeping()
    }
  }

  /// The triggers that the source has.
  var sourceTriggers: [SchemaStatement] {
    source.database.triggers.sorted(by: { $0.key < $1.key }).compactMap { name, table in
      source.database.sql[name].map { SchemaStatement(name: name, table: table, sql: $0) }
    }
  }

  /// Triggers of derived attributes must not run while rows move.
  private func dropTriggers() throws -> [SchemaStatement] {
    for name in source.database.triggers.keys.sorted() {
      try connection.execute("DROP TRIGGER IF EXISTS main.\(quoted(name))")
    }
    return sourceTriggers
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
    for (former, to) in alteration.renamings {
      try connection.execute(
        "ALTER TABLE \(name) RENAME COLUMN \(quoted(former)) TO \(StoreSchema.name(to))")
    }
    for column in alteration.added {
      try connection.execute(
        "ALTER TABLE \(name) ADD COLUMN \(StoreSchema.name(column.name)) \(column.type)")
    }
    let mappings = schemas.mappings(into: table)
    let kept = Set(mappings.compactMap { $0.source.flatMap { source.table(of: $0)?.entityID } })
    let actual = source.schema.table(named: table.name)
    let removed =
      actual.map { source.model.subtree(of: $0.root) }?.compactMap {
        source.table(of: $0)?.entityID
      }
      .filter { !kept.contains($0) } ?? []
    if !removed.isEmpty {
      try connection.execute(
        "DELETE FROM \(name) WHERE Z_ENT IN (\(removed.list))")
    }
    for entityMapping in mappings {
      try meter.begin(.entity, title: Self.title(of: entityMapping))
    }
    try update(table, alteration, kept: kept, mappings)
    try numberNewOrders(of: table)
  }

  /// Everything about a row in one UPDATE: what is read is what the row held before, its entity
  /// number too.
  private func update(
    _ table: StoreSchema.Table, _ alteration: TableAlteration, kept: Set<Int64>,
    _ mappings: [EntityMapping]
  ) throws {
    let renumbering = schemas.renumbering(of: kept.sorted()).filter { $0.old != $0.new }
    var assignments = alteration.assignments
    if !renumbering.isEmpty {
      assignments.append(("Z_ENT", renumbering.map { ($0.old, String($0.new)) }))
    }
    let numbers = Set(assignments.flatMap { $0.values.map(\.number) })
    guard !numbers.isEmpty,
      let any = mappings.lazy.compactMap({ $0.source.flatMap(source.table(of:)) }).first
    else { return }
    let isOnly = kept.count == 1
    let sets = assignments.map { assignment in
      let column = quoted(assignment.column)
      if isOnly, let value = assignment.values.first { return "\(column) = \(value.sql)" }
      let cases = assignment.values.map { "WHEN \($0.number) THEN \($0.sql)" }
      return "\(column) = CASE s.Z_ENT \(cases.joined(separator: " ")) ELSE s.\(column) END"
    }
    let statement = try connection.prepare(
      """
      UPDATE main.\(quoted(table.name)) AS s SET \(sets.joined(separator: ", "))
      WHERE s.Z_PK BETWEEN ? AND ?
      AND s.Z_ENT IN (\(numbers.sorted().list))
      """)
    try KeyRanges(connection, table: "src." + quoted(any.table)).forEach { low, high in
      try statement.bind([.integer(low), .integer(high)])
      while try statement.step() {}
      statement.reset()
      try meter.advance(by: connection.changes)
    }
  }

  private func rebuild(_ table: StoreSchema.Table) throws {
    try connection.execute(schemas.sql(of: table))
    for row in schemas.rows(for: table) {
      try meter.begin(.entity, title: row.entity)
      let insert = try connection.prepare(row.insert)
      try KeyRanges(connection, table: row.ranges.table).forEach { low, high in
        try insert.bind([.integer(low), .integer(high)])
        while try insert.step() {}
        insert.reset()
        try meter.advance(by: connection.changes)
      }
    }
    try numberNewOrders(of: table)
  }

  /// Positions of objects that have none in an ordered to-many.
  func numberNewOrders(of table: StoreSchema.Table) throws {
    for column in table.columns {
      let key: StoreSchema.Column?
      switch column.content {
      case .toOneOrder(let entity, let name): key = table.column(.toOne(entity: entity, name: name))
      case .ownerOrder(let entity, let name): key = table.column(.owner(entity: entity, name: name))
      default: key = nil
      }
      guard let key else { continue }
      try OrderNumbering(table: table.name, order: column.name, owner: key.name, key: "Z_PK")
        .run(on: connection)
    }
  }

  /// What the progress of an entity mapping is called.
  static func title(of entityMapping: EntityMapping) -> String {
    entityMapping.destination ?? entityMapping.source ?? entityMapping.name
  }
}
