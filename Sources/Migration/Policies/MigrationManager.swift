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
  private unowned let run: PolicyRun

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
  ) throws -> DestinationObject {
    try run.makeInstance(of: source, in: mapping)
  }

  /// Remembers that an object was made of a source object by a mapping.
  ///
  /// - Throws: ``CoreDataError`` for a mapping without a policy, or objects that are not its own.
  public func associate(
    _ source: SourceObject, with destination: DestinationObject, for mapping: EntityMapping
  ) throws {
    try run.associate(source, destination, mapping)
  }

  /// What a mapping made of source objects.
  ///
  /// - Throws: ``CoreDataError`` for an unknown mapping.
  public func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [SourceObject]
  ) throws -> [DestinationObject] {
    try run.destinationInstances(forEntityMappingName: name, sourceInstances: sourceInstances)
  }

  /// What a mapping made destination objects of.
  ///
  /// - Throws: ``CoreDataError`` for an unknown mapping.
  public func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [DestinationObject]
  ) throws -> [SourceObject] {
    try run.sourceInstances(
      forEntityMappingName: name, destinationInstances: destinationInstances)
  }

  /// The source objects of exactly one entity, by key; those that a predicate in NSPredicate's
  /// format is true of. For few objects: all are in memory at once.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a predicate that cannot be read.
  public func sourceObjects(
    of entity: String, where predicate: String? = nil
  ) throws -> [SourceObject] {
    try run.sourceObjects(of: entity, where: predicate)
  }

  /// Sets what the mapping's relationship mappings say of an object that it made.
  public func carryRelationships(of destination: DestinationObject) {
    run.carryRelationships(of: destination)
  }

}

extension MigrationManager: ObjectKeeper {
  func requireAtWork() throws {}

  func change(_ object: DestinationObject) { run.change(object) }

  func related(_ relationship: String, of object: DestinationObject) throws -> [DestinationObject] {
    try run.related(relationship, of: object)
  }

  func link(
    _ owner: DestinationObject, to others: [DestinationObject], in relationship: String,
    isToMany: Bool
  ) throws {
    try run.link(owner, to: others, in: relationship, isToMany: isToMany)
  }
}
