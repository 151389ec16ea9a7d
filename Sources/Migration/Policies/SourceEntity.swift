import ManagedModel
import ManagedStore
import SQLite

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
    guard let table = store.table(of: entity) else {
      throw CoreDataError(.usage, "the source has no such entity", entity: entity)
    }
    self.table = table
    self.run = run
    attributes = table.attributes
    indexes = Dictionary(
      table.attributes.enumerated().map { ($0.element.attribute.name, $0.offset) }
    ) { first, _ in first }
  }

  /// SQL of the attributes' values in a row `s`, in their order.
  var columns: [String] {
    attributes.map { entry in
      let place = "s." + quoted(entry.column)
      return entry.attribute.allowsExternalBinaryDataStorage ? "strata_content(\(place))" : place
    }
  }

  /// FROM and WHERE of the rows of exactly this entity.
  var from: String {
    let isOnly = table.isWholeTable && table.numbers.count == 1
    return "src.\(quoted(table.table)) s"
      + (isOnly ? "" : " WHERE s.Z_ENT = \(table.number)")
  }

  var isThere: Bool { run.store.database.contains(table.table) }

  func values(of key: Int64) throws -> [Value] {
    if byKey == nil {
      byKey = try run.connection.prepare(
        """
        SELECT \((columns + ["1"]).joined(separator: ", ")) FROM src.\(quoted(table.table)) s
        WHERE s.Z_PK = ?
        """)
    }
    guard let byKey else { return [] }
    try byKey.bind([.integer(key)])
    defer { byKey.reset() }
    return try byKey.step() ? byKey.row() : []
  }

  func related(_ relationship: String, of key: Int64) throws -> [SourceObject] {
    let (statement, destination) = try relation(relationship)
    try statement.bind([.integer(key)])
    defer { statement.reset() }
    var ids: [ObjectID] = []
    while try statement.step() {
      let number = statement.value(at: 1).integer
      ids.append(
        ObjectID(
          entity: number.flatMap { run.store.entityNames[$0] } ?? destination,
          key: statement.integer(at: 0)))
    }
    return try ids.map { try run.source($0) }
  }

  private func relation(_ name: String) throws -> (Statement, String) {
    if let known = relations[name] { return known }
    guard let relationship = run.store.model.relationship(named: name, of: scope.entity),
      let storage = table.storage(of: name),
      let other = run.store.table(of: relationship.destination)
    else { throw scope.unknown(name, in: scope.entity) }
    let sql: String
    if case .toOne(let column, _) = storage {
      sql = """
        SELECT d.Z_PK, d.Z_ENT FROM src.\(quoted(table.table)) s
        JOIN src.\(quoted(other.table)) d ON d.Z_PK = s.\(quoted(column)) WHERE s.Z_PK = ?
        """
    } else if let edges = run.store.edges(of: name, in: scope.entity) {
      var all = edges
      if case .reflexive(let join, let first, let second) = storage {
        all = """
          SELECT owner, destination, position FROM (\(edges)) UNION
          SELECT \(quoted(second)), \(quoted(first)), NULL FROM src.\(quoted(join))
          """
      }
      sql = """
        SELECT d.Z_PK, d.Z_ENT FROM (\(all)) e
        JOIN src.\(quoted(other.table)) d ON d.Z_PK = e.destination
        WHERE e.owner = ? ORDER BY e.position, d.Z_PK
        """
    } else {
      throw scope.unknown(name, in: scope.entity)
    }
    let made = (statement: try run.connection.prepare(sql), destination: relationship.destination)
    relations[name] = made
    return made
  }
}

/// How objects of one destination entity are written, by compiled statements.
final class DestinationEntity {
  let name: String
  let number: Int64
  let root: String
  let attributes: [EntityTable.AttributeColumn]
  let columns: [String]
  private let indexes: [String: Int]
  private let table: String
  private let connection: Connection
  private let insertion: Statement
  private var byKey: Statement?
  private var update: Statement?
  /// What a new object starts with.
  let initial: [Value]

