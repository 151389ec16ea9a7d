import ManagedModel
import ManagedStore
import SQLite

/// Runs the entity mappings that have a Swift policy: makes objects, links them, validates.
final class PolicyRun {
  let store: Store
  let connection: Connection
  private(set) var mapped: MappedStep
  private let meter: ProgressMeter
  private var policies: [String: EntityMigrationPolicy] = [:]
  private var sources: [String: SourceEntity] = [:]
  private var destinations: [String: DestinationEntity] = [:]
  private var nextKeys: [String: Int64]
  private var associating: [String: Statement] = [:]
  private var links: [String: LinkStatement] = [:]
  private var pending: [DestinationObject] = []
  private var changed: [ObjectID: DestinationObject] = [:]
  private var queued: [(statement: LinkStatement, owner: ObjectID, others: [ObjectID])] = []
  private var carried: [Int64] = []
  private var position: Int64 = 0
  /// The source row at hand, and the values that its mapping gives.
  private var row: (id: ObjectID, values: [Value])?
  private(set) lazy var manager = MigrationManager(run: self)
  /// Objects made, by entity.
  private(set) var made: [String: Int] = [:]

  static let batch = 500

  init(
    _ mapped: MappedStep, bindings: PolicyBindings, connection: Connection, meter: ProgressMeter
  ) throws {
    store = mapped.store
    self.connection = connection
    self.mapped = mapped
    self.meter = meter
    nextKeys = mapped.bounds
    for entityMapping in mapped.mapping.entityMappings where mapped.isPolicy(entityMapping) {
      policies[entityMapping.name] = bindings.type(for: entityMapping)?.init()
    }
    for entityMapping in mapped.mapping.entityMappings where runs(entityMapping) {
      try connection.execute(
        """
        CREATE TEMP TABLE \(mapped.associations(of: entityMapping.name)) (source INTEGER,
        destination INTEGER, entity INTEGER, PRIMARY KEY (source, destination)) WITHOUT ROWID
        """)
    }
    try connection.execute("CREATE TEMP TABLE carried (key INTEGER PRIMARY KEY)")
  }

  func runs(_ entityMapping: EntityMapping) -> Bool { policies[entityMapping.name] != nil }

  var progress: MigrationProgress { meter.snapshot }

  // MARK: The steps

  func createInstances(of entityMapping: EntityMapping) throws {
    guard let policy = policies[entityMapping.name], let from = entityMapping.source,
      let to = entityMapping.destination
    else { return }
    manager.currentEntityMapping = entityMapping
    try step("begin", entityMapping) { try policy.begin(entityMapping, manager: manager) }
    let source = try sourceEntity(from)
    let destination = try destinationEntity(to)
    if source.isThere {
      var values: [String] = []
      for entry in destination.attributes {
        values.append(
          try mapped.policyValue(of: entry.attribute.name, in: entityMapping, from: from, to: to)
            ?? "NULL")
      }
      let conditions = try mapped.conditions(of: entityMapping, from: from, row: "s")
      let own = source.columns.count + 1
      let rows = try connection.prepare(
        """
        SELECT \((["s.Z_PK"] + source.columns + values).joined(separator: ", "))
        FROM src.\(quoted(store.table(of: from)?.table ?? "")) s
        \(conditions.isEmpty ? "" : "WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND "))
        ORDER BY s.Z_PK
        """)
      let offset = mapped.policyOffsets[entityMapping.name] ?? 0
      let head: [Value] = [.null, .integer(destination.number), .integer(1)]
      while try rows.step() {
        let all = rows.row()
        let id = ObjectID(entity: from, key: rows.integer(at: 0))
        var made = head
        made[0] = .integer(id.key + offset)
        made += all[own...]
        row = (id, made)
        let object = SourceObject(id: id, entity: source, values: Array(all[1..<own]))
        try step("createDestinationInstances", entityMapping, id) {
          try policy.createDestinationInstances(for: object, in: entityMapping, manager: manager)
        }
        if pending.count >= Self.batch { try save() }
        try meter.advance(by: 1)
      }
      row = nil
    }
    try step("endInstanceCreation", entityMapping) {
      try policy.endInstanceCreation(for: entityMapping, manager: manager)
    }
    try save()
    let table = mapped.associations(of: entityMapping.name)
    try connection.execute(
      "CREATE INDEX temp.\(table)_destination ON \(table) (destination)")
  }

