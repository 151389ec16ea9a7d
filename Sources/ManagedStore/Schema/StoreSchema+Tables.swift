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

  func makeTable(
    root: String, _ inverseless: [String: [(owner: String, Relationship)]]
  ) -> Table {
    // Two subentities that use one property name share the table, and two composites can have an
    // element of one name: the second column is numbered.
    var names = NumberedNames()
    var ranked: [(rank: Int, column: Column)] = []
    func add(_ name: String, _ content: Content, rank: Int = 0, type: String = "INTEGER") {
      ranked.append((rank, Column(name: name, type: type, content: content)))
    }
    for entity in model.subtree(of: root).compactMap(model.entity(named:)) {
      for stored in storedAttributes(of: entity) {
        guard let base = stored.path.last, let type = Self.columnType(of: stored.attribute.type)
        else { continue }
        add(
          names.unused("Z" + base.uppercased()),
          .attribute(entity: entity.name, name: stored.attribute.name), rank: type.rank,
          type: type.name)
      }
      for relationship in entity.relationships.sortedByBytes(\.name)
      where !relationship.isToMany && !relationship.isTransient
        && !isOverride(relationship.name, in: entity)
      {
        let side = (entity: entity.name, name: relationship.name)
        let column = names.unused("Z" + relationship.name.uppercased())
        add(column, .toOne(entity: side.entity, name: side.name))
        if !model.children(of: relationship.destination).isEmpty,
          let number = numbers[relationship.destination]
        {
          add(
            "Z\(number)_\(column.dropFirst())", .toOneEntity(entity: side.entity, name: side.name))
        }
        if let (_, inverse) = inverse(of: relationship), inverse.isToMany, inverse.isOrdered {
          add(
            "Z_FOK_\(column.dropFirst())", .toOneOrder(entity: side.entity, name: side.name),
            rank: 1)
        }
      }
      for (owner, relationship) in inverseless[entity.name] ?? [] {
        guard let number = numbers[owner] else { continue }
        let column = names.unused("Z\(number)\(relationship.name.uppercased())")
        add(column, .owner(entity: owner, name: relationship.name))
        if relationship.isOrdered {
          add(
            "Z_FOK_\(column.dropFirst())", .ownerOrder(entity: owner, name: relationship.name),
            rank: 1)
        }
      }
    }
    // The sort keeps the walk's order within a rank: it compares positions where ranks are equal.
    let columns = ranked.enumerated().sorted {
      ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset)
    }.map(\.element.column)
    return Table(name: Self.tableName(root: root), root: root, columns: columns)
  }

  /// Whether an ancestor declares the property too: it then has its column already.
  private func isOverride(_ property: String, in entity: Entity) -> Bool {
    guard let parent = entity.parent else { return false }
    return model.declaringEntity(of: property, in: parent) != nil
  }

  /// To-many relationships without an inverse, by the entity that they lead to.
  func inverselessToMany() -> [String: [(owner: String, Relationship)]] {
    var result: [String: [(owner: String, Relationship)]] = [:]
    for entity in model.entitiesInStoreOrder {
      let own = entity.relationships.filter {
        $0.isToMany && !$0.isTransient && inverse(of: $0) == nil
      }
      for relationship in own.sortedByBytes(\.name) {
        result[relationship.destination, default: []].append((entity.name, relationship))
      }
    }
    return result
  }
}

/// Names of which the second and further ones of a kind are numbered.
struct NumberedNames {
  private var used: [String: Int] = [:]

  mutating func unused(_ name: String) -> String {
    let count = used[name, default: 0]
    used[name] = count + 1
    return count == 0 ? name : name + String(count)
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
