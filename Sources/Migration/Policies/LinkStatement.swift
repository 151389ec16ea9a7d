import ManagedModel
import ManagedStore
import SQLite

/// The compiled statements that link one object with another, on both sides where both keep a key.
final class LinkStatement {
  let relationship: Relationship
  private let number: Int64
  private let writing: [Statement]
  private let clearing: [Statement]
  /// The greatest position in an order that there is: what is added comes after it.
  private let base: Int64

  init(
    _ name: String, of entity: String, schema: StoreSchema, connection: Connection
  ) throws {
    guard let relationship = schema.model.relationship(named: name, of: entity),
      let table = schema.entityTable(of: entity), let storage = table.storage(of: name)
    else {
      let known = schema.model.relationships(of: entity).map(\.name)
      throw CoreDataError(
        .usage, "the entity has no such relationship", entity: entity, property: name,
        hint: known.isEmpty ? nil : "It has: " + known.joined(separator: ", "))
    }
    self.relationship = relationship
    number = table.number
    let own = KeptToOne(name, of: entity, schema)
    let back = schema.inverse(of: relationship).flatMap {
      KeptToOne($0.1.name, of: relationship.destination, schema)
    }
    var writing: [String] = []
    var clearing: [String] = []
    var orders = [own?.numbering, back?.numbering].compactMap { $0 }
    switch storage {
    case .toOne:
      guard let own else { break }
      if let back {
        // Of one to one, both former partners are left alone.
        writing += [
          own.emptying(whereLedTo: "?2", by: back), back.emptying(whereLedTo: "?1", by: own),
        ]
        clearing.append(back.emptying(whereLedTo: "?1", by: own))
        writing.append(back.setting(key: 1, number: 4, row: 2))
      }
      writing.append(own.setting(key: 2, number: 5, row: 1))
      clearing.append(own.emptying("?1"))
    case .foreignKey(let other, let column, let order):
      if let back {
        writing = [back.setting(key: 1, number: 4, row: 2)]
      } else {
        orders = [order].compactMap { $0 }.map {
          OrderNumbering(table: other, order: $0, owner: column, key: "Z_PK")
        }
        let position = order.map { ", \(quoted($0)) = ?3" } ?? ""
        writing = [
          "UPDATE main.\(quoted(other)) SET \(quoted(column)) = ?1\(position) WHERE Z_PK = ?2"
        ]
      }
    case .join(let join, let owner, let other, _):
      let declared = schema.joins.first { $0.name == join }
      orders = declared?.numberings ?? []
      let positions = orders.map(\.order)
      let columns = ([owner, other] + positions).map { quoted($0) }.joined(separator: ", ")
      let values = (["?1", "?2"] + positions.map { _ in "?3" }).joined(separator: ", ")
      writing = ["INSERT OR IGNORE INTO main.\(quoted(join)) (\(columns)) VALUES (\(values))"]
    case .reflexive(let join, let first, let second):
      writing = [
        """
        INSERT INTO main.\(quoted(join)) (\(quoted(first)), \(quoted(second))) SELECT ?1, ?2
        WHERE NOT EXISTS (SELECT 1 FROM main.\(quoted(join))
        WHERE (\(quoted(first)), \(quoted(second))) IN ((?1, ?2), (?2, ?1)))
        """
      ]
    case .none: break
    }
    guard !writing.isEmpty else {
      throw CoreDataError(
        .usage, "the relationship is not kept in the store", entity: entity, property: name)
    }
    self.writing = try writing.map { try connection.prepare($0) }
    self.clearing = try clearing.map { try connection.prepare($0) }
    base = try orders.reduce(0) { try max($0, $1.last(on: connection)) }
  }

  /// - Throws: ``CoreDataError`` for objects that the relationship cannot lead to, or where one is set
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

  func write(
    _ owner: ObjectID, _ other: ObjectID, position: Int64, schema: StoreSchema
  ) throws {
    try run(
      writing,
      [
        .integer(owner.key), .integer(other.key), .integer(base + position * 1024),
        .integer(schema.numbers[owner.entity] ?? number),
        .integer(schema.numbers[other.entity] ?? 0),
      ])
  }

  /// Empties a to-one.
  func clear(_ owner: ObjectID) throws { try run(clearing, [.integer(owner.key)]) }

  private func run(_ statements: [Statement], _ values: [Value]) throws {
    for statement in statements {
      try statement.bind(Array(values.prefix(statement.parameterCount)))
      while try statement.step() {}
      statement.reset()
    }
  }
}

/// Where a to-one is kept, and the statements that change it.
///
/// Parameters: ?1 owner, ?2 destination, ?3 position, ?4 Z_ENT of the owner, ?5 of the destination.
private struct KeptToOne {
  let table: String
  let column: String
  let entity: String?
  let order: String?

  /// `nil` for what is no to-one.
  init?(_ name: String, of entity: String, _ schema: StoreSchema) {
    guard let place = schema.entityTable(of: entity),
      case .toOne(let column, let entityColumn) = place.storage(of: name)
    else { return nil }
    table = place.table
    self.column = column
    self.entity = entityColumn
    let declarer = schema.model.declaringEntity(of: name, in: entity) ?? entity
    order = schema.table(of: entity)?.column(.toOneOrder(entity: declarer, name: name))?.name
  }

  var numbering: OrderNumbering? {
    order.map { OrderNumbering(table: table, order: $0, owner: column, key: "Z_PK") }
  }

  func setting(key: Int, number: Int, row: Int) -> String {
    var sets = ["\(quoted(column)) = ?\(key)"]
    if let entity { sets.append("\(quoted(entity)) = ?\(number)") }
    if let order {
      // Whoever stays with the same object keeps the place.
      sets.append(
        "\(quoted(order)) = CASE WHEN \(quoted(column)) IS ?\(key) THEN coalesce(\(quoted(order)), ?3) ELSE ?3 END"
      )
    }
    return "UPDATE main.\(quoted(table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?\(row)"
  }

  func emptying(_ row: String) -> String {
    let sets = [column, entity, order].compactMap { $0 }.map { "\(quoted($0)) = NULL" }
    return "UPDATE main.\(quoted(table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = \(row)"
  }

  /// Empties the row that an object is led to by the inverse.
  func emptying(whereLedTo row: String, by inverse: KeptToOne) -> String {
    emptying(
      "(SELECT \(quoted(inverse.column)) FROM main.\(quoted(inverse.table)) WHERE Z_PK = \(row))")
  }
}
