import ManagedModel
import ManagedStore
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
