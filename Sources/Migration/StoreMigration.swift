import ManagedModel
import ManagedStore
import SQLite

/// How a migration is to be run.
public struct MigrationOptions: Sendable, Equatable {
  /// `Entity` or `Entity.property` whose loss is accepted.
  public var allowedLosses: Set<String> = []
  /// Write the result here and leave the store alone.
  public var output: String?
  /// Whether the old store is kept beside the new one.
  public var keepsBackup = true
  /// The backup's name ends in this, such as a date; made unique where it is taken.
  public var backupSuffix = "1"

  /// Makes the options of a migration in place that keeps a backup and allows no loss.
  public init() {}
}

/// Plans and runs migrations.
public enum StoreMigration {
  /// Finds out what migrating a store to a model would do; writes nothing.
  ///
  /// - Parameters:
  ///   - names: what to call the two versions in the plan.
  ///   - source: the version of the app's model that made the store, where it is at hand: an app
  ///     migrates from it, and its renaming identifiers, which no hash shows and the model in the
  ///     store may lack, say what is what. One whose hashes are not the store's is ignored.
  ///   - archive: the destination model's own keyed archive, where it came as one.
  ///   - output: where the result is to go, for the check of free space; `nil`: beside the store.
  ///   - joinNames: `Entity.relationship` of many-to-manys within one entity that are to name their
  ///     join table.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Throws: ``CoreDataError``: 134190 where the mapping cannot be inferred, 134130 where the
  ///   store was opened with a model that did not make it, 134120 when cancelled.
  public static func plan(
    _ store: Store, to destination: Model, names: (from: String, to: String),
    source given: Model? = nil, archive: [UInt8]? = nil, output: String? = nil,
    joinNames: [String] = [], isCancelled: @escaping () -> Bool = { false }
  ) throws -> MigrationPlan {
    try plan(
      store, to: destination, names: names, source: given, archive: archive, output: output,
      through: nil, joinNames: joinNames, isCancelled: isCancelled)
  }

  /// Finds out what steps from version to version would do; writes nothing beside the store.
  ///
  /// - Parameters:
  ///   - steps: one after the other, the first from the store's own model.
  ///   - policies: Swift policies for the classes, or the entity mappings, that the steps name.
  ///   - strategy: how to carry inferred steps out; `nil` takes what costs less.
  ///   - joinNames: `Entity.relationship` of many-to-manys within one entity of the last model that are
  ///     to name their join table.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Throws: ``CoreDataError``: 134170 for a policy that nothing stands in for, 134120 when
  ///   cancelled; what is wrong with an expression.
  public static func plan(
    _ store: Store, steps: [MigrationPlan.Step], archive: [UInt8]? = nil, output: String? = nil,
    policies: PolicyBindings = PolicyBindings(), strategy: MigrationPlan.Strategy? = nil,
    joinNames: [String] = [], isCancelled: @escaping () -> Bool = { false }
  ) throws -> MigrationPlan {
    // A store of one configuration goes to the configuration of that name.
    let part = store.part
    let whole = steps.last?.destination
    var steps = try steps.map(part.step).map { step in
      var step = step
      step.mapping = try step.mapping.elementwise(from: step.source, to: step.destination)
      return step
    }
    if let last = steps.indices.last {
      steps[last].joinNames = try JoinNames(joinNames, in: steps[last].destination).sides
    }
    // What goes into the store is the model as it is, as the one that Core Data was given.
    let archive =
      archive ?? (whole == steps.last?.destination ? nil : whole.map { $0.archived() })
    let size =
      (FileSystem.status(store.path)?.size ?? 0)
      + (FileSystem.status(store.files.walPath)?.size ?? 0)
    var plan = MigrationPlan(
      storePath: store.path, steps: steps, losses: [], checks: [],
      storeBytes: size, bytesNeeded: (size + size / 2) * (steps.count > 1 ? 2 : 1),
      bytesFree: FileSystem.freeSpace(at: FileSystem.parent(of: output ?? store.path) ?? "."),
      notes: [], destinationArchive: archive,
      wholeDestination: part.configuration == nil ? nil : whole, policies: policies)
    let file = FileAnalysis(store: store)
    plan.checks = try file.checks(isCancelled: isCancelled)
    plan.losses = file.losses()
    guard !plan.isNothingToDo else {
      try plan.refuseOtherNames(in: store)
      // A copy of it would be refused as well.
      plan.checks += try DriftAnalysis(store: store).checks()
      plan.notes += plan.steps.flatMap {
        IgnoredIdentifiers.sentences(from: $0.source, to: $0.destination)
      }
      return plan
    }
    do {
      try PlanAnalysis(
        store: store, strategy: strategy,
        meter: ProgressMeter(isCancelled: isCancelled, report: { _ in })
      ).run(&plan)
    } catch {
      throw StepSequence.translated(error, path: store.path)
    }
    return plan
  }

  static func refuseUnknownModel(of store: Store) throws {
    guard store.modelSource != .raw else {
      throw CoreDataError(
        .refused, code: 134130, "the store has no model in it, and none was found beside it",
        path: store.path, hint: "Give the one that made it with --from MODEL.")
    }
    guard store.modelMatches else {
      throw CoreDataError(
        .refused, code: 134130, "the source model is not the one that made the store",
        path: store.path, hint: "Give the right one with --from MODEL.")
    }
  }

  /// Carries a plan out: on a clone, verified, put in place by one rename.
  ///
  /// Synchronous: call it from a task of its own. `progress` is called between batches;
  /// `isCancelled` is asked as often, and within long statements.
  ///
  /// - Parameter confirmCutover: asked when the result is made and verified and before it gets its
  ///   name, with the receipt so far: no backup has been made yet, and no checksum of it is known. It
  ///   may take as long as it likes, and should give up when the run is cancelled; `false` throws the
  ///   result away. Whatever ends the program meanwhile leaves the store as it was, and the next run
  ///   cleans up. A store that changes meanwhile is noticed, and kept.
  /// - Throws: ``CoreDataError``: refused (losses not allowed, data checks), failed, or cancelled.
  ///   The store is as it was then.
  public static func run(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    confirmCutover: @escaping (MigrationReceipt) -> Bool = { _ in true },
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReceipt {
    try MigrationRun(plan: plan, options: options, confirmCutover: confirmCutover)
      .run(isCancelled: isCancelled, progress: progress)
  }

  /// Puts right what a run of a store that was interrupted left, as the next run would: taken back
  /// where its result was not in place yet, else finished.
  ///
  /// Where nothing was left, or a run is under way, nothing is touched.
  ///
  /// - Returns: what was done, as sentences.
  public static func cleanUp(after storePath: String) -> [String] {
    MigrationJournal.cleanUp(after: FileSystem.place(of: storePath))
  }

  /// What an interrupted run of a store left beside it, and what the next one does about that; found
  /// by looking alone.
  public static func leftovers(of storePath: String) -> [String] {
    Leftovers(of: StoreNames(FileSystem.place(of: storePath))).sentences
  }
}
