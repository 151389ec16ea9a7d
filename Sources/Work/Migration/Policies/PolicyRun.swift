import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Runs the entity mappings that have a Swift policy: makes objects, links them, validates.
final class PolicyRun {
  let store: Store
  let connection: Connection
  private(set) var mapped: MappingLayout
  private let meter: ProgressMeter
  private var policies: [String: EntityMigrationPolicy] = [:]
  private(set) lazy var manager = MigrationManager(run: self)

  var sources: [String: SourceEntity] = [:]
  /// The last key given out, by root entity.
  var lastKeys: [String: Int64]
  private var associating: [String: Statement] = [:]
  private var association: (name: String, statement: Statement)?
  let objects: ObjectContext
  var queued: [(statement: LinkStatement, owner: ObjectID, others: [ObjectID])] = []
  /// Objects whose relationships the mapping gives, and the statements that set them.
  var carried: [ObjectID] = []
  var carrying: [Statement] = []
  /// The same for all objects that the mapping made from one to another, by key and entity.
  var carryingAll: [CarriedLinks] = []
  /// The first and the last of the objects at hand, where the relationships of all of them are given.
  var carriedRange: [Value]?
  /// What is known of what mappings (by name) made.
  var madeObjects: [String: MadeObjects] = [:]
  /// Source objects of the mapping at hand that became its own objects.
  var ownMade = 0
  var mirrors: MirroredLinks
  /// The source row at hand, and the values that its mapping gives.
  var row: (id: ObjectID, mapping: String, values: [Value])?
  /// The source object whose key has been given to an instance.
  var takenBy: ObjectID?
  /// Objects made, by entity.
  var made: [String: Int] { objects.made }

  init(
    _ mapped: MappingLayout, bindings: PolicyBindings, connection: Connection, meter: ProgressMeter
  ) throws {
    store = mapped.store
    self.connection = connection
    objects = ObjectContext(
      schema: mapped.schema, connection: connection, files: mapped.store.files)
    self.mapped = mapped
    self.meter = meter
    lastKeys = mapped.bounds
    mirrors = try MirroredLinks(mapped)
    objects.keeper.keeper = self
    for entityMapping in mapped.mapping.entityMappings where mapped.isPolicy(entityMapping) {
      policies[entityMapping.name] = bindings.type(for: entityMapping)?.init()
      try connection.execute(
        """
        CREATE TEMP TABLE \(mapped.associations(of: entityMapping.name)) (source INTEGER,
        destination INTEGER, entity INTEGER, PRIMARY KEY (source, entity, destination)) WITHOUT ROWID
        """)
    }
    try connection.execute(
      """
      CREATE TEMP TABLE carried (key INTEGER, entity INTEGER, PRIMARY KEY (key, entity)) WITHOUT ROWID;
      CREATE TEMP TABLE \(Self.touched) (place TEXT, key INTEGER, PRIMARY KEY (place, key)) WITHOUT ROWID;
      """)
  }

  /// The meter looks at a clock, and asks whether to go on: not for every object.
  private static let reported = 50

  /// The temporary table of objects (table and key) that policies linked or changed by hand: no
  /// mapping says what they are to be.
  static let touched = "touched"

  /// The statement that remembers what a mapping made of a source object.
  ///
  /// - Throws: ``CoreDataError`` for a mapping without a policy.
  func association(of entityMapping: EntityMapping) throws -> Statement {
    let name = entityMapping.name
    if let association, association.name == name { return association.statement }
    guard runs(entityMapping) else {
      throw CoreDataError(
        .usage, "objects can be associated for mappings with a policy only: not “\(name)”")
    }
    let statement =
      try associating[name]
      ?? connection.prepare(
        "INSERT OR IGNORE INTO temp.\(mapped.associations(of: name)) VALUES (?, ?, ?)")
    associating[name] = statement
    association = (name, statement)
    return statement
  }

  func runs(_ entityMapping: EntityMapping) -> Bool { policies[entityMapping.name] != nil }

  var runsAny: Bool { !policies.isEmpty }

  var progress: MigrationProgress { meter.progress }

  func createInstances(of entityMapping: EntityMapping) throws {
    guard let policy = policies[entityMapping.name] else { return }
    manager.currentEntityMapping = entityMapping
    try step("begin", entityMapping) { try policy.begin(entityMapping, manager: manager) }
    // A mapping that adds an entity has no source objects.
    if let from = entityMapping.source {
      try createInstances(of: entityMapping, from: from, policy)
    }
    try step("endInstanceCreation", entityMapping) {
      try policy.endInstanceCreation(for: entityMapping, manager: manager)
    }
    try save()
    let table = mapped.associations(of: entityMapping.name)
    try connection.execute(
      "CREATE INDEX temp.\(table)_destination ON \(table) (destination, entity)")
  }

