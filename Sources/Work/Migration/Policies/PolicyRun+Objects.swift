import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension PolicyRun: ObjectKeeper {
  func requireAtWork() {}

  func source(_ id: ObjectID) throws -> SourceObject {
    SourceObject(id: id, entity: try sourceEntity(id.entity))
  }

  func sourceEntity(_ name: String) throws -> SourceEntity {
    if let known = sources[name] { return known }
    let made = try SourceEntity(name, run: self)
    sources[name] = made
    return made
  }

  /// The object that a mapping makes of a source object by itself, under its key where that is free.
  func makeInstance(
    of source: SourceObject, in entityMapping: EntityMapping
  ) throws -> DestinationObject {
    guard let row, row.id == source.id, row.mapping == entityMapping.name,
      let to = entityMapping.destination
    else {
      throw CoreDataError(
        .usage, "an instance can be created for the current object only", entity: source.id.entity,
        hint: "Use insert(_:) for any other object, and for a mapping without a concrete entity.")
    }
    let object: DestinationObject
    if let key = row.values.first?.integer, takenBy != row.id {
      takenBy = row.id
      object = try objects.add(ObjectID(entity: to, key: key), values: row.values)
      ownMade += 1
      try remember(source.id, object, for: entityMapping)
      return object
    } else {
      object = try insert(to)
      object.values = (object.values?.prefix(3)).map { Array($0) + row.values.dropFirst(3) }
    }
    try manager.associate(source, with: object, for: entityMapping)
    return object
  }

  /// Remembers what was made of a source object.
  func associate(
    _ source: ObjectID, with object: DestinationObject, for entityMapping: EntityMapping
  ) throws {
    try noteOthers(of: entityMapping.name)
    try remember(source, object, for: entityMapping)
  }

  private func remember(
    _ source: ObjectID, _ object: DestinationObject, for entityMapping: EntityMapping
  ) throws {
    try association(of: entityMapping).run([
      .integer(source.key), .integer(object.id.key), .integer(object.entity.entityID),
    ])
  }

  func insert(_ name: String) throws -> DestinationObject {
    let entity = try objects.entity(name)
    let key = try PrimaryKeys.next(after: lastKeys[entity.root] ?? 0, of: entity.root)
    lastKeys[entity.root] = key
    return try objects.add(
      ObjectID(entity: name, key: key), values: [.integer(key)] + entity.initial.dropFirst())
  }

  func change(_ object: DestinationObject) { _ = objects.change(object) }

  func link(
    _ owner: DestinationObject, to others: [DestinationObject], in relationship: String,
    isToMany: Bool
  ) throws {
    try write(mirrors.settle(relationship, of: owner.id.entity, isSet: true))
    let statement = try objects.statement(relationship, of: owner, to: others, isToMany: isToMany)
    queued.append((statement, owner.id, others.map(\.id)))
  }

  func related(_ relationship: String, of object: DestinationObject) throws -> [DestinationObject] {
    try save()
    try write(mirrors.settle(relationship, of: object.id.entity, isSet: false))
    return try objects.related(relationship, of: object.id).map {
      try objects.object($0, isOwn: object.isOwn)
    }
  }

  /// Writes what is kept: new objects, changed ones, then links: first those that the mapping
  /// shows, so that one set by hand stays.
  func save() throws {
    try objects.save { if !$0.isOwn { try touch($0.id) } }
    try carry()
    for (statement, owner, others) in queued {
      try touch(owner)
      guard !others.isEmpty else {
        try statement.clear(owner)
        continue
      }
      for other in others {
        try touch(other)
        try objects.write(statement, owner, other)
      }
    }
    queued.removeAll(keepingCapacity: true)
  }

  private func carry() throws {
    if let range = carriedRange {
      carriedRange = nil
      carried.removeAll(keepingCapacity: true)
      for links in carryingAll {
        let isTold = mirrors.areTold(links, of: range) { madeObjects[$0]?.isPlain == true }
        guard !isTold else { continue }
        for statement in links.statements { try statement.run(first: range) }
      }
      return
    }
    guard !carried.isEmpty, !carrying.isEmpty else {
      carried.removeAll(keepingCapacity: true)
      return
    }
    try connection.execute("DELETE FROM temp.carried")
    let insertion = try connection.cached("INSERT OR IGNORE INTO temp.carried VALUES (?, ?)")
    for id in carried {
      try insertion.run([.integer(id.key), .integer(mapped.schema.numbers[id.entity] ?? 0)])
    }
    carried.removeAll(keepingCapacity: true)
    for statement in carrying { try statement.run([]) }
  }

  private func touch(_ id: ObjectID) throws {
    try connection.cached("INSERT OR IGNORE INTO temp.\(Self.touched) VALUES (?, ?)").run([
      .text(mapped.schema.table(of: id.entity)?.name ?? ""), .integer(id.key),
    ])
  }
}
