import ManagedModel
import ManagedStore

/// What a policy asks while it carries a mapping out: Core Data's NSMigrationManager.
///
/// It lives as long as the migration, and belongs to the thread that runs it.
public final class MigrationManager {
  /// The mapping model that is being carried out.
  public let mappingModel: MappingModel
  /// The model of the store that is migrated.
  public let sourceModel: Model
  /// The model of the store that is made.
  public let destinationModel: Model
  /// The entity mapping at work; `nil` before the first and after the last.
  public internal(set) var currentEntityMapping: EntityMapping?
  /// Whatever policies want to hand on to one another; begins with the mapping model's user info,
  /// whose values are ``PropertyListValue``.
  public var userInfo: [String: Any]
  private(set) var cancellation: (any Error)?
  unowned let run: PolicyRun

  init(run: PolicyRun) {
    self.run = run
    mappingModel = run.mapped.mapping
    sourceModel = run.store.model
    destinationModel = run.mapped.model
    userInfo = run.mapped.mapping.userInfo
  }

  /// How much of the migration is done, 0…1.
  public var migrationProgress: Double { run.progress.fraction }

  /// Ends the migration after the present step, with code 134120 unless the error is a
  /// `CoreDataError` with its own; the store stays as it was.
  public func cancelMigration(with error: any Error) { cancellation = error }

  /// Makes a new object of an entity, with the model's defaults.
  ///
  /// - Throws: ``CoreDataError`` for an unknown or abstract entity.
  public func insert(_ entity: String) throws -> DestinationObject { try run.insert(entity) }

  /// Makes what the mapping makes of the source object at hand, and associates the two; a second
  /// call makes a second object.
  ///
  /// - Throws: ``CoreDataError`` for any other source object than the one at hand.
  public func makeInstance(
    of source: SourceObject, in mapping: EntityMapping
  ) throws -> DestinationObject { try run.makeInstance(of: source, in: mapping) }

  /// Sets what the mapping's relationship mappings say of an object that it made.
  public func carryRelationships(of destination: DestinationObject) {
    run.carried.append(destination.id)
  }
}
