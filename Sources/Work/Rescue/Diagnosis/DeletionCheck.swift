import ManagedModel
import ManagedStore
import SQLite
import Salvage

/// What shows that objects were deleted: keys that were given out and are in no row, pages that are free and
/// hold rows, changes in history. Nothing is wrong with a store that has them.
struct DeletionCheck {
  let place: StorePlace
  let store: Store

  private static let mostNamed = 3

  func findings() throws -> [Finding] {
    // What cannot be read is not deleted, and what half of a save took away is not yet.
    guard store.damage?.concernsFile != true,
      !store.strays.contains(where: { $0.kind == .journal && store.isNeeded($0) })
    else { return [] }
    let keys = try unusedKeys()
    guard store.damage?.concernsFile != true else { return [] }
    let unused = keys.reduce(0) { $0 + $1.count }
    let (pages, changes) = (try freePages(), try deletions())
    var sentences: [String] = []
    if unused > 0 {
      let named = keys.prefix(Self.mostNamed).map { "\($0.entity) \($0.count)" }
        .joined(separator: ", ")
      sentences.append(
        "\(NumberText.counted(unused, "key that was given out is", plural: "keys that were given out are")) no longer in use (\(named)\(keys.count > Self.mostNamed ? " …" : "")): deleted, never saved, or lost if the store was salvaged."
      )
    }
    if changes > 0 {
      sentences.append("History lists \(NumberText.counted(changes, "deletion")).")
    }
    if pages > 0 {
      sentences.append(
        "\(NumberText.counted(pages, "free page holds", plural: "free pages hold")) rows that were deleted or moved."
      )
    }
    guard !sentences.isEmpty else { return [] }
    var finding = Finding(
      .deletions, sentences.joined(separator: " "), entity: keys.first?.entity,
      count: unused > 0 ? unused : nil, in: place,
      remedy: store.modelSource == .raw ? .undeleteByModel : nil)
    for key in keys { finding.keys[key.entity] = key.count }
    return [finding]
  }

  /// Of each hierarchy how many keys up to the last one are in no row, the most first.
  private func unusedKeys() throws -> [(entity: String, count: Int)] {
    guard store.database.contains("Z_PRIMARYKEY") else { return [] }
    let tables = Dictionary(
      store.entityTables.filter(\.isWholeTable).map { ($0.entity, $0.table) }
    ) { first, _ in first }
    return try store.entityNumbers().compactMap { number in
      guard number.parent == 0, let entity = number.entity, let table = tables[entity],
        store.database.contains(table)
      else { return nil }
      let last = max(number.maximum, number.greatestKey ?? 0)
      guard last > 0 else { return nil }
      let count = try store.reading {
        try store.connection.value("SELECT count(*) FROM \(quoted(table)) NOT INDEXED")?.integer
      }
      let unused = last - (count ?? last)
      return unused > 0 ? (entity, Int(unused)) : nil
    }.sorted { ($1.count, $0.entity) < ($0.count, $1.entity) }
  }

  /// How many pages are free and look like pages of a table's rows.
  private func freePages() throws -> Int {
    let count = try store.reading { try store.connection.value("PRAGMA freelist_count")?.integer }
    guard count ?? 0 > 0 else { return 0 }
    let image = try DatabaseImage(
      path: store.files.path, log: store.files.walPath, journal: store.files.journalPath)
    return try image.freePagesOfRows()
  }

  /// How many deletions history still has.
  private func deletions() throws -> Int {
    guard store.database.columns(of: "ACHANGE").contains("ZCHANGETYPE") else { return 0 }
    return try store.reading {
      Int(
        try store.connection.value("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2")?.integer
          ?? 0)
    }
  }
}

