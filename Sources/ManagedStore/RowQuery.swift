import ManagedModel

/// Which rows of an entity to read: always a page, found by key and never by skipping rows.
public struct RowQuery: Sendable, Equatable {
  public struct Sort: Sendable, Equatable {
    /// Name of an attribute or of a to-one relationship; `nil` sorts by key.
    public var property: String?
    public var isDescending: Bool

    public init(property: String? = nil, descending: Bool = false) {
      self.property = property
      self.isDescending = descending
    }
  }

  public enum Anchor: Sendable, Equatable {
    case start
    case end
    case after(RowCursor)
    case before(RowCursor)
  }

  public var entity: String
  public var sort: Sort
  public var anchor: Anchor
  public var limit: Int
  /// Names of the properties to read; `nil` for all of the entity.
  public var properties: [String]?
  /// Which of the objects; `nil` for all. Made for the same entity and store.
  public var filter: RowFilter?

  public init(
    entity: String, sort: Sort = Sort(), anchor: Anchor = .start, limit: Int = 100,
    properties: [String]? = nil, filter: RowFilter? = nil
  ) {
    self.entity = entity
    self.sort = sort
    self.anchor = anchor
    self.limit = limit
    self.properties = properties
    self.filter = filter
  }
}

/// The place of a row in an order, by which the page after or before it is found.
public struct RowCursor: Sendable, Hashable {
  package var sortValue: SortValue
  public var key: Int64

  package init(key: Int64, sortValue: SortValue = .none) {
    self.key = key
    self.sortValue = sortValue
  }

  package enum SortValue: Sendable, Hashable {
    case none
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Text that is no UTF-8: decoded, it would be another place in the order.
    case brokenText([UInt8])
    case blob([UInt8])
  }
}

/// A property shown as a column.
public struct RowColumn: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case attribute(AttributeType)
    case toOne(destination: String)
    case toMany(destination: String)
  }

  public var name: String
  public var kind: Kind

  public init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// Some consecutive rows of an entity.
public struct RowPage: Sendable, Equatable {
  public struct Row: Sendable, Equatable {
    public var id: ObjectID
    /// One a column of the page.
    public var values: [PropertyValue]
    public var cursor: RowCursor

    package init(id: ObjectID, values: [PropertyValue], cursor: RowCursor? = nil) {
      self.id = id
      self.values = values
      self.cursor = cursor ?? RowCursor(key: id.key)
    }
  }

  public var entity: String
  public var columns: [RowColumn]
  public var rows: [Row]

  public init(entity: String, columns: [RowColumn], rows: [Row]) {
    self.entity = entity
    self.columns = columns
    self.rows = rows
  }
}
