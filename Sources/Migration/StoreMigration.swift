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
  /// - Throws: ``CoreDataError``: 134190 where the mapping cannot be inferred, 134130 where the
  ///   store was opened with a model that did not make it.
  public static func plan(
    _ store: Store, to destination: Model, names: (from: String, to: String),
    source given: Model? = nil, archive: [UInt8]? = nil, output: String? = nil
  ) throws -> MigrationPlan {
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
    let source =
      given.flatMap { $0.versionHashes == store.metadata.versionHashes ? $0 : nil } ?? store.model
    let mapping: MappingModel
    do {
      mapping = try MappingInference.mapping(from: source, to: destination)
    } catch let error as CoreDataError {
      throw error.at(path: store.path)
    }
    return try plan(
      store,
      steps: [
        MigrationPlan.Step(
          from: names.from, to: names.to, source: source, destination: destination,
          mapping: mapping, rows: [:])
      ], archive: archive, output: output)
  }

  /// Finds out what steps from version to version would do; writes nothing beside the store.
  ///
  /// - Parameters:
  ///   - steps: one after the other, the first from the store's own model.
  ///   - policies: Swift policies for the classes, or the entity mappings, that the steps name.
  ///   - strategy: how to carry inferred steps out; `nil` takes what costs less.
  /// - Throws: ``CoreDataError``: 134170 for a policy that nothing stands in for; what is wrong with
  ///   an expression.
  public static func plan(
    _ store: Store, steps: [MigrationPlan.Step], archive: [UInt8]? = nil, output: String? = nil,
    policies: PolicyBindings = PolicyBindings(), strategy: MigrationPlan.Strategy? = nil
  ) throws -> MigrationPlan {
    let size =
      (FileSystem.status(store.path)?.size ?? 0)
      + (FileSystem.status(store.files.walPath)?.size ?? 0)
    var plan = MigrationPlan(
      storePath: store.path, steps: steps, losses: [], checks: [],
      storeBytes: size, bytesNeeded: (size + size / 2) * (steps.count > 1 ? 2 : 1),
      bytesFree: FileSystem.freeSpace(at: FileSystem.parent(of: output ?? store.path) ?? "."),
      notes: [], destinationArchive: archive, policies: policies)
    guard !plan.isNothingToDo else { return plan }
    do {
      try PlanAnalysis(store: store, strategy: strategy).run(&plan)
    } catch {
      throw StepSequence.translated(error, path: store.path)
    }
    return plan
  }

  /// Remarks on a step: history, CloudKit, missing files, choices that were made.
  static func notes(
    for store: Store, mapping: MappingModel, destination: Model
  ) throws
    -> [String]
  {
    var notes: [String] = []
    if let history = try store.history() {
      notes.append(
        "The store keeps history (\(history.transactions) transactions, \(history.changes) changes): its rows stay and follow the new entity numbers."
      )
    }
    if let cloud = try store.cloudKit() {
      notes.append(
        "The store is mirrored to CloudKit: \(cloud.pendingUploads) rows wait to be uploaded, \(cloud.pendingDeletes) to be deleted. Mirroring must be off while it is migrated."
      )
    }
    let missing = try store.externalData().missing.count
    if missing > 0 {
      notes.append(
        "\(missing) external data files are missing beside the store: those values stay missing.")
    }
    for entityMapping in mapping.entityMappings {
      guard let to = entityMapping.destination, entityMapping.source != nil else { continue }
      for attributeMapping in entityMapping.attributes where attributeMapping.source == nil {
        guard destination.attribute(named: attributeMapping.name, of: to)?.isDerived == true else {
          continue
        }
        notes.append(
          "\(to).\(attributeMapping.name) is derived: Core Data fills it when the objects are saved next."
        )
      }
    }
    for join in StoreSchema(model: destination).joins
    where join.entity == join.inverseEntity && !join.isReflexive
      && StepSchemas.sourceJoin(of: join, store: store, mapping: mapping, to: destination) == nil
    {
      notes.append(
        "The join table of \(join.entity).\(join.relationship) is new and named from that side (\(join.name)); within one entity Core Data may choose the other."
      )
    }
    for index in destination.entities.flatMap(\.fetchIndexes)
    where index.partialPredicate != nil
      || index.elements.contains(where: { $0.kind == .rtree || $0.property == nil })
    {
      notes.append(
        "The index “\(index.name)” is of a kind that is not made yet; Core Data works without it.")
    }
    return notes
  }

  /// Carries a plan out: on a clone, verified, put in place by one rename.
  ///
  /// Synchronous: call it from a task of its own. `progress` is called between batches;
  /// `isCancelled` is asked as often, and within long statements.
  ///
  /// - Throws: ``CoreDataError``: refused (losses not allowed, data checks), failed, or cancelled.
  ///   The store is as it was then.
  public static func run(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReceipt {
    try MigrationRun(plan: plan, options: options).run(isCancelled: isCancelled, progress: progress)
  }
}
