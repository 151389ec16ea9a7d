import ManagedModel
import SQLite
import StoreTables

/// The compiled INSERT of one entity, with the place of each property in it.
final class EntityInsertion {
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

  struct OwnerSlot {
    let index: Int
    let orderIndex: Int?
  }

  let entity: String
  let root: String
  let entityID: Int64
  let statement: Statement
  let columnCount: Int
  let attributes: [String: AttributeSlot]
  let toOnes: [String: ToOneSlot]
  let links: [String: LinkInsertion]
  /// Places of the owners' keys of to-manys without an inverse, by their declaring entity and name.
  let owners: [String: OwnerSlot]

  init(_ entity: String, schema: StoreSchema, connection: Connection) throws {
    let model = schema.model
    let place = try schema.knownTable(of: entity)
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
      // What a to-one inverse keeps is written from there.
      guard let storage = entry.storage, storage.kind != .inverseOfToOne else { continue }
      let relationship = entry.relationship
      if let column = storage.toOneColumn {
        toOnes[relationship.name] = ToOneSlot(
          index: index(column), entityIndex: storage.entityColumn.map(index),
          orderIndex: storage.inversePosition.map(index), destination: relationship.destination)
      } else {
        links[relationship.name] = LinkInsertion(
          relationship: relationship, model: model,
          statement: try connection.prepare(storage.insertion()))
      }
    }
    var owners: [String: OwnerSlot] = [:]
    if let table = schema.table(of: entity) {
      for column in table.columns {
        guard case .owner(let owner, let name) = column.content,
          column.content.isHeld(by: entity, in: model)
        else { continue }
        let order = table.column(.ownerOrder(entity: owner, name: name))?.name
        owners["\(owner).\(name)"] = OwnerSlot(
          index: index(column.name), orderIndex: order.map(index))
      }
    }
    self.owners = owners
    self.entity = entity
    root = model.root(of: entity)
    entityID = place.entityID
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

  /// The values of a row of which only the object is known.
  func row(_ key: Int64) -> [Value] {
    var values = [Value](repeating: .null, count: columnCount)
    values[0] = .integer(key)
    values[1] = .integer(entityID)
    values[2] = .integer(1)
    return values
  }

  /// Binds a row of which only the object is known.
  func begin(_ key: Int64) throws {
    statement.clear()
    try statement.bind(.integer(key), at: 0)
    try statement.bind(.integer(entityID), at: 1)
    try statement.bind(.integer(1), at: 2)
  }

  func unknown(_ property: String, as what: String) -> CoreDataError {
    CoreDataError(
      unknown: what, property, of: entity,
      known: attributes.keys.sorted() + toOnes.keys.sorted() + links.keys.sorted())
  }
}

/// The compiled statement that links an object to those of a to-many relationship.
final class LinkInsertion {
  private let relationship: Relationship
  private let model: Model
  /// Its parameters: owner, destination, position in the relationship, position in its inverse.
  private let statement: Statement

  init(relationship: Relationship, model: Model, statement: Statement) {
    self.relationship = relationship
    self.model = model
    self.statement = statement
  }

  func write(_ ids: [ObjectID], of owner: Int64) throws {
    for id in ids {
      let destination = relationship.destination
      guard model.isKind(id.entity, of: destination) else {
        throw CoreDataError(.usage, "\(id) is no \(destination)", property: relationship.name)
      }
    }
    try write(ids.map(\.key), of: owner)
  }

  /// The same for keys of objects that the relationship can reference.
  ///
  /// - Parameter inversePositions: the owner's place among those of each object; by its key if there is none.
  func write(_ keys: [Int64], of owner: Int64, inversePositions: [Int?] = []) throws {
    let count = statement.parameterCount
    for (position, key) in keys.enumerated() {
      statement.clear()
      try statement.bind(.integer(owner), at: 0)
      try statement.bind(.integer(key), at: 1)
      if count > 2 { try statement.bind(.integer(OrderKey.of(position: position)), at: 2) }
      if count > 3 {
        let place = inversePositions.indices.contains(position) ? inversePositions[position] : nil
        try statement.bind(
          .integer(place.map { OrderKey.of(position: $0) } ?? OrderKey.of(key: owner)), at: 3)
      }
      try statement.step()
    }
  }
}
