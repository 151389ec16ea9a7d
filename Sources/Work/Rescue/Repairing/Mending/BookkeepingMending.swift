import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Metadata, model cache, entity numbers and counters: the machine is the one that completes what was
/// salvaged.
struct BookkeepingMending {
  let work: RepairWork

  func run() throws {
    let bookkeeping = SalvagedBookkeeping(work.connection)
    let kinds = work.kinds
    func note(_ kind: FindingKind, _ changes: [SalvagedBookkeeping.Change]) throws {
      for change in changes { try work.note(change.noted(kind)) }
    }
    let places: [(kind: FindingKind, table: String)] = [
      (.metadata, "Z_METADATA"), (.modelCache, "Z_MODELCACHE"), (.primaryKey, "Z_PRIMARYKEY"),
    ]
    for (kind, table) in places where kinds.contains(kind) {
      try note(kind, bookkeeping.completeTables([table]))
    }
    if let model = work.model {
      if kinds.contains(.modelCache) {
        try note(
          .modelCache, bookkeeping.completeModelCache(with: model, replacesOther: isRight(model)))
      }
      if kinds.contains(.metadata) {
        try note(.metadata, bookkeeping.completeMetadata(with: model))
      }
    }
    let schema = work.source.schema
    // Without a model nothing shows what belongs there; which key is the greatest, the tables show.
    let isRaw = work.source.modelSource == .raw
    if kinds.contains(.entityNumbers), !isRaw {
      let made = try bookkeeping.completeNumbers(schema)
      try note(.entityNumbers, made)
      try note(.entityNumbers, bookkeeping.correctNumbers(schema))
      try note(
        .entityNumbers, bookkeeping.raiseMaxima(schema, of: Set(made.compactMap(\.entity))))
    }
    if kinds.contains(.primaryKey) {
      // There, all of them are missing.
      if !kinds.contains(.entityNumbers), !isRaw, try hasNoNumbers() {
        try note(.primaryKey, bookkeeping.completeNumbers(schema))
      }
      try note(.primaryKey, bookkeeping.raiseMaxima(schema))
    }
  }

  private func hasNoNumbers() throws -> Bool {
    try work.connection.value(
      "SELECT 1 FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved) LIMIT 1")
      == nil
  }

  /// Whether a model is the one that the metadata names.
  private func isRight(_ model: Model) -> Bool {
    work.source.flaws.metadata == nil
      && model.versionHashes == work.source.metadata.versionHashes
  }
}

extension RepairWork {
  /// The model that made the store; `nil` where nobody knows it.
  var model: Model? { source.modelSource == .raw ? options.model : source.wholeModel }
}

extension SalvagedBookkeeping.Change {
  fileprivate var entity: String? {
    if case .number(let entity) = place { entity } else { nil }
  }

  fileprivate func noted(_ kind: FindingKind) -> RepairChange {
    let (entity, property): (String?, String?) =
      switch place {
      case .table(let name): (name, nil)
      case .modelCache: ("Z_MODELCACHE", "Z_CONTENT")
      case .metadata(let keepsUUID): ("Z_METADATA", keepsUUID ? "Z_PLIST" : "Z_UUID")
      case .number(let entity): (entity, "Z_ENT")
      case .parent(let entity): (entity, "Z_SUPER")
      case .maximum(let entity): (entity, "Z_MAX")
      }
    if case .metadata(keepsUUID: true) = place {
      return RepairChange(
        kind: kind.rawValue, entity: entity, property: property, old: "not readable",
        new: "recreated from the model, with the UUID \(new ?? "")")
    }
    return RepairChange(
      kind: kind.rawValue, entity: entity, property: property, old: old, new: new)
  }
}

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