  private func createInstances(
    of entityMapping: EntityMapping, from: String, _ policy: EntityMigrationPolicy
  ) throws {
    let source = try sourceEntity(from)
    guard source.isThere else { return }
    var head: [Value] = []
    var values: [String] = []
    // Of an abstract entity, or of none, nothing is made but by the policy.
    if let to = entityMapping.destination, mapped.model.entity(named: to)?.isAbstract == false {
      let destination = try objects.entity(to)
      head = [.null, .integer(destination.entityID), .integer(1)]
      for entry in destination.attributes {
        values.append(
          try mapped.policyValue(of: entry.attribute.name, in: entityMapping, from: from, to: to)
            ?? "NULL")
      }
    }
    let conditions = try mapped.conditions(of: entityMapping, from: from, row: "s")
    let own = source.columns.count + 1
    let rows = try connection.prepare(
      """
      SELECT \((["s.Z_PK"] + source.columns + values).joined(separator: ", "))
      FROM src.\(quoted(store.table(of: from)?.table ?? "")) s\(conditions.filter)
      ORDER BY s.Z_PK
      """)
    let offset = mapped.keys[entityMapping.name]?.distance ?? 0
    takenBy = nil
    ownMade = 0
    let name = entityMapping.name
    var (done, sources) = (0, 0)
    defer { source.leave() }
    while try entityMapping.evaluating({ try rows.step() }) {
      let id = ObjectID(entity: from, key: rows.integer(at: 0))
      if head.isEmpty {
        row = nil
      } else {
        head[0] = .integer(id.key + offset)
        row = (id, name, rows.row(own..<own + values.count, behind: head))
      }
      let object = SourceObject(id: id, entity: source)
      source.stand(on: object, in: rows, columns: 1..<own)
      try step("createDestinationInstances", entityMapping, id) {
        try policy.createDestinationInstances(for: object, in: entityMapping, manager: manager)
      }
      source.leave()
      if objects.isFull { try save() }
      done += 1
      sources += 1
      if done == Self.reported {
        try meter.advance(by: done)
        done = 0
      }
    }
    try meter.advance(by: done)
    row = nil
    madeObjects[name, default: MadeObjects()].sources = sources
    madeObjects[name]?.own = ownMade
  }

  func createRelationships(of entityMapping: EntityMapping) throws {
    guard let policy = policies[entityMapping.name] else { return }
    manager.currentEntityMapping = entityMapping
    carrying = try defaultLinks(of: entityMapping, .listed).flatMap(\.statements)
    carryingAll = try defaultLinks(of: entityMapping, .between)
    // What is added now comes after the links that have been made meanwhile.
    objects.forgetLinks()
    let table = mapped.associations(of: entityMapping.name)
    let next = try connection.prepare(
      """
      SELECT DISTINCT destination, entity FROM temp.\(table) WHERE (destination, entity) > (?, ?)
      ORDER BY destination, entity LIMIT \(ObjectContext.batch)
      """)
    var last: [Value] = [.integer(.min), .integer(.min)]
    var isCarried = true
    while true {
      let rows = try next.rows(last)
      guard let end = rows.last else { break }
      for id in rows.compactMap(objects.identifier) {
        let object = try objects.object(id)
        try step("createRelationships", entityMapping, id) {
          try policy.createRelationships(for: object, in: entityMapping, manager: manager)
        }
      }
      let ids = rows.compactMap(objects.identifier)
      carriedRange = ids.count == rows.count && carried == ids ? last + end : nil
      isCarried = isCarried && carriedRange != nil
      last = end
      try save()
      try meter.checkCancelled()
    }
    try step("endRelationshipCreation", entityMapping) {
      try policy.endRelationshipCreation(for: entityMapping, manager: manager)
    }
    try save()
    try write(mirrors.finish(entityMapping.name, isCarried: isCarried))
    (carrying, carryingAll) = ([], [])
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
    let unchanged = "The store is unchanged."
    do {
      try body()
    } catch let error as SQLiteError where error.isInterrupted {
      throw error
    } catch let error as CoreDataError where error.kind == .cancelled {
      throw error
    } catch {
      let known = error as? CoreDataError
      let reason =
        known.map { $0.message + ($0.property.map { " (\($0))" } ?? "") }
        ?? (error as? SQLiteError)?.message ?? "\(error)"
      throw CoreDataError(
        .failed, code: .entityMigrationPolicy,
        "the policy of “\(entityMapping.name)” failed in \(name)" + (id.map { " at \($0)" } ?? "")
          + ": \(reason)", entity: entityMapping.destination ?? entityMapping.source,
        hint: (known?.hint.map { $0 + " " } ?? "") + unchanged)
    }
    guard let error = manager.cancellation else { return }
    throw error as? CoreDataError
      ?? CoreDataError(
        .cancelled, code: .migrationCancelled,
        "the policy of “\(entityMapping.name)” cancelled the migration in \(name): \(error)",
        entity: entityMapping.destination ?? entityMapping.source, hint: unchanged)
  }
}

