import ManagedModel
import SQLite
import StoreTables

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

/// The rows that a query is about, as parts of a statement: which table, which of its rows, and
/// what they are sorted by.
struct QueryRows {
  let table: EntityTable
  /// On the row `t`.
  private let filter: SQLText?
  /// What comes before the key in the order; `nil` for the key alone.
  let sort: SQLText?
  /// A column that ``sort`` is.
  private let sortColumn: String?
  /// Whether the filter finds its rows by itself: then no index on the entity may be preferred.
  let isSeeking: Bool

  init(_ table: EntityTable, sortColumn: String?, filter: RowFilter?) {
    self.table = table
    self.filter = filter?.condition
    self.sortColumn = sortColumn
    sort = sortColumn.map { "t.\(name: $0)" } ?? filter?.order
    isSeeking = filter?.isSeeking ?? false
  }

  var from: SQLText { "\(name: table.table) t" }

  /// The key and, as `k`, what it is sorted by.
  var columns: SQLText { "t.Z_PK, \(sort ?? "NULL") AS k" }

  /// WHERE, unless every row of the table is meant.
  func restriction(_ condition: SQLText? = nil, entity: SQLText? = nil) -> SQLText {
    let sign: SQLText = isSeeking ? "+" : ""
    let own = entity ?? table.kindRows("t").map { "\(sign)\(own: $0)" }
    let parts = [own, filter.map { "(\($0))" }, condition.map { "(\($0))" }].compactMap { $0 }
    return parts.isEmpty ? "" : "WHERE \(SQLText.joined(parts, "AND"))"
  }

  func order(descending: Bool) -> SQLText {
    let direction: SQLText = descending ? "DESC" : "ASC"
    return sort.map { "ORDER BY \($0) \(direction), t.Z_PK \(direction)" }
      ?? "ORDER BY t.Z_PK \(direction)"
  }

  /// The condition on rows that come after a place.
  ///
  /// SQLite sorts NULL before every value, so a page may begin among the NULLs and end among values.
  func beyond(_ cursor: RowCursor, descending: Bool) -> SQLText {
    let sign: SQLText = descending ? "<" : ">"
    let key = SQLText(value: .integer(cursor.key))
    guard let sort else { return "t.Z_PK \(sign) \(key)" }
    let place: SQLText
    switch cursor.sortValue {
    case .none, .null:
      return descending
        ? "\(sort) IS NULL AND t.Z_PK < \(key)"
        : "(\(sort) IS NULL AND t.Z_PK > \(key)) OR \(sort) IS NOT NULL"
    case .stored:
      guard let sortColumn else { return "t.Z_PK \(sign) \(key)" }
      place = "(SELECT c.\(name: sortColumn) FROM \(name: table.table) c WHERE c.Z_PK = \(key))"
    case .brokenText: place = "CAST(\(value: cursor.sortValue.value) AS TEXT)"
    default: place = "\(value: cursor.sortValue.value)"
    }
    let seek: SQLText = "\(sort) \(sign) \(place) OR (\(sort) = \(place) AND t.Z_PK \(sign) \(key))"
    return descending ? "\(seek) OR \(sort) IS NULL" : seek
  }
}

extension RowCursor.SortValue {
  /// Bytes of text from which a cursor leaves them in the store.
  private static let longest = 300

  /// SQL for a sort value and for whether it is too long to be carried about.
  static func columns(of name: String) -> String {
    let isLong =
      "(typeof(\(name)) IN ('text', 'blob') AND length(CAST(\(name) AS BLOB)) > \(longest))"
    return "CASE WHEN \(isLong) THEN 0 ELSE \(name) END, \(isLong)"
  }

  /// Reads what ``columns(of:)`` selects.
  init(_ statement: Statement, at column: Int) {
    guard statement.integer(at: column + 1) == 0 else {
      self = .stored
      return
    }
    switch statement.value(at: column) {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text):
      self =
        statement.brokenText(at: column, decodedAs: text).map { .brokenText($0) } ?? .text(text)
    case .blob(let bytes): self = .blob(bytes)
    }
  }

  var value: Value {
    switch self {
    case .none, .null, .stored: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes), .brokenText(let bytes): .blob(bytes)
    }
  }
}

/// The keys of one page with what they are sorted by, found by seeking and not by skipping.
struct Keyset {
  /// Its columns are Z_PK and `k`.
  let sql: SQLText
  /// Whether rows come out in the reverse of the order asked for.
  let isBackward: Bool
  let isDescending: Bool

  init(_ rows: QueryRows, descending: Bool, anchor: RowQuery.Anchor, limit: Int) {
    let cursor: RowCursor?
    (isBackward, cursor) =
      switch anchor {
      case .start: (false, nil)
      case .after(let cursor): (false, cursor)
      case .end: (true, nil)
      case .before(let cursor): (true, cursor)
      }
    isDescending = descending != isBackward
    let page = cursor.map { [isDescending] in rows.beyond($0, descending: isDescending) }
    let limit: SQLText = "LIMIT \(number: Int64(max(0, limit)))"
    let order = rows.order(descending: isDescending)
    if rows.table.numbers.count > 1, !rows.table.isWholeTable, !rows.isSeeking {
      // Each entity by itself walks the Z_ENT index in key order; one IN over several would sort
      // the whole table for a page.
      let parts = rows.table.numbers.map { number -> SQLText in
        """
        SELECT * FROM (SELECT \(rows.columns) FROM \(rows.from) \
        \(rows.restriction(page, entity: "t.Z_ENT = \(number: number)")) \(order) \(limit))
        """
      }
      var all = parts.first ?? ""
      for part in parts.dropFirst() { all = "\(all) UNION ALL \(part)" }
      let direction: SQLText = isDescending ? "DESC" : "ASC"
      sql = "SELECT * FROM (\(all)) ORDER BY k \(direction), Z_PK \(direction) \(limit)"
    } else {
      sql = "SELECT \(rows.columns) FROM \(rows.from) \(rows.restriction(page)) \(order) \(limit)"
    }
  }
}
