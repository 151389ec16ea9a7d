import ManagedStore
import SQLite

/// The objects of a store that is being made or edited, as a policy or a stage holds them: an object
/// is one and the same however it is come by, and what was set in it is written in batches.
final class ObjectContext {
  let schema: StoreSchema
  let connection: Connection
  private let files: StoreFiles
  private let names: [Int64: String]
  private var entities: [String: DestinationEntity] = [:]
  private var links: [String: LinkStatement] = [:]
  // Most objects are of the entity of the one before.
  private var latest: DestinationEntity?
  private var live = LiveObjects()
  private var pending: [DestinationObject] = []
  private var changed: [ObjectID: DestinationObject] = [:]
  /// Links made so far: what is added comes after what was there.
  private var position: Int64 = 0

  static let batch = 500

  /// Whose objects they are.
  let keeper = KeeperReference()

  init(schema: StoreSchema, connection: Connection, files: StoreFiles) {
    self.schema = schema
    self.connection = connection
    self.files = files
    names = Dictionary(first: schema.numbers.map { ($0.value, $0.key) })
  }

  /// Whether enough is kept to be written.
  var isFull: Bool { pending.count + changed.count >= Self.batch }

  func entity(_ name: String) throws -> DestinationEntity {
    if let latest, latest.name == name { return latest }
    let entity =
      try entities[name]
      ?? DestinationEntity(name, schema: schema, connection: connection, files: files)
    entities[name] = entity
    latest = entity
    return entity
  }

  /// Objects made so far, by entity.
  var made: [String: Int] { entities.mapValues(\.made).filter { $0.value > 0 } }

  func name(of number: Int64) -> String? { names[number] }

  /// An object that somebody holds.
  func held(_ id: ObjectID) -> DestinationObject? { live[id] as? DestinationObject }

  /// An object that is in the file: the very one that somebody holds, where somebody does.
  ///
  /// - Parameter isOwn: whether a policy made it.
  func object(_ id: ObjectID, isOwn: Bool = true) throws -> DestinationObject {
    if let known = held(id) { return known }
    let object = DestinationObject(
      id: id, entity: try entity(id.entity), values: nil, isStored: true, isOwn: isOwn,
      keeper: keeper)
    live[id] = object
    return object
  }

  func add(_ id: ObjectID, values: [Value]) throws -> DestinationObject {
    let entity = try entity(id.entity)
    let object = DestinationObject(
      id: id, entity: entity, values: values, isStored: false, keeper: keeper)
    entity.made += 1
    pending.append(object)
    live[id] = object
    return object
  }

  /// Notes an object whose values were set; whether it is the first time since they were written.
  func change(_ object: DestinationObject) -> Bool {
    changed.updateValue(object, forKey: object.id) == nil
  }

  /// Lets go of an object that is deleted.
  func forget(_ id: ObjectID) {
    changed[id] = nil
    live[id] = nil
  }

  /// Objects at the other end of a relationship, in their order.
  func related(_ relationship: String, of id: ObjectID) throws -> [ObjectID] {
    try schema.relatedObjects(relationship, of: id, on: connection, naming: name)
  }

  /// The object of a row that begins with its key and its entity's number.
  func identifier(_ row: [Value]) -> ObjectID? {
    guard row.count >= 2, let key = row[0].integer, let entity = row[1].integer.flatMap(name)
    else { return nil }
    return ObjectID(entity: entity, key: key)
  }

  /// The statement that links objects.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for what the relationship cannot reference.
  func statement(
    _ relationship: String, of owner: DestinationObject, to others: [DestinationObject],
    isToMany: Bool
  ) throws -> LinkStatement {
    let key = "\(owner.id.entity).\(relationship)"
    let statement =
      try links[key]
      ?? LinkStatement(relationship, of: owner.id.entity, schema: schema, connection: connection)
    links[key] = statement
    try statement.requireFit(others, of: owner, isToMany: isToMany, in: schema.model)
    return statement
  }

  func write(_ statement: LinkStatement, _ owner: ObjectID, _ other: ObjectID) throws {
    position += 1
    try statement.write(owner, other, position: position, schema: schema)
  }

  /// What is added from now on comes after the links that were made without statements.
  func forgetLinks() { links = [:] }

  /// - Parameter touch: called for each object whose values were set.
  func save(_ touch: (DestinationObject) throws -> Void = { _ in }) throws {
    for object in pending {
      if let values = object.values { try object.entity.insert(values) }
      object.isStored = true
    }
    pending.removeAll(keepingCapacity: true)
    for object in changed.values {
      if let values = object.values { try object.entity.update(values) }
      try touch(object)
    }
    changed.removeAll(keepingCapacity: true)
  }
}
