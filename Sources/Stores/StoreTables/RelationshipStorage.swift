import SQLite

/// How a store keeps the links of a relationship: as rows of a table that hold two keys.
///
/// Every kind has that shape. A to-one's links are the owners' own rows, those of its inverse the
/// destinations', and a many-to-many's are rows of a join table. Code that reads, counts, writes or
/// compares links asks here for SQL.
public struct RelationshipStorage: Sendable, Equatable {
  /// The ways in which a store keeps a relationship.
  public enum Kind: Sendable, Equatable {
    /// A column of the owner's row with the destination's key.
    case toOne
    /// A to-many whose to-one inverse keeps the owner's key, on the destination's row.
    case inverseOfToOne
    /// A to-many that has no inverse: a column of the destination's row with the owner's key.
    case withoutInverse
    /// A table of pairs of keys.
    case join
    /// A relationship that is its own inverse: pairs count in both directions.
    case reflexive
  }

  /// Which of the ways it is.
  public let kind: Kind
  /// The table whose rows are the links.
  public let table: String
  /// The column with the owner's key; Z_PK where the link is the owner's own row.
  public let owner: String
  /// The column with the destination's key; Z_PK where the link is the destination's own row.
  public let destination: String
  /// The column with the destination's Z_ENT, which a to-one has where that can vary.
  public private(set) var entityColumn: String?
  /// The column with the destination's place among the owner's objects, where they are ordered.
  public private(set) var position: String?
  /// The column with the owner's place among the destination's objects, where the inverse is
  /// ordered and these rows show it.
  public private(set) var inversePosition: String?

  init(
    _ kind: Kind, table: String, owner: String = "Z_PK", destination: String = "Z_PK",
    entityColumn: String? = nil, position: String? = nil, inversePosition: String? = nil
  ) {
    self.kind = kind
    self.table = table
    self.owner = owner
    self.destination = destination
    self.entityColumn = entityColumn
    self.position = position
    self.inversePosition = inversePosition
  }

  /// A to-one's column; `nil` for a to-many.
  package var toOneColumn: String? { kind == .toOne ? destination : nil }

  /// Whether the links are rows of a table of pairs.
  package var isJoin: Bool { kind == .join || kind == .reflexive }

  /// Whether the links are rows of the objects that the relationship references.
  package var isInDestinationRow: Bool { kind == .inverseOfToOne || kind == .withoutInverse }

  /// The same without columns that its table does not have; `nil` where it has no keys.
  func fitted(to there: Set<String>) -> RelationshipStorage? {
    guard [owner, destination].allSatisfy({ $0 == "Z_PK" || there.contains($0) }) else {
      return nil
    }
    func kept(_ column: String?) -> String? {
      column.flatMap { there.contains($0) ? $0 : nil }
    }
    var copy = self
    (copy.entityColumn, copy.position, copy.inversePosition) = (
      kept(entityColumn), kept(position), kept(inversePosition)
    )
    return copy
  }
}

/// Links as a row of a statement: what stands behind FROM, and the columns by their names there.
package struct LinkRow {
  package let from: SQLText
  package let owner: SQLText
  package let destination: SQLText
  /// The destination's place among the owner's objects, where they are ordered.
  package var position: SQLText?
}

/// Reading. `schema` is the prefix of tables, such as `src.`; keys are SQL.
extension RelationshipStorage {
  private func place(_ schema: String) -> String { schema + quoted(table) }

