import ManagedModel

/// The tables and columns Core Data would make for a model with given entity numbers.
///
/// The rules are those of ``ModelWalk``; the article on the store format describes them.
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

  /// A column of a hierarchy's table, besides the three that each has.
  package struct Column: Sendable, Equatable {
    /// What the column is called, such as `ZTITLE`.
    package var name: String
    /// The type that it is declared with, such as `VARCHAR`.
    package var type: String
    /// What it holds.
    package var content: Content
  }

  /// The table of one hierarchy; Z_PK, Z_ENT and Z_OPT come before its columns.
  package struct Table: Sendable, Equatable {
    /// What the table is called, such as `ZRECIPE`.
    package var name: String
    /// The entity at the top of the hierarchy.
    package var root: String
    /// In the order of a fresh table.
    package var columns: [Column]

    /// The column that holds something, where the table has one.
    package func column(_ content: Content) -> Column? { columns.first { $0.content == content } }
  }

  /// A many-to-many table. `first` holds keys of the entity that names the table.
  package struct JoinTable: Sendable, Equatable {
    /// What the table is called, such as `Z_2TAGS`.
    package var name: String
    /// The relationship that names the table, and the entity that declares it.
    package var entity: String
    /// The relationship that the other side declares.
    package var relationship: String
    /// The other side; equal to the first for a relationship that is its own inverse.
    package var inverseEntity: String
    /// The relationship of the other side.
    package var inverse: String
    /// The column of keys of `entity`.
    package var first: String
    /// The column of keys of `inverseEntity`.
    package var second: String
    /// Position of `first`'s object in the inverse, where that is ordered.
    package var firstOrder: String?
    /// Position of `second`'s object in the relationship, where that is ordered.
    package var secondOrder: String?

    /// Whether the relationship is its own inverse: its columns are alike, and links go both ways.
    package var isReflexive: Bool { entity == inverseEntity && relationship == inverse }
  }

  /// The model that the tables are for.
  package let model: Model
  /// Z_ENT of each entity.
  package let numbers: [String: Int64]
  package internal(set) var tables: [Table] = []
  package private(set) var joins: [JoinTable] = []
  /// The order in which a new store gets its tables.
  let statements: [ModelWalk.Statement]
  /// The names of the tables in that order.
  package var namesInOrder: [String] {
    statements.compactMap {
      switch $0 {
      case .table(let place): tables.indices.contains(place) ? tables[place].name : nil
      case .join(let place): joins.indices.contains(place) ? joins[place].name : nil
      }
    }
  }
  /// Place of a root's table, of the table of a name, and of the join table of a relationship by its
  /// declaring entity.
  private var tablePlaces: [String: Int] = [:]
  private var namedPlaces: [String: Int] = [:]
  private(set) var joinPlaces: [String: [String: Int]] = [:]

  /// Entity numbers of a fresh store: 1, 2, 3 … in pre-order.
  package static func freshNumbers(of model: Model) -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    for (index, entity) in model.entitiesInStoreOrder.enumerated() {
      numbers[entity.name] = Int64(index + 1)
    }
    return numbers
  }

  /// Lays out a model's tables.
  ///
  /// - Parameters:
  ///   - numbers: Z_ENT of each entity; `nil` numbers them as in a fresh store.
  package init(model: Model, numbers: [String: Int64]? = nil) {
    self.model = model
    self.numbers = numbers ?? Self.freshNumbers(of: model)
    let walk = ModelWalk(model, numbers: self.numbers)
    tables = walk.tables
    statements = walk.statements
    for (place, table) in tables.enumerated() {
      tablePlaces[table.root] = place
      if namedPlaces[table.name] == nil { namedPlaces[table.name] = place }
    }
    set(joins: walk.joins)
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

  static func tableName(root: String) -> String { "Z" + root.uppercased() }

  /// The table of a hierarchy, by the entity at its top.
  package func table(ofRoot root: String) -> Table? { tablePlaces[root].map { tables[$0] } }
  /// The table of that name; of two that share one, the first.
  package func table(named name: String) -> Table? { namedPlaces[name].map { tables[$0] } }
  /// The table that an entity's objects are in, with those of its whole hierarchy.
  package func table(of entity: String) -> Table? { table(ofRoot: model.root(of: entity)) }

  /// The inverse of a relationship, with the entity that declares it.
  package func inverse(of relationship: Relationship) -> (entity: String, Relationship)? {
    guard let name = relationship.inverse,
      let entity = model.declaringEntity(of: name, in: relationship.destination),
      let inverse = model.relationship(named: name, of: relationship.destination)
    else { return nil }
    return (entity, inverse)
  }

  /// The same schema with its join tables replaced by those of a real store.
  package func replacing(joins: [JoinTable]) -> StoreSchema {
    var copy = self
    copy.set(joins: joins)
    return copy
  }
}

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

