import Files
import ManagedStore
import SQLite

/// One step of a migration into a new file: rows by INSERT … SELECT in ranges of keys, then the
/// links that rows cannot give, then everything else the old file held, then indexes and triggers.
struct CopyingMigration {
  let completion: StepCompletion
  let contents: MigratedContents
  /// Runs the mappings that are carried out object by object.
  let policies: PolicyRun?

  private var connection: Connection { completion.connection }
  private var meter: ProgressMeter { completion.meter }
  private var source: Store { completion.source }
  private var destination: StoreSchema { completion.destination }

  /// Text encoding, page size, vacuuming and the like follow the source; the file is thrown away when anything
  /// fails, so it needs no journal.
  static func prepare(_ connection: Connection, like source: Store) throws {
    try connection.adoptEncoding(of: source.connection)
    let pageSize = try source.connection.value("PRAGMA page_size")?.integer ?? 4096
    let vacuum = try source.connection.value("PRAGMA auto_vacuum")?.integer ?? 2
    try connection.execute(
      """
      PRAGMA main.page_size = \(pageSize); PRAGMA main.auto_vacuum = \(vacuum);
      PRAGMA main.journal_mode = OFF; PRAGMA main.synchronous = OFF; PRAGMA foreign_keys = OFF;
      PRAGMA main.cache_size = -16000; PRAGMA temp_store = FILE; PRAGMA main.locking_mode = EXCLUSIVE;
      """)
  }

  func run() throws {
    try completion.defineFunctions()
    try connection.transaction("BEGIN EXCLUSIVE") {
      for sql in tableStatements { try connection.execute(sql) }
      try copyBookkeeping()
      try makeObjects()
      try makeLinks()
      for numbering in destination.tables.flatMap(\.numberings)
        + destination.joins.flatMap(\.storage.numberings)
      {
        try numbering.run(on: connection)
      }
      try policies?.validate()
      try copyOtherTables()
      if policies?.runsAny == true {
        try Validation(step: completion.step, schemas: completion.schemas, connection: connection)
          .checkConstraints()
      }
      // Sorting an index takes as much again as the cache has.
      try connection.execute("PRAGMA main.cache_size = -8000")
      try completion.run(copyingOthers: copyTriggers)
      try copyStatistics()
    }
  }

  /// Tables that nothing changes are made by the source's own text.
  private var tableStatements: [String] {
    let schemas = completion.schemas
    let bookkeeping = StoreSchema.bookkeepingStatements.map { name, sql in
      source.database.sql[name] ?? sql
    }
    return destination.tables.map { schemas.sql(of: $0) }
      + destination.joins.map { schemas.sql(of: $0) } + bookkeeping
  }

  private func makeObjects() throws {
    let mapping = completion.step.mapping
    let all = Dictionary(grouping: contents.rows, by: \.mapping)
    for entityMapping in mapping.entityMappings {
      let rows = all[entityMapping.name] ?? []
      let policies = policies.flatMap { $0.runs(entityMapping) ? $0 : nil }
      guard policies != nil || !rows.isEmpty else { continue }
      try meter.begin(.entity, title: entityMapping.title)
      guard policies == nil else {
        try policies?.createInstances(of: entityMapping)
        continue
      }
      for row in rows {
        try KeyRanges(connection: connection, table: row.ranges.table, key: row.ranges.column).run(
          row.insert, meter
        ) { try mapping.evaluating(row, destination, on: connection, $0) }
      }
    }
  }

  private func makeLinks() throws {
    try meter.begin(.relationships)
    for join in contents.joins {
      try meter.checkCancelled()
      try connection.execute(join.insert)
    }
    let writer = LinkWriter(schema: destination, connection: connection)
    let links = Dictionary(grouping: contents.links, by: \.mapping)
    for entityMapping in completion.step.mapping.entityMappings {
      try meter.checkCancelled()
      for link in links[entityMapping.name] ?? [] { try writer.write(link) }
      if let policies, policies.runs(entityMapping) {
        try policies.createRelationships(of: entityMapping)
      }
    }
  }