  /// All links as rows `row`, in both directions where they count so.
  ///
  /// - Parameters:
  ///   - hint: what is said of the table to SQLite, such as NOT INDEXED.
  ///   - key: SQL of the owner's key, where the caller asks for one owner: SQLite does not take a condition into
  ///     both directions by itself, and would read the whole table for each.
  package func links(
    as row: String, in schema: String = "", hint: String = "", of key: String? = nil
  ) -> LinkRow {
    let (one, two) = (quoted(owner), quoted(destination))
    guard kind == .reflexive else {
      return LinkRow(
        from: SQLText(own: "\(place(schema)) \(row) \(hint)"),
        owner: SQLText(own: "\(row).\(one)"), destination: SQLText(own: "\(row).\(two)"),
        position: position.map { "\(own: row).\(name: $0)" })
    }
    let place = "\(place(schema)) \(hint)"
    let (forward, back) = (key.map { "WHERE \(one) = \($0)" }, key.map { "WHERE \(two) = \($0)" })
    let both = """
      SELECT \(one) a, \(two) b FROM \(place) \(forward ?? "") \
      UNION SELECT \(two), \(one) FROM \(place) \(back ?? "")
      """
    return LinkRow(
      from: SQLText(own: "(\(both)) \(row)"), owner: SQLText(own: "\(row).a"),
      destination: SQLText(own: "\(row).b"))
  }

  /// FROM, with a condition where it takes one, of the links of the owner with a key; the columns of
  /// `row` have their own names.
  package func links(
    of key: SQLText, as row: String = "o", in schema: String = ""
  ) -> SQLText {
    let place = place(schema)
    guard kind == .reflexive else {
      return "FROM \(own: place) \(own: row) WHERE \(own: row).\(name: owner) = \(key)"
    }
    return """
      FROM (SELECT \(name: destination) FROM \(own: place) WHERE \(name: owner) = \(key) \
      UNION SELECT \(name: owner) FROM \(own: place) WHERE \(name: destination) = \(key)) \(own: row)
      """
  }

  /// True of a row that the owner with a key references, and the row's place among these objects.
  package func restriction(of row: String, to key: SQLText) -> (condition: SQLText, place: SQLText?)
  {
    guard !isInDestinationRow else {
      return (
        "\(own: row).\(name: owner) = \(key)", position.map { "\(own: row).\(name: $0)" }
      )
    }
    let links = links(of: key)
    return (
      "\(own: row).Z_PK IN (SELECT o.\(name: destination) \(links))",
      position.map {
        "(SELECT o.\(name: $0) \(links) AND o.\(name: destination) = \(own: row).Z_PK)"
      }
    )
  }

  /// The number of objects that the owner with a key references.
  package func count(of key: SQLText, in schema: String = "") -> SQLText {
    let what: SQLText = kind == .toOne ? "o.\(name: destination)" : "*"
    return "(SELECT count(\(what)) \(links(of: key, in: schema)))"
  }

  /// True of an owner's row that references nothing.
  package func isEmpty(_ row: String, in schema: String = "") -> String {
    kind == .toOne
      ? "\(row).\(quoted(destination)) IS NULL"
      : "NOT EXISTS (SELECT 1 \(links(of: SQLText(own: "\(row).Z_PK"), in: schema).sql))"
  }

  /// The same for tables that may have no indexes yet.
  package func isEmpty(_ row: String, unindexedIn schema: String) -> String {
    guard kind != .toOne else { return isEmpty(row) }
    var owners = "SELECT \(quoted(owner)) FROM \(place(schema))"
    if isInDestinationRow { owners += " WHERE \(quoted(owner)) IS NOT NULL" }
    if kind == .reflexive { owners += " UNION SELECT \(quoted(destination)) FROM \(place(schema))" }
    return "\(row).Z_PK NOT IN (\(owners))"
  }

  /// True of a link's row `t` that has no place in the order of its owner's objects; `nil` where they have no
  /// order.
  package var isUnordered: String? {
    position.map { "(t.\(quoted(owner)) IS NOT NULL AND t.\(quoted($0)) IS NULL)" }
  }

