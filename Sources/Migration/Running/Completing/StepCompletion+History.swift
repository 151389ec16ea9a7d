import Files
import ManagedModel
import ManagedStore
import SQLite

/// Persistent history after a step (migration-2 §5).
extension StepCompletion {
  /// Brings bitmaps and tombstones to the destination's order; rows have the source's entity IDs still.
  func followHistory() throws {
    guard let history else { return }
    for column in history.addedColumns {
      // Core Data adds none later: its next save that deletes an object would fail.
      try connection.execute("ALTER TABLE main.ACHANGE ADD COLUMN \(column) BLOB")
    }
    let bits = history.followers.filter { !$0.keepsBits }.map(\.number)
    if !bits.isEmpty, source.database.columns(of: "ACHANGE").contains("ZCOLUMNS") {
      try connection.execute(
        """
        UPDATE main.ACHANGE SET ZCOLUMNS = \(HistoryFollowing.function)(ZENTITY, ZCOLUMNS)
        WHERE ZCHANGETYPE = \(HistoryChange.Kind.update.rawValue) AND typeof(ZCOLUMNS) = 'blob'
        AND ZENTITY IN (\(bits.list))
        """)
    }
    let moved = history.followers.filter { !$0.keepsTombstones }.map(\.number)
    let sets = (0..<history.tombstoneCount).compactMap { place in
      history.tombstone(place, in: "ACHANGE").map { "\(Tombstones.column(place)) = \($0)" }
    }
    guard !moved.isEmpty, !sets.isEmpty else { return }
    try connection.execute(
      """
      UPDATE main.ACHANGE SET \(sets.joined(separator: ", "))
      WHERE ZCHANGETYPE = \(HistoryChange.Kind.delete.rawValue) AND ZENTITY IN (\(moved.list))
      """)
  }

  /// Adds the empty transaction that says which model the store had, as Core Data's own migrator leaves it.
  func noteFormerVersion() throws {
    guard history != nil else { return }
    let numbers = try ["TRANSACTION", "TRANSACTIONSTRING"].map(reservedNumber)
    let columns = source.database.columns(of: "ATRANSACTION")
    var values: [(column: String, value: Value)] = [
      ("Z_PK", .integer(try nextKey(of: "ATRANSACTION", number: numbers[0]))),
      ("Z_ENT", .integer(numbers[0])), ("ZTIMESTAMP", .real(CoreDataDate.now)),
    ]
    // The newer form keeps each text once; the columns for the text itself are NULL then.
    for (name, text) in [
      ("AUTHOR", step.historyAuthor(leaving: source, isByPolicies: isByPolicies).text),
      ("BUNDLEID", Self.process),
      ("PROCESSID", Self.process),
    ] {
      if columns.contains("Z\(name)TS"), source.database.contains("ATRANSACTIONSTRING") {
        values.append(("Z\(name)TS", .integer(try key(of: text, number: numbers[1]))))
      } else {
        values.append(("Z\(name)", .text(text)))
      }
    }
    values.removeAll { !columns.contains($0.column) }
    try connection.run(
      """
      INSERT INTO main.ATRANSACTION (\(values.map(\.column).joined(separator: ", ")))
      VALUES (\(values.map { _ in "?" }.joined(separator: ", ")))
      """, values.map(\.value))
  }

  /// What the transaction names as the process and its bundle.
  private static let process = "strata"

  /// The number of an entity of history's own: 16002 and 16003, as all stores have them that list these.
  private func reservedNumber(_ entity: String) throws -> Int64 {
    let listed = try connection.value(
      "SELECT Z_ENT FROM main.Z_PRIMARYKEY WHERE Z_NAME = ? AND Z_ENT >= ?",
      [.text(entity), .integer(EntityNumbering.firstReserved)])
    return listed?.integer ?? (entity == "TRANSACTION" ? 16002 : 16003)
  }

  /// A key that no row of the table ever had, which is noted in Z_PRIMARYKEY where the entity is listed.
  private func nextKey(of table: String, number: Int64) throws -> Int64 {
    let keys = PrimaryKeys(connection)
    let key = try PrimaryKeys.next(after: keys.last(number, in: table), of: table)
    try keys.raise(number, to: key)
    return key
  }

  /// The key of a text, which is added where no transaction has it yet.
  private func key(of text: String, number: Int64) throws -> Int64 {
    let table = "ATRANSACTIONSTRING"
    let known = try connection.value(
      "SELECT Z_PK FROM main.\(table) WHERE ZNAME = ?", [.text(text)])
    if let key = known?.integer { return key }
    let key = try nextKey(of: table, number: number)
    try connection.run(
      "INSERT INTO main.\(table) (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
      [.integer(key), .integer(number), .text(text)])
    return key
  }
}

extension MigrationStep {
  /// Who the transaction is of that says which model a store had before the step.
  ///
  /// - Parameter isByPolicies: whether a Swift policy takes part, which no lightweight migration has.
  func historyAuthor(leaving store: Store, isByPolicies: Bool) -> MigratorAuthor {
    MigratorAuthor(
      mapping.kind == .inferred && !isByPolicies ? .lightweight : .mapping,
      digest: store.metadata.digest ?? store.wholeModel.versionHashesDigest, stage: stage)
  }
}
