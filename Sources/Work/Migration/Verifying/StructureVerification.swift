import ManagedStore
import SQLite

/// Compares what sqlite_master says of a migrated store with what it must say.
///
/// What no step touched is the same text; what one touched is what a fresh store of the destination
/// has, name for name, with columns in any order. Core Data, and programs that nobody here wrote,
/// find tables and columns by these names alone.
struct StructureVerification {
  let schemas: StepSchemas
  /// Tables as the destination's model names them.
  let expected: StoreSchema
  let before: DatabaseTables
  let after: DatabaseTables
  let objects: (before: [String: SchemaObject], after: [String: SchemaObject])
  let style: IndexStyle
  /// Whether the result may have been written by others: what stands beside what Core Data looks for
  /// is theirs then.
  let isForeign: Bool
  /// Whether this SQLite makes R-trees.
  private let hasTrees: Bool

  private var wanted: [String: SchemaStatement] = [:]
  private var own: [String: SchemaStatement] = [:]
  private let kept: Set<String>
  private var differences: [VerificationReport.Difference] = []
  private var compared = 0

  /// - Parameter connection: has the result as `main` and the source as `src`.
  init(_ schemas: StepSchemas, connection: Connection, isForeign: Bool) throws {
    self.schemas = schemas
    self.isForeign = isForeign
    hasTrees = connection.hasRTrees
    before = schemas.store.database
    after = try DatabaseTables(connection)
    objects = (
      try SchemaObject.all(in: "src", connection), try SchemaObject.all(in: "main", connection)
    )
    style = IndexStyle(frameworkVersion: schemas.store.metadata.frameworkVersion)
    expected = isForeign ? schemas.destination.expected : schemas.destination
    kept = schemas.keptTables
    wanted = Self.byName(expected.indexStatements(style))
    own = Self.byName(schemas.store.schema.indexStatements(style))
  }

  /// Adds what was compared, and every difference, to a report.
  mutating func run(into report: inout VerificationReport) {
    for table in expected.tables { verify(table) }
    for join in expected.joins { verify(join) }
    verifyIndexes()
    verifyTriggers()
    if !isForeign { verifyLeftovers() }
    verifyOthers()
    report.differences += differences
    report.verified.append(
      .init(what: "tables, indexes, triggers and views as they must be named", count: compared))
  }

  private mutating func verify(_ table: StoreSchema.Table) {
    let columns =
      ["Z_PK", "Z_ENT", "Z_OPT"].map { ($0, "INTEGER") } + table.columns.map { ($0.name, $0.type) }
    verify(
      table.name, of: table.root, columns, keys: ["Z_PK"], keptSQL: schemas.keptSQL(of: table),
      former: schemas.store.schema.tables.first { $0.name == table.name }?.columns.map(\.name) ?? []
    )
  }

  private mutating func verify(_ join: StoreSchema.JoinTable) {
    verify(
      join.name, of: join.entity, join.columns.map { ($0, "INTEGER") },
      keys: [join.first, join.second], keptSQL: schemas.keptSQL(of: join), former: [],
      relationship: join.relationship)
  }

  private mutating func verify(
    _ name: String, of entity: String, _ columns: [(name: String, type: String)],
    keys: Set<String>, keptSQL: String?, former: [String], relationship: String? = nil
  ) {
    func fail(_ message: String) {
      self.fail("the table \(name) \(message)", entity: entity, property: relationship)
    }
    compared += 1
    guard let actual = after.tables[name] else { return fail("is missing") }
    if !isForeign, let keptSQL {
      guard after.sql[name] != keptSQL else { return }
      return fail("is not the same in sqlite_master as before, though nothing changes it")
    }
    var there = Dictionary(first: actual.map { ($0.name, $0) })
    for column in columns {
      guard let found = there.removeValue(forKey: column.name) else {
        fail("has no column \(column.name)")
        continue
      }
      if found.type.uppercased() != column.type {
        fail("has the column \(column.name) as \(found.type), not \(column.type)")
      }
      if !isForeign, found.isPrimaryKey != keys.contains(column.name) {
        fail("\(found.isPrimaryKey ? "has" : "lacks") \(column.name) in its primary key")
      }
    }
    guard !isForeign else { return }
    // A column that neither model knows is the app's own.
    let isOwn = before.columns(of: name).subtracting(former).filter {
      !DeferredColumn.isName($0)
    }
    for column in there.keys.sorted() where !isOwn.contains(column) {
      fail("has a column \(column) that the model does not have")
    }
  }