  func createRelationships(of entityMapping: EntityMapping) throws {
    guard let policy = policies[entityMapping.name] else { return }
    manager.currentEntityMapping = entityMapping
    let batches = try defaultLinks(of: entityMapping)
    let table = mapped.associations(of: entityMapping.name)
    let next = try connection.prepare(
      """
      SELECT DISTINCT destination, entity FROM temp.\(table) WHERE destination > ?
      ORDER BY destination LIMIT \(Self.batch)
      """)
    var last = Int64.min
    while true {
      try next.bind([.integer(last)])
      var ids: [ObjectID] = []
      while try next.step() {
        last = next.integer(at: 0)
        let name = entityName(next.integer(at: 1)) ?? entityMapping.destination ?? ""
        ids.append(ObjectID(entity: name, key: last))
      }
      next.reset()
      guard !ids.isEmpty else { break }
      for id in ids {
        let object = try destination(id)
        try step("createRelationships", entityMapping, id) {
          try policy.createRelationships(for: object, in: entityMapping, manager: manager)
        }
      }
      try carry(batches)
      try save()
      try meter.checkCancelled()
    }
    try step("endRelationshipCreation", entityMapping) {
      try policy.endRelationshipCreation(for: entityMapping, manager: manager)
    }
    try save()
  }

  func validate() throws {
    for entityMapping in mapped.mapping.entityMappings {
      guard let policy = policies[entityMapping.name] else { continue }
      manager.currentEntityMapping = entityMapping
      try step("performCustomValidation", entityMapping) {
        try policy.performCustomValidation(for: entityMapping, manager: manager)
      }
      try step("end", entityMapping) { try policy.end(entityMapping, manager: manager) }
      try save()
    }
    manager.currentEntityMapping = nil
  }