  init(_ entity: String, schema: StoreSchema, connection: Connection) throws {
    guard let place = schema.entityTable(of: entity),
      let declared = schema.model.entity(named: entity)
    else {
      throw CoreDataError(
        .usage, "the destination model has no such entity", entity: entity,
        hint: "Its entities: " + schema.model.entities.map(\.name).joined(separator: ", "))
    }
    guard !declared.isAbstract else {
      throw CoreDataError(.usage, "an abstract entity has no objects", entity: entity)
    }
    name = entity
    number = place.number
    root = schema.model.root(of: entity)
    attributes = place.attributes
    table = place.table
    self.connection = connection
    columns = ["Z_PK", "Z_ENT", "Z_OPT"] + place.attributes.map(\.column)
    indexes = Dictionary(
      place.attributes.enumerated().map { ($0.element.attribute.name, $0.offset + 3) }
    ) { first, _ in first }
    let marks = [String](repeating: "?", count: columns.count).joined(separator: ", ")
    insertion = try connection.prepare(
      """
      INSERT INTO main.\(quoted(table)) (\(columns.map { quoted($0) }.joined(separator: ", ")))
      VALUES (\(marks))
      """)
    let defaults = place.attributes.map {
      $0.attribute.defaultValue?.sqlLiteral(for: $0.attribute) ?? "NULL"
    }
    let row =
      try connection.rows("SELECT " + (defaults + ["0"]).joined(separator: ", ")).first ?? []
    initial = [.null, .integer(place.number), .integer(1)] + row.dropLast()
  }

  func index(of attribute: String) throws -> Int {
    guard let index = indexes[attribute] else {
      throw CoreDataError(
        .usage, "the entity has no such attribute", entity: name, property: attribute,
        hint: "It has: " + indexes.keys.sorted().joined(separator: ", "))
    }
    return index
  }

  func insert(_ values: [Value]) throws {
    try insertion.bind(values)
    try insertion.step()
    insertion.reset()
  }

  /// Writes all attributes of an object that is in the file.
  func update(_ values: [Value]) throws {
    guard !attributes.isEmpty, let key = values.first else { return }
    if update == nil {
      let sets = attributes.map { "\(quoted($0.column)) = ?" }.joined(separator: ", ")
      update = try connection.prepare(
        "UPDATE main.\(quoted(table)) SET \(sets) WHERE Z_PK = ?")
    }
    try update?.bind(Array(values.dropFirst(3)) + [key])
    try update?.step()
    update?.reset()
  }

  func values(of key: Int64) throws -> [Value] {
    if byKey == nil {
      byKey = try connection.prepare(
        """
        SELECT \(columns.map { quoted($0) }.joined(separator: ", ")) FROM main.\(quoted(table))
        WHERE Z_PK = ?
        """)
    }
    guard let byKey else { return [] }
    try byKey.bind([.integer(key)])
    defer { byKey.reset() }
    return try byKey.step() ? byKey.row() : []
  }

  /// A value as its column holds it.
  func column(_ value: AttributeValue, at index: Int) throws -> Value {
    let attribute = attributes[index - 3].attribute
    switch (attribute.type, value) {
    case (_, .null): return .null
    case (.integer16, .integer(let number)), (.integer32, .integer(let number)),
      (.integer64, .integer(let number)):
      return .integer(number)
    case (.boolean, .boolean(let flag)): return .integer(flag ? 1 : 0)
    case (.double, .double(let number)), (.float, .double(let number)): return .real(number)
    case (.double, .integer(let number)), (.float, .integer(let number)):
      return .real(Double(number))
    case (.decimal, .decimal(let digits)): return .text(digits)
    case (.decimal, .integer(let number)): return .integer(number)
    case (.string, .string(let text)), (.uri, .uri(let text)), (.uri, .string(let text)):
      return .text(text)
    case (.date, .date(let seconds)): return .real(seconds)
    case (.uuid, .uuid(let bytes)) where bytes.count == 16: return .blob(bytes)
    case (.binary, .bytes(let bytes)), (.transformable, .bytes(let bytes)):
      return .blob(attribute.allowsExternalBinaryDataStorage ? [1] + bytes : bytes)
    default:
      throw CoreDataError(
        .usage, "the value does not fit the type \(attribute.type.name)", entity: name,
        property: attribute.name)
    }
  }
}