  /// Who the store is, and the keys of Core Data's own entities; the rest is written last.
  private func copyBookkeeping() throws {
    try connection.execute(
      """
      INSERT INTO main.Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST)
      SELECT Z_VERSION, Z_UUID, Z_PLIST FROM src.Z_METADATA;
      INSERT INTO main.Z_PRIMARYKEY SELECT * FROM src.Z_PRIMARYKEY
      WHERE Z_ENT >= \(EntityNumbering.firstReserved);
      """)
  }

  /// Tables that no model speaks of: history, CloudKit's, and the app's own.
  private func copyOtherTables() throws {
    let own = Set(source.schema.tables.map(\.name) + source.schema.joins.map(\.name))
      .union(StoreSchema.bookkeepingStatements.map(\.name))
    let shadows = try connection.shadowTables()
    for name in source.database.tables.keys.sorted() where !own.contains(name) {
      guard !name.lowercased().hasPrefix("sqlite_"), !shadows.contains(name), !isRTree(name),
        let sql = source.database.sql[name]
      else { continue }
      try meter.checkCancelled()
      try connection.create(.table, sql)
      try connection.execute("INSERT INTO main.\(quoted(name)) SELECT * FROM src.\(quoted(name))")
    }
    try copySequences()
  }

  /// The keys that tables with AUTOINCREMENT, an app's own, have given out.
  private func copySequences() throws {
    let name = "sqlite_sequence"
    guard source.database.contains(name), try DatabaseTables(connection).contains(name) else {
      return
    }
    try connection.execute(
      "DELETE FROM main.\(name); INSERT INTO main.\(name) SELECT * FROM src.\(name)")
  }

  /// An R-tree is an index of its own kind: those the model asks for are made with the indexes.
  private func isRTree(_ name: String) -> Bool {
    RTreeIndex(named: name, in: source.database) != nil
      || (source.schema.rtreeIndexes + destination.rtreeIndexes).contains { $0.name == name }
  }

  /// Triggers over those tables.
  private func copyTriggers() throws {
    let there = try DatabaseTables(connection)
    let own = Set(source.schema.tables.map(\.name) + source.schema.joins.map(\.name))
    let names = SchemaNames(in: there, since: source.database)
    for trigger in source.triggerStatements
    where !own.contains(trigger.table) && there.contains(trigger.table)
      && there.triggers[trigger.name] == nil && names.fit(trigger.sql)
    {
      try connection.create(.trigger, trigger.sql)
    }
  }

  /// What ANALYZE found out of tables that are still there.
  private func copyStatistics() throws {
    let name = "sqlite_stat1"
    guard
      try connection.value(
        "SELECT count(*) FROM src.sqlite_master WHERE name = ?", [.text(name)]) == .integer(1)
    else { return }
    // Makes the table without looking at any other.
    try connection.execute(
      """
      ANALYZE main.sqlite_master;
      INSERT INTO main.\(name) SELECT * FROM src.\(name)
      WHERE tbl IN (SELECT name FROM main.sqlite_master WHERE type = 'table')
      AND (idx IS NULL OR idx IN (SELECT name FROM main.sqlite_master))
      """)
  }
}

/// What a migrated store must hold, given by SELECTs over its source.
struct MigratedContents {
  var rows: [RowProgram] = []
  var joins: [JoinProgram] = []
  var links: [LinkProgram] = []

  /// The contents of an inferred step.
  init(_ schemas: StepSchemas) {
    for table in schemas.destination.tables { rows += schemas.rows(for: table) }
    joins = schemas.destination.joins.compactMap(schemas.program)
    links = schemas.looseLinks
  }

  init(_ mapped: MappingLayout) {
    rows = mapped.rows
    links = mapped.links
  }
}

