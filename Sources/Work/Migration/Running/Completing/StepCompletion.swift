import ManagedModel
import ManagedStore
import Mapping
import ModelWriting
import SQLite

/// What a step takes besides rows and links: indexes, derived values, triggers, views, bookkeeping.
///
/// Migrations in place and into a new file are given one, and end with it. The result is `main` on
/// the connection, the source is attached as `src`.
struct StepCompletion {
  let step: MigrationStep
  let schemas: StepSchemas
  let connection: Connection
  let meter: ProgressMeter
  /// The destination model's own archive, where it came as one.
  let archive: [UInt8]?
  /// How rows of history follow; `nil` where the store keeps none.
  let history: HistoryFollowing?

  /// Whether a Swift policy takes part.
  var isByPolicies = false

  init(
    step: MigrationStep, schemas: StepSchemas, connection: Connection, meter: ProgressMeter,
    archive: [UInt8]?
  ) {
    self.step = step
    self.schemas = schemas
    self.connection = connection
    self.meter = meter
    self.archive = archive
    history = HistoryFollowing(schemas)
  }

  var source: Store { schemas.store }
  var destination: StoreSchema { schemas.destination }

  /// Completes a result whose rows and links are in it.
  ///
  /// - Parameter copyOthers: copies what no model speaks of, before views are made over it.
  func run(copyingOthers copyOthers: () throws -> Void = {}) throws {
    try makeIndexes()
    try fillDerivedAttributes()
    try makeTrees()
    try makeTriggers()
    try copyOthers()
    try makeViews()
    try updateBookkeeping()
  }
}

extension EntityMapping {
  /// What its progress is called.
  var title: String { destination ?? source ?? name }
}

