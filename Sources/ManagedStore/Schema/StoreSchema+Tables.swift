import ManagedModel

/// The columns of a hierarchy's table.
extension StoreSchema {
  /// SQL type and rank in the column order of an attribute type; `nil` for types without a column.
  static func columnType(of type: AttributeType) -> (name: String, rank: Int)? {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: ("INTEGER", 0)
    case .double, .float: ("FLOAT", 2)
    case .date: ("TIMESTAMP", 2)
    case .decimal: ("DECIMAL", 3)
    case .string: ("VARCHAR", 4)
    case .uri: ("VARCHAR", 5)
    case .uuid: ("BLOB", 6)
    case .transformable: ("BLOB", 7)
    case .binary: ("BLOB", 8)
    case .undefined, .objectID, .composite: nil
    }
  }

  /// What an entity adds to its table, in the order of the columns within a block: attributes by
  /// name, the elements of a composite one in its place and in its order.
  func storedAttributes(of entity: Entity) -> [AttributeStorage.Column] {
    entity.attributes.filter { !isOverride($0.name, in: entity) }
      .sortedByBytes(\.name).flatMap(\.storage.columns)
  }

  /// Whether an ancestor declares the property too: it then has its column already.
  private func isOverride(_ property: String, in entity: Entity) -> Bool {
    guard let parent = entity.parent else { return false }
    return model.declaringEntity(of: property, in: parent) != nil
  }
}

extension StoreSchema.Content {
  /// The property, with the entity that declares it; an element of a composite by its path.
  package var property: (entity: String, name: String) {
    switch self {
    case .attribute(let entity, let name), .toOne(let entity, let name),
      .toOneEntity(let entity, let name), .toOneOrder(let entity, let name),
      .owner(let entity, let name), .ownerOrder(let entity, let name):
      (entity, name)
    }
  }

  /// Whether the column holds a position within an ordered relationship.
  package var isOrder: Bool {
    switch self {
    case .toOneOrder, .ownerOrder: true
    default: false
    }
  }

  /// Whether rows of an entity may hold something in the column: other entities share the table.
  package func isHeld(by entity: String, in model: Model) -> Bool {
    let (declarer, name) = property
    switch self {
    case .owner, .ownerOrder:
      guard let relationship = model.relationship(named: name, of: declarer) else { return true }
      return model.isKind(entity, of: relationship.destination)
    default: return model.isKind(entity, of: declarer)
    }
  }
}
