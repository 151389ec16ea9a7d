import ManagedModel
import ManagedStore
import SQLite

/// Questions that planning asks of a store's rows.
struct SourceData {
  let store: Store

  /// The rows of exactly one entity: `FROM … WHERE …`, with further conditions to be added.
  ///
  /// - Parameter schema: prefix of the source's tables, on another connection than the store's own.
  func rows(
    of entity: String, where conditions: [String] = [], in schema: String = ""
  ) -> String? {
    guard let table = store.table(of: entity), store.database.contains(table.table) else {
      return nil
    }
    let all = [table.ownRows("t")].compactMap { $0 } + conditions.map { "(\($0))" }
    return "FROM \(schema)\(quoted(table.table)) t"
      + (all.isEmpty ? "" : " WHERE " + all.joined(separator: " AND "))
  }

  func column(of attribute: String, in entity: String) -> String? {
    store.table(of: entity)?.attribute(named: attribute)?.place(in: "t")
  }

  func count(_ entity: String, where conditions: [String]) throws -> Int {
    try rows(of: entity, where: conditions).map { try store.number("SELECT count(*) \($0)") } ?? 0
  }

  /// SQL that is true for rows without any object in a relationship; `nil` where it is not kept.
  func isEmpty(_ relationship: String, of entity: String) -> String? {
    store.table(of: entity)?.storage(of: relationship)?.isEmpty("t")
  }

  func links(_ relationship: String, of entity: String) throws -> Int {
    guard let table = store.table(of: entity), let storage = table.storage(of: relationship),
      let owners = rows(of: entity)
    else { return 0 }
    // Pairs that count both ways have both their ends here.
    let isOwn = storage.kind == .toOne || storage.kind == .reflexive
    let condition = isOwn ? "" : " WHERE owner IN (SELECT t.Z_PK \(owners))"
    return try store.number(
      "SELECT count(*) FROM (\(storage.allLinks(of: [table.entityID])))\(condition)")
  }

  /// `FROM … WHERE …` of links `e` from an entity's own objects `o` to objects `d` of others, each pair once;
  /// `nil` where they are not kept.
  ///
  /// `e.here` and `e.there` say whether the relationship has the link, and whether its inverse does: the two
  /// sides of a one-to-one may disagree, and of all others one place keeps both.
  func links(
    _ relationship: Relationship, of entity: String, _ inverse: Relationship?, to others: [String],
    in schema: String = "", where conditions: [String] = []
  ) -> String? {
    let numbers = others.compactMap { store.table(of: $0)?.entityID }
    guard !numbers.isEmpty, let own = store.table(of: entity),
      let other = store.table(of: relationship.destination),
      let storage = own.storage(of: relationship.name)
    else { return nil }
    var conditions = conditions
    if let column = storage.toOneColumn, inverse == relationship, own.table == other.table {
      // Of a pair that references each other the object of the lower key counts.
      conditions.append("o.Z_PK <= d.Z_PK OR d.\(quoted(column)) IS NOT o.Z_PK")
    }
    let links =
      switch sides(of: relationship, of: entity, inverse) {
      case .one:
        "SELECT owner, destination, 1 AS here, 1 AS there FROM (\(storage.allLinks(in: schema)))"
      case .both(let back):
        """
        SELECT owner, destination, max(here) AS here, max(there) AS there FROM (
        SELECT owner, destination, 1 AS here, 0 AS there FROM (\(storage.allLinks(in: schema)))
        UNION ALL SELECT destination, owner, 0, 1 FROM (\(back.allLinks(in: schema))))
        GROUP BY owner, destination
        """
      case .own(let column):
        """
        SELECT owner, destination, 1 AS here, EXISTS (SELECT 1 FROM \(schema)\(quoted(other.table)) b
        WHERE b.Z_PK = l.destination AND b.\(quoted(column)) = l.owner) AS there
        FROM (\(storage.allLinks(in: schema))) l
        """
      }
    return """
      FROM (\(links)) e
      CROSS JOIN \(schema)\(quoted(own.table)) o ON o.Z_PK = e.owner AND o.Z_ENT = \(own.entityID)
      CROSS JOIN \(schema)\(quoted(other.table)) d ON d.Z_PK = e.destination
      AND d.Z_ENT IN (\(numbers.list))\(conditions.filter)
      """
  }

  /// Where the links of a relationship and of its inverse are kept.
  enum Sides {
    /// In one place, for both.
    case one
    /// Each in its own column, as those of a one-to-one; this is where the inverse is.
    case both(RelationshipStorage)
    /// In the one column of a to-one that is its own inverse.
    case own(String)

    /// Whether each link counts as one of the relationship's own.
    var isAlwaysHere: Bool { if case .both = self { false } else { true } }
    /// Whether each link counts as one of the inverse's, too.
    var isAlwaysThere: Bool { if case .one = self { true } else { false } }
  }