extension StepCompletion {
  /// Metadata, model cache, primary keys, and the entity numbers that history and CloudKit use.
  func updateBookkeeping() throws {
    try updatePrimaryKeys()
    try followHistory()
    try updateEntityNumbers()
    try noteFormerVersion()
    let metadata = source.metadata.updated(
      for: step.destination, needsZoneFetch: schemas.needsZoneFetch)
    try connection.run(
      "UPDATE main.Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
    // Stores of before 2015 have none; one that is rebuilt has it already.
    try connection.execute("CREATE TABLE IF NOT EXISTS main.Z_MODELCACHE (Z_CONTENT BLOB)")
    try connection.execute("DELETE FROM main.Z_MODELCACHE")
    try connection.run(
      "INSERT INTO main.Z_MODELCACHE (Z_CONTENT) VALUES (?)",
      [.blob(try ModelCache.deflate(archive ?? step.destination.archived()))])
  }

  private func updatePrimaryKeys() throws {
    try connection.execute(
      "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved)")
    for row in try schemas.primaryKeys(on: connection) {
      try connection.run(
        "INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)", row)
    }
  }

  /// History and CloudKit rows refer to objects by entity number: they follow the new ones. Those
  /// of entities that are gone would reference others, so they go too.
  private func updateEntityNumbers() throws {
    let renumbering = schemas.renumbering
    let cases = renumbering.map { "WHEN \($0.old) THEN -\($0.new)" }.joined(separator: " ")
    let removed = schemas.removedNumbers
    guard !schemas.keepsNumbers else { return try forgetMirroredLinks() }
    let history = source.database.columns(of: "ACHANGE").contains("ZENTITY")
    let tables =
      (history ? [(name: "ACHANGE", column: "ZENTITY")] : [])
      + schemas.numberedMirrorTables.map { ($0, "ZENTITYID") }
    for (table, column) in tables {
      if !removed.isEmpty {
        try connection.execute(
          "DELETE FROM main.\(quoted(table)) WHERE \(column) IN (\(removed.list))")
      }
      if !cases.isEmpty {
        // By way of negative numbers: a unique index over the column is checked row by row, while
        // one entity's old number still is another's new one.
        try connection.execute(
          """
          UPDATE main.\(quoted(table)) SET \(column) = CASE \(column) \(cases) END
          WHERE \(column) IN (\(renumbering.map { String($0.old) }.joined(separator: ", ")));
          UPDATE main.\(quoted(table)) SET \(column) = -\(column) WHERE \(column) < 0;
          """)
      }
    }
    try forgetMirroredLinks()
  }

  /// CloudKit keeps links of many-to-manys by name: those of relationships that are gone would be
  /// sent on.
  private func forgetMirroredLinks() throws {
    let table = "main.ANSCKMIRROREDRELATIONSHIP"
    for link in schemas.mirroredLinks {
      let key: [Value] = [.text(link.entity), .text(link.relationship)]
      if let now = link.now {
        try connection.run(
          """
          UPDATE \(table) SET ZCDENTITYNAME = ?3, ZRELATIONSHIPNAME = ?4
          WHERE ZCDENTITYNAME = ?1 AND ZRELATIONSHIPNAME = ?2
          """, key + [.text(now.entity), .text(now.relationship)])
      } else {
        try connection.run(
          "DELETE FROM \(table) WHERE ZCDENTITYNAME = ?1 AND ZRELATIONSHIPNAME = ?2", key)
      }
    }
  }
}

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
    _ = try HistoryWriter(source, connection: connection)?.addTransaction(
      author: step.historyAuthor(leaving: source, isByPolicies: isByPolicies).text)
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

/// The value of a derived attribute that a migration computes for rows that are there already.
struct DerivedFilling: Equatable {
  let column: String
  /// SQL over the destination's tables.
  let sql: String
  /// Whether computing it twice must give the same: sums of real numbers depend on their order.
  let isExact: Bool
}

extension StepSchemas {
  /// What a derived attribute that is new, or is computed otherwise than before, holds in the rows
  /// of a mapping, over the destination's row; `nil` for all other columns, and for `now()`: no
  /// object was saved, so that a migration has no moment to state.
  func derivedFilling(
    for column: StoreSchema.Column, in entityMapping: EntityMapping, row: String = "s"
  ) -> DerivedFilling? {
    guard case .attribute(let declarer, let name) = column.content, let from = entityMapping.source,
      let to = entityMapping.destination, destinationModel.isKind(to, of: declarer),
      let attribute = destinationModel.attribute(named: name, of: to), attribute.isDerived,
      let attributeMapping = entityMapping.attribute(named: name),
      attributeMapping.expression == nil
    else { return nil }
    let former = attributeMapping.source.flatMap { sourceModel.attribute(named: $0, of: from) }
    guard former?.derivation != attribute.derivation,
      let value = destination.derivedExpression(for: attribute, of: to, row: row, schema: "main.")
    else { return nil }
    return DerivedFilling(column: column.name, sql: value.sql, isExact: value.isExact)
  }
}

extension StepCompletion {
  /// Computes derived attributes that are new, as the store's triggers would have kept them up.
  ///
  /// Rows, links and indexes are in place by now, and the numbers are the destination's.
  func fillDerivedAttributes() throws {
    for table in destination.tables {
      for entityMapping in schemas.mappings(into: table) {
        let fillings = table.columns.compactMap {
          schemas.derivedFilling(for: $0, in: entityMapping)
        }
        guard !fillings.isEmpty, let to = entityMapping.destination,
          let number = destination.numbers[to]
        else { continue }
        let assignments = fillings.map { "\(quoted($0.column)) = \($0.sql)" }
        let name = "main." + quoted(table.name)
        try KeyRanges(connection: connection, table: name).forEach { low, high in
          try meter.checkCancelled()
          try connection.run(
            """
            UPDATE \(name) AS s SET \(assignments.joined(separator: ", "))
            WHERE s.Z_PK BETWEEN ? AND ? AND s.Z_ENT = ?
            """, [.integer(low), .integer(high), .integer(number)])
        }
      }
    }
  }
}
