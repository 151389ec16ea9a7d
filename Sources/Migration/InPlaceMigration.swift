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

  /// Rows in one statement: few enough that progress and cancelling are felt at once.
  static let batch: Int64 = 20_000

  private var source: Store { schemas.store }
  private var destination: StoreSchema { schemas.destination }

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
    try connection.transaction("BEGIN EXCLUSIVE") {
      try migrateRows()
      try migrateLinks()
      try makeIndexes(triggers: triggers)
      try updateBookkeeping()
    }
  }

  /// Triggers of derived attributes must not run while rows move; they are put back as they were.
  private func dropTriggers() throws -> [(table: String, sql: String)] {
    var dropped: [(String, String)] = []
    for (name, table) in source.database.triggers.sorted(by: { $0.key < $1.key }) {
      if let sql = source.database.sql[name] { dropped.append((table, sql)) }
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
    let name = "src." + quoted(table.table)
    guard
      let bounds = try connection.rows(
        "SELECT min(Z_PK), max(Z_PK) FROM \(name)"
      ).first, bounds.count == 2,
      var low = bounds[0].integer, let last = bounds[1].integer
    else { return }
    let next = try connection.prepare(
      "SELECT max(Z_PK) FROM (SELECT Z_PK FROM \(name) WHERE Z_PK >= ? ORDER BY Z_PK LIMIT \(Self.batch))"
    )
    while low <= last {
      try meter.checkCancelled()
      try next.bind([.integer(low)])
      guard try next.step(), let high = next.value(at: 0).integer else { return }
      next.reset()
      let rows = try body([.integer(low), .integer(high)])
      if counts { try meter.advance(by: rows) }
      guard high < Int64.max else { return }
      low = high + 1
    }
  }

  // MARK: Links

  private func migrateLinks() throws {
    try meter.begin(.relationships)
    var plans: [(join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?)] = []
    var kept: Set<String> = []
    for join in destination.joins {
      let former = StepSchemas.sourceJoin(of: join, store: source, mapping: schemas.mapping)
      let same = former.map { join.hasSameColumns(as: $0) } ?? false
      let all =
        schemas.isKept("0", destination: join.entity) == nil
        && schemas.isKept("0", destination: join.inverseEntity) == nil
      if same, all, source.database.contains(join.name) {
        kept.insert(join.name)
      } else {
        plans.append((join, former))
      }
    }
    for join in source.schema.joins
    where !kept.contains(join.name) && source.database.contains(join.name) {
      try connection.execute("DROP TABLE main.\(quoted(join.name))")
    }
    for (join, former) in plans {
      try connection.execute(join.sql)
      guard let links = schemas.links(of: join, former: former) else { continue }
      try meter.checkCancelled()
      try connection.execute(
        "INSERT OR IGNORE INTO main.\(quoted(join.name)) (\(links.columns)) \(links.select)")
    }
  }

  // MARK: Indexes and bookkeeping

  private func makeIndexes(triggers: [(table: String, sql: String)]) throws {
    try meter.begin(.indexes)
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    let wanted = destination.indexStatements(style)
    let names = Set(wanted.map(\.name))
    let own = Set(source.schema.indexStatements(style).map(\.name))
    let there = try DatabaseTables(connection)
    for name in there.indexes.keys.sorted() {
      guard let sql = there.sql[name] else { continue }
      let target = wanted.first { $0.name == name }
      let isRight = target.map { Self.normalized($0.sql) == Self.normalized(sql) } ?? false
      // Indexes that neither model asks for stay: older ones of Core Data, or the app's own.
      if !isRight, names.contains(name) || own.contains(name) {
        try connection.execute("DROP INDEX main.\(quoted(name))")
      }
    }
    var left = try DatabaseTables(connection)
    // Indexes of the app's own went with tables that were written again.
    for (name, table) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[name], left.indexes[name] == nil, !own.contains(name),
        !names.contains(name), left.contains(table), Self.fits(sql, left)
      else { continue }
      try connection.execute(sql)
    }
    left = try DatabaseTables(connection)
    for index in wanted {
      if left.indexes[index.name] == nil { try connection.execute(index.sql) }
      try meter.advance(by: 1)
    }
    // SQLite looks at a trigger's columns only when it runs: one over a column that is gone would
    // make every later write fail, so it is not put back.
    for (table, sql) in triggers where left.contains(table) && Self.fits(sql, left) {
      for function in Self.functionNames(in: sql) { try connection.defineNullFunction(function) }
      try connection.execute(sql)
    }
  }

  /// Names of functions that only Core Data has.
  static func functionNames(in sql: String) -> Set<String> {
    Set(words(of: sql).filter { $0.hasPrefix("NSCoreData") })
  }

  /// Whether every table and column that an index or trigger names is still there.
  ///
  /// Core Data's names are all in capitals and begin with Z; the statement's own name comes third.
  static func fits(_ sql: String, _ database: DatabaseTables) -> Bool {
    let known = Set(database.tables.keys).union(
      database.tables.values.flatMap { $0.map(\.name) })
    var words = words(of: sql)
    guard
      let name = words.firstIndex(where: {
        $0.uppercased() == "INDEX" || $0.uppercased() == "TRIGGER"
      }),
      name + 1 < words.count
    else { return false }
    words.remove(at: name + 1)
    return words.allSatisfy { word in
      !word.hasPrefix("Z") || word != word.uppercased() || known.contains(word)
    }
  }

  private static func words(of sql: String) -> [String] {
    sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  private static func normalized(_ sql: String) -> String {
    sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
  }

  private func updateBookkeeping() throws {
    try updatePrimaryKeys()
    try updateEntityNumbers()
    let metadata = source.metadata.updated(for: step.destination)
    try connection.run(
      "UPDATE main.Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
    if !source.database.contains("Z_MODELCACHE") {
      try connection.execute("CREATE TABLE main.Z_MODELCACHE (Z_CONTENT BLOB)")
    }
    try connection.execute("DELETE FROM main.Z_MODELCACHE")
    try connection.run(
      "INSERT INTO main.Z_MODELCACHE (Z_CONTENT) VALUES (?)",
      [.blob(try ModelCache.deflate(archive ?? step.destination.archived()))])
  }

  private func updatePrimaryKeys() throws {
    var rows: [[Value]] = []
    for row in destination.primaryKeyRows {
      var maximum: Int64 = 0
      if row.parent == 0, let table = destination.table(ofRoot: row.name) {
        for entityMapping in schemas.mappings(into: table) {
          guard let from = entityMapping.source else { continue }
          let root = source.model.root(of: from)
          guard let number = source.schema.numbers[root] else { continue }
          let given = try connection.value(
            "SELECT Z_MAX FROM src.Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])
          maximum = max(maximum, given?.integer ?? 0)
        }
        let used = try connection.value("SELECT max(Z_PK) FROM main.\(quoted(table.name))")
        maximum = max(maximum, used?.integer ?? 0)
      }
      rows.append([
        .integer(row.number), .text(row.name), .integer(row.parent), .integer(maximum),
      ])
    }
    try connection.execute(
      "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved)")
    for row in rows {
      try connection.run(
        "INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)", row)
    }
  }

  /// History and CloudKit rows refer to objects by entity number: they follow the new ones. Those
  /// of entities that are gone would point at others, so they go too.
  private func updateEntityNumbers() throws {
    let renumbering = schemas.renumbering
    let cases = renumbering.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
    let kept = Set(renumbering.map(\.old))
    let removed = source.entityTables.map(\.number).filter { !kept.contains($0) }
    let isUnchanged = renumbering.allSatisfy { $0.old == $0.new } && removed.isEmpty
    guard !isUnchanged else { return }
    for table in source.database.tables.keys.sorted() {
      let columns = source.database.columns(of: table)
      let column: String
      if table == "ACHANGE", columns.contains("ZENTITY") {
        column = "ZENTITY"
      } else if table.hasPrefix("ANSCK"), columns.contains("ZENTITYID") {
        column = "ZENTITYID"
      } else {
        continue
      }
      if !removed.isEmpty {
        try connection.execute(
          "DELETE FROM main.\(quoted(table)) WHERE \(column) IN (\(removed.map(String.init).joined(separator: ", ")))"
        )
      }
      if !cases.isEmpty {
        try connection.execute(
          "UPDATE main.\(quoted(table)) SET \(column) = CASE \(column) \(cases) ELSE \(column) END")
      }
    }
  }

  /// What the progress of an entity mapping is called.
  static func title(of entityMapping: EntityMapping) -> String {
    entityMapping.destination ?? entityMapping.source ?? entityMapping.name
  }
}

extension StoreSchema.JoinTable {
  func hasSameColumns(as other: StoreSchema.JoinTable) -> Bool {
    name == other.name && first == other.first && second == other.second
      && firstOrder == other.firstOrder && secondOrder == other.secondOrder
  }
}

extension StepSchemas {
  /// A join table's columns and the SELECT of its rows from the source; `nil` for links that are new.
  func links(
    of join: StoreSchema.JoinTable, former: StoreSchema.JoinTable?
  ) -> (
    columns: String, select: String
  )? {
    var first = "owner"
    var second = "destination"
    var firstOrder = "NULL"
    var secondOrder = "position"
    let edges: String
    if let former {
      // Both positions are in the former table, whichever side names it.
      let isStraight = isStraight(join, former)
      (first, second) =
        isStraight
        ? (quoted(former.first), quoted(former.second))
        : (quoted(former.second), quoted(former.first))
      let orders = [former.firstOrder, former.secondOrder].map { $0.map { quoted($0) } ?? "NULL" }
      (firstOrder, secondOrder) = isStraight ? (orders[0], orders[1]) : (orders[1], orders[0])
      edges = "SELECT * FROM src.\(quoted(former.name))"
    } else if let own = self.edges(of: join.relationship, in: join.entity) {
      edges = own
    } else if let back = self.edges(of: join.inverse, in: join.inverseEntity) {
      edges = back
      (first, second) = ("destination", "owner")
      (firstOrder, secondOrder) = ("position", "NULL")
    } else {
      return nil
    }
    var columns = [quoted(join.first), quoted(join.second)]
    var values = [first, second]
    if let column = join.firstOrder {
      columns.append(quoted(column))
      values.append(
        "coalesce(\(firstOrder), 1024 * row_number() OVER (PARTITION BY \(second) ORDER BY \(first)))"
      )
    }
    if let column = join.secondOrder {
      columns.append(quoted(column))
      values.append(
        "coalesce(\(secondOrder), 1024 * row_number() OVER (PARTITION BY \(first) ORDER BY \(second)))"
      )
    }
    let conditions = [
      isKept("e." + first, destination: join.entity),
      isKept("e." + second, destination: join.inverseEntity),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    return (
      columns.joined(separator: ", "),
      "SELECT \(values.joined(separator: ", ")) FROM (\(edges)) e\(filter)"
    )
  }

  /// Whether the former table's first column holds keys of the same side.
  private func isStraight(_ join: StoreSchema.JoinTable, _ former: StoreSchema.JoinTable) -> Bool {
    guard !join.isReflexive, let entityMapping = mapping.mapping(toDestination: join.entity),
      let from = entityMapping.source,
      let name = entityMapping.relationships.first(where: { $0.name == join.relationship })?.source
    else { return true }
    let declarer = sourceModel.declaringEntity(of: name, in: from) ?? from
    return former.entity == declarer && former.relationship == name
  }
}