  private mutating func verifyIndexes() {
    for (name, index) in wanted.sorted(by: { $0.key < $1.key }) {
      let stays = own[name]?.sql == index.sql && kept.contains(index.table)
      guard isForeign ? isFollowed(name, index) : !stays || before.indexes[name] != nil else {
        continue
      }
      compared += 1
      guard let sql = after.sql[name], after.indexes[name] == index.table else {
        fail("the index \(name) is missing")
        continue
      }
      if isForeign, Self.isUnique(index.sql), !Self.isUnique(sql) {
        fail("the index \(name) is not unique any more")
      }
      let isAsBefore = own[name]?.sql == index.sql && sql == before.sql[name]
      guard !isForeign, !isAsBefore,
        stays || SchemaText.normalized(sql) != SchemaText.normalized(index.sql)
      else { continue }
      fail("the index \(name) is not what it must be")
    }
    for (name, table) in before.indexes.sorted(by: { $0.key < $1.key })
    where wanted[name] == nil && own[name] == nil && before.sql[name] != nil && kept.contains(table)
    {
      compared += 1
      guard after.sql[name] != before.sql[name] else { continue }
      fail(
        after.indexes[name] == nil
          ? "the index \(name) of \(table) is missing"
          : "the index \(name) of \(table) is not the same as before")
    }
  }

  private static func isUnique(_ sql: String) -> Bool {
    sql.uppercased().hasPrefix("CREATE UNIQUE ")
  }

  /// Whether a store that others may have written must have an index: where it was there, or only the
  /// destination's model asks for it. One that was never made is no difference.
  private func isFollowed(_ name: String, _ index: SchemaStatement) -> Bool {
    after.contains(index.table) && (own[name] == nil || before.indexes[name] != nil)
  }

  private mutating func verifyTriggers() {
    let groups = expected.triggerGroups
    let formerGroups = schemas.store.schema.triggerGroups
    let trees = expected.rtreeIndexes.filter { after.contains($0.name) }
    let treeTriggers = Set(
      (expected.rtreeIndexes + schemas.store.schema.rtreeIndexes).flatMap(\.triggers).map(\.name))
    func failTrigger(_ name: String) {
      fail("the trigger \(name) is missing, or another than before")
    }
    for group in groups where !group.statements.isEmpty {
      compared += group.statements.count
      guard !isForeign else {
        for name in lost(of: group, former: formerGroups) { failTrigger(name) }
        continue
      }
      let names = after.triggers.filter { group.owns($0.key, on: $0.value) }.map(\.key)
      let isAsBefore = !names.isEmpty && names.allSatisfy { after.sql[$0] == before.sql[$0] }
      for trigger in group.statements
      where !isAsBefore && after.sql[trigger.name] != trigger.sql {
        failTrigger(trigger.name)
      }
    }
    for tree in expected.rtreeIndexes
    where (isForeign ? before.contains(tree.name) : hasTrees) && !after.contains(tree.name) {
      fail("the R-tree \(tree.name) is missing")
    }
    for trigger in trees.flatMap(\.triggers) {
      compared += 1
      if after.triggers[trigger.name] != trigger.table { failTrigger(trigger.name) }
    }
    // The app's own, and those of trees that no model has.
    let names = SchemaNames(in: after, since: before)
    for (name, table) in before.triggers.sorted(by: { $0.key < $1.key }) {
      guard !(groups + formerGroups).contains(where: { $0.owns(name, on: table) }),
        !treeTriggers.contains(name), let sql = before.sql[name], after.contains(table),
        names.fit(sql)
      else { continue }
      compared += 1
      guard after.sql[name] != sql else { continue }
      if after.sql[name] != nil || !names.mayNotFit(sql) { failTrigger(name) }
    }
  }

