import ManagedModel
import ManagedStore

/// A version that a stage names: NSManagedObjectModelReference.
public struct StagedVersion: Sendable, Equatable {
  /// What the version is called in plans and errors.
  public let name: String
  /// Version checksum of its model.
  public let checksum: String
  /// The model, where the stage brought it; a checksum is looked up in the versions of the app.
  let model: Model?

  /// A version by its model.
  public static func model(_ model: Model, name: String) -> StagedVersion {
    StagedVersion(name: name, checksum: model.versionChecksum, model: model)
  }

  /// A version by its checksum, as `strata hash` and SwiftData's logs write it.
  ///
  /// The model is looked for among those that ``StagedMigration/init(stages:versions:)`` is given.
  public static func checksum(_ checksum: String) -> StagedVersion {
    StagedVersion(name: checksum, checksum: checksum, model: nil)
  }
}

/// One stage of a staged migration: NSMigrationStage.
public struct MigrationStage: Sendable {
  /// Reads and edits the objects of the temporary store; what it throws ends the migration.
  public typealias Handler = @Sendable (StageContext) throws -> Void

  enum Kind: Sendable {
    case lightweight([StagedVersion])
    case custom(from: StagedVersion, to: StagedVersion, StageHandlers)
  }

  let kind: Kind
  /// What the stage is called in errors and in persistent history; `nil` names it by its versions.
  public var label: String?

  /// Versions that follow one another, each step inferred.
  ///
  /// The first stage names the version it begins at as well: a store of a version that no stage names
  /// is refused with 134504.
  public static func lightweight(to versions: [StagedVersion]) -> MigrationStage {
    MigrationStage(kind: .lightweight(versions))
  }

  /// An inferred step between two versions with code before and after it.
  ///
  /// - Parameters:
  ///   - willMigrate: gets the objects as the version before has them; what it leaves is what the step
  ///     starts from, and is checked against the next version's rules only then.
  ///   - didMigrate: gets the objects as the next version has them.
  public static func custom(
    from: StagedVersion, to: StagedVersion, willMigrate: Handler? = nil, didMigrate: Handler? = nil
  ) -> MigrationStage {
    MigrationStage(
      kind: .custom(
        from: from, to: to, StageHandlers(willMigrate: willMigrate, didMigrate: didMigrate)))
  }
}

/// The code of a custom stage; equal to itself alone, since code cannot be compared.
final class StageHandlers: Sendable, Equatable {
  let willMigrate: MigrationStage.Handler?
  let didMigrate: MigrationStage.Handler?

  init(willMigrate: MigrationStage.Handler?, didMigrate: MigrationStage.Handler?) {
    self.willMigrate = willMigrate
    self.didMigrate = didMigrate
  }

  static func == (one: StageHandlers, other: StageHandlers) -> Bool { one === other }
}
