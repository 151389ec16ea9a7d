import ManagedModel

/// Where a store keeps the objects of one entity: its table, its numbers, a column a property.
public struct EntityTable: Sendable, Equatable {
  /// An attribute and the column that holds it.
  public struct AttributeColumn: Sendable, Equatable {
    /// The attribute; an element of a composite one is named by its path, `composite.element`.
    public var attribute: Attribute
    /// Name of the column, as it is in this store.
    public var column: String
    /// From the attribute's name down to the element's.
    public var path: [String]

    init(attribute: Attribute, column: String, path: [String]? = nil) {
      self.attribute = attribute
      self.column = column
      self.path = path ?? [attribute.name]
    }
  }

  /// A relationship and how the store keeps it.
  public struct RelationshipColumns: Sendable, Equatable {
    /// The relationship as the model has it.
    public var relationship: Relationship
    /// Where its links are in this store.
    public var storage: RelationshipStorage
  }

  /// Name of the entity.
  public var entity: String
  /// Z_ENT of the entity's own rows.
  public var number: Int64
  /// The table of the whole hierarchy.
  public var table: String
  /// Z_ENT of the entity and of everything below it, in pre-order.
  public var numbers: [Int64]
  /// Whether every row of the table is of this entity or one below it.
  public var isWholeTable: Bool
  /// Stored attributes, inherited ones included, sorted by name in byte order.
  public var attributes: [AttributeColumn]
  /// Relationships that are not transient, inherited ones included, sorted by name in byte order.
  public var relationships: [RelationshipColumns]

  /// The column of an attribute, own or inherited; `nil` where the store has none.
  public func column(of attribute: String) -> String? {
    attributes.first { $0.attribute.name == attribute }?.column
  }

  /// How a relationship is kept, own or inherited; `nil` for an unknown name.
  public func storage(of relationship: String) -> RelationshipStorage? {
    relationships.first { $0.relationship.name == relationship }?.storage
  }
}

/// The ways a store keeps a relationship.
public enum RelationshipStorage: Sendable, Equatable {
  /// A column with the destination's key; a second one with its Z_ENT where that can vary.
  case toOne(column: String, entityColumn: String?)
  /// A to-many kept as the owner's key on the destination's rows.
  case foreignKey(table: String, column: String, orderColumn: String?)
  /// A table of pairs of keys.
  case join(table: String, owner: String, destination: String, orderColumn: String?)
  /// A relationship that is its own inverse: pairs count in both directions.
  case reflexive(table: String, first: String, second: String)
  /// The store has no place for it.
  case none
}