  private func step(
    _ name: String, _ entityMapping: EntityMapping, _ id: ObjectID? = nil, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      throw error
    } catch let error as CoreDataError where error.kind == .cancelled {
      throw error
    } catch {
      let reason = (error as? CoreDataError).map { error in
        error.message + (error.property.map { " (\($0))" } ?? "")
      }
      throw CoreDataError(
        .failed, code: 134170,
        "the policy of “\(entityMapping.name)” failed in \(name)"
          + (id.map { " at \($0)" } ?? "") + ": \(reason ?? "\(error)")",
        entity: entityMapping.destination ?? entityMapping.source,
        hint: "Nothing was changed: the store is as it was.")
    }
    if let error = manager.cancellation { throw error }
  }

  // MARK: Objects

  func source(_ id: ObjectID) throws -> SourceObject {
    SourceObject(id: id, entity: try sourceEntity(id.entity))
  }

  func destination(_ id: ObjectID) throws -> DestinationObject {
    if let known = changed[id] { return known }
    if let known = pending.last(where: { $0.id == id }) { return known }
    return DestinationObject(
      id: id, entity: try destinationEntity(id.entity), values: nil, isStored: true,
      keeper: manager)
  }

  func sourceEntity(_ name: String) throws -> SourceEntity {
    if let known = sources[name] { return known }
    let made = try SourceEntity(name, run: self)
    sources[name] = made
    return made
  }

  private func destinationEntity(_ name: String) throws -> DestinationEntity {
    if let known = destinations[name] { return known }
    let made = try DestinationEntity(
      name, schema: mapped.schema, connection: connection, files: store.files)
    destinations[name] = made
    return made
  }

  private func entityName(_ number: Int64) -> String? {
    mapped.schema.numbers.first { $0.value == number }?.key
  }

  /// The object that a mapping makes of a source object by itself, under its key where that is free.
  func makeInstance(
    of source: SourceObject, in entityMapping: EntityMapping
  ) throws -> DestinationObject {
    guard let row, row.id == source.id, let to = entityMapping.destination,
      entityMapping.name == manager.currentEntityMapping?.name
    else {
      throw CoreDataError(
        .usage, "only the object at hand can be made an instance of", entity: source.id.entity,
        hint: "Use insert(_:) for any other object.")
    }
    let entity = try destinationEntity(to)
    let values = row.values
    guard let key = values.first?.integer, takenBy != row.id else {
      let object = try insert(to)
      object.values = (object.values?.prefix(3)).map { Array($0) + values.dropFirst(3) }
      try associate(source, object, entityMapping)
      return object
    }
    takenBy = row.id
    let object = DestinationObject(
      id: ObjectID(entity: to, key: key), entity: entity, values: values, isStored: false,
      keeper: manager)
    pending.append(object)
    made[to, default: 0] += 1
    try associate(source, object, entityMapping)
    return object
  }

  /// The source object whose key has been given to an instance.
  private var takenBy: ObjectID?

  func insert(_ name: String) throws -> DestinationObject {
    let entity = try destinationEntity(name)
    let key = (nextKeys[entity.root] ?? 0) + 1
    nextKeys[entity.root] = key
    var values = entity.initial
    values[0] = .integer(key)
    let object = DestinationObject(
      id: ObjectID(entity: name, key: key), entity: entity, values: values, isStored: false,
      keeper: manager)
    pending.append(object)
    made[name, default: 0] += 1
    return object
  }

  func associate(
    _ source: SourceObject, _ object: DestinationObject, _ entityMapping: EntityMapping
  ) throws {
    guard runs(entityMapping) else {
      throw CoreDataError(
        .usage,
        "objects can be associated for mappings with a policy only: not “\(entityMapping.name)”")
    }
    if associating[entityMapping.name] == nil {
      associating[entityMapping.name] = try connection.prepare(
        "INSERT OR IGNORE INTO temp.\(mapped.associations(of: entityMapping.name)) VALUES (?, ?, ?)"
      )
    }
    guard let statement = associating[entityMapping.name] else { return }
    try statement.bind([
      .integer(source.id.key), .integer(object.id.key), .integer(object.entity.number),
    ])
    try statement.step()
    statement.reset()
  }

  func change(_ object: DestinationObject) { changed[object.id] = object }

  func link(
    _ owner: DestinationObject, to others: [DestinationObject], in relationship: String,
    isToMany: Bool
  ) throws {
    let key = "\(owner.id.entity).\(relationship)"
    let statement: LinkStatement
    if let known = links[key] {
      statement = known
    } else {
      statement = try LinkStatement(
        relationship, of: owner.id.entity, schema: mapped.schema, connection: connection)
      links[key] = statement
    }
    try statement.requireFit(others, of: owner, isToMany: isToMany, in: mapped.model)
    queued.append((statement, owner.id, others.map(\.id)))
  }

  func related(_ relationship: String, of object: DestinationObject) throws -> [DestinationObject] {
    guard let sql = mapped.schema.relatedObjects(relationship, of: object.id.entity) else {
      throw CoreDataError(
        .usage, "the entity has no such relationship", entity: object.id.entity,
        property: relationship)
    }
    try save()
    return try connection.rows(sql, [.integer(object.id.key)]).compactMap { row in
      guard row.count >= 2, let key = row[0].integer,
        let entity = row[1].integer.flatMap(entityName)
      else { return nil }
      return try destination(ObjectID(entity: entity, key: key))
    }
  }

  func carryRelationships(of object: DestinationObject) { carried.append(object.id.key) }

  /// Writes what is kept: new objects, changed ones, then links.
  func save() throws {
    for object in pending {
      if let values = object.values { try object.entity.insert(values) }
      object.isStored = true
    }
    pending.removeAll(keepingCapacity: true)
    for object in changed.values {
      if let values = object.values { try object.entity.update(values) }
    }
    changed.removeAll(keepingCapacity: true)
    for (statement, owner, others) in queued {
      guard !others.isEmpty else {
        try statement.clear(owner)
        continue
      }
      for other in others {
        position += 1
        try statement.write(owner, other, position: position, schema: mapped.schema)
      }
    }
    queued.removeAll(keepingCapacity: true)
  }

  // MARK: Default relationships

  /// Compiled statements that set, for the objects in `temp.carried`, what the mapping says.
  private func defaultLinks(of entityMapping: EntityMapping) throws -> [Statement] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let writer = LinkWriter(schema: mapped.schema, connection: connection)
    var statements: [Statement] = []
    for relationshipMapping in entityMapping.relationships {
      guard let relationship = mapped.model.relationship(named: relationshipMapping.name, of: to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        let select = try mapped.carriedLinks(
          relationshipMapping, relationship, origin, of: entityMapping, from: from)
      else { continue }
      statements += try writer.statements(select, relationship: relationship.name, of: to).map {
        try connection.prepare($0)
      }
    }
    return statements
  }

  private func carry(_ statements: [Statement]) throws {
    guard !carried.isEmpty else { return }
    try connection.execute("DELETE FROM temp.carried")
    let insertion = try connection.cached("INSERT OR IGNORE INTO temp.carried VALUES (?)")
    for key in carried {
      try insertion.bind([.integer(key)])
      try insertion.step()
    }
    insertion.reset()
    carried.removeAll(keepingCapacity: true)
    for statement in statements {
      while try statement.step() {}
      statement.reset()
    }
  }

  // MARK: Associations

  func destinationInstances(
    forEntityMappingName name: String, sourceInstances: [SourceObject]
  ) throws -> [DestinationObject] {
    guard let entityMapping = mapped.mapping.mapping(named: name),
      let to = entityMapping.destination, let table = mapped.schema.table(of: to)
    else { throw unknownMapping(name) }
    // What is kept must be seen.
    if !pending.isEmpty, !runs(entityMapping) { try save() }
    let sql: String
    if runs(entityMapping) {
      sql = """
        SELECT destination, entity FROM temp.\(mapped.associations(of: name)) WHERE source = ?
        ORDER BY destination
        """
    } else {
      let key = mapped.keys[name]?.destination(of: "?") ?? "NULL"
      sql = "SELECT Z_PK, Z_ENT FROM main.\(quoted(table.name)) WHERE Z_PK = \(key)"
    }
    let statement = try connection.cached(sql)
    var ids: [ObjectID] = []
    for source in sourceInstances {
      try statement.bind([.integer(source.id.key)])
      while try statement.step() {
        ids.append(
          ObjectID(
            entity: entityName(statement.integer(at: 1)) ?? to, key: statement.integer(at: 0)))
      }
      statement.reset()
    }
    return try ids.map(destination)
  }

  func sourceInstances(
    forEntityMappingName name: String, destinationInstances: [DestinationObject]
  ) throws -> [SourceObject] {
    guard let entityMapping = mapped.mapping.mapping(named: name), let from = entityMapping.source
    else { throw unknownMapping(name) }
    var found: [SourceObject] = []
    for object in destinationInstances {
      let key = object.id.key
      switch mapped.keys[name] {
      case .offset(let offset):
        if try sourceEntity(from).values(of: key - offset).isEmpty == false {
          found.append(try source(ObjectID(entity: from, key: key - offset)))
        }
      case .table(let table, _):
        let statement = try connection.cached(
          "SELECT source FROM temp.\(quoted(table)) WHERE destination = ? ORDER BY source")
        try statement.bind([.integer(key)])
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(at: 0)) }
        statement.reset()
        for key in keys { found.append(try source(ObjectID(entity: from, key: key))) }
      case nil: break
      }
    }
    return found
  }

  /// The source objects of exactly one entity that fulfil a predicate, by key.
  func sourceObjects(of entity: String, where predicate: String?) throws -> [SourceObject] {
    let source = try sourceEntity(entity)
    guard source.isThere else { return [] }
    let table = store.table(of: entity)?.table ?? ""
    var conditions = ["s.Z_ENT = \(store.table(of: entity)?.number ?? 0)"]
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
      .usage, "there is no mapping “\(name)” that makes objects",
      hint: "The mappings: " + mapped.mapping.entityMappings.map(\.name).joined(separator: ", "))
  }
}
