import ManagedModel
import ManagedStore
import Migration
import SQLite

/// What is wrong with what Core Data keeps for itself: metadata, model cache, numbers, tables.
struct BookkeepingLayer {
  let place: StorePlace
  let store: Store

  /// Each by itself, so that one which fails leaves the others.
  var checks: [() throws -> [Finding]] {
    [
      models, numbers, tables, deferral, unknownEntities,
      MissingIndexCheck(place: place, store: store).findings,
      TriggerCheck(place: place, store: store).findings,
      HistoryCheck(place: place, store: store).findings,
    ]
  }

  /// The frameworks of iOS 7 and before, 419 to 519, leave it out.
  private static let firstCaching = 520

  private func models() -> [Finding] {
    var found: [Finding] = []
    let isRaw = store.modelSource == .raw
    if let error = store.flaws.metadata {
      found.append(
        Finding(
          .metadata, error.message.asSentence, in: place,
          remedy: isRaw ? .repairByModel : nil))
    }
    if let error = store.flaws.modelCache {
      found.append(
        Finding(
          .modelCache, error.message.asSentence, in: place, remedy: isRaw ? .repairByModel : nil))
    } else if !hasCache {
      let isOld = store.metadata.frameworkVersion.map { $0 < Self.firstCaching } ?? false
      found.append(
        Finding(
          .modelCache, "The store has no model in it (Z_MODELCACHE).",
          severity: isOld ? .note : .warning, in: place, remedy: isRaw ? .repairByModel : nil))
    }
    if store.modelSource == .file, store.flaws.modelCache == nil, hasCache, cachedModel == nil {
      found.append(Finding(.modelCache, "The model in the store cannot be read.", in: place))
    }
    return found + [otherModel].compactMap { $0 }
  }

  /// That the model is not the one that the metadata names; `nil` where it is.
  var otherModel: Finding? {
    guard store.flaws.metadata == nil, store.modelSource != .raw, !store.modelMatches else {
      return nil
    }
    let hashes = store.metadata.versionHashes
    let own = store.wholeModel.versionHashes
    let differing = Set(hashes.keys).union(own.keys).filter { hashes[$0] != own[$0] }.sorted()
    let names = differing.prefix(5).joined(separator: ", ")
    let isCache = store.modelSource == .store
    let what =
      isCache
      ? "The model in the store is not the one of its metadata"
      : "The model is not the one that made the store"
    return Finding(
      isCache ? .modelCache : .versionHashes,
      "\(what): \(NumberText.counted(differing.count, "entity differs", plural: "entities differ")) (\(names)).",
      count: differing.count, first: Array(differing.prefix(5)), in: place,
      remedy: isCache ? .repairByModel : nil)
  }

  /// The model in the store, where another is read with.
  private var cachedModel: Model? {
    (try? store.reading { try SalvagedBookkeeping(store.connection).cachedModel() }) ?? nil
  }

  private var hasCache: Bool {
    guard store.database.contains("Z_MODELCACHE") else { return false }
    let length = try? store.reading {
      try store.connection.value("SELECT length(Z_CONTENT) FROM Z_MODELCACHE LIMIT 1")?.integer
    }
    return length ?? 0 > 0
  }

  private func numbers() throws -> [Finding] {
    var found: [Finding] = []
    let wrong = store.drift.numbers
    let missing = wrong.filter { $0.problem == .missing }
    let low = try lowKeys()
    if !missing.isEmpty, missing.count == store.model.entities.count {
      found.append(
        Finding(
          .primaryKey,
          store.database.contains("Z_PRIMARYKEY")
            ? "Z_PRIMARYKEY has no row for any of the \(missing.count) entities."
            : "There is no Z_PRIMARYKEY.", count: missing.count, in: place))
    } else if !missing.isEmpty {
      found.append(
        listed(
          .entityNumbers, "entity has", "entities have", "no row in Z_PRIMARYKEY",
          missing.map(\.entity)))
    }
    if !low.isEmpty {
      found.append(
        Finding(
          .primaryKey, low.prefix(3).map(\.sentence).joined(separator: " "), count: low.count,
          first: low.prefix(5).map(\.entity), in: place))
    }
    let unknown = wrong.filter { $0.problem == .unknown }
    if !unknown.isEmpty {
      found.append(
        listed(
          .entityNumbers, "row of Z_PRIMARYKEY names", "rows of Z_PRIMARYKEY name",
          "entities that the model does not have",
          unknown.map { "\($0.entity) (\($0.number ?? 0))" }))
    }
    let parents = wrong.filter { if case .parent = $0.problem { true } else { false } }
    if !parents.isEmpty {
      found.append(
        listed(
          .entityNumbers, "row of Z_PRIMARYKEY names", "rows of Z_PRIMARYKEY name",
          "another parent than the model", parents.map(\.entity)))
    }
    return found
  }