/// Rows of persistent history that reference others which are gone, and columns that it lacks.
struct HistoryMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    if work.kinds.contains(.historyColumns) { try addColumns() }
    guard work.kinds.contains(.history) else { return }
    if source.modelSource != .raw, let (key, condition) = source.unknownEntity(in: "main.") {
      try mend(key, where: condition)
    }
    for key in HistoryTable.keys(in: source.database, as: "main.") {
      try mend(key, where: key.isDangling)
    }
  }

  /// Takes changes out that nobody can follow; a transaction only loses the key.
  private func mend(_ key: KeyColumn, where condition: String) throws {
    try work.note(
      .history, entity: key.table.literal, key: "t.Z_PK", property: key.column.literal,
      old: key.value, "\(key.rows) WHERE \(condition)")
    let table = "main." + quoted(key.table)
    try work.connection.execute(
      key.table == HistoryTable.change.name
        ? "DELETE FROM \(table) AS t WHERE \(condition)"
        : "UPDATE \(table) AS t SET \(quoted(key.column)) = NULL WHERE \(condition)")
  }

  private func addColumns() throws {
    for column in source.missingTombstones {
      try work.note(
        RepairChange(
          kind: FindingKind.historyColumns.rawValue, entity: "ACHANGE", property: column,
          new: "added"))
      try work.connection.execute("ALTER TABLE main.ACHANGE ADD COLUMN \(column) BLOB")
    }
  }
}

/// Join tables, and their columns, get the names that Core Data looks for.
struct JoinNameMending {
  let work: RepairWork
  private var connection: Connection { work.connection }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.joinName) else { return }
    let schema = work.source.schema
    let expected = schema.expected
    let wrong = Set(work.source.drift.joins.compactMap(\.found))
    let pairs = schema.joins.compactMap {
      found -> (StoreSchema.JoinTable, StoreSchema.JoinTable)? in
      guard wrong.contains(found.name) else { return nil }
      return expected.joins.first { $0.side == found.side }.map { (found, $0) }
    }
    // One's name may be another's until now: all are put aside before any is made.
    try connection.execute("PRAGMA legacy_alter_table = ON")
    var aside: [(name: String, found: StoreSchema.JoinTable, join: StoreSchema.JoinTable)] = []
    for (number, (found, join)) in pairs.enumerated() {
      let name = "strata_join_\(number)"
      let there = try DatabaseTables(connection)
      for index in there.indexes where index.value == found.name && there.sql[index.key] != nil {
        try connection.execute("DROP INDEX main.\(quoted(index.key))")
      }
      try connection.execute("ALTER TABLE main.\(quoted(found.name)) RENAME TO \(name)")
      aside.append((name, found, join))
    }
    let indexes = expected.indexStatements(
      IndexStyle(frameworkVersion: work.source.metadata.frameworkVersion))
    for (name, found, join) in aside {
      try connection.execute(join.sql)
      try connection.execute(
        """
        INSERT INTO main.\(quoted(join.name)) (\(Self.columns(join, as: found)))
        SELECT \(Self.columns(found, as: join)) FROM main.\(name);
        DROP TABLE main.\(name)
        """)
      for index in indexes where index.table == join.name {
        try connection.execute(index.sql)
      }
      try work.note(
        RepairChange(
          kind: FindingKind.joinName.rawValue, entity: join.entity, property: join.relationship,
          old: Self.text(found), new: Self.text(join)))
    }
    try connection.execute("PRAGMA legacy_alter_table = OFF")
  }

  /// The columns of both, in the same order; a place of order that one does not have is left out.
  private static func columns(
    _ join: StoreSchema.JoinTable, as other: StoreSchema.JoinTable
  ) -> String {
    let orders = [
      other.firstOrder == nil ? nil : join.firstOrder,
      other.secondOrder == nil ? nil : join.secondOrder,
    ]
    return ([join.first, join.second] + orders.compactMap { $0 }).map { quoted($0) }
      .joined(separator: ", ")
  }

  private static func text(_ join: StoreSchema.JoinTable) -> String {
    "\(join.name) (\(join.columns.joined(separator: ", ")))"
  }
}

