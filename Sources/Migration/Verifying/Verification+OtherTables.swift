import ManagedStore
import SQLite

extension Verification {
  /// Tables of CloudKit and of the app, whose text is as it was, hold what they held.
  ///
  /// What follows the numbers of entities, or the names of relationships, is left out where these change.
  func verifyOtherTables(_ known: KnownRows?, _ report: inout VerificationReport) throws {
    let (former, database) = (schemas.store.schema, schemas.store.database)
    let planned = Set(
      [former, destination].flatMap { schema in
        schema.tables.map(\.name) + schema.joins.map(\.name) + schema.rtreeIndexes.map(\.name)
      } + StoreSchema.bookkeepingStatements.map(\.name))
    let names = try connection.rows(
      """
      SELECT m.name FROM main.sqlite_master m JOIN src.sqlite_master s
      ON s.type = 'table' AND s.name = m.name AND s.sql = m.sql
      WHERE m.type = 'table' AND m.rootpage > 0 ORDER BY m.name
      """
    ).compactMap { $0.first?.text }.filter { name in
      !planned.contains(name) && !name.hasPrefix("sqlite_") && !follows(name)
        && !database.virtual.contains { name.hasPrefix($0 + "_") }
    }
    for name in names where known?.isSame(name) != true {
      try meter.checkCancelled()
      let (before, after) = ("src.\(quoted(name))", "main.\(quoted(name))")
      let lost = try count("(SELECT * FROM \(before) EXCEPT SELECT * FROM \(after))")
      let difference = try abs(count(after) - count(before))
      guard lost > 0 || difference > 0 else { continue }
      report.fail(
        name.hasPrefix("ANSCK") ? .cloudKit : .otherTables, entity: nil,
        message: "\(max(lost, difference)) rows of the table \(name) are not as they were",
        count: max(lost, difference))
    }
    if !names.isEmpty {
      report.verified.append(
        .init(what: "tables that no model asks for, row by row", count: names.count))
    }
  }

  private func follows(_ table: String) -> Bool {
    table == "ANSCKMIRROREDRELATIONSHIP" || Self.historyTables.contains(table)
      || (!schemas.keepsNumbers || !comparesBookkeeping) && table.hasPrefix("ANSCK")
  }
}