  private struct LowKey {
    let entity: String
    let stated: Int64
    let used: Int64

    var sentence: String { "Z_MAX of \(entity) is \(stated), the greatest key is \(used)." }
  }

  /// Entities whose last key given out is below one in use, those of history with them.
  private func lowKeys() throws -> [LowKey] { try lowKeysOfObjects() + lowKeysOfHistory() }

  private func lowKeysOfHistory() throws -> [LowKey] {
    guard store.database.contains("Z_PRIMARYKEY") else { return [] }
    return try HistoryTable.allCases.compactMap { table in
      guard store.database.columns(of: table.name).contains("Z_PK") else { return nil }
      return try store.reading {
        let keys = PrimaryKeys(store.connection)
        guard let stated = try keys.counter(table.rawValue),
          let used = try keys.used(in: table.name), used > stated
        else { return nil }
        return LowKey(entity: table.entity, stated: stated, used: used)
      }
    }
  }

  private func lowKeysOfObjects() throws -> [LowKey] {
    if store.modelSource == .raw {
      guard store.database.contains("Z_PRIMARYKEY") else { return [] }
      return try store.entityNumbers().compactMap { row in
        row.greatestKey.flatMap {
          row.parent == 0 && $0 > row.maximum
            ? LowKey(entity: row.name, stated: row.maximum, used: $0) : nil
        }
      }
    }
    return store.drift.numbers.compactMap { number in
      if case .maximum(let stated, let used) = number.problem {
        LowKey(entity: number.entity, stated: stated, used: used)
      } else {
        nil
      }
    }
  }

  private func tables() -> [Finding] {
    let drift = store.drift
    var found: [Finding] = []
    func add(
      _ kind: FindingKind, _ one: String, _ many: String, _ what: String, _ names: [String]
    ) {
      if !names.isEmpty { found.append(listed(kind, one, many, what, names)) }
    }
    found += missingTables()
    add(
      .columnMissing, "column of the model is", "columns of the model are", "missing",
      drift.missingColumns.map { "\($0.table).\($0.column)" })
    add(
      .columnUnknown, "column", "columns", "that the model does not have",
      drift.unexpectedColumns.map { "\($0.table).\($0.column)" })
    add(
      .columnType, "column is", "columns are", "declared with another type than the model's",
      drift.otherTypes.map { "\($0.table).\($0.column)" })
    for join in drift.joins {
      guard let table = join.found else { continue }
      let names = [table == join.expected ? nil : join.expected] + join.columns
      found.append(
        Finding(
          .joinName,
          "The links of \(join.entity).\(join.relationship) are in the table \(table); Core Data looks for \(names.compactMap { $0 }.joined(separator: ", ")).",
          entity: join.entity, property: join.relationship, count: 1, first: [table], in: place))
    }
    found += drift.columnNames.map {
      Finding(
        .columnName,
        "The column \($0.table).\($0.found) is for \($0.entity).\($0.relationship); Core Data looks for \($0.expected).",
        entity: $0.entity, property: $0.relationship, count: 1, first: ["\($0.table).\($0.found)"],
        in: place)
    }
    return found
  }

