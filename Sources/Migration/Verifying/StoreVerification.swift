import ManagedModel
import ManagedStore
import SQLite

/// Compares two stores of which one is said to have become the other.
public enum StoreVerification {
  /// What a comparison leaves out when it is asked to.
  public enum Ignored: String, Sendable, CaseIterable {
    /// What Core Data writes by itself whenever an app saves or opens the store: history, the last keys
    /// given out, metadata and CloudKit's tables. An app that goes on with a store changes them all.
    case bookkeeping
  }

  /// Compares values, links, order and external data by content; neither store is changed.
  ///
  /// - Parameters:
  ///   - before: the store as it was.
  ///   - after: the store as it is, opened with the destination model.
  ///   - mapping: what should have become of what; of kind none where both are of one version, and
  ///     everything should be as it was. Computed values are computed again; of a default
  ///     that is evaluated once any value is right that all rows share; what policies did is not known
  ///     here.
  ///   - ignored: what is not compared.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Returns: what was compared, and every difference with its first objects. Where the file of `after`
  ///   is damaged that is one of them, and what is read of it is not to be relied on.
  /// - Throws: ``CoreDataError`` where a store cannot be read or lacks tables of its model (134020),
  ///   where a value cannot be computed here, as by a policy (134170), or when cancelled (134120).
  public static func compare(
    before: Store, after: Store, mapping: MappingModel, ignoring ignored: Set<Ignored> = [],
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> VerificationReport {
    try withVerification(before, after, mapping, ignored, isCancelled) { verification in
      var report = try verification.run()
      // What was read then is a sound copy of what can be read.
      if after.isMended, let damage = after.damage { report.tell(integrity: damage.told) }
      report.notes += before.faults.map { "The first store: \($0)" }
      return report
    }
  }

  /// What differs beside the objects: tables, indexes and triggers, UUID, model cache, Z_PRIMARYKEY, metadata,
  /// history, CloudKit's tables and those of the app.
  ///
  /// - Parameters: as those of ``compare(before:after:mapping:ignoring:isCancelled:)``.
  /// - Throws: as that does.
  package static func bookkeeping(
    before: Store, after: Store, mapping: MappingModel, isCancelled: @escaping () -> Bool
  ) throws -> [VerificationReport.Difference] {
    try withVerification(before, after, mapping, [], isCancelled) {
      try $0.runBookkeeping().differences
    }
  }

  private static func withVerification<Result>(
    _ before: Store, _ after: Store, _ mapping: MappingModel, _ ignored: Set<Ignored>,
    _ isCancelled: @escaping () -> Bool, _ run: (Verification) throws -> Result
  ) throws -> Result {
    guard after.drift.missingTables.isEmpty, after.drift.missingColumns.isEmpty else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreIncompatibleSchema,
        after.drift.sentences.first ?? "its tables do not fit its model", path: after.path)
    }
    // Of one version: every entity as it is.
    let mapping =
      mapping.kind == .none
      ? try Inference(source: before.model, destination: after.model, given: []).mapping()
      : try mapping.elementwise(from: before.model, to: after.model).takingDefaults(of: after)
    let connection = after.connection
    let external = ExternalFolder(after.files)
    do {
      try connection.defineFunction("strata_result", arguments: 1) { arguments in
        try RecipeFunctions.digest(arguments.first ?? .null, external)
      }
      try connection.attachSource(before)
      // What it read before is read through the other connection from here on.
      try before.connection.execute("PRAGMA shrink_memory")
      defer { try? connection.execute("DETACH DATABASE src") }
      connection.onProgress(isCancelled)
      defer { connection.onProgress(nil) }
      var schemas = StepSchemas(store: before, mapping: mapping, result: after)
      let contents: MigratedContents
      if mapping.kind == .inferred {
        contents = MigratedContents(schemas)
      } else {
        let mapped = try MappingLayout(schemas, connection: connection)
        schemas.renumbered = mapped.renumbered
        contents = MigratedContents(mapped)
      }
      let step = MigrationStep(
        from: "", to: "", source: before.model, destination: after.model, mapping: mapping,
        rows: try StepSequence.rows(of: mapping, in: before))
      let verification = Verification(
        step: step, schemas: schemas, contents: contents, connection: connection,
        meter: ProgressMeter(isCancelled: isCancelled, report: { _ in }), filePath: after.wholeFile,
        sourcePath: before.wholeFile, isForeign: true,
        comparesBookkeeping: !ignored.contains(.bookkeeping))
      return try run(verification)
    } catch {
      throw StepSequence.translated(error, path: after.path)
    }
  }
}
