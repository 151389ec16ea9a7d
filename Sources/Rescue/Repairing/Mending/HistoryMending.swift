import ManagedModel
import ManagedStore
import SQLite

/// Rows of persistent history that lead to others which are gone, and columns that it lacks.
struct HistoryMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    if work.kinds.contains(.historyColumns) { try addColumns() }
    guard work.kinds.contains(.history) else { return }
    if source.database.columns(of: "ACHANGE").contains("ZENTITY"),
      source.database.contains("Z_PRIMARYKEY"), source.modelSource != .raw
    {
      let known = source.schema.numbers.values.sorted()
      try remove(
        "t.ZENTITY NOT IN (SELECT Z_ENT FROM main.Z_PRIMARYKEY) AND t.ZENTITY NOT IN (\(known.list))",
        naming: "ZENTITY")
    }
    if has("ACHANGE", "ZTRANSACTIONID", "ATRANSACTION") {
      try remove(dangling("ZTRANSACTIONID", "ATRANSACTION"), naming: "ZTRANSACTIONID")
    }
    for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
    where has("ATRANSACTION", column, "ATRANSACTIONSTRING") {
      let rows = dangling(column, "ATRANSACTIONSTRING")
      try work.note(
        .history, entity: "'ATRANSACTION'", key: "t.Z_PK", property: column.literal,
        old: "t.\(quoted(column))", "FROM main.ATRANSACTION t WHERE \(rows)")
      try work.connection.execute(
        "UPDATE main.ATRANSACTION AS t SET \(quoted(column)) = NULL WHERE \(rows)")
    }
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

  private func has(_ table: String, _ column: String, _ other: String) -> Bool {
    let (own, others) = (source.database.columns(of: table), source.database.columns(of: other))
    return own.contains(column) && own.contains("Z_PK") && others.contains("Z_PK")
  }

  private func dangling(_ column: String, _ other: String) -> String {
    """
    t.\(quoted(column)) IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM main.\(quoted(other)) o WHERE o.Z_PK = t.\(quoted(column)))
    """
  }

  /// Takes changes out that nobody can follow.
  private func remove(_ rows: String, naming column: String) throws {
    try work.note(
      .history, entity: "'ACHANGE'", key: "t.Z_PK", property: column.literal,
      old: "t.\(quoted(column))", "FROM main.ACHANGE t WHERE \(rows)")
    try work.connection.execute("DELETE FROM main.ACHANGE AS t WHERE \(rows)")
  }
}
