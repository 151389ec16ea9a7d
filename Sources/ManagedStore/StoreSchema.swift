import ManagedModel

/// The tables and columns Core Data would make for a model with given entity numbers.
///
/// The rules were read off some 300 real stores; the article on the store format tells them.
package struct StoreSchema: Sendable, Equatable {
  /// What a column of a hierarchy's table holds.
  package enum Content: Sendable, Equatable {
    /// An attribute, or an element of a composite one by its path `composite.element`.
    case attribute(entity: String, name: String)
    case toOne(entity: String, name: String)
    /// Z_ENT of a to-one's destination.
    case toOneEntity(entity: String, name: String)
    /// Position within the ordered inverse of a to-one.
    case toOneOrder(entity: String, name: String)
    /// The owner's key of a to-many that has no inverse; `entity` declares the to-many.
    case owner(entity: String, name: String)
    case ownerOrder(entity: String, name: String)
  }

  package struct Column: Sendable, Equatable {
    package var name: String
    package var type: String
    package var content: Content
  }

  /// The table of one hierarchy; Z_PK, Z_ENT and Z_OPT come before its columns.
  package struct Table: Sendable, Equatable {
    package var name: String
    package var root: String
    package var columns: [Column]

    package func column(_ content: Content) -> Column? { columns.first { $0.content == content } }
  }

  /// A many-to-many table. `first` holds keys of the entity that names the table.
  package struct JoinTable: Sendable, Equatable {
    package var name: String
    /// The relationship that names the table, and the entity that declares it.
    package var entity: String
    package var relationship: String
    /// The other side; equal to the first for a relationship that is its own inverse.
    package var inverseEntity: String
    package var inverse: String
    package var first: String
    package var second: String
    /// Position of `first`'s object in the inverse, where that is ordered.
    package var firstOrder: String?
    /// Position of `second`'s object in the relationship, where that is ordered.
    package var secondOrder: String?

    package var isReflexive: Bool { entity == inverseEntity && relationship == inverse }
  }

  package let model: Model
  /// Z_ENT of each entity.
  package let numbers: [String: Int64]
  package private(set) var tables: [Table] = []
  package private(set) var joins: [JoinTable] = []
  /// Place of a root's table, of the table of a name, and of the join table of a relationship by its declaring entity.
  private var tablePlaces: [String: Int] = [:]
  private var namedPlaces: [String: Int] = [:]
  private var joinPlaces: [String: [String: Int]] = [:]

  /// Entity numbers of a fresh store: 1, 2, 3 … in pre-order.
  package static func freshNumbers(of model: Model) -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    for (index, entity) in model.entitiesInStoreOrder.enumerated() {
      numbers[entity.name] = Int64(index + 1)
    }
    return numbers
  }

  package init(model: Model, numbers: [String: Int64]? = nil) {
    self.model = model
    self.numbers = numbers ?? Self.freshNumbers(of: model)
    let inverseless = inverselessToMany()
    for root in model.entitiesInStoreOrder where root.parent == nil {
      tablePlaces[root.name] = tables.count
      let table = makeTable(root: root.name, inverseless)
      if namedPlaces[table.name] == nil { namedPlaces[table.name] = tables.count }
      tables.append(table)
    }
    set(joins: makeJoins())
  }

  private mutating func set(joins: [JoinTable]) {
    self.joins = joins
    joinPlaces = [:]
    for (place, join) in joins.enumerated() {
      for (entity, name) in [
        (join.entity, join.relationship), (join.inverseEntity, join.inverse),
      ] where joinPlaces[entity]?[name] == nil {
        joinPlaces[entity, default: [:]][name] = place
      }
    }
  }

  package static func tableName(root: String) -> String { "Z" + root.uppercased() }

  package func table(ofRoot root: String) -> Table? { tablePlaces[root].map { tables[$0] } }
  package func table(named name: String) -> Table? { namedPlaces[name].map { tables[$0] } }
  package func table(of entity: String) -> Table? { table(ofRoot: model.root(of: entity)) }

  /// The inverse of a relationship, with the entity that declares it.
  package func inverse(of relationship: Relationship) -> (entity: String, Relationship)? {
    guard let name = relationship.inverse,
      let entity = model.declaringEntity(of: name, in: relationship.destination),
      let inverse = model.relationship(named: name, of: relationship.destination)
    else { return nil }
    return (entity, inverse)
  }

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
  private func storedAttributes(of entity: Entity) -> [AttributeStorage.Column] {
    entity.attributes.filter { !isOverride($0.name, in: entity) }
      .sorted { $0.name.precedes($1.name) }.flatMap(\.storage.columns)
  }

  private func makeTable(
    root: String, _ inverseless: [String: [(owner: String, Relationship)]]
  ) -> Table {
    var used: [String: Int] = [:]
    // Two subentities that use one property name share the table, and two composites can have an
    // element of one name: the second column is numbered.
    func unused(_ name: String) -> String {
      let count = used[name, default: 0]
      used[name] = count + 1
      return count == 0 ? name : name + String(count)
    }
    var ranked: [(rank: Int, column: Column)] = []
    for name in model.subtree(of: root) {
      guard let entity = model.entity(named: name) else { continue }
      for stored in storedAttributes(of: entity) {
        guard let base = stored.path.last, let type = Self.columnType(of: stored.attribute.type)
        else { continue }
        ranked.append(
          (
            type.rank,
            Column(
              name: unused("Z" + base.uppercased()), type: type.name,
              content: .attribute(entity: name, name: stored.attribute.name))
          ))
      }
      let toOnes = entity.relationships.filter {
        !$0.isToMany && !$0.isTransient && !isOverride($0.name, in: entity)
      }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      for relationship in toOnes {
        let column = unused("Z" + relationship.name.uppercased())
        ranked.append(
          (
            0,
            Column(
              name: column, type: "INTEGER", content: .toOne(entity: name, name: relationship.name))
          ))
        if !model.children(of: relationship.destination).isEmpty,
          let number = numbers[relationship.destination]
        {
          ranked.append(
            (
              0,
              Column(
                name: "Z\(number)_\(column.dropFirst())", type: "INTEGER",
                content: .toOneEntity(entity: name, name: relationship.name))
            ))
        }
        if let (_, inverse) = inverse(of: relationship), inverse.isToMany, inverse.isOrdered {
          ranked.append(
            (
              1,
              Column(
                name: "Z_FOK_\(column.dropFirst())", type: "INTEGER",
                content: .toOneOrder(entity: name, name: relationship.name))
            ))
        }
      }
      for (owner, relationship) in inverseless[name] ?? [] {
        guard let number = numbers[owner] else { continue }
        let column = unused("Z\(number)\(relationship.name.uppercased())")
        ranked.append(
          (
            0,
            Column(
              name: column, type: "INTEGER", content: .owner(entity: owner, name: relationship.name)
            )
          ))
        if relationship.isOrdered {
          ranked.append(
            (
              1,
              Column(
                name: "Z_FOK_\(column.dropFirst())", type: "INTEGER",
                content: .ownerOrder(entity: owner, name: relationship.name))
            ))
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
  private func inverselessToMany() -> [String: [(owner: String, Relationship)]] {
    var result: [String: [(owner: String, Relationship)]] = [:]
    for entity in model.entitiesInStoreOrder {
      let own = entity.relationships.filter {
        $0.isToMany && !$0.isTransient && inverse(of: $0) == nil
      }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      for relationship in own {
        result[relationship.destination, default: []].append((entity.name, relationship))
      }
    }
    return result
  }

  private func makeJoins() -> [JoinTable] {
    var used: [String: Int] = [:]
    // Column names of join tables are unique across the store, not only within a table.
    func unused(_ name: String) -> String {
      let count = used[name, default: 0]
      used[name] = count + 1
      return count == 0 ? name : name + String(count)
    }
    var joins: [JoinTable] = []
    for entity in model.entities {
      let relationships = entity.relationships.sorted {
        $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
      }
      for relationship in relationships where relationship.isToMany && !relationship.isTransient {
        guard let (inverseEntity, inverse) = inverse(of: relationship), inverse.isToMany,
          names(entity.name, relationship.name, before: inverseEntity, inverse.name),
          let number = numbers[entity.name], let other = numbers[inverseEntity]
        else { continue }
        let base = relationship.name.uppercased()
        let inverseBase = inverse.name.uppercased()
        let isReflexive = entity.name == inverseEntity && relationship.name == inverse.name
        let first = unused("Z_\(number)\(inverseBase)")
        let second = isReflexive ? "REFLEXIVE" : unused("Z_\(other)\(base)")
        joins.append(
          JoinTable(
            name: "Z_\(number)\(base)", entity: entity.name, relationship: relationship.name,
            inverseEntity: inverseEntity, inverse: inverse.name, first: first, second: second,
            firstOrder: inverse.isOrdered && !isReflexive ? "Z_FOK_\(first.dropFirst(2))" : nil,
            secondOrder: relationship.isOrdered && !isReflexive
              ? "Z_FOK_\(second.dropFirst(2))" : nil))
      }
    }
    return joins
  }

  /// Which of the two sides names the join table: the lower-numbered entity; within one entity the
  /// alphabetically later relationship (not predictable from the model alone, see the article).
  private func names(
    _ entity: String, _ relationship: String, before other: String, _ inverse: String
  ) -> Bool {
    if entity == other { return relationship >= inverse }
    return numbers[entity, default: 0] < numbers[other, default: 0]
  }

  /// Where the objects of an entity are, by the rules alone.
  package func entityTable(of name: String) -> EntityTable? {
    guard let table = table(of: name), let number = numbers[name] else { return nil }
    var attributes: [EntityTable.AttributeColumn] = []
    var relationships: [EntityTable.RelationshipColumns] = []
    let root = model.root(of: name)
    for entity in model.lineage(of: name) {
      for stored in storedAttributes(of: entity) {
        let attribute = stored.attribute
        if let column = table.column(.attribute(entity: entity.name, name: attribute.name)) {
          attributes.append(.init(attribute: attribute, column: column.name, path: stored.path))
        }
      }
    }
    for relationship in model.relationships(of: name) where !relationship.isTransient {
      relationships.append(
        .init(
          relationship: relationship, storage: storage(of: relationship, in: name, table: table)))
    }
    return EntityTable(
      entity: name, number: number, table: table.name,
      numbers: model.subtree(of: name).compactMap { numbers[$0] }, isWholeTable: name == root,
      attributes: attributes.sorted { $0.attribute.name.precedes($1.attribute.name) },
      relationships: relationships.sorted { $0.relationship.name.precedes($1.relationship.name) })
  }

  private func storage(
    of relationship: Relationship, in entity: String, table: Table
  )
    -> RelationshipStorage
  {
    guard let declarer = model.declaringEntity(of: relationship.name, in: entity) else {
      return .none
    }
    if !relationship.isToMany {
      guard let column = table.column(.toOne(entity: declarer, name: relationship.name)) else {
        return .none
      }
      return .toOne(
        column: column.name,
        entityColumn: table.column(.toOneEntity(entity: declarer, name: relationship.name))?.name)
    }
    guard let destination = self.table(of: relationship.destination) else { return .none }
    guard let (inverseEntity, inverse) = inverse(of: relationship) else {
      guard let column = destination.column(.owner(entity: declarer, name: relationship.name))
      else {
        return .none
      }
      return .foreignKey(
        table: destination.name, column: column.name,
        orderColumn: destination.column(.ownerOrder(entity: declarer, name: relationship.name))?
          .name
      )
    }
    if !inverse.isToMany {
      guard let column = destination.column(.toOne(entity: inverseEntity, name: inverse.name))
      else {
        return .none
      }
      return .foreignKey(
        table: destination.name, column: column.name,
        orderColumn: relationship.isOrdered
          ? destination.column(.toOneOrder(entity: inverseEntity, name: inverse.name))?.name : nil)
    }
    if let join = joinPlaces[declarer]?[relationship.name].map({ joins[$0] }) {
      if join.entity == declarer, join.relationship == relationship.name {
        return join.isReflexive
          ? .reflexive(table: join.name, first: join.first, second: join.second)
          : .join(
            table: join.name, owner: join.first, destination: join.second,
            orderColumn: join.secondOrder)
      }
      if join.inverseEntity == declarer, join.inverse == relationship.name {
        return .join(
          table: join.name, owner: join.second, destination: join.first,
          orderColumn: join.firstOrder)
      }
    }
    return .none
  }

  /// The same schema with its join tables replaced by those of a real store.
  package func replacing(joins: [JoinTable]) -> StoreSchema {
    var copy = self
    copy.set(joins: joins)
    return copy
  }
}

extension String {
  /// Byte order, which is how Core Data sorts names of properties.
  package func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
