import ManagedModel
import ManagedStore
import SQLite

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
