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
    /// Where its links are in this store; `nil` where it has no place for them.
    public var storage: RelationshipStorage?
  }

  /// Name of the entity.
  public var entity: String
  /// Z_ENT of the entity's own rows.
  public var entityID: Int64
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

  /// An attribute, own or inherited, or an element by its path; `nil` where the store has no column
  /// for it.
  public func attribute(named name: String) -> AttributeColumn? {
    attributes.first { $0.attribute.name == name }
  }

  /// The column of an attribute, own or inherited; `nil` where the store has none.
  public func column(of attribute: String) -> String? { self.attribute(named: attribute)?.column }

  /// A relationship, own or inherited; `nil` for an unknown name.
  public func relationship(named name: String) -> RelationshipColumns? {
    relationships.first { $0.relationship.name == name }
  }

  /// How a relationship is kept, own or inherited; `nil` for an unknown name, and for one that the
  /// store has no place for.
  public func storage(of relationship: String) -> RelationshipStorage? {
    self.relationship(named: relationship)?.storage
  }

  /// The column of a to-one, own or inherited.
  package func toOneColumn(of relationship: String) -> String? {
    storage(of: relationship)?.toOneColumn
  }

  /// The same without what the database does not have; ``StoreDrift`` shows it.
  func fitted(to database: DatabaseTables) -> EntityTable {
    let columns = database.columns(of: table)
    var copy = self
    copy.attributes = attributes.filter { columns.contains($0.column) }
    for (index, entry) in relationships.enumerated() {
      copy.relationships[index].storage = entry.storage.flatMap { storage in
        columns.isEmpty
          ? nil
          : storage.fitted(
            to: storage.table == table ? columns : database.columns(of: storage.table))
      }
    }
    return copy
  }
}

/// Which rows of the table are the entity's, as SQL.
extension EntityTable {
  /// True of rows of exactly this entity; `nil` where the table has no others.
  package func ownRows(_ row: String? = nil) -> String? {
    isWholeTable && numbers.count == 1 ? nil : "\(Self.column(row)) = \(entityID)"
  }

  /// True of rows of this entity and those below it; `nil` where the table has no others.
  package func kindRows(_ row: String? = nil) -> String? {
    guard !isWholeTable else { return nil }
    let test = numbers.count == 1 ? "= \(numbers.list)" : "IN (\(numbers.list))"
    return "\(Self.column(row)) \(test)"
  }

  private static func column(_ row: String?) -> String { row.map { $0 + ".Z_ENT" } ?? "Z_ENT" }
}
