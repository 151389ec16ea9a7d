import ManagedModel
import ManagedStore
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
