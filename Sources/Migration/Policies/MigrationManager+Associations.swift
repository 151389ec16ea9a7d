import ManagedModel
import ManagedStore
import SQLite

extension MigrationManager {
  /// Remembers that an object was made of a source object by a mapping.
  ///
  /// - Throws: ``CoreDataError`` for a mapping without a policy, or objects that are not its own.
  public func associate(
    _ source: SourceObject, with destination: DestinationObject, for mapping: EntityMapping
  ) throws {
    guard source.id.entity == mapping.source else {
      throw CoreDataError(
        .usage, "\(source.id) is none of the objects that “\(mapping.name)” takes",
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