extension StepSchemas {
  /// The rows that each entity mapping gives a table.
  func rows(for table: StoreSchema.Table) -> [RowProgram] {
    let unknown = unknownColumns(of: table).map { ColumnProgram($0, .column($0)) }
    return mappings(into: table).compactMap { entityMapping in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let sourceTable = store.table(of: from), let number = destination.numbers[to],
        store.database.contains(sourceTable.table)
      else { return nil }
      var row = RowProgram(
        mapping: entityMapping.name, entity: to, table: table.name,
        source: .objects(of: sourceTable.table), conditions: sourceTable.ownCondition("s"),
        columns: [
          ColumnProgram("Z_PK", .column("Z_PK")),
          ColumnProgram("Z_ENT", .constant(.integer(number))),
          ColumnProgram("Z_OPT", .column("Z_OPT")),
        ])
      for column in table.columns {
        let value = value(of: column.content, in: entityMapping)
        let derived = derivedFilling(for: column, in: entityMapping, row: "d")
        row.columns.append(
          ColumnProgram(column.name, derived.map { .derived($0, former: value) } ?? value))
      }
      if sourceTable.table == table.name { row.columns += unknown }
      return row
    }
  }
}

extension EntityTable {
  /// True of rows of exactly this entity; empty where the table has no others.
  func ownCondition(_ row: String) -> [RowCondition] {
    ownRows(row).map { [RowCondition($0, entity: entityID)] } ?? []
  }
}

/// A step laid out on a connection to its result, which is made as the strategy says; verifying it is
/// another matter.
struct StepMaking {
  let completion: StepCompletion
  let contents: MigratedContents
  /// Runs the mappings that are carried out object by object.
  let policies: PolicyRun?

  var connection: Connection { completion.connection }

  /// Clones the store or prepares a new file, and lays the step out.
  ///
  /// - Parameters:
  ///   - source: what is read.
  ///   - decisive: the store whose rows decide what rows decide, where the source has none.
  ///   - archive: the destination model's own archive, where it came as one.
  ///   - file: an empty file that was made for it.
  ///   - attached: called when the source is attached, before anything is made.
  init(
    _ step: MigrationStep, from source: Store, decidedBy decisive: Store? = nil, into file: NewFile,
    archive: [UInt8]?, policies bindings: PolicyBindings, meter: ProgressMeter,
    attached: (Connection) -> Void
  ) throws {
    if step.strategy == .inPlace { try StepRun.clone(source, to: file, meter) }
    // No journal, and indexes get other names through the schema table: not defensive.
    let connection = try Connection(path: file.path, mode: .made, isDefensive: false)
    // The code of a policy may make any value; SQL makes none that is longer than the store.
    if step.policyMappings(bindings).isEmpty { connection.limitValues() }
    if step.strategy == .copy { try CopyingMigration.prepare(connection, like: source) }
    try connection.attachSource(source, functionsOf: decisive)
    attached(connection)
    var schemas = StepSchemas(store: decisive ?? source, step: step)
    if step.strategy == .inPlace || step.isInferredOnly(bindings) {
      contents = MigratedContents(schemas)
      policies = nil
    } else {
      let mapped = try MappingLayout(
        schemas, connection: connection, policies: step.policyMappings(bindings))
      schemas.renumbered = mapped.renumbered
      contents = MigratedContents(mapped)
      policies = try PolicyRun(mapped, bindings: bindings, connection: connection, meter: meter)
    }
    var completion = StepCompletion(
      step: step, schemas: schemas, connection: connection, meter: meter, archive: archive)
    completion.isByPolicies = !step.policyMappings(bindings).isEmpty
    self.completion = completion
  }

  /// Makes the result.
  func run() throws {
    switch completion.step.strategy {
    case .inPlace: try InPlaceMigration(completion: completion, contents: contents).run()
    case .copy:
      try CopyingMigration(completion: completion, contents: contents, policies: policies).run()
    }
  }
}