/// Persistent history whose rows reference others that are gone.
struct HistoryCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try HistoryTable.keys(in: store.database).compactMap(dangling)
      + [unknownEntities(), missingColumns].compactMap { $0 }
  }

  private func dangling(_ key: KeyColumn) throws -> Finding? {
    let rows = "\(key.rows) WHERE \(key.isDangling)"
    let (count, first) = try store.counted(
      "SELECT count(*) \(rows)", "SELECT t.Z_PK \(rows) ORDER BY 1 LIMIT 5")
    guard count > 0 else { return nil }
    let what =
      key.table == HistoryTable.change.name
      ? "changes belong to no transaction" : "transactions reference a missing name (\(key.column))"
    return Finding(
      .history, "\(count) \(what).", entity: key.table, count: Int(count),
      first: first.compactMap { $0.first?.integer.map { "\(key.table)/p\($0)" } }, in: place)
  }

  /// That the table of changes has fewer columns for values of deleted objects than the model needs, as versions
  /// of strata left it that did not add them.
  private var missingColumns: Finding? {
    let missing = store.missingTombstones
    guard let first = missing.first else { return nil }
    return Finding(
      .historyColumns,
      "ACHANGE has no column \(first)\(missing.count > 1 ? " to \(missing.last ?? first)" : ""), which the model needs for values of deleted objects: every save that writes history fails.",
      entity: "ACHANGE", count: missing.count, first: Array(missing.prefix(5)), in: place)
  }

  /// Changes of entities that have no number here.
  private func unknownEntities() throws -> Finding? {
    guard let (key, condition) = store.unknownEntity() else { return nil }
    let rows = "\(key.rows) WHERE \(condition)"
    let (count, first) = try store.counted(
      "SELECT count(*) \(rows)", "SELECT DISTINCT \(key.value) \(rows) ORDER BY 1 LIMIT 5")
    guard count > 0 else { return nil }
    return Finding(
      .history, "\(count) changes have entity IDs that the store does not have.",
      entity: key.table, count: Int(count),
      first: first.compactMap { $0.first?.integer.map { "entity \($0)" } }, in: place,
      // A repair asks a model, too.
      remedy: store.modelSource == .raw ? .repairByModel : nil)
  }
}

extension Store {
  /// Columns that history's table of changes needs for values of deleted objects, and does not have.
  var missingTombstones: [String] {
    guard hasHistory, modelMatches else { return [] }
    let there = Tombstones.count(in: database.columns(of: "ACHANGE"))
    return (there..<max(there, Tombstones.count(for: model))).map(Tombstones.column)
  }
}

/// Triggers that call a function or name a table or column that is not there: whatever writes to
/// their table fails.
///
/// SQLite compiles the triggers of a table with each statement that sets them off; nothing is run.
struct TriggerCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    let tables = Set(store.database.triggers.values).sorted()
    return try tables.flatMap { table -> [Finding] in
      // A view has triggers of its own, which only those know who made it.
      guard let columns = store.database.tables[table], !columns.isEmpty else { return [] }
      return try findings(of: table, columns.map { quoted($0.name) })
    }
  }

  /// Statements that set off every trigger of a table.
  static func statements(for table: String, _ columns: [String]) -> [String] {
    let name = quoted(table)
    return [
      "EXPLAIN INSERT INTO \(name) DEFAULT VALUES",
      "EXPLAIN UPDATE \(name) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))",
      "EXPLAIN DELETE FROM \(name)",
    ]
  }

  private func findings(of table: String, _ columns: [String]) throws -> [Finding] {
    let statements = Self.statements(for: table, columns)
    // They are compiled as for a program that writes, and not run.
    store.connection.trustSchema(true)
    defer { store.connection.trustSchema(false) }
    var told: [String] = []
    for statement in statements {
      guard
        let reason = try store.translating({ try Self.reason(of: statement, on: store.connection) }
        ),
        !told.contains(reason)
      else { continue }
      told.append(reason)
    }
    return told.map { reason in
      let missing = reason.split(separator: " ").last.map(String.init) ?? ""
      let bare = missing.split(separator: ".").last.map(String.init) ?? missing
      let names = store.database.triggers.filter { $0.value == table }.keys.sorted()
      let own = names.filter { store.database.sql[$0]?.contains(bare) == true }
      let entity = store.entityTables.first { $0.table == table && $0.isWholeTable }?.entity
      return Finding(
        .triggers, "Writing to the table \(table) fails in a trigger: \(reason).",
        entity: entity ?? table, count: own.isEmpty ? 1 : own.count,
        first: Array((own.isEmpty ? names : own).prefix(5)), in: place)
    }
  }

  /// Why a statement cannot be compiled; `nil` where it can.
  static func reason(of statement: String, on connection: Connection) throws -> String? {
    // Each round gives SQLite one function that Core Data brings.
    for _ in 0..<20 {
      do {
        _ = try connection.prepare(statement)
        return nil
      } catch let error as SQLiteError where error.message.hasPrefix("no such ") {
        let name = error.message.split(separator: " ").last.map(String.init) ?? ""
        guard error.message.hasPrefix("no such function: NSCoreData") else {
          return error.message.hasPrefix("no such module") ? nil : error.message
        }
        try connection.defineNullFunction(name)
      } catch is SQLiteError {
        // A store that may not be written, or a table that takes no such statement: no trigger's fault.
        return nil
      }
    }
    return nil
  }
}
