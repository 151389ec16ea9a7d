import Files
/// Stores, models and how they are named are part of what this library says: who imports it has them.
@_exported import Mapping
@_exported import ModelSearch
import ModelWriting
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

  private var question: Question?

  /// Asked when the result is made and verified and before it gets its name, with the receipt so far:
  /// no backup has been made yet, and no checksum of it is known. `nil` asks nobody.
  ///
  /// It may take as long as it likes, and should give up when the run is cancelled; `false` throws
  /// the result away. Whatever ends the program meanwhile leaves the store as it was, and the next
  /// run cleans up. A store that changes meanwhile is noticed, and kept.
  public var confirmation: (@Sendable (MigrationReceipt) -> Bool)? {
    get { question?.ask }
    set { question = newValue.map(Question.init) }
  }

  /// Makes the options of a migration in place that keeps a backup and allows no loss.
  public init() {}

  /// Equal to itself alone, since code cannot be compared.
  private final class Question: Sendable, Equatable {
    let ask: @Sendable (MigrationReceipt) -> Bool

    init(_ ask: @escaping @Sendable (MigrationReceipt) -> Bool) { self.ask = ask }

    static func == (one: Question, other: Question) -> Bool { one === other }
  }
}

/// Plans and runs migrations.
public enum StoreMigration {
  /// Finds out what a migration of a store would do, lose and break; writes nothing beside it.
  ///
  /// - Parameters:
  ///   - isCancelled: asked now and then, also within long SQL statements.
  ///   - outline: called with what is known at once, before every row is looked at; once or several times, or
  ///     never where there is nothing to do.
  /// - Throws: ``CoreDataError``: 134170 for a policy that nothing stands in for, 134120 when
  ///   cancelled; what is wrong with an expression; as ``path(of:_:)`` does.
  public static func plan(
    _ store: Store, _ request: MigrationRequest, isCancelled: @escaping () -> Bool = { false },
    outline: ((PlanOutline) -> Void)? = nil
  ) throws(CoreDataError) -> MigrationPlan {
    do {
      return try Connection.stoppingAll(when: isCancelled) {
        let plan = try planned(store, request, isCancelled, outline)
        // A statement may have been interrupted whose answer can be done without.
        guard !isCancelled() else { throw ProgressMeter.cancelled }
        return plan
      }
    } catch {
      // Whatever fails then may do so for the same reason.
      throw isCancelled()
        ? ProgressMeter.cancelled.at(path: store.path) : CoreDataError(error, at: store.path)
    }
  }

  private static func planned(
    _ store: Store, _ request: MigrationRequest, _ isCancelled: @escaping () -> Bool,
    _ outline: ((PlanOutline) -> Void)?
  ) throws -> MigrationPlan {
    let whole = request.destination.model
    var steps = try path(of: store, request).steps
    for step in steps where step.mapping.kind != .none {
      try EntityNumbering.requireRoom(for: step.destination, path: store.path)
    }
    for (index, step) in steps.enumerated() {
      steps[index].mapping = try step.mapping.elementwise(from: step.source, to: step.destination)
    }
    // What goes into the store is the model as it is, as the one that Core Data was given.
    let archive =
      request.destination.archive ?? (whole == steps.last?.destination ? nil : whole.archived())
    let size = store.files.size
    // A step's result, or the copy that a stage edits, lies beside what it is made of.
    let isTwofold = steps.count > 1 || steps.first?.handlers?.willMigrate != nil
    let place = FileSystem.parent(of: request.output ?? store.path) ?? "."
    var plan = MigrationPlan(
      storePath: store.path, steps: steps, losses: [], checks: [], storeBytes: size,
      bytesNeeded: (size + size / 2) * (isTwofold ? 2 : 1),
      bytesFree: FileSystem.freeSpace(at: place), notes: [], destinationArchive: archive,
      wholeDestination: store.configuration == nil ? nil : whole, policies: request.policies)
    plan.output = request.output
    if !plan.isNothingToDo {
      var replacement = StoreReplacement(.migration, of: store.path)
      replacement.output = request.output
      plan.hindrances = replacement.hindrances()
    }
    if let outline, !plan.isNothingToDo {
      store.stopping(when: isCancelled) { PlanOutline.tell(plan, of: store, to: outline) }
    }
    let file = FileAnalysis(store: store)
    plan.checks = try file.checks(isCancelled: isCancelled)
    plan.losses = file.losses()
    guard !plan.isNothingToDo else {
      // A copy of it would be refused as well.
      plan.checks += try DriftAnalysis(store: store).checks()
      plan.notes += plan.steps.flatMap {
        IgnoredIdentifiers.sentences(from: $0.source, to: $0.destination)
      }
      return plan
    }
    do {
      try PlanAnalysis(
        store: store, strategy: request.strategy,
        meter: ProgressMeter(isCancelled: isCancelled, report: { _ in })
      ).run(&plan)
    } catch {
      throw StepSequence.translated(error, path: store.path)
    }
    return plan
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
    progress: @escaping (MigrationProgress) -> Void = { _ in },
    isCancelled: @escaping () -> Bool = { false }
  ) throws(CoreDataError) -> MigrationReceipt {
    do {
      return try MigrationRun(plan: plan, options: options).run(
        isCancelled: isCancelled, progress: progress)
    } catch {
      throw CoreDataError(error, at: plan.storePath)
    }
  }

  /// The same in a thread of its own; where the task is cancelled, so is the migration.
  ///
  /// ```swift
  /// let (progress, report) = AsyncStream.makeStream(of: MigrationProgress.self)
  /// async let receipt = StoreMigration.run(plan, reporting: report)
  /// for await step in progress { print(step.fraction) }
  /// print(try await receipt.entities)
  /// ```
  ///
  /// - Parameter progress: ends with the run.
  /// - Throws: as ``run(_:options:progress:isCancelled:)`` does.
  public static func run(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    reporting progress: AsyncStream<MigrationProgress>.Continuation
  ) async throws(CoreDataError) -> MigrationReceipt {
    defer { progress.finish() }
    do {
      return try await EarlyResult { isStopped in
        try run(plan, options: options, progress: { progress.yield($0) }, isCancelled: isStopped)
      }.value()
    } catch {
      throw CoreDataError(error, at: plan.storePath)
    }
  }

  /// Puts right what a run of a store that was interrupted left, as the next run would: undone
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

  /// What a migration of the app's own left beside a store, as sentences; found by looking alone, and never
  /// removed.
  public static func leftoversOfApp(besideStore storePath: String) -> [String] {
    StoreNames(FileSystem.place(of: storePath)).appLeftovers
  }

  /// What the next run at a path does about an interrupted one before it begins, as sentences; nothing is
  /// touched. Empty where nothing was interrupted, or another run is at work.
  public static func pendingRecovery(at path: String) -> [String] {
    Leftovers(of: StoreNames(FileSystem.place(of: path))).announcements
  }
}
