import ManagedModel
import ManagedStore
import SQLite

/// How objects of one destination entity are written, by compiled statements.
final class DestinationEntity {
  let name: String
  let model: Model
  let entityID: Int64
  let root: String
  let attributes: [EntityTable.AttributeColumn]
  let columns: [String]
  private let indexes: [String: Int]
  private let table: String
  private let connection: Connection
  private let external: ExternalFolder
  private let insertion: Statement
  private var byKey: Statement?
  private var update: Statement?
  /// Objects made so far.
  var made = 0
  /// What a new object starts with.
  let initial: [Value]

  init(_ entity: String, schema: StoreSchema, connection: Connection, files: StoreFiles) throws {
    let place = try schema.knownTable(of: entity)
    name = entity
    model = schema.model
    entityID = place.entityID
    root = schema.model.root(of: entity)
    attributes = place.attributes
    table = place.table
    self.connection = connection
    external = ExternalFolder(files)
    columns = ["Z_PK", "Z_ENT", "Z_OPT"] + place.attributes.map(\.column)
    indexes = Dictionary(
      first: place.attributes.enumerated().map { ($0.element.attribute.name, $0.offset + 3) })
    let marks = [String](repeating: "?", count: columns.count).joined(separator: ", ")
    insertion = try connection.prepare(
      """
      INSERT INTO main.\(quoted(table)) (\(columns.map { quoted($0) }.joined(separator: ", ")))
      VALUES (\(marks))
      """)
    let defaults = place.attributes.map {
      $0.attribute.defaultValue?.constant(for: $0.attribute).sql ?? "NULL"
    }
    let row =
      try connection.rows("SELECT " + (defaults + ["0"]).joined(separator: ", ")).first ?? []
    initial = [.null, .integer(place.entityID), .integer(1)] + row.dropLast()
  }

  func index(of attribute: String) throws -> Int {
    guard let index = indexes[attribute] else {
      throw CoreDataError(
        unknown: "attribute", attribute, of: name, known: indexes.keys.sorted())
    }
    return index
  }

  func insert(_ values: [Value]) throws { try insertion.run(values) }

  /// Writes all attributes of an object that is in the file.
  func update(_ values: [Value]) throws {
    guard !attributes.isEmpty, let key = values.first else { return }
    if update == nil {
      let sets = attributes.map { "\(quoted($0.column)) = ?" }.joined(separator: ", ")
      update = try connection.prepare("UPDATE main.\(quoted(table)) SET \(sets) WHERE Z_PK = ?")
    }
    try update?.run(Array(values.dropFirst(3)) + [key])
  }

  func values(of key: Int64) throws -> [Value] {
    let statement =
      try byKey
      ?? connection.prepare(
        """
        SELECT \(columns.map { quoted($0) }.joined(separator: ", ")) FROM main.\(quoted(table))
        WHERE Z_PK = ?
        """)
    byKey = statement
    return try statement.firstRow([.integer(key)])
  }

  /// What a column's value means.
  ///
  /// - Throws: ``CoreDataError`` for a file of external data that is there and cannot be read.
  func value(_ value: Value, at index: Int) throws -> AttributeValue {
    let attribute = attributes[index - 3].attribute
    return AttributeValue(
      column: attribute.allowsExternalBinaryDataStorage
        ? try ExternalContent.content(value, external) : value, of: attribute)
  }

  /// A value as its column holds it.
  func column(_ value: AttributeValue, at index: Int) throws -> Value {
    try attributes[index - 3].attribute.column(of: value, in: name)
  }
}

/// How objects of one source entity are read, by compiled statements.
final class SourceEntity {
  let scope: ExpressionScope
  let attributes: [EntityTable.AttributeColumn]
  let indexes: [String: Int]
  private let table: EntityTable
  // The run has this object: holding it in turn would keep the connection, and its lock on what is
  // the store by then, for good.
  private unowned let run: PolicyRun
  private var byKey: Statement?
  private var relations: [String: (statement: Statement, destination: String)] = [:]

  init(_ entity: String, run: PolicyRun) throws {
    let store = run.store
    scope = ExpressionScope(store: store, entity: entity)
    table = try store.layout.knownTable(of: entity)
    self.run = run
    attributes = table.attributes
    indexes = Dictionary(
      first: table.attributes.enumerated().map { ($0.element.attribute.name, $0.offset) })
  }

  /// SQL of the attributes' values in a row `s`, in their order.
  var columns: [String] { attributes.map { $0.content(in: "s") } }

  var isThere: Bool { run.store.database.contains(table.table) }

  /// The object whose row a statement stands on, that statement, and which columns are the values: most
  /// policies look at few objects' values.
  private var standing: (object: Unmanaged<SourceObject>, rows: Statement, columns: Range<Int>)?

  func stand(on object: SourceObject, in rows: Statement, columns: Range<Int>) {
    standing = (Unmanaged.passUnretained(object), rows, columns)
  }

  /// The row is no longer stood on.
  func leave() { standing = nil }

  func values(of object: SourceObject) throws -> [Value] {
    if let standing, standing.object.toOpaque() == Unmanaged.passUnretained(object).toOpaque() {
      return standing.rows.row(standing.columns)
    }
    return try values(of: object.id.key)
  }

  private func values(of key: Int64) throws -> [Value] {
    let statement =
      try byKey
      ?? run.connection.prepare(
        """
        SELECT \((columns + ["1"]).joined(separator: ", ")) FROM src.\(quoted(table.table)) s
        WHERE s.Z_PK = ?
        """)
    byKey = statement
    return try statement.firstRow([.integer(key)])
  }

