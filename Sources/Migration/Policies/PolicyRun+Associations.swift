import ManagedModel
import ManagedStore
import SQLite

extension PolicyRun {
  func associate(
    _ source: SourceObject, _ object: DestinationObject, _ entityMapping: EntityMapping
  ) throws {
    guard runs(entityMapping) else {
      throw CoreDataError(
        .usage,
        "objects can be associated for mappings with a policy only: not “\(entityMapping.name)”")
    }
    guard source.id.entity == entityMapping.source else {
      throw CoreDataError(
        .usage,
        "\(source.id) is none of the objects that “\(entityMapping.name)” takes",
        entity: entityMapping.source)
    }
    if associating[entityMapping.name] == nil {
      associating[entityMapping.name] = try connection.prepare(
        "INSERT OR IGNORE INTO temp.\(mapped.associations(of: entityMapping.name)) VALUES (?, ?, ?)"
      )
    }
    guard let statement = associating[entityMapping.name] else { return }
    try statement.bind([
      .integer(source.id.key), .integer(object.id.key), .integer(object.entity.entityID),
    ])
    try statement.step()
    statement.reset()
  }

  func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [SourceObject]
  ) throws -> [DestinationObject] {
    guard let entityMapping = mapped.mapping.mapping(named: name), let from = entityMapping.source
    else { throw unknownMapping(name) }
    let isOwn = runs(entityMapping)
    let sql: String
    if isOwn {
      sql = """
        SELECT destination, entity FROM temp.\(mapped.associations(of: name)) WHERE source = ?
        ORDER BY destination
        """
    } else if let to = entityMapping.destination, let table = mapped.schema.table(of: to),
      let key = mapped.keys[name]?.destination(of: "?")
    {
      sql = "SELECT Z_PK, Z_ENT FROM main.\(quoted(table.name)) WHERE Z_PK = \(key)"
    } else {
      return []
    }
    let statement = try connection.cached(sql)
    var ids: [ObjectID] = []
    for source in sourceInstances where source.id.entity == from {
      try statement.bind([.integer(source.id.key)])
      while try statement.step() {
        guard let entity = objects.name(of: statement.integer(at: 1)) else { continue }
        ids.append(ObjectID(entity: entity, key: statement.integer(at: 0)))
      }
      statement.reset()
    }
    return try ids.map { try objects.object($0, isOwn: isOwn, keeper: manager) }
  }

  func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [DestinationObject]
  ) throws -> [SourceObject] {
    guard let entityMapping = mapped.mapping.mapping(named: name), let from = entityMapping.source
    else { throw unknownMapping(name) }
    var found: [SourceObject] = []
    for object in destinationInstances {
      for key in try sourceKeys(of: object.id, by: entityMapping, from: from) {
        found.append(try source(ObjectID(entity: from, key: key)))
      }
    }
    return found
  }

  private func sourceKeys(
    of id: ObjectID, by entityMapping: EntityMapping, from: String
  ) throws -> [Int64] {
    let statement: Statement
    if runs(entityMapping) {
      statement = try connection.cached(
        """
        SELECT source FROM temp.\(mapped.associations(of: entityMapping.name))
        WHERE destination = ? AND entity = ? ORDER BY source
        """)
      try statement.bind([
        .integer(id.key), .integer(mapped.schema.numbers[id.entity] ?? 0),
      ])
    } else {
      guard id.entity == entityMapping.destination else { return [] }
      switch mapped.keys[entityMapping.name] {
      case .offset(let offset):
        let rows = try mapped.sourceRows(of: entityMapping, from: from)
        let all = (["s.Z_PK = ? - \(offset)"] + rows.conditions).map { "(\($0))" }
        statement = try connection.cached(
          "SELECT s.Z_PK FROM \(rows.from) WHERE \(all.joined(separator: " AND "))")
      case .table(let table, _):
        statement = try connection.cached(
          "SELECT source FROM temp.\(quoted(table)) WHERE destination = ? ORDER BY source")
      case nil: return []
      }
      try statement.bind([.integer(id.key)])
    }
    defer { statement.reset() }
    var keys: [Int64] = []
    while try statement.step() { keys.append(statement.integer(at: 0)) }
    return keys
  }

  /// The source objects of exactly one entity that fulfil a predicate, by key.
  func sourceObjects(of entity: String, where predicate: String?) throws -> [SourceObject] {
    let source = try sourceEntity(entity)
    guard source.isThere else { return [] }
    let table = store.table(of: entity)?.table ?? ""
    var conditions = ["s.Z_ENT = \(store.table(of: entity)?.entityID ?? 0)"]
    if let predicate {
      conditions.append(
        try ExpressionScope(store: store, entity: entity).compile(predicate: predicate).sql)
    }
    let keys = try connection.rows(
      """
      SELECT s.Z_PK FROM src.\(quoted(table)) s
      WHERE \(conditions.map { "(\($0))" }.joined(separator: " AND ")) ORDER BY s.Z_PK
      """)
    return keys.compactMap { $0.first?.integer }.map {
      SourceObject(id: ObjectID(entity: entity, key: $0), entity: source)
    }
  }

  private func unknownMapping(_ name: String) -> CoreDataError {
    CoreDataError(
      .usage, "there is no mapping “\(name)” that takes objects",
      hint: "The mappings: " + mapped.mapping.entityMappings.map(\.name).joined(separator: ", "))
  }
}
