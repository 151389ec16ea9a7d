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
  package private(set) var tables: [Table] = []
  package private(set) var joins: [JoinTable] = []
  /// The order in which a new store gets its tables.
  let statements: [ModelWalk.Statement]
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