  func related(_ relationship: String, of key: Int64) throws -> [SourceObject] {
    let (statement, destination) = try relation(relationship)
    return try statement.rows([.integer(key)]).compactMap { row in
      guard let key = row[0].integer else { return nil }
      let entity = row[1].integer.flatMap { run.store.entityNames[$0] } ?? destination
      return try run.source(ObjectID(entity: entity, key: key))
    }
  }

  private func relation(_ name: String) throws -> (Statement, String) {
    if let known = relations[name] { return known }
    guard let relationship = run.store.model.relationship(named: name, of: scope.entity),
      let storage = table.storage(of: name),
      let other = run.store.table(of: relationship.destination)
    else { throw scope.unknown(name, in: scope.entity) }
    let made = (
      statement: try run.connection.prepare(storage.objects(in: other.table, schema: "src.")),
      destination: relationship.destination
    )
    relations[name] = made
    return made
  }
}

/// The compiled statements that link one object with another, on both sides where both keep a key.
package final class LinkStatement {
  package let relationship: Relationship
  private let number: Int64
  private let writing: [Statement]
  private let clearing: [Statement]
  /// The greatest position in an order that there is: what is added comes after it.
  private let base: Int64

  /// - Throws: ``CoreDataError`` of kind usage for a relationship that the entity does not have or the store not keep.
  package init(
    _ name: String, of entity: String, schema: StoreSchema, connection: Connection
  ) throws {
    guard let relationship = schema.model.relationship(named: name, of: entity) else {
      throw schema.model.unknown(.relationship, name, of: entity)
    }
    guard let storage = schema.storage(of: name, in: entity) else {
      throw CoreDataError(
        .usage, "the relationship is not kept in the store", entity: entity, property: name)
    }
    self.relationship = relationship
    number = schema.numbers[entity] ?? 0
    let back = schema.inverse(of: relationship).flatMap {
      schema.storage(of: $0.1.name, in: relationship.destination)
    }
    var writing: [String] = []
    var clearing: [String] = []
    if storage.kind == .toOne {
      clearing = [storage.emptying(in: "main.", where: "Z_PK = ?1")]
      if let back, back.kind == .toOne {
        // Of one to one, both former partners are left alone.
        let leaving = back.emptying(in: "main.", where: storage.isLed(by: "?1"))
        writing = [
          storage.emptying(in: "main.", where: back.isLed(by: "?2")), leaving,
          back.setting(key: "?1", number: "?4", row: "?2"),
        ]
        clearing.insert(leaving, at: 0)
      }
      writing.append(storage.setting(key: "?2", number: "?5", row: "?1"))
    } else if storage.kind == .inverseOfToOne, let back {
      writing = [back.setting(key: "?1", number: "?4", row: "?2")]
    } else {
      writing = [storage.insertion(in: "main.", inversePosition: "?3")]
    }
    self.writing = try writing.map { try connection.prepare($0) }
    self.clearing = try clearing.map { try connection.prepare($0) }
    base = try storage.numberings.reduce(0) { try max($0, $1.last(on: connection)) }
  }

  /// - Throws: ``CoreDataError`` for objects that the relationship cannot reference, or where one is set
  /// in a to-many or added to a to-one.
  func requireFit(
    _ others: [DestinationObject], of owner: DestinationObject, isToMany: Bool, in model: Model
  ) throws {
    guard relationship.isToMany == isToMany else {
      throw CoreDataError(
        .usage,
        isToMany ? "the relationship is to-one: set it" : "the relationship is to-many: add to it",
        entity: owner.id.entity, property: relationship.name)
    }
    for other in others where !model.isKind(other.id.entity, of: relationship.destination) {
      throw CoreDataError(
        .usage, "\(other.id) is no \(relationship.destination)",
        entity: owner.id.entity, property: relationship.name)
    }
  }

  /// Links two objects.
  ///
  /// - Parameter position: its place among the links that the statement writes, from 1 on.
  package func write(
    _ owner: ObjectID, _ other: ObjectID, position: Int64, schema: StoreSchema
  ) throws {
    try run(
      writing,
      [
        .integer(owner.key), .integer(other.key), .integer(base + position * OrderKey.spacing),
        .integer(schema.numbers[owner.entity] ?? number),
        .integer(schema.numbers[other.entity] ?? 0),
      ])
  }

  /// Empties a to-one.
  func clear(_ owner: ObjectID) throws { try run(clearing, [.integer(owner.key)]) }

  private func run(_ statements: [Statement], _ values: [Value]) throws {
    for statement in statements {
      try statement.run(Array(values.prefix(statement.parameterCount)))
    }
  }
}

extension RelationshipStorage {
  /// Sets the key and all that goes with it in an object's own row; ?3 is the position.
  fileprivate func setting(key: String, number: String, row: String) -> String {
    let column = quoted(destination)
    var sets = ["\(column) = \(key)"]
    if let entityColumn { sets.append("\(quoted(entityColumn)) = \(number)") }
    if let order = inversePosition.map({ quoted($0) }) {
      // A link that stays with the same object keeps its order key.
      sets.append(
        "\(order) = CASE WHEN \(column) IS \(key) THEN coalesce(\(order), ?3) ELSE ?3 END")
    }
    return "UPDATE main.\(quoted(table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = \(row)"
  }

  /// True of the row that this to-one of an object references.
  fileprivate func isLed(by row: String) -> String {
    "Z_PK = (SELECT \(quoted(destination)) FROM main.\(quoted(table)) WHERE Z_PK = \(row))"
  }
}
