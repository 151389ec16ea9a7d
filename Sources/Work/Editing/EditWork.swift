import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Carries the changes of an edit out on a copy of the store, on whose connection the original is `src`.
struct EditWork {
  let source: Store
  let edit: StoreEdit
  let connection: Connection
  let files: EditedFiles
  let meter: ProgressMeter

  var schema: StoreSchema { source.schema }
  var layout: StoreLayout { source.layout }

  /// A connection to the copy, with the original beside it and what triggers of the store call.
  static func open(
    _ path: String, beside source: Store, _ meter: ProgressMeter
  ) throws
    -> Connection
  {
    // The list of changes, which is attached, has no journal: not defensive.
    let connection = try Connection(path: path, mode: .made, isDefensive: false)
    connection.limitValues()
    connection.onProgress { [meter] in meter.shouldStop }
    try connection.execute(
      """
      PRAGMA main.locking_mode = EXCLUSIVE; PRAGMA main.journal_mode = DELETE;
      PRAGMA main.synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA main.cache_size = -12000;
      PRAGMA foreign_keys = OFF
      """)
    try connection.attachSource(source)
    try connection.defineTriggerFunctions(in: source.triggerStatements)
    for (name, body) in triggerFunctions {
      try connection.defineFunction(name, arguments: -1, isForSchema: true, body)
    }
    return connection
  }

  /// Those of Core Data's functions in triggers that give values.
  private static let triggerFunctions: [(String, @Sendable ([Value]) throws -> Value)] = [
    ("NSCoreDataNow", { _ in .real(CoreDataDate.now) }),
    ("NSCoreDataToUpper", { text($0) { $0.uppercased() } }),
    ("NSCoreDataToLower", { text($0) { $0.lowercased() } }),
    (
      "NSCoreDataCanonical",
      { text($0) { FoldedText.fold($0, ignoringCase: true, ignoringMarks: true) } }
    ),
  ]

  private static func text(_ arguments: [Value], _ change: (String) -> String) -> Value {
    guard case .text(let text)? = arguments.first else { return arguments.first ?? .null }
    return .text(change(text))
  }

  /// - Throws: ``CoreDataError`` of kind usage or refused that names the object and the property.
  func run() throws {
    let gone = try delete()
    if let selection = edit.selection { try compute(selection, without: gone) }
    for object in edit.objects {
      try meter.checkCancelled()
      try set(object, without: gone)
    }
  }

  // MARK: Objects

  /// - Throws: ``CoreDataError`` of kind usage for an object that the store does not have.
  private func requireThere(_ id: ObjectID) throws {
    let table = try layout.knownTable(of: id.entity)
    let number = try connection.value(
      "SELECT Z_ENT FROM main.\(quoted(table.table)) WHERE Z_PK = ?", [.integer(id.key)])?.integer
    guard number == table.entityID else {
      throw CoreDataError(
        .usage, "there is no \(id)", path: source.path, entity: id.entity,
        hint: number.flatMap { source.entityNames[$0] }.map {
          "The object with that key is \(ObjectID(entity: $0, key: id.key))."
        } ?? "Find the object with strata search or strata rows.")
    }
  }

  private func related(_ relationship: String, of id: ObjectID) throws -> [ObjectID] {
    try source.objects(of: relationship, of: id, on: connection)
  }

  /// - Returns: all that is gone.
  private func delete() throws -> Set<ObjectID> {
    guard !edit.deletions.isEmpty else { return [] }
    for id in edit.deletions { try requireThere(id) }
    let reach = try DeletionReach(of: edit.deletions, in: schema, related: related)
    if let object = edit.objects.first(where: { reach.objects.contains($0.id) }) {
      throw CoreDataError(
        .refused, "\(object.id) is to be both changed and deleted", entity: object.id.entity,
        hint: "Leave out one of the two.")
    }
    let unlinking = StageUnlinking(schema: schema, connection: connection)
    for (count, id) in reach.objects.enumerated() {
      if count % 100 == 0 { try meter.checkCancelled() }
      try unlinking.remove(id)
    }
    return Set(reach.objects)
  }

  private func set(_ object: StoreEdit.ObjectEdit, without gone: Set<ObjectID>) throws {
    try requireThere(object.id)
    let table = try layout.knownTable(of: object.id.entity)
    var sets: [String] = []
    var values: [Value] = []
    for case .attribute(let name, let value) in object.assignments {
      let attribute = try table.editable(name, layout)
      guard let column = table.column(of: name) else { continue }
      sets.append("\(quoted(column)) = \(literal(value) ?? "?")")
      if literal(value) == nil {
        values.append(try files.column(of: value, for: attribute, in: table.entity))
      }
    }
    if !sets.isEmpty {
      try connection.run(
        "UPDATE main.\(quoted(table.table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?",
        values + [.integer(object.id.key)])
    }
    for assignment in object.assignments {
      switch assignment {
      case .attribute: continue
      case .toOne(let name, let other):
        try link(name, of: object.id, .set, other.map { [$0] } ?? [], without: gone)
      case .toMany(let name, let change, let others):
        try link(name, of: object.id, change, others, without: gone)
      }
    }
  }

