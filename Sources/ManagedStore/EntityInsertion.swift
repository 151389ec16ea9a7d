import ManagedModel
import SQLite

/// The compiled INSERT of one entity, with the place of each property in it.
struct EntityInsertion {
  struct AttributeSlot {
    let index: Int
    let attribute: Attribute
  }

  struct ToOneSlot {
    let index: Int
    let entityIndex: Int?
    let orderIndex: Int?
    let destination: String
  }

  let entity: String
  let root: String
  let number: Int64
  let statement: Statement
  let columnCount: Int
  let attributes: [String: AttributeSlot]
  let toOnes: [String: ToOneSlot]
  let links: [String: LinkInsertion]

  init(_ entity: String, schema: StoreSchema, connection: Connection) throws {
    let model = schema.model
    guard let place = schema.entityTable(of: entity), let table = schema.table(of: entity) else {
      throw CoreDataError(
        .usage, "the model has no such entity", entity: entity,
        hint: "Its entities: " + model.entities.map(\.name).joined(separator: ", "))
    }
    guard model.entity(named: entity)?.isAbstract == false else {
      throw CoreDataError(.usage, "an abstract entity has no objects", entity: entity)
    }
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    func index(_ column: String) -> Int {
      columns.append(column)
      return columns.count - 1
    }
    var attributes: [String: AttributeSlot] = [:]
    var toOnes: [String: ToOneSlot] = [:]
    var links: [String: LinkInsertion] = [:]
    for entry in place.attributes {
      attributes[entry.attribute.name] = AttributeSlot(
        index: index(entry.column), attribute: entry.attribute)
    }
    for entry in place.relationships {
      let relationship = entry.relationship
      switch entry.storage {
      case .toOne(let column, let entityColumn):
        let declarer = model.declaringEntity(of: relationship.name, in: entity) ?? entity
        let order = table.column(.toOneOrder(entity: declarer, name: relationship.name))?.name
        toOnes[relationship.name] = ToOneSlot(
          index: index(column), entityIndex: entityColumn.map(index),
          orderIndex: order.map(index), destination: relationship.destination)
      case .foreignKey where schema.inverse(of: relationship) != nil, .none: break
      default:
        links[relationship.name] = try LinkInsertion(
          relationship, entry.storage, schema: schema, connection: connection)
      }
    }
    self.entity = entity
    root = model.root(of: entity)
    number = place.number
    columnCount = columns.count
    self.attributes = attributes
    self.toOnes = toOnes
    self.links = links
    let marks = [String](repeating: "?", count: columns.count).joined(separator: ", ")
    statement = try connection.prepare(
      """
      INSERT INTO \(quoted(place.table)) (\(columns.map { quoted($0) }.joined(separator: ", ")))
      VALUES (\(marks))
      """)
  }

  func unknown(_ property: String, as what: String) -> CoreDataError {
    let known = attributes.keys.sorted() + toOnes.keys.sorted() + links.keys.sorted()
    return CoreDataError(
      .usage, "the entity has no such \(what)", entity: entity, property: property,
      hint: "It takes: " + known.joined(separator: ", "))
  }
}

/// The compiled statement that links an object to those of a to-many relationship.
struct LinkInsertion {
  private let statement: Statement
  private let name: String
  private let destination: String
  private let model: Model

  init(
    _ relationship: Relationship, _ storage: RelationshipStorage, schema: StoreSchema,
    connection: Connection
  ) throws {
    name = relationship.name
    destination = relationship.destination
    model = schema.model
    // Parameters: owner, destination, position in the relationship, position in its inverse.
    let sql: String
    switch storage {
    case .join(let table, let owner, let other, let order):
      var columns = [(owner, "?1"), (other, "?2")]
      if let order { columns.append((order, "?3")) }
      if let join = schema.joins.first(where: { $0.name == table }) {
        let inverse = join.first == owner ? join.firstOrder : join.secondOrder
        if let inverse { columns.append((inverse, "?4")) }
      }
      sql = """
        INSERT OR IGNORE INTO \(quoted(table)) (\(columns.map { quoted($0.0) }.joined(separator: ", ")))
        VALUES (\(columns.map(\.1).joined(separator: ", ")))
        """
    case .reflexive(let table, let first, let second):
      sql = """
        INSERT INTO \(quoted(table)) (\(quoted(first)), \(quoted(second))) SELECT ?1, ?2
        WHERE NOT EXISTS (SELECT 1 FROM \(quoted(table)) WHERE \(quoted(first)) = ?2
        AND \(quoted(second)) = ?1 UNION ALL SELECT 1 FROM \(quoted(table))
        WHERE \(quoted(first)) = ?1 AND \(quoted(second)) = ?2)
        """
    case .foreignKey(let table, let column, let order):
      sql = """
        UPDATE \(quoted(table)) SET \(quoted(column)) = ?1\
        \(order.map { ", \(quoted($0)) = ?3" } ?? "") WHERE Z_PK = ?2
        """
    case .toOne, .none: sql = "SELECT 1"
    }
    statement = try connection.prepare(sql)
  }

  func write(_ ids: [ObjectID], of owner: Int64) throws {
    for (position, id) in ids.enumerated() {
      guard model.isKind(id.entity, of: destination) else {
        throw CoreDataError(.usage, "\(id) is no \(destination)", property: name)
      }
      let values: [Value] = [
        .integer(owner), .integer(id.key), .integer(OrderKey.of(position: position)),
        .integer(OrderKey.of(key: owner)),
      ]
      try statement.bind(Array(values.prefix(statement.parameterCount)))
      try statement.step()
    }
  }
}
