import Mapping

/// Carries one entity mapping out, object by object: subclass it where values are not enough.
///
/// The steps are Core Data's own seven, called in its order: for every mapping ``begin(_:manager:)``,
/// ``createDestinationInstances(for:in:manager:)`` once a source object, and
/// ``endInstanceCreation(for:manager:)``; then for every mapping
/// ``createRelationships(for:in:manager:)`` once an object it made, and
/// ``endRelationshipCreation(for:manager:)``; then for every mapping
/// ``performCustomValidation(for:manager:)`` and ``end(_:manager:)``.
///
/// What is not overridden does what the mapping says, by SQL where that can be. One instance is made
/// for each entity mapping; nothing is called from two threads at once. An error that is thrown ends
/// the migration, reported with code 134170, the mapping, the step and the object; the store stays as it
/// was.
open class EntityMigrationPolicy {
  /// Makes the policy; the engine does so once for each entity mapping that names it.
  public required init() {}

  /// Comes before the first object of the mapping.
  open func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Makes what becomes of a source object: none, one or many objects.
  ///
  /// The default makes one object of the destination entity, with the values that the mapping gives,
  /// under the source's own key where that is free, and associates the two.
  open func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { _ = try manager.makeInstance(of: source, in: mapping) }

  /// Comes after the last object of the mapping was made.
  open func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Links an object that the mapping made with those that other mappings made.
  ///
  /// The default sets what the mapping's relationship mappings say.
  open func createRelationships(
    for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { manager.carryRelationships(of: destination) }

  /// Comes after the last object of the mapping was linked.
  open func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Comes when all mappings are done with their relationships; throw to refuse the result.
  open func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Comes last.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

/// Swift policies by the names that mapping models have for them.
///
///     var policies = PolicyBindings()
///     policies["Diary.RecordsPolicy"] = RecordsPolicy.self
public struct PolicyBindings: Sendable, Equatable {
  private var types: [String: EntityMigrationPolicy.Type] = [:]

  /// Binds nothing.
  public init() {}

  /// The policy of an entity mapping, by the class name in the mapping model or by the entity
  /// mapping's own name.
  public subscript(name: String) -> EntityMigrationPolicy.Type? {
    get { types[name] }
    set { types[name] = newValue }
  }

  /// Whether no policy is bound.
  public var isEmpty: Bool { types.isEmpty }

  func type(for mapping: EntityMapping) -> EntityMigrationPolicy.Type? {
    mapping.policy.flatMap { types[$0] } ?? types[mapping.name]
  }

  /// Equal when the same names stand for the same classes.
  public static func == (one: PolicyBindings, other: PolicyBindings) -> Bool {
    one.types.mapValues { ObjectIdentifier($0) } == other.types.mapValues { ObjectIdentifier($0) }
  }
}