  func sides(
    of relationship: Relationship, of entity: String, _ inverse: Relationship?
  ) -> Sides {
    guard let inverse, let storage = store.table(of: entity)?.storage(of: relationship.name) else {
      return .one
    }
    if inverse == relationship { return storage.toOneColumn.map { .own($0) } ?? .one }
    guard storage.kind == .toOne,
      let back = store.table(of: relationship.destination)?.storage(of: inverse.name),
      back.kind == .toOne
    else { return .one }
    return .both(back)
  }

  /// A few different values of an attribute, as text.
  func samples(of attribute: String, in entity: String, limit: Int = 5) throws -> [String] {
    let page = try store.rows(
      RowQuery(
        entity: entity, sort: .init(property: attribute, descending: true), limit: 50,
        properties: [attribute]))
    var texts: [String] = []
    for row in page.rows where row.id.entity == entity {
      guard let value = row.values.first, value != .value(.null) else { continue }
      let text = SampleText.text(of: value)
      if !texts.contains(text) { texts.append(text) }
      if texts.count == limit { break }
    }
    return texts
  }

  /// Some objects for which a condition is true of an attribute's column, each with its value.
  func samples(of attribute: String, in entity: String, where condition: String) throws -> [String]
  {
    guard let column = column(of: attribute, in: entity),
      let rows = rows(of: entity, where: [condition])
    else { return [] }
    return try store.reading {
      try store.connection.rows("SELECT t.Z_PK, \(column) \(rows) ORDER BY 1 LIMIT 5")
    }.compactMap { row in
      guard row.count == 2, let key = row[0].integer else { return nil }
      return "\(ObjectID(entity: entity, key: key)) \(row[1].sampleText)"
    }
  }

  /// The first objects of an entity, each with its label.
  func samples(ofObjects entity: String, limit: Int = 5) throws -> [String] {
    let label = store.table(of: entity).flatMap {
      ObjectLabels().attribute(of: $0, in: store.model)
    }
    let page = try store.rows(
      RowQuery(entity: entity, limit: limit, properties: label.map { [$0] } ?? []))
    return page.rows.filter { $0.id.entity == entity }.map { row in
      guard let value = row.values.first, value != .value(.null) else { return "\(row.id)" }
      return "\(row.id) “\(SampleText.text(of: value))”"
    }
  }
}

extension Value {
  /// A number as the store has it, with as many digits as distinguish it from its neighbours.
  fileprivate var sampleText: String {
    switch self {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text.printable
    default: "?"
    }
  }
}

extension Store {
  /// The number that a query over the store answers.
  func number(_ sql: String) throws -> Int { try reading { try connection.number(sql) } }
}

/// Values as short text for lists of samples.
enum SampleText {
  static func text(of value: PropertyValue) -> String {
    switch value {
    case .value(.null), .toOne(nil): "NULL"
    case .value(.string(let text)) where text.count > 60: text.prefix(60) + "…"
    case .value(let plain): plain.line
    case .data(let data): data.location.problem ?? "\(data.count) bytes"
    case .toOne(let id?): id.description
    case .toMany(let many): "\(many.count) objects"
    }
  }
}

/// Rows that something is true of: how many they are, and the first few.
package struct FoundRows {
  /// How many there are.
  package let count: Int
  /// The first few, by key.
  package let first: [ObjectID]

  /// Keys of the first few.
  var keys: [Int64] { first.map(\.key) }
}

extension FoundRows {
  /// - Parameters:
  ///   - rows: `FROM … WHERE …`.
  ///   - key: SQL of an object's key.
  ///   - count: how many there are, where that is known.
  package init(
    _ rows: String, key: String, of entity: String, on connection: Connection, count: Int? = nil
  ) throws {
    try self.init(rows, columns: key, on: connection, count: count) {
      $0.first?.integer.map { ObjectID(entity: entity, key: $0) }
    }
  }

  /// - Parameters:
  ///   - columns: SQL of what `object` makes an object of; the first five rows by these are taken.
  init(
    _ rows: String, columns: String, on connection: Connection, count: Int? = nil,
    object: ([Value]) -> ObjectID?
  ) throws {
    self.count = try count ?? connection.number("SELECT count(*) \(rows)")
    first =
      self.count == 0
      ? []
      : try connection.rows("SELECT \(columns) \(rows) ORDER BY \(columns) LIMIT 5").compactMap(
        object)
  }
}

extension SourceData {
  /// The rows of exactly one entity that fulfil conditions.
  func found(_ entity: String, where conditions: [String]) throws -> FoundRows? {
    guard let rows = rows(of: entity, where: conditions) else { return nil }
    return try store.reading {
      try FoundRows(rows, key: "t.Z_PK", of: entity, on: store.connection)
    }
  }
}