  /// SELECT of owner, destination, position in the relationship and position in its inverse, each
  /// pair once; a position is NULL if there is none.
  ///
  /// - Parameters:
  ///   - numbers: Z_ENT of the owners: other entities of a to-one's table may have left something in its
  ///     column.
  ///   - bothWays: whether pairs that count both ways are there in both directions.
  package func allLinks(
    in schema: String = "", of numbers: [Int64]? = nil, bothWays: Bool = false
  ) -> String {
    guard !bothWays || kind != .reflexive else {
      let links = allLinks(in: schema, of: numbers)
      return """
        SELECT owner, destination, position, inverse FROM (\(links))
        UNION SELECT destination, owner, inverse, position FROM (\(links))
        """
    }
    func column(_ name: String?) -> String { name.map { quoted($0) } ?? "NULL" }
    var conditions: [String] = []
    if kind == .toOne {
      conditions = ["\(quoted(destination)) IS NOT NULL"]
      if let numbers { conditions.append("Z_ENT IN (\(numbers.list))") }
    } else if isInDestinationRow {
      conditions = ["\(quoted(owner)) IS NOT NULL"]
    }
    return """
      SELECT \(quoted(owner)) AS owner, \(quoted(destination)) AS destination, \
      \(column(position)) AS position, \(column(inversePosition)) AS inverse FROM \(place(schema))\
      \(conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
      """
  }

  /// SELECT of owner and destination, both directions where they count so.
  package func pairs(in schema: String = "", of numbers: [Int64]? = nil) -> String {
    let links = "SELECT owner, destination FROM (\(allLinks(in: schema, of: numbers)))"
    guard kind == .reflexive else { return links }
    return links
      + " UNION SELECT \(quoted(destination)), \(quoted(owner)) FROM \(place(schema))"
  }

  /// SELECT of key and Z_ENT of the objects that the owner `?1` references, in their order.
  ///
  /// - Parameter objects: the table of the destination's hierarchy.
  package func objects(in objects: String, schema: String) -> String {
    let places = [position.map { "l." + quoted($0) }, "d.Z_PK"].compactMap { $0 }
    let links = links(of: "?1", as: "l", in: schema).sql
    return """
      SELECT d.Z_PK, d.Z_ENT FROM (SELECT * \(links)) l JOIN \(schema)\(quoted(objects)) d
      ON d.Z_PK = l.\(quoted(destination)) ORDER BY \(places.joined(separator: ", "))
      """
  }
}

/// Writing. Parameters: ?1 owner, ?2 destination.
extension RelationshipStorage {
  /// Adds a link that is kept outside of the owner's row; the positions are SQL.
  package func insertion(
    in schema: String = "", position: String = "?3", inversePosition: String = "?4"
  ) -> String {
    let place = place(schema)
    let (one, two) = (quoted(owner), quoted(destination))
    if kind == .reflexive {
      return """
        INSERT INTO \(place) (\(one), \(two)) SELECT ?1, ?2
        WHERE NOT EXISTS (SELECT 1 FROM \(place) WHERE \(one) = ?2 AND \(two) = ?1
        UNION ALL SELECT 1 FROM \(place) WHERE \(one) = ?1 AND \(two) = ?2)
        """
    }
    guard kind == .join else {
      let order = self.position.map { ", \(quoted($0)) = \(position)" } ?? ""
      return "UPDATE \(place) SET \(one) = ?1\(order) WHERE \(two) = ?2"
    }
    var columns = [(one, "?1"), (two, "?2")]
    if let order = self.position { columns.append((quoted(order), position)) }
    if let order = self.inversePosition { columns.append((quoted(order), inversePosition)) }
    return """
      INSERT OR IGNORE INTO \(place) (\(columns.map(\.0).joined(separator: ", ")))
      VALUES (\(columns.map(\.1).joined(separator: ", ")))
      """
  }

