import ManagedModel
import ManagedStore
import SQLite

/// An object of the temporary store that a stage edits.
public typealias StagedObject = DestinationObject

/// What a stage's handler works with: the objects of the temporary store, at the version it has then.
///
/// It belongs to the thread that runs the migration, and ends with the handler. Two fetches give one
/// object for one key as long as it is held. Changes are saved every 500 objects, before a fetch and
/// in the end; the person's store is not among the files that are written.
public final class StageContext {
  /// The model that the store has at present.
  public let model: Model
  /// Name of that version.
  public let version: String
  let store: Store
  let schema: StoreSchema
  let connection: Connection
  private let meter: ProgressMeter
  private var isOver = false
  private let kept: ObjectContext
  private var deleted: Set<ObjectID> = []
  private var nextKeys: [String: Int64] = [:]
  /// Objects made, changed and deleted, for the receipt.
  private(set) var edits = 0

  init(store: Store, version: String, connection: Connection, meter: ProgressMeter) {
    self.store = store
    self.version = version
    self.connection = connection
    self.meter = meter
    model = store.model
    schema = store.schema
    kept = ObjectContext(schema: schema, connection: connection, files: store.files)
    kept.keeper.keeper = self
  }

  /// The objects of an entity and of those below it, by key; those that a predicate in NSPredicate's
  /// format is true of. All are in the list at once: ``forEach(_:where:_:)`` takes them in turn.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a predicate that cannot be read.
  public func objects(of entity: String, where predicate: String? = nil) throws -> [StagedObject] {
    try keys(of: entity, where: predicate, after: nil).map(object)
  }

  /// Calls `body` for each of the objects, by key, 500 in memory at a time; objects that `body` makes
  /// or changes meanwhile may come or not.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or predicate, when cancelled, and what `body` throws.
  public func forEach(
    _ entity: String, where predicate: String? = nil, _ body: (StagedObject) throws -> Void
  ) throws {
    var last = Int64.min
    while true {
      let ids = try keys(of: entity, where: predicate, after: last)
      guard let end = ids.last else { return }
      last = end.key
      for id in ids where !deleted.contains(id) { try body(object(id)) }
      try meter.checkCancelled()
    }
  }

  /// How many objects there are of an entity and those below it.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a predicate that cannot be read.
  public func count(of entity: String, where predicate: String? = nil) throws -> Int {
    let (from, condition) = try selection(of: entity, where: predicate)
    return try connection.number("SELECT count(*) FROM \(from) WHERE \(condition)")
  }

  /// The object of an identifier; `nil` where it is not there.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity, or when the stage is over.
  public func object(with id: ObjectID) throws -> StagedObject? {
    if let object = kept.held(id), !deleted.contains(id) { return object }
    let (from, condition) = try selection(of: id.entity, where: nil)
    return try connection.rows(
      "SELECT s.Z_PK, s.Z_ENT FROM \(from) WHERE \(condition) AND s.Z_PK = ?", [.integer(id.key)]
    ).compactMap(kept.identifier).first.map(object)
  }

  /// Makes an object of an entity, with the model's defaults.
  ///
  /// - Throws: ``CoreDataError`` for an unknown or abstract entity.
  public func insert(_ entity: String) throws -> StagedObject {
    if kept.isFull { try save() }
    try requireAtWork()
    let place = try kept.entity(entity)
    let last = try nextKeys[place.root] ?? lastKey(of: place.root)
    let key = try PrimaryKeys.next(after: last, of: place.root)
    nextKeys[place.root] = key
    var values = place.initial
    values[0] = .integer(key)
    edits += 1
    return try kept.add(ObjectID(entity: entity, key: key), values: values)
  }

  /// Deletes an object by its relationships' rules: cascade takes related objects along, deny refuses;
  /// all other links to it are emptied, also where the rule is “No Action”.
  ///
  /// - Throws: ``CoreDataError`` 1600 where a relationship denies it.
  public func delete(_ object: StagedObject) throws {
    try save()
    let all = try DeletionReach(of: [object.id], in: schema) {
      try kept.related($0, of: $1)
    }.objects
    let unlinking = StageUnlinking(schema: schema, connection: connection)
    for id in all where deleted.insert(id).inserted {
      try unlinking.remove(id)
      kept.forget(id)
      edits += 1
    }
  }

  /// Writes what is kept.
  func save() throws {
    try requireAtWork()
    try kept.save()
  }

  /// Saves, notes the last keys, and lets the handler's objects do nothing more.
  func finish() throws {
    try save()
    for (root, key) in nextKeys {
      try PrimaryKeys(connection).raise(schema.numbers[root] ?? 0, to: key)
    }
    isOver = true
  }

  private func lastKey(of root: String) throws -> Int64 {
    try PrimaryKeys(connection).last(
      schema.numbers[root] ?? 0, in: schema.table(of: root)?.name ?? "")
  }

  private func object(_ id: ObjectID) throws -> StagedObject { try kept.object(id) }

  private func selection(
    of entity: String, where predicate: String?
  ) throws -> (from: String, condition: String) {
    try save()
    let table = try schema.knownTable(of: entity, isConcrete: false)
    let numbers = table.numbers.list
    var condition = "s.Z_ENT IN (\(numbers))"
    if let predicate {
      let scope = ExpressionScope(store: store, entity: entity, schema: "main.")
      condition += " AND (\(try scope.compile(predicate: predicate).sql))"
    }
    return ("main.\(quoted(table.table)) s", condition)
  }

  private func keys(
    of entity: String, where predicate: String?, after last: Int64?
  ) throws -> [ObjectID] {
    let (from, condition) = try selection(of: entity, where: predicate)
    let page = last.map { " AND s.Z_PK > \($0)" } ?? ""
    return try connection.rows(
      """
      SELECT s.Z_PK, s.Z_ENT FROM \(from) WHERE \(condition)\(page) ORDER BY s.Z_PK
      \(last == nil ? "" : "LIMIT \(ObjectContext.batch)")
      """
    ).compactMap(kept.identifier)
  }
}

extension StageContext: ObjectKeeper {
  func requireAtWork() throws {
    guard !isOver else {
      throw CoreDataError(
        .usage, "the stage is over: its objects can be read and changed in its handler only")
    }
  }

  func change(_ object: DestinationObject) throws {
    guard !deleted.contains(object.id) else {
      throw CoreDataError(.usage, "\(object.id) is deleted", entity: object.id.entity)
    }
    if kept.isFull { try save() }
    if kept.change(object) {
      edits += 1
      if edits % ObjectContext.batch == 0 { try meter.checkCancelled() }
    }
  }

  func related(_ relationship: String, of object: DestinationObject) throws -> [DestinationObject] {
    try save()
    return try kept.related(relationship, of: object.id).map(self.object)
  }

  func link(
    _ owner: DestinationObject, to others: [DestinationObject], in relationship: String,
    isToMany: Bool
  ) throws {
    try save()
    guard !deleted.contains(owner.id), !others.contains(where: { deleted.contains($0.id) }) else {
      throw CoreDataError(
        .usage, "a deleted object cannot be linked", entity: owner.id.entity, property: relationship
      )
    }
    let statement = try kept.statement(relationship, of: owner, to: others, isToMany: isToMany)
    let unlinking = StageUnlinking(schema: schema, connection: connection)
    if !isToMany { try unlinking.empty(statement.relationship, of: owner.id) }
    for other in others {
      try unlinking.leave(statement.relationship, other.id)
      try kept.write(statement, owner.id, other.id)
    }
    // Values that were read of the rows do not hold links: they stay as they are.
    edits += 1
  }
}