  /// Missing tables: those that never held anything, those of entities, those of relationships.
  private func missingTables() -> [Finding] {
    let drift = store.drift
    let isRaw = store.modelSource == .raw
    let joins = drift.joins.filter { $0.found == nil }
    func name(_ table: StoreDrift.Table) -> String { "\(table.table) of \(table.entity)" }
    func name(_ join: StoreDrift.Join) -> String {
      "\(join.expected) of \(join.entity).\(join.relationship)"
    }
    func finding(
      _ names: [String], _ what: String, _ remedy: Remedy, _ advice: Advice
    ) -> Finding? {
      guard let first = names.first else { return nil }
      return Finding(
        .tableMissing,
        (names.count == 1 ? "The table \(first) is missing" : "\(names.count) tables are missing")
          + ": \(what).",
        count: names.count, first: Array(names.prefix(5)), in: place, remedy: remedy,
        advice: advice)
    }
    let used = drift.missingTables.filter { !$0.isUnused }
    let keys = used.compactMap(\.lastKey).reduce(0, +)
    return [
      finding(
        used.map(name),
        keys > 0
          ? "\(NumberText.counted(keys, "key was", plural: "keys were")) given out in it (Z_MAX)"
          : "it is not known whether it had objects",
        isRaw ? .undeleteByModel : .undelete,
        "Its objects are lost unless their rows are still in the file; an undelete searches for them. Core Data does not open the store."
      ),
      finding(
        joins.filter { !$0.isUnused }.map(name), "the links that it held are lost with it",
        .salvage,
        joins.first { !$0.isUnused }.map {
          "Core Data does not open the store. \(DriftAnalysis.advice($0, place.path))"
        } ?? "Core Data does not open the store."),
      finding(
        drift.missingTables.filter(\.isUnused).map(name) + joins.filter(\.isUnused).map(name),
        "it was never used", isRaw ? .repairByModel : .repair,
        "A repair creates the empty table, which Core Data needs to open the store."),
    ].compactMap { $0 }
  }

  private func deferral() -> [Finding] {
    guard let sentence = store.deferral else { return [] }
    let columns = store.deferredColumns
    return [
      Finding(
        .deferredMigration, sentence, count: columns.isEmpty ? nil : columns.count,
        first: columns.prefix(5).map { "\($0.table).\($0.name)" }, in: place)
    ]
  }

  private func listed(
    _ kind: FindingKind, _ one: String, _ many: String, _ what: String, _ names: [String]
  ) -> Finding {
    Finding(
      kind, "\(NumberText.counted(names.count, one, plural: many)) \(what).", count: names.count,
      first: Array(names.prefix(5)), in: place)
  }

  /// The entities that rows of a number could be of; none where the store shows for any of these rows which
  /// it is.
  private func candidates(for rows: StoreDrift.Rows) throws -> [String] {
    let own = store.entityTables.filter {
      $0.table == rows.table && store.model.entity(named: $0.entity)?.isAbstract == false
    }.map(\.entity)
    guard own.count > 1,
      let table = store.entityTables.first(where: { $0.table == rows.table && $0.isWholeTable })
    else { return [] }
    guard Set(["ZENTITY", "ZENTITYPK"]).isSubset(of: store.database.columns(of: "ACHANGE"))
    else { return own }
    let told = try store.reading {
      try store.connection.value(
        """
        SELECT 1 FROM ACHANGE c CROSS JOIN \(quoted(rows.table)) t ON t.Z_PK = c.ZENTITYPK
        WHERE c.ZENTITY IN (\(table.numbers.list)) AND ifnull(t.Z_ENT, 0) = ? LIMIT 1
        """, [.integer(rows.number)])
    }
    return told == nil ? own : []
  }

  private static func advice(among entities: [String]) -> Advice {
    let names = entities.prefix(5).joined(separator: ", ") + (entities.count > 5 ? " …" : "")
    return
      "No fetch finds these objects, and neither do tables and exports. Nothing in the store shows which entity they belong to (\(names)); an older copy of the store may. A repair sets the entity that is named, and keeps a backup."
  }

  private func unknownEntities() throws -> [Finding] {
    let isRaw = store.modelSource == .raw
    return try store.rowsOfUnknownEntities(isExact: true).map { rows in
      let first = try store.reading {
        try store.connection.rows(
          """
          SELECT Z_PK FROM \(quoted(rows.table)) WHERE ifnull(Z_ENT, 0) = ? ORDER BY Z_PK LIMIT 5
          """, [.integer(rows.number)])
      }
      let candidates = isRaw ? [] : try candidates(for: rows)
      return Finding(
        .entityUnknown,
        "\(rows.count) rows of the table \(rows.table) have the entity ID \(rows.number), which belongs to no entity of that table.",
        entity: store.entityTables.first { $0.table == rows.table && $0.isWholeTable }?.entity,
        count: rows.count, first: first.compactMap { $0.first?.integer.map { "p\($0)" } },
        in: place,
        remedy: isRaw ? .repairByModel : candidates.isEmpty ? nil : .repairByEntity,
        advice: candidates.isEmpty ? nil : Self.advice(among: candidates))
    }
  }
}

extension String {
  /// A clause as a sentence of its own.
  fileprivate var asSentence: String {
    guard let first else { return "" }
    return first.uppercased() + dropFirst() + "."
  }
}
