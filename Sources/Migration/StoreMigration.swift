import ManagedModel
import ManagedStore

/// How a migration is to be run.
public struct MigrationOptions: Sendable, Equatable {
  /// `Entity` or `Entity.property` whose loss is accepted.
  public var allowedLosses: Set<String> = []
  /// Write the result here and leave the store alone.
  public var output: String?
  public var keepsBackup = true

  public init() {}
}

/// Runs migrations.
public enum StoreMigration {
  /// Finds out what migrating a store to a model would do; writes nothing.
  ///
  /// - Parameters:
  ///   - names: what to call the two versions in the plan.
  /// - Throws: ``CoreDataError``: 134190 where the mapping cannot be inferred.
  public static func plan(
    _ store: Store, to destination: Model, names: (from: String, to: String),
    archive: [UInt8]? = nil, output: String? = nil
  ) throws -> MigrationPlan {
    throw CoreDataError(.failed, "planning is being built")
  }

  /// Carries a plan out: on a clone, verified, put in place by one rename.
  ///
  /// Synchronous: call it from a task of its own. `progress` is called between batches and on
  /// long statements; `isCancelled` is asked as often.
  ///
  /// - Throws: ``CoreDataError``: refused (losses not allowed, data checks), failed, or cancelled.
  ///   The store is as it was then.
  public static func run(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReceipt {
    throw CoreDataError(.failed, "running is being built")
  }
}
