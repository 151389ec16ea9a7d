import ManagedModel

/// Which rows of an entity to read: always a page, found by key and never by skipping rows.
public struct RowQuery: Sendable, Equatable {
  /// An order of rows; equal values are ordered by key.
  public struct Sort: Sendable, Equatable {
    /// Name of an attribute or of a to-one relationship; `nil` sorts by key.
    public var property: String?
    /// Whether the greatest comes first. NULL is below every value.
    public var isDescending: Bool

    /// Makes an order; without a property, by key.
    public init(property: String? = nil, descending: Bool = false) {
      self.property = property
      self.isDescending = descending
    }
  }

  /// Where a page begins or ends.
  public enum Anchor: Sendable, Equatable {
    /// Begins with the first row.
    case start
    /// Ends with the last row.
    case end
    /// Begins with the row after this one.
    case after(RowCursor)
    /// Ends with the row before this one.
    case before(RowCursor)
  }

  /// Name of the entity; objects of its subentities are read too.
  public var entity: String
  /// The order of the rows.
  public var sort: Sort
  /// Which part of that order the page is.
  public var anchor: Anchor
  /// Most rows to read.
  public var limit: Int
  /// Names of the properties to read; `nil` for all of the entity. A composite attribute stands for
  /// all its elements, each of which has a name of its own, `composite.element`.
  public var properties: [String]?
  /// Which of the objects; `nil` for all. Made for the same entity and store.
  public var filter: RowFilter?
  /// Characters of text to read of a value, for who only shows its beginning; `nil` for all.
  package var longestText: Int?

  /// Makes a query: by default the first hundred objects, by key, with all properties.
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
  var sortValue: SortValue
  /// Z_PK of the row.
  public var key: Int64

  /// A place by the row's key, and by its value in the column that an order is by.
  package init(key: Int64, sortValue: SortValue = .none) {
    self.key = key
    self.sortValue = sortValue
  }

  /// What a row has in the column that an order is by.
  package enum SortValue: Sendable, Hashable {
    case none
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Text that is no UTF-8: decoded, it would be another place in the order.
    case brokenText([UInt8])
    case blob([UInt8])
    /// Text or bytes too long to be carried about: what the key's row holds.
    case stored
  }
}

/// A property shown as a column.
public struct RowColumn: Sendable, Equatable {
  /// What a column shows.
  public enum Kind: Sendable, Equatable {
    case attribute(AttributeType)
    case toOne(destination: String)
    case toMany(destination: String)
  }

  /// Name of the property.
  public var name: String
  /// What the property is.
  public var kind: Kind
  /// From the property's name down to that of an element of a composite attribute; other columns
  /// have one part.
  public var path: [String]
  /// Whether the column is an element of a composite attribute of which others are not shown.
  public var isPart = false

  /// Makes a column; an element of a composite attribute is named by its path.
  public init(name: String, kind: Kind, path: [String]? = nil) {
    self.name = name
    self.kind = kind
    self.path = path ?? [name]
  }
}

/// Some consecutive rows of an entity.
public struct RowPage: Sendable, Equatable {
  /// One object of a page.
  public struct Row: Sendable, Equatable, NamedValues {
    /// The object's own entity and its key.
    public var id: ObjectID
    /// Those of the page.
    public internal(set) var columns: [RowColumn] = []
    /// One a column.
    public var values: [PropertyValue]
    /// The row's place in the page's order, to go on from.
    public var cursor: RowCursor

    /// A row whose place, unless it is given, is that in the order of keys.
    package init(id: ObjectID, values: [PropertyValue], cursor: RowCursor? = nil) {
      self.id = id
      self.values = values
      self.cursor = cursor ?? RowCursor(key: id.key)
    }
  }

  /// Name of the entity asked for.
  public var entity: String
  /// The properties read, in the order of each row's values.
  public var columns: [RowColumn]
  /// The rows, in the order asked for, also where the page was found from the end.
  public var rows: [Row]

  /// Makes a page.
  public init(entity: String, columns: [RowColumn], rows: [Row]) {
    self.entity = entity
    self.columns = columns
    self.rows = rows
    for index in rows.indices { self.rows[index].columns = columns }
  }
}

/// Values by the names of their properties: a row of a page, or an object.
///
/// Each reading answers `nil` for NULL, for a value of another type, and for a property that was not read.
public protocol NamedValues {
  /// The properties that were read.
  var columns: [RowColumn] { get }
  /// One a column.
  var values: [PropertyValue] { get }
}

extension NamedValues {
  /// What a property holds; an element of a composite attribute is named by its path.
  public subscript(name: String) -> PropertyValue? {
    columns.firstIndex { $0.name == name }.flatMap { $0 < values.count ? values[$0] : nil }
  }

  /// The value of an attribute that is no bytes.
  public func value(_ name: String) -> AttributeValue? {
    if case .value(let value)? = self[name] { value } else { nil }
  }

  /// The text of a String or URI attribute.
  public func string(_ name: String) -> String? { value(name)?.text }

  /// The number of an Integer attribute.
  public func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = value(name) { number } else { nil }
  }

  /// The value of a Boolean attribute.
  public func boolean(_ name: String) -> Bool? {
    if case .boolean(let flag)? = value(name) { flag } else { nil }
  }

  /// The number of a Double or Float attribute.
  public func double(_ name: String) -> Double? {
    if case .double(let number)? = value(name) { number } else { nil }
  }

  /// The digits of a Decimal attribute.
  public func decimal(_ name: String) -> String? {
    if case .decimal(let digits)? = value(name) { digits } else { nil }
  }

  /// The time of a Date attribute, in seconds since 2001-01-01 00:00:00 UTC.
  public func date(_ name: String) -> Double? {
    if case .date(let seconds)? = value(name) { seconds } else { nil }
  }

  /// The sixteen bytes of a UUID attribute.
  public func uuid(_ name: String) -> [UInt8]? {
    if case .uuid(let bytes)? = value(name) { bytes } else { nil }
  }

  /// The bytes of a Binary or Transformable attribute, or what is known of them.
  public func data(_ name: String) -> DataValue? {
    if case .data(let data)? = self[name] { data } else { nil }
  }

  /// The object at the other end of a to-one relationship.
  public func object(_ relationship: String) -> ObjectID? {
    if case .toOne(let id)? = self[relationship] { id } else { nil }
  }

  /// The objects at the other end of a to-many relationship: how many, and the first of them.
  public func objects(_ relationship: String) -> ToMany? {
    if case .toMany(let objects)? = self[relationship] { objects } else { nil }
  }
}
