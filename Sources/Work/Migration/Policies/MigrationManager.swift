import ManagedModel
import ManagedStore
import Mapping
import SQLite

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

extension MigrationManager {
  /// Remembers that an object was made of a source object by a mapping.
  ///
  /// - Throws: ``CoreDataError`` for a mapping without a policy, or objects that are not its own.
  public func associate(
    _ source: SourceObject, with destination: DestinationObject, for mapping: EntityMapping
  ) throws {
    guard source.id.entity == mapping.source else {
      throw CoreDataError(
        .usage, "\(source.id) is not one of the objects that “\(mapping.name)” takes",
        entity: mapping.source)
    }
    try run.associate(source.id, with: destination, for: mapping)
  }

  /// What a mapping made of source objects.
  ///
  /// - Throws: ``CoreDataError`` for an unknown mapping.
  public func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [SourceObject]
  ) throws -> [DestinationObject] {
    let (entityMapping, from) = try taker(name)
    let isOwn = run.runs(entityMapping)
    let sql: String
    if isOwn {
      sql = """
        SELECT destination, entity FROM temp.\(run.mapped.associations(of: name)) WHERE source = ?
        ORDER BY destination
        """
    } else if let to = entityMapping.destination, let table = run.mapped.schema.table(of: to),
      let key = run.mapped.keys[name]?.destination(of: "?")
    {
      sql = "SELECT Z_PK, Z_ENT FROM main.\(quoted(table.name)) WHERE Z_PK = \(key)"
    } else {
      return []
    }
    let statement = try run.connection.cached(sql)
    let ids = try sourceInstances.filter { $0.id.entity == from }.flatMap { source in
      try statement.rows([.integer(source.id.key)]).compactMap(run.objects.identifier)
    }
    return try ids.map { try run.objects.object($0, isOwn: isOwn) }
  }

  /// What a mapping made destination objects of.
  ///
  /// - Throws: ``CoreDataError`` for an unknown mapping.
  public func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [DestinationObject]
  ) throws -> [SourceObject] {
    let (entityMapping, from) = try taker(name)
    return try destinationInstances.flatMap { object in
      try sourceKeys(of: object.id, by: entityMapping, from: from).map {
        try run.source(ObjectID(entity: from, key: $0))
      }
    }
  }

  private func sourceKeys(
    of id: ObjectID, by entityMapping: EntityMapping, from: String
  ) throws -> [Int64] {
    var values: [Value] = [.integer(id.key)]
    let sql: String
    if run.runs(entityMapping) {
      sql = """
        SELECT source FROM temp.\(run.mapped.associations(of: entityMapping.name))
        WHERE destination = ? AND entity = ? ORDER BY source
        """
      values.append(.integer(run.mapped.schema.numbers[id.entity] ?? 0))
    } else {
      guard id.entity == entityMapping.destination else { return [] }
      switch run.mapped.keys[entityMapping.name] {
      case .moved(let offset):
        let rows = try run.mapped.sourceRows(of: entityMapping, from: from)
        let all = ["s.Z_PK = ? - \(offset)"] + rows.conditions.map(\.sql)
        sql = "SELECT s.Z_PK FROM \(rows.from) WHERE \(all.allTrue)"
      case .listed(let table), .associated(let table, _, _):
        sql = "SELECT source FROM temp.\(quoted(table)) WHERE destination = ? ORDER BY source"
      case nil: return []
      }
    }
    return try run.connection.cached(sql).rows(values).compactMap { $0.first?.integer }
  }

  /// The source objects of exactly one entity, by key; those that a predicate in NSPredicate's
  /// format is true of. For few objects: all are in memory at once.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a predicate that cannot be read.
  public func sourceObjects(
    of entity: String, where predicate: String? = nil
  ) throws -> [SourceObject] {
    let source = try run.sourceEntity(entity)
    guard source.isThere, let table = run.store.table(of: entity) else { return [] }
    var conditions = ["s.Z_ENT = \(table.entityID)"]
    if let predicate {
      conditions.append(
        try ExpressionScope(store: run.store, entity: entity).compile(predicate: predicate).sql)
    }
    let keys = try run.connection.rows(
      """
      SELECT s.Z_PK FROM src.\(quoted(table.table)) s WHERE \(conditions.allTrue) ORDER BY s.Z_PK
      """)
    return keys.compactMap { $0.first?.integer }.map {
      SourceObject(id: ObjectID(entity: entity, key: $0), entity: source)
    }
  }

  /// A mapping that takes objects, and the entity that they are of.
  private func taker(_ name: String) throws -> (EntityMapping, from: String) {
    if let entityMapping = mappingModel.mapping(named: name), let from = entityMapping.source {
      return (entityMapping, from)
    }
    throw CoreDataError(
      .usage, "there is no mapping “\(name)” that takes objects",
      hint: "The mappings: " + mappingModel.entityMappings.map(\.name).joined(separator: ", "))
  }
}