  /// A decimal, whose digits only SQLite turns into what the column holds.
  private func literal(_ value: AttributeValue) -> String? {
    guard case .decimal(let digits) = value,
      digits.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) })
    else { return nil }
    return "CAST('\(digits)' AS DECIMAL)"
  }

  // MARK: Relationships

  /// Changes which objects a relationship references.
  ///
  /// - Parameter gone: objects that the edit has deleted: taking one out of a relationship that it was in is done.
  func link(
    _ name: String, of id: ObjectID, _ change: StoreEdit.ToManyChange, _ named: [ObjectID],
    without gone: Set<ObjectID>
  ) throws {
    guard let storage = schema.storage(of: name, in: id.entity),
      let relationship = schema.model.relationship(named: name, of: id.entity)
    else { throw schema.model.unknown(.relationship, name, of: id.entity) }
    var others = named
    if change == .remove, !gone.isDisjoint(with: others) {
      let former = Set(try source.objects(of: name, of: id, on: source.connection))
      others.removeAll { gone.contains($0) && former.contains($0) }
    }
    if let other = others.first(where: gone.contains) {
      throw CoreDataError(
        .refused, "\(other) is to be deleted by the same edit", entity: id.entity, property: name,
        hint: "Leave out one of the two. The store is unchanged.")
    }
    for other in others {
      do { try requireThere(other) } catch var error as CoreDataError {
        (error.entity, error.property) = (id.entity, name)
        throw error
      }
    }
    let before = try related(name, of: id)
    let chosen = Set(others)
    let leaving: [ObjectID] =
      switch change {
      case .set: before.filter { !chosen.contains($0) }
      case .add: []
      case .remove: before.filter { chosen.contains($0) }
      }
    if change == .remove, let stranger = others.first(where: { !before.contains($0) }) {
      throw CoreDataError(
        .usage, "\(stranger) is not in the relationship", entity: id.entity, property: name)
    }
    let coming = change == .remove ? [] : others.filter { !before.contains($0) }
    let unlinking = StageUnlinking(schema: schema, connection: connection)
    for other in leaving {
      if relationship.isToMany {
        try unlink(storage, id, other)
      } else {
        try unlinking.empty(relationship, of: id)
      }
    }
    if !coming.isEmpty {
      let statement = try LinkStatement(
        name, of: id.entity, schema: schema, connection: connection)
      for (position, other) in coming.enumerated() {
        if !relationship.isToMany { try unlinking.empty(relationship, of: id) }
        try unlinking.leave(relationship, other)
        try statement.write(id, other, position: Int64(position) + 1, schema: schema)
      }
    }
    if change != .remove, relationship.isToMany, storage.position != nil {
      // Where the last order key is the greatest there is, what comes does not stand behind it by itself.
      try order(storage, of: id, change == .set ? others : before + coming, name)
    }
  }

  private func unlink(_ storage: RelationshipStorage, _ owner: ObjectID, _ other: ObjectID) throws {
    let (one, two) = ("t.\(quoted(storage.owner))", "t.\(quoted(storage.destination))")
    var condition = "(\(one) = ?1 AND \(two) = ?2)"
    if storage.kind == .reflexive { condition += " OR (\(one) = ?2 AND \(two) = ?1)" }
    let removal = storage.removal(in: "main.", where: condition)
    guard storage.kind == .inverseOfToOne,
      let back = schema.model.relationship(named: inverse(of: storage, owner), of: other.entity),
      let own = schema.storage(of: back.name, in: other.entity)
    else { return try connection.run(removal, [.integer(owner.key), .integer(other.key)]) }
    // The to-one's own columns go with it.
    try connection.run(
      own.emptying(
        in: "main.", where: "Z_PK = ?2 AND \(quoted(own.destination)) = ?1"),
      [.integer(owner.key), .integer(other.key)])
  }

  /// The name of the to-one that a to-many is the inverse of.
  private func inverse(of storage: RelationshipStorage, _ owner: ObjectID) -> String {
    for entry in schema.entityTable(of: owner.entity)?.relationships ?? []
    where entry.storage == storage {
      return entry.relationship.inverse ?? ""
    }
    return ""
  }

  /// Gives the objects of an ordered relationship positions in that order, unless they stand in it.
  private func order(
    _ storage: RelationshipStorage, of id: ObjectID, _ wanted: [ObjectID], _ name: String
  ) throws {
    guard let position = storage.position, try related(name, of: id) != wanted else { return }
    for (place, other) in wanted.enumerated() {
      try connection.run(
        """
        UPDATE main.\(quoted(storage.table)) SET \(quoted(position)) = ?
        WHERE \(quoted(storage.owner)) = ? AND \(quoted(storage.destination)) = ?
        """,
        [
          .integer((Int64(place) + 2) * OrderKey.spacing), .integer(id.key), .integer(other.key),
        ])
    }
  }
}

extension Store {
  /// The objects that a relationship of an object references in `main` of a connection.
  fileprivate func objects(
    of relationship: String, of id: ObjectID, on connection: Connection
  ) throws -> [ObjectID] {
    try schema.relatedObjects(relationship, of: id, on: connection) { entityNames[$0] }
  }

  /// The objects that are deleted with these by the delete rules, these first.
  ///
  /// - Parameter others: objects that go as well.
  /// - Throws: ``CoreDataError`` of kind refused, 1600, where a relationship denies it.
  package func objectsDeleted(
    with ids: [ObjectID], beside others: Set<ObjectID> = []
  ) throws -> [ObjectID] {
    try DeletionReach(of: ids, beside: others, in: schema) {
      try objects(of: $0, of: $1, on: connection)
    }.objects
  }
}