/// Where things are by the rules alone.
extension StoreSchema {
  /// Where the objects of an entity are.
  package func entityTable(of name: String) -> EntityTable? {
    guard let table = table(of: name), let number = numbers[name] else { return nil }
    let attributes = model.lineage(of: name).flatMap { entity in
      storedAttributes(of: entity).compactMap { stored in
        column(of: stored.attribute.name, declaredBy: entity.name, in: table).map {
          EntityTable.AttributeColumn(attribute: stored.attribute, column: $0, path: stored.path)
        }
      }
    }
    let relationships = model.relationships(of: name).filter { !$0.isTransient }.map {
      EntityTable.RelationshipColumns(relationship: $0, storage: storage(of: $0, in: name))
    }
    return EntityTable(
      entity: name, entityID: number, table: table.name,
      numbers: model.subtree(of: name).compactMap { numbers[$0] },
      isWholeTable: name == model.root(of: name),
      attributes: attributes.sortedByBytes(\.attribute.name),
      relationships: relationships.sortedByBytes(\.relationship.name))
  }

  /// Where the objects of an entity are.
  ///
  /// - Parameter isConcrete: whether it must be one that has objects of its own.
  /// - Throws: ``CoreDataError`` of kind usage for an unknown entity, or an abstract one.
  package func knownTable(
    of name: String, isConcrete: Bool = true
  ) throws(CoreDataError) -> EntityTable {
    guard let table = entityTable(of: name) else {
      throw CoreDataError(
        unknownEntity: name, of: "the model", known: model.entities.map(\.name))
    }
    if isConcrete, model.entity(named: name)?.isAbstract != false {
      throw CoreDataError(.usage, "an abstract entity has no objects", entity: name)
    }
    return table
  }

  /// How a relationship, own or inherited, is kept; `nil` for an unknown name or a transient one.
  package func storage(of relationship: String, in entity: String) -> RelationshipStorage? {
    model.relationship(named: relationship, of: entity).flatMap {
      $0.isTransient ? nil : storage(of: $0, in: entity)
    }
  }

  /// The column of a to-one, own or inherited.
  package func toOneColumn(of relationship: String, in entity: String) -> String? {
    storage(of: relationship, in: entity)?.toOneColumn
  }

  private func column(
    of attribute: String, declaredBy entity: String, in table: Table
  ) -> String? {
    table.column(.attribute(entity: entity, name: attribute))?.name
  }

  private func storage(
    of relationship: Relationship, in entity: String
  ) -> RelationshipStorage? {
    guard let declarer = model.declaringEntity(of: relationship.name, in: entity) else {
      return nil
    }
    let (own, name) = (table(of: entity), relationship.name)
    if !relationship.isToMany {
      guard let own, let column = own.column(.toOne(entity: declarer, name: name)) else {
        return nil
      }
      return RelationshipStorage(
        .toOne, table: own.name, destination: column.name,
        entityColumn: own.column(.toOneEntity(entity: declarer, name: name))?.name,
        inversePosition: own.column(.toOneOrder(entity: declarer, name: name))?.name)
    }
    guard let destination = table(of: relationship.destination) else { return nil }
    guard let (inverseEntity, inverse) = inverse(of: relationship) else {
      return destination.column(.owner(entity: declarer, name: name)).map {
        RelationshipStorage(
          .withoutInverse, table: destination.name, owner: $0.name,
          position: destination.column(.ownerOrder(entity: declarer, name: name))?.name)
      }
    }
    if !inverse.isToMany {
      let order = destination.column(.toOneOrder(entity: inverseEntity, name: inverse.name))
      return destination.column(.toOne(entity: inverseEntity, name: inverse.name)).map {
        RelationshipStorage(
          .inverseOfToOne, table: destination.name, owner: $0.name,
          position: relationship.isOrdered ? order?.name : nil)
      }
    }
    return join(of: name, in: entity).map {
      $0.side == JoinTable.Side(entity: declarer, relationship: name)
        ? $0.storage : $0.inverseStorage
    }
  }
}

extension StoreSchema.JoinTable {
  /// The storage of the relationship that names the table.
  package var storage: RelationshipStorage {
    RelationshipStorage(
      isReflexive ? .reflexive : .join, table: name, owner: first, destination: second,
      position: secondOrder, inversePosition: firstOrder)
  }

  /// The storage of the other one.
  fileprivate var inverseStorage: RelationshipStorage {
    RelationshipStorage(
      .join, table: name, owner: second, destination: first, position: firstOrder,
      inversePosition: secondOrder)
  }
}

extension StoreSchema {
  /// Where the names of columns follow rules that no store by Apple proved, as sentences.
  ///
  /// A wrong guess that puts a value of another type into a column is reported by ``StoreDrift``; these
  /// are the cases in which it might be of the same type.
  package var assumptions: [String] {
    model.entitiesInStoreOrder.compactMap { entity in
      let composites = entity.attributes.filter { $0.type == .composite && $0.isStored }
      let nested = composites.filter { $0.elements.contains { $0.type == .composite } }
      if let first = nested.first {
        return """
          \(entity.name).\(first.name) has a composite attribute within it: how Core Data names and \
          orders its columns was not checked against a store of Apple's.
          """
      }
      let toOnes = Set(
        entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map { $0.name.uppercased() }
      )
      let clash = composites.flatMap(\.storage.columns).first {
        $0.attribute.type.isInteger && toOnes.contains($0.path.last?.uppercased() ?? "")
      }
      return clash.map {
        """
        \(entity.name).\($0.attribute.name) and the relationship of that name share the name of a \
        column: which of the two Core Data numbers was not checked against a store of Apple's.
        """
      }
    }
  }
}
