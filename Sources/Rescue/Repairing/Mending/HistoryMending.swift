import ManagedModel
import ManagedStore
import SQLite

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
