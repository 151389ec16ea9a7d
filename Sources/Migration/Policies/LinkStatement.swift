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

  init(_ name: String, of entity: String, schema: StoreSchema, connection: Connection) throws {
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

  func write(_ owner: ObjectID, _ other: ObjectID, position: Int64, schema: StoreSchema) throws {
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
      // Whoever stays with the same object keeps the place.
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