  /// Triggers of an attribute that a store which others may have written lacks: each that was there, or all
  /// where it has none and the attribute is new. Frameworks name them differently.
  private func lost(of group: TriggerGroup, former: [TriggerGroup]) -> [String] {
    func names(_ tables: DatabaseTables) -> Set<String> {
      Set(tables.triggers.filter { group.owns($0.key, on: $0.value) }.map(\.key))
    }
    let (had, has) = (names(before), names(after))
    let isNew = !former.contains {
      ($0.entity, $0.attribute) == (group.entity, group.attribute) && !$0.statements.isEmpty
    }
    if has.isEmpty { return had.isEmpty && !isNew ? [] : group.statements.map(\.name) }
    return group.statements.map(\.name).filter { had.contains($0) && !has.contains($0) }
  }

  /// Nothing but what the model asks for may have come, and what it does not ask for any more is gone.
  private mutating func verifyLeftovers() {
    let trees = Set(expected.rtreeIndexes.map(\.name))
    let tables = Set(expected.tables.map(\.name) + expected.joins.map(\.name))
      .union(StoreSchema.bookkeepingStatements.map(\.name)).union(trees)
    let formerTables = Set(
      schemas.store.schema.tables.map(\.name) + schemas.store.schema.joins.map(\.name))
    for object in objects.after.values.sorted(by: { $0.name < $1.name }) {
      let isAsked =
        switch object.type {
        case "table":
          tables.contains(object.name) || object.isShadow(of: trees)
            || objects.before[object.name] != nil && !formerTables.contains(object.name)
            || object.isSQLites
        case "index":
          wanted[object.name] != nil || object.sql == nil
            || objects.before[object.name] != nil && own[object.name] == nil
        case "trigger":
          objects.before[object.name] != nil
            || expected.triggerStatements.contains { $0.name == object.name }
        default: objects.before[object.name] != nil
        }
      guard !isAsked else { continue }
      fail("the \(object.type) \(object.name) is not expected")
    }
  }

  /// Tables of history, of CloudKit and of the app, and its views, are as they were.
  private mutating func verifyOthers() {
    let known = Set(
      expected.tables.map(\.name) + expected.joins.map(\.name)
        + schemas.store.schema.tables.map(\.name) + schemas.store.schema.joins.map(\.name)
        + (expected.rtreeIndexes + schemas.store.schema.rtreeIndexes).map(\.name))
    var gone = Set(objects.before.keys).subtracting(objects.after.keys)
    gone.formUnion(
      before.tables.keys.flatMap { table in
        before.columns(of: table).subtracting(after.columns(of: table))
      })
    for object in objects.before.values.sorted(by: { $0.name < $1.name })
    where object.type == "table" || object.type == "view" {
      guard !known.contains(object.name), !object.isSQLites, !object.isShadow(of: before.virtual),
        !isForeign || !object.isCoreDatas
      else { continue }
      let isView = object.type == "view"
      guard let now = objects.after[object.name] else {
        // A view over what is gone goes too, and so does a tree over a table that is.
        let words = SchemaText.words(of: object.sql ?? "")
        if isView
          ? words.contains(where: { $0 != object.name && gone.contains($0) }) : isTree(object)
        {
          continue
        }
        compared += 1
        fail("the \(object.type) \(object.name) is missing")
        continue
      }
      compared += 1
      guard now.sql != object.sql, !isHistoryWithMore(object.name) else { continue }
      fail("the \(object.type) \(object.name) is not the same as before")
    }
  }

  /// Whether a table is history's, with the columns appended that the destination needs for deleted objects.
  private func isHistoryWithMore(_ table: String) -> Bool {
    guard table == "ACHANGE" else { return false }
    let (former, now) = (before.tables[table] ?? [], after.tables[table] ?? [])
    let added = now.dropFirst(former.count)
    return now.starts(with: former) && added.map(\.name) == schemas.addedTombstones
      && added.allSatisfy { $0.type == "BLOB" && !$0.isPrimaryKey }
  }

  /// Whether a table is an R-tree whose columns are gone.
  private func isTree(_ object: SchemaObject) -> Bool {
    guard let tree = RTreeIndex(named: object.name, in: before) else { return false }
    return !after.columns(of: tree.table).isSuperset(of: tree.columns)
  }

  private mutating func fail(_ message: String, entity: String? = nil, property: String? = nil) {
    differences.append(
      .init(part: .schema, entity: entity, property: property, message: message, count: 1))
  }

  private static func byName(_ statements: [SchemaStatement]) -> [String: SchemaStatement] {
    Dictionary(first: statements.map { ($0.name, $0) })
  }
}
