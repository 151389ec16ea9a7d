import ManagedModel
import ManagedStore
import SQLite

/// The compiled statements that link one object with another, on both sides where both keep a key.
final class LinkStatement {
  let relationship: Relationship
  private let number: Int64
  private let writing: Statement
  private let inverse: Statement?
  private let clearing: Statement?

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
    // ?1 owner, ?2 destination, ?3 position, ?4 Z_ENT of the owner, ?5 Z_ENT of the destination.
    func toOne(
      _ name: String, of entity: String, key: Int, number: Int, position: Int?, row: Int
    ) -> String? {
      guard let place = schema.entityTable(of: entity),
        case .toOne(let column, let entityColumn) = place.storage(of: name)
      else { return nil }
      let declarer = schema.model.declaringEntity(of: name, in: entity) ?? entity
      let order = schema.table(of: entity)?.column(.toOneOrder(entity: declarer, name: name))?.name
      var sets = ["\(quoted(column)) = ?\(key)"]
      if let entityColumn { sets.append("\(quoted(entityColumn)) = ?\(number)") }
      if let order { sets.append("\(quoted(order)) = coalesce(\(quoted(order)), ?3 * 1024)") }
      return
        "UPDATE main.\(quoted(place.table)) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?\(row)"
    }
    let back = schema.inverse(of: relationship)
    var writing: String?
    var inverse: String?
    var clearing: String?
    switch storage {
    case .toOne(let column, let entityColumn):
      writing = toOne(name, of: entity, key: 2, number: 5, position: 3, row: 1)
      if let back, !back.1.isToMany {
        inverse = toOne(
          back.1.name, of: relationship.destination, key: 1, number: 4, position: nil, row: 2)
      }
      let others = entityColumn.map { ", \(quoted($0)) = NULL" } ?? ""
      clearing =
        "UPDATE main.\(quoted(table.table)) SET \(quoted(column)) = NULL\(others) WHERE Z_PK = ?1"
    case .foreignKey(let other, let column, let order):
      if let back {
        writing = toOne(
          back.1.name, of: relationship.destination, key: 1, number: 4, position: 3, row: 2)
      } else {
        let position = order.map { ", \(quoted($0)) = ?3 * 1024" } ?? ""
        writing =
          "UPDATE main.\(quoted(other)) SET \(quoted(column)) = ?1\(position) WHERE Z_PK = ?2"
      }
    case .join(let join, let owner, let other, let order):
      let declared = schema.joins.first { $0.name == join }
      let second = declared.flatMap { $0.first == owner ? $0.firstOrder : $0.secondOrder }
      let orders = [order, second].compactMap { $0 }
      let columns = ([owner, other] + orders).map { quoted($0) }.joined(separator: ", ")
      let values = (["?1", "?2"] + orders.map { _ in "?3 * 1024" }).joined(separator: ", ")
      writing = "INSERT OR IGNORE INTO main.\(quoted(join)) (\(columns)) VALUES (\(values))"
    case .reflexive(let join, let first, let second):
      writing = """
        INSERT INTO main.\(quoted(join)) (\(quoted(first)), \(quoted(second))) SELECT ?1, ?2
        WHERE NOT EXISTS (SELECT 1 FROM main.\(quoted(join))
        WHERE (\(quoted(first)), \(quoted(second))) IN ((?1, ?2), (?2, ?1)))
        """
    case .none: break
    }
    guard let writing else {
      throw CoreDataError(
        .usage, "the relationship is not kept in the store", entity: entity, property: name)
    }
    self.writing = try connection.prepare(writing)
    self.inverse = try inverse.map { try connection.prepare($0) }
    self.clearing = try clearing.map { try connection.prepare($0) }
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
    let values: [Value] = [
      .integer(owner.key), .integer(other.key), .integer(position),
      .integer(schema.numbers[owner.entity] ?? number),
      .integer(schema.numbers[other.entity] ?? 0),
    ]
    for statement in [writing, inverse].compactMap({ $0 }) {
      try statement.bind(Array(values.prefix(statement.parameterCount)))
      while try statement.step() {}
      statement.reset()
    }
  }

  /// Empties a to-one.
  func clear(_ owner: ObjectID) throws {
    guard let clearing else { return }
    try clearing.bind([.integer(owner.key)])
    try clearing.step()
    clearing.reset()
  }
}
