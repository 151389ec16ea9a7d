import ManagedModel
import ManagedStore
import SQLite

extension PolicyRun {
  func source(_ id: ObjectID) throws -> SourceObject {
    SourceObject(id: id, entity: try sourceEntity(id.entity))
  }

  /// An object that has been made: the very one that somebody holds, where somebody does.
  ///
  /// - Parameter isOwn: whether a policy made it.
  func destination(_ id: ObjectID, isOwn: Bool) throws -> DestinationObject {
    if let known = live[id] { return known }
    let object = DestinationObject(
      id: id, entity: try destinationEntity(id.entity), values: nil, isStored: true, isOwn: isOwn,
      keeper: manager)
    live.add(object)
    return object
  }

  func sourceEntity(_ name: String) throws -> SourceEntity {
    if let known = sources[name] { return known }
    let made = try SourceEntity(name, run: self)
    sources[name] = made
    return made
  }

  func destinationEntity(_ name: String) throws -> DestinationEntity {
    if let known = destinations[name] { return known }
    let made = try DestinationEntity(
      name, schema: mapped.schema, connection: connection, files: store.files)
    destinations[name] = made
    return made
  }

  func entityName(_ number: Int64) -> String? {
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
        hint: "Use insert(_:) for any other object, and for a mapping without a concrete entity.")
    }
    let object: DestinationObject
    if let key = row.values.first?.integer, takenBy != row.id {
      takenBy = row.id
      object = try add(ObjectID(entity: to, key: key), values: row.values)
    } else {
      object = try insert(to)
      object.values = (object.values?.prefix(3)).map { Array($0) + row.values.dropFirst(3) }
    }
    try associate(source, object, entityMapping)
    return object
  }

  func insert(_ name: String) throws -> DestinationObject {
    let entity = try destinationEntity(name)
    let (key, isTooLarge) = (lastKeys[entity.root] ?? 0).addingReportingOverflow(1)
    guard !isTooLarge else { throw KeyPlanning.exhausted(entity.root) }
    lastKeys[entity.root] = key
    return try add(
      ObjectID(entity: name, key: key), values: [.integer(key)] + entity.initial.dropFirst())
  }

  private func add(_ id: ObjectID, values: [Value]) throws -> DestinationObject {
    let object = DestinationObject(
      id: id, entity: try destinationEntity(id.entity), values: values, isStored: false,
      isOwn: true, keeper: manager)
    pending.append(object)
    live.add(object)
    made[id.entity, default: 0] += 1
    return object
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
      return try destination(ObjectID(entity: entity, key: key), isOwn: object.isOwn)
    }
  }

  func carryRelationships(of object: DestinationObject) { carried.append(object.id) }

  /// Writes what is kept: new objects, changed ones, then links: first those that the mapping
  /// tells, so that one set by hand stays.
  func save() throws {
    for object in pending {
      if let values = object.values { try object.entity.insert(values) }
      object.isStored = true
    }
    pending.removeAll(keepingCapacity: true)
    for object in changed.values {
      if let values = object.values { try object.entity.update(values) }
      if !object.isOwn { try touch(object.id) }
    }
    changed.removeAll(keepingCapacity: true)
    try carry()
    for (statement, owner, others) in queued {
      try touch(owner)
      guard !others.isEmpty else {
        try statement.clear(owner)
        continue
      }
      for other in others {
        try touch(other)
        position += 1
        try statement.write(owner, other, position: position, schema: mapped.schema)
      }
    }
    queued.removeAll(keepingCapacity: true)
  }

  private func carry() throws {
    guard !carried.isEmpty, !carrying.isEmpty else {
      carried.removeAll(keepingCapacity: true)
      return
    }
    try connection.execute("DELETE FROM temp.carried")
    let insertion = try connection.cached("INSERT OR IGNORE INTO temp.carried VALUES (?, ?)")
    for id in carried {
      try insertion.bind([
        .integer(id.key), .integer(mapped.schema.numbers[id.entity] ?? 0),
      ])
      try insertion.step()
      insertion.reset()
    }
    carried.removeAll(keepingCapacity: true)
    for statement in carrying {
      while try statement.step() {}
      statement.reset()
    }
  }

  private func touch(_ id: ObjectID) throws {
    let insertion = try connection.cached(
      "INSERT OR IGNORE INTO temp.\(Self.touched) VALUES (?, ?)")
    try insertion.bind([
      .text(mapped.schema.table(of: id.entity)?.name ?? ""), .integer(id.key),
    ])
    try insertion.step()
    insertion.reset()
  }
}