/// What is known of all that a mapping with a policy made.
struct MadeObjects {
  /// Source objects that were gone through.
  var sources = 0
  /// Those of which the mapping's own object was made: of its destination entity, and under the
  /// source's key moved as the mapping moves keys.
  var own = 0
  /// Whether other objects were associated as well.
  var hasOthers = false

  /// Whether a source object became one object of the destination entity, or none.
  var isPlain: Bool { !hasOthers }
  /// Whether each source object became one.
  var isComplete: Bool { isPlain && own == sources }
}

extension PolicyRun {
  /// Compiled statements that set what the mapping says of relationships.
  ///
  /// Those of all objects in a range leave out what is given otherwise; those of some do not.
  func defaultLinks(
    of entityMapping: EntityMapping, _ objects: CarriedObjects
  ) throws -> [CarriedLinks] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let writer = LinkWriter(schema: mapped.schema, connection: connection)
    // A policy may have associated objects of other entities as well.
    let entities = mapped.model.subtree(of: to).compactMap { mapped.schema.numbers[$0] }
    var carried: [CarriedLinks] = []
    var set: Set<String> = []
    if objects == .between,
      let plain = try plainLinks(of: entityMapping, from: from, to: to)
    {
      carried.append(CarriedLinks(statements: [try connection.prepare(plain.sql)]))
      set = plain.names
    }
    for relationshipMapping in entityMapping.relationships
    where !set.contains(relationshipMapping.name) {
      guard let relationship = mapped.model.relationship(named: relationshipMapping.name, of: to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        let select = try mapped.link(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to
        )?.carried(objects, entities: entities)
      else { continue }
      let statements = try writer.statements(select, relationship: relationship.name, of: to)
      carried.append(
        CarriedLinks(
          statements: try statements.map { try connection.prepare($0) },
          side: mirrors.side(of: relationship.name, in: entityMapping.name)))
    }
    return carried
  }

  /// Writes links that turned out not to be given by the other side.
  func write(_ owed: [MirroredLinks.Owed]) throws {
    for owed in owed {
      for statement in owed.links.statements { try statement.run(first: owed.range) }
    }
  }

  /// Notes that a mapping is associated with more than what it makes by itself: what follows from
  /// that it was not holds up to here.
  func noteOthers(of name: String) throws {
    guard madeObjects[name]?.hasOthers != true else { return }
    madeObjects[name, default: MadeObjects()].hasOthers = true
    try write(mirrors.settleAll())
    guard !carryingAll.isEmpty, let current = manager.currentEntityMapping else { return }
    carryingAll = try defaultLinks(of: current, .between)
  }

  /// UPDATE of the to-ones of all that a mapping made by itself, for keys behind ?1 up to ?3, each
  /// row once.
  ///
  /// - Returns: the statement and the relationships that it sets; `nil` where the keys do not say
  ///   of which source object an object was made.
  private func plainLinks(
    of entityMapping: EntityMapping, from: String, to: String
  ) throws -> (names: Set<String>, sql: String)? {
    let others = mapped.mapping.entityMappings
    guard madeObjects[entityMapping.name]?.isPlain == true,
      let distance = mapped.keys[entityMapping.name]?.distance,
      // Whatever else is of that entity has been made by hand, and has a key beyond all of these.
      others.filter({ $0.destination == to }).count == 1, others.allSatisfy(\.children.isEmpty),
      let table = mapped.schema.table(of: to), let number = mapped.schema.numbers[to]
    else { return nil }
    let known = mapped.knowingKeys(of: Set(madeObjects.filter(\.value.isComplete).keys))
    var links: [(program: LinkProgram, storage: RelationshipStorage, other: String)] = []
    for relationshipMapping in entityMapping.relationships {
      guard
        let (relationship, storage) = plainToOne(relationshipMapping.name, of: entityMapping, to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        case .row = origin.value,
        let link = try known.link(
          relationshipMapping, relationship, origin, of: entityMapping, from: from, to: to,
          mayDangle: true),
        let other = mapped.schema.table(of: relationship.destination)
      else { continue }
      links.append((link, storage, other.name))
    }
    return LinkProgram.update(links, of: number, in: table.name, moved: distance).map {
      (Set(links.map(\.program.relationship)), $0)
    }
  }

  /// A to-one that is set by its own side alone, so that it does not matter when.
  private func plainToOne(
    _ name: String, of entityMapping: EntityMapping, _ to: String
  ) -> (Relationship, RelationshipStorage)? {
    let schema = mapped.schema
    guard let relationship = mapped.model.relationship(named: name, of: to),
      let storage = schema.storage(of: name, in: to), storage.kind == .toOne,
      schema.inverse(of: relationship)?.1.isToMany != false,
      let column = schema.linkColumn(of: name, in: to)
    else { return nil }
    // To the same object at both sides: `boss` and `staff`.
    let sides = entityMapping.relationships.filter {
      schema.linkColumn(of: $0.name, in: to) == column
    }
    return sides.count == 1 || mirrors.isMirrored(column) ? (relationship, storage) : nil
  }
}