/// Columns whose names carry another entity ID get the names that Core Data looks for.
struct ColumnNameMending {
  let work: RepairWork

  func run() throws {
    guard work.kinds.contains(.columnName) else { return }
    let names = work.source.drift.columnNames
    // What is quoted here is quoted in the table's text afterwards, which Core Data never does.
    func rename(_ table: String, _ name: String, to other: String) throws {
      try work.connection.execute(
        """
        ALTER TABLE main.\(quoted(table)) RENAME COLUMN \(quoted(name)) TO \(StoreSchema.name(other))
        """)
    }
    // One's name may be another's until now: all are put aside before any is made.
    for (number, name) in names.enumerated() {
      try rename(name.table, name.found, to: "strata_column_\(number)")
    }
    for (number, name) in names.enumerated() {
      try rename(name.table, "strata_column_\(number)", to: name.expected)
      try work.note(
        RepairChange(
          kind: FindingKind.columnName.rawValue, entity: name.entity, property: name.relationship,
          old: "\(name.table).\(name.found)", new: "\(name.table).\(name.expected)"))
    }
  }
}

/// Indexes of the model that are not there are made, as a new store has them.
struct MissingIndexMending {
  let work: RepairWork

  /// - Returns: what could not be made, as sentences.
  func run() throws -> [String] {
    // Objects that a repair of uniqueness has left are kept apart from then on.
    let isUnique = !work.kinds.isDisjoint(with: [.uniqueMissing, .uniqueness])
    guard isUnique || work.kinds.contains(.indexMissing) else { return [] }
    var notes: [String] = []
    for index in try MissingIndex.all(of: work.source)
    where index.isUnique ? isUnique : work.kinds.contains(.indexMissing) {
      do {
        try work.connection.create(.index, index.statement.sql)
      } catch let error as SQLiteError where error.isConstraint {
        notes.append(RepairWork.brokenIndex(index.statement.name))
        continue
      }
      try work.note(
        RepairChange(
          kind: index.kind.rawValue, entity: index.entity,
          property: index.properties.joined(separator: ","), new: index.statement.name))
    }
    return notes
  }
}

/// Tables of the model that are missing are made, empty, with their indexes and triggers, as a new store of
/// the model has them.
struct TableMending {
  let work: RepairWork

  func run() throws {
    guard work.kinds.contains(.tableMissing) else { return }
    let source = work.source
    let schema = source.schema.expected
    let joins = source.drift.joins.filter { $0.found == nil }
    var made: Set<String> = []
    for missing in source.drift.missingTables {
      guard let table = schema.tables.first(where: { $0.name == missing.table }) else { continue }
      try make(table.name, table.sql, of: missing.entity, nil)
      made.insert(table.name)
    }
    for missing in joins {
      guard let join = schema.joins.first(where: { $0.name == missing.expected }) else { continue }
      try make(join.name, join.sql, of: missing.entity, missing.relationship)
      made.insert(join.name)
    }
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    for index in schema.indexStatements(style) where made.contains(index.table) {
      try work.connection.execute(index.sql)
    }
    var triggers = schema.triggerGroups.flatMap(\.statements)
    for tree in schema.rtreeIndexes where made.contains(tree.table) {
      if !source.database.contains(tree.name) {
        guard work.connection.hasRTrees else { continue }
        try work.connection.execute(tree.sql)
      }
      triggers += tree.triggers
    }
    for trigger in triggers
    where made.contains(trigger.table) && source.database.triggers[trigger.name] == nil {
      try work.connection.execute(trigger.sql)
    }
  }

  private func make(
    _ name: String, _ sql: String, of entity: String, _ relationship: String?
  ) throws {
    try work.connection.execute(sql)
    try work.note(
      RepairChange(
        kind: FindingKind.tableMissing.rawValue, entity: entity,
        property: relationship ?? name, new: "\(name), empty"))
  }
}