  /// Adds the links of a SELECT as ``allLinks(in:of:)`` gives them, kept outside of the owners' rows.
  ///
  /// - Parameter keepsFirst: whether an object that has an owner already stays with it where that has the
  ///   lower key.
  package func insertion(of links: String, in schema: String, keepsFirst: Bool = false) -> String {
    let place = place(schema)
    guard !isInDestinationRow else {
      let order = position.map { ", \(quoted($0)) = e.position" } ?? ""
      return """
        UPDATE \(place) AS t SET \(quoted(owner)) = e.owner\(order)
        FROM (SELECT destination, min(owner) AS owner, position FROM (\(links)) GROUP BY destination) e
        WHERE t.\(quoted(destination)) = e.destination\
        \(keepsFirst ? " AND (t.\(quoted(owner)) IS NULL OR t.\(quoted(owner)) > e.owner)" : "")
        """
    }
    var columns = [(owner, "owner"), (destination, "destination")]
    if let position { columns.append((position, "position")) }
    if let inversePosition { columns.append((inversePosition, "inverse")) }
    let names = columns.map { quoted($0.0) }.joined(separator: ", ")
    guard kind != .reflexive else {
      // A pair that counts both ways is there once, whichever way.
      return """
        INSERT OR IGNORE INTO \(place) (\(names)) SELECT min(owner), destination FROM (\(links)) l
        WHERE NOT EXISTS (SELECT 1 FROM \(place) p
        WHERE p.\(quoted(owner)) = l.destination AND p.\(quoted(destination)) = l.owner)
        GROUP BY min(owner, destination), max(owner, destination) ORDER BY 1, 2
        """
    }
    return """
      INSERT OR IGNORE INTO \(place) (\(names))
      SELECT \(columns.map(\.1).joined(separator: ", ")) FROM (\(links)) ORDER BY 1, 2
      """
  }

  /// Takes the links of the object `?1` out, on either side.
  package func deletions(
    in schema: String, ofOwner isOwner: Bool, ofDestination isDestination: Bool
  ) -> [String] {
    var sides: [String] = []
    if isOwner, kind != .toOne { sides.append(owner) }
    if isDestination, !isInDestinationRow { sides.append(destination) }
    return sides.map { removal(in: schema, where: "\(quoted($0)) = ?1") }
  }

  /// Takes links out of rows `t`: of a join table the rows go, other rows lose the key.
  package func removal(in schema: String, where condition: String) -> String {
    isJoin
      ? "DELETE FROM \(place(schema)) AS t WHERE \(condition)"
      : emptying(in: schema, where: condition)
  }

  /// Takes the links out of rows `t` that are objects' own, with all that goes with them.
  package func emptying(in schema: String, where condition: String) -> String {
    let key = kind == .toOne ? destination : owner
    let columns = [key, entityColumn, position, inversePosition].compactMap { $0 }
    let sets = columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
    return "UPDATE \(place(schema)) AS t SET \(sets) WHERE \(condition)"
  }
}

/// The two sides of one-to-ones.
extension RelationshipStorage {
  /// Sets the to-one of rows `o` to the row `t` of each.
  ///
  /// - Parameters:
  ///   - owners: SQL behind FROM of the one row `t` that references a row `o`.
  ///   - condition: what is true of the rows `o` that are meant.
  package func completing(
    with owners: String, in schema: String, where condition: String
  ) -> String {
    var sets = ["\(quoted(destination)) = (SELECT t.Z_PK FROM \(owners))"]
    if let entityColumn {
      sets.append("\(quoted(entityColumn)) = (SELECT t.Z_ENT FROM \(owners))")
    }
    return """
      UPDATE \(place(schema)) AS o SET \(sets.joined(separator: ", ")) WHERE \(condition)
      """
  }
}

extension Sequence<Int64> {
  /// Numbers as a list of SQL.
  package var list: String { map(String.init).joined(separator: ", ") }
}

/// Positions in ordered relationships, with room left between them as Core Data leaves it.
package enum OrderKey {
  /// From one position to the next.
  package static let spacing: Int64 = 1024

  package static func of(position: Int) -> Int64 { (Int64(position) + 2) * spacing }

  /// A position after all those of smaller keys, for an object whose place is not known.
  package static func of(key: Int64) -> Int64 { (key + 1) * spacing }

  /// SQL of the position of a place that SQL shows, from 0 on.
  package static func sql(position: String) -> String { "(\(position) + 2) * \(spacing)" }

  /// SQL that numbers the rows of each owner.
  package static func sql(numbering owner: String, by order: String) -> String {
    "\(spacing) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(order))"
  }
}
