import ManagedModel
import ManagedStore
import SQLite

/// Links of a relationship that rows cannot hold when they are made: set when all objects are there.
struct LinkProgram {
  /// Objects of the source by their table and their entity IDs.
  struct Objects {
    var table: String
    var entities: [Int64]
  }

  var mapping: String
  /// The destination entity that declares the relationship, and its name.
  var entity: String
  var relationship: String
  var origin: LinkOrigin
  /// The source table of the owners.
  var table: String
  /// The key of what the mapping makes of an owner.
  var key = KeyRule.moved(0)
  /// What is true of the owners `s`.
  var conditions: [RowCondition] = []
  /// What became of the objects; `nil` where the origin has their keys of the new store.
  var object: Reference?
  /// What can be claimed: what claims an object that is not there, or one of another entity, claims nothing.
  var partner: Objects?
  /// The owner's position in an ordered inverse, of a to-one.
  var order = ColumnValue.position(nil)
}

/// Where the source has links.
enum LinkOrigin {
  /// One at most from each owner: what a column or a key path of the row `s` leads to, or the row itself.
  case row(ColumnValue)
  /// All links of a relationship.
  case storage(RelationshipStorage, bothWays: Bool)
  /// Those of an object that a key path of the row `s` leads to.
  case behind(ColumnValue, RelationshipStorage, bothWays: Bool)
  /// Where a path of relationships leads: to each object once, however many ways lead to it.
  case walk([RelationshipStorage])
  /// To all objects of a table that have one of the entity IDs and for which a condition over the row `f` is
  /// true.
  case fetched(in: String, entities: [Int64], where: String)
  /// To objects that are made along with the owners, in a temporary table.
  case children(String)
}

/// Which objects a statement carries the relationships of.
enum CarriedObjects {
  /// Those in `temp.carried`.
  case listed
  /// All that the mapping made behind the key and entity ?1 and ?2, up to ?3 and ?4.
  case between
}

// MARK: SQL

extension LinkOrigin {
  /// SELECT of owner, destination (keys of the source), position and inverse position.
  ///
  /// - Parameter owners: the table of the owners.
  fileprivate func select(from owners: String) -> String {
    let owners = "src.\(quoted(owners)) s"
    func links(_ storage: RelationshipStorage, _ bothWays: Bool) -> String {
      storage.allLinks(in: "src.", bothWays: bothWays)
    }
    switch self {
    case .row(let key):
      return """
        SELECT s.Z_PK AS owner, \(key.sql ?? "NULL") AS destination, NULL AS position, NULL AS inverse
        FROM \(owners)
        """
    case .storage(let storage, let bothWays):
      return links(storage, bothWays)
    case .behind(let middle, let storage, let bothWays):
      return """
        SELECT s.Z_PK AS owner, e.destination, e.position, NULL AS inverse
        FROM \(owners) JOIN (\(links(storage, bothWays))) e ON e.owner = \(middle.sql ?? "NULL")
        """
    case .walk(let path):
      let all = path.map { links($0, true) }
      let walked = all.dropFirst().reduce(all.first ?? "") { walked, next in
        "SELECT w.owner, n.destination FROM (\(walked)) w JOIN (\(next)) n ON n.owner = w.destination"
      }
      return """
        SELECT DISTINCT owner, destination, NULL AS position, NULL AS inverse FROM (\(walked))
        WHERE destination IS NOT NULL
        """
    case .fetched(let table, let entities, let condition):
      return """
        SELECT s.Z_PK AS owner, f.Z_PK AS destination, NULL AS position, NULL AS inverse
        FROM \(owners), src.\(quoted(table)) f
        WHERE f.Z_ENT IN (\(entities.list)) AND (\(condition))
        """
    case .children(let tree):
      return """
        SELECT parent AS owner, key AS destination, \(OrderKey.sql(position: "position")) AS position,
        NULL AS inverse FROM temp.\(tree)
        """
    }
  }
}

extension LinkProgram {
  /// SELECT of all links: owner, destination (keys of the new store), position and inverse position (NULL if
  /// there is none).
  var select: String {
    let links = origin.select(from: table)
    guard let object else {
      let there = partner.map {
        " WHERE destination IN (SELECT d.Z_PK FROM src.\(quoted($0.table)) d WHERE d.Z_ENT IN (\($0.entities.list)))"
      }
      return there.map { "SELECT * FROM (\(links)\(conditions.filter))\($0)" } ?? links
    }
    let there =
      partner.map {
        " JOIN src.\(quoted($0.table)) d ON d.Z_PK = e.destination AND d.Z_ENT IN (\($0.entities.list))"
      } ?? ""
    let many = object.pairs
    let found = object.key(of: .lookup("e.destination", reading: [])).sql ?? "NULL"
    return """
      SELECT owner, destination, position, inverse FROM (
      SELECT \(key.destination(of: "e.owner")) AS owner,
      \(many == nil ? found : "m.destination") AS destination, e.position, e.inverse
      FROM (\(links)) e JOIN src.\(quoted(table)) s ON s.Z_PK = e.owner\(there)
      \(many.map { "JOIN (\($0)) m ON m.source = e.destination" } ?? "")\(conditions.filter))
      WHERE owner IS NOT NULL AND destination IS NOT NULL
      """
  }

  /// SELECT of the same for objects that a policy's mapping made.
  ///
  /// - Parameter entities: Z_ENT of those objects: a policy may have associated others as well.
  func carried(_ objects: CarriedObjects, entities: [Int64]) -> String? {
    guard case .associated(let made, _, _) = key, let object else { return nil }
    var (found, position, inverse) = (
      ColumnValue.lookup("e.destination", reading: []), "e.position", "e.inverse"
    )
    var links = " CROSS JOIN (\(origin.select(from: table))) e ON e.owner = s.Z_PK"
    if case .row(let key) = origin {
      (found, position, inverse, links) = (key, "NULL", order.sql ?? "NULL", "")
    }
    // In this order: SQLite knows nothing of how few rows the temporary table has.
    let many = object.pairs
    let carried =
      switch objects {
      case .listed:
        """
        temp.carried b CROSS JOIN temp.\(made) a ON a.destination = b.key AND a.entity = b.entity
        AND a.entity IN (\(entities.list))
        """
      case .between:
        """
        (SELECT source, destination, entity FROM temp.\(made)
        WHERE (destination, entity) > (?1, ?2) AND (destination, entity) <= (?3, ?4)
        AND +entity IN (\(entities.list))) a
        """
      }
    return """
      SELECT owner, destination, position, inverse FROM (
      SELECT a.destination AS owner, \(many == nil ? object.key(of: found).sql ?? "NULL" : "m.destination") AS destination,
      \(position) AS position, \(inverse) AS inverse
      FROM \(carried) CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = a.source\(links)
      \(many.map { "CROSS JOIN (\($0)) m ON m.source = \(found.sql ?? "NULL")" } ?? ""))
      WHERE destination IS NOT NULL
      """
  }

  /// UPDATE of to-ones of all that a mapping made by itself, for keys behind ?1 up to ?3, each row once.
  ///
  /// - Parameters:
  ///   - links: each with where the new store keeps it, and the table that it references.
  ///   - entityID: Z_ENT of what the mapping made.
  ///   - distance: how far their keys are moved from their sources'.
  static func update(
    _ links: [(program: LinkProgram, storage: RelationshipStorage, other: String)],
    of entityID: Int64, in table: String, moved distance: Int64
  ) -> String? {
    guard let owners = links.first?.program.table else { return nil }
    var values: [String] = []
    var sets: [(column: String, sql: String)] = []
    for (index, (link, storage, other)) in links.enumerated() {
      guard case .row(let key) = link.origin, let object = link.object else { return nil }
      let value = "k\(index)"
      values.append("\(object.key(of: key).sql ?? "NULL") AS \(value)")
      // What references nothing leaves alone what is there.
      func set(_ column: String, _ sql: String) {
        let column = quoted(column)
        sets.append((column, "CASE WHEN \(value) IS NULL THEN t.\(column) ELSE \(sql) END"))
      }
      set(storage.destination, value)
      if let column = storage.entityColumn {
        set(column, "(SELECT d.Z_ENT FROM main.\(quoted(other)) d WHERE d.Z_PK = \(value))")
      }
      if let column = storage.inversePosition, let place = link.order.sql {
        values.append("\(place) AS p\(value)")
        set(column, "coalesce(p\(value), t.\(quoted(column)))")
      }
    }
    // OFFSET keeps SQLite from looking for a value again wherever it is used.
    return """
      UPDATE main.\(quoted(table)) AS t SET (\(sets.map(\.column).joined(separator: ", "))) =
      (SELECT \(sets.map(\.sql).joined(separator: ", ")) FROM
      (SELECT \(values.joined(separator: ", ")) FROM src.\(quoted(owners)) s
      WHERE s.Z_PK = t.Z_PK - \(distance) LIMIT -1 OFFSET 0))
      WHERE t.Z_PK > ?1 AND t.Z_PK <= ?3 AND t.Z_ENT = \(entityID)
      """
  }
}

/// The rows of a join table of an inferred step.
struct JoinProgram {
  var entity: String
  var relationship: String
  var table: String
  var columns: [String]
  var select: String
  /// The join table of the source that had the links, and whether its first column holds keys of the same side.
  var former: (table: StoreSchema.JoinTable, isStraight: Bool)?
  /// Whether no link is left out.
  var takesAll: Bool

  /// Whether they are all rows of the former table, and its columns in their order.
  var isWhole: Bool { takesAll && columns.count == 2 && former?.isStraight == true }

  /// The columns as SQL.
  var names: String { columns.map { quoted($0) }.joined(separator: ", ") }
  var insert: String { "INSERT OR IGNORE INTO main.\(quoted(table)) (\(names)) \(select)" }
}

extension StepSchemas {
  /// The rows of a join table; `nil` for links that are new.
  func program(of join: StoreSchema.JoinTable) -> JoinProgram? {
    let before = sourceJoin(of: join).map { (table: $0, isStraight: isStraight(join, $0)) }
    var first = "owner"
    var second = "destination"
    var firstOrder = "inverse"
    var secondOrder = "position"
    let links: String
    if let (former, isStraight) = before {
      // Both positions are in the former table, whichever side names it.
      (first, second) =
        isStraight
        ? (quoted(former.first), quoted(former.second))
        : (quoted(former.second), quoted(former.first))
      let orders = [former.firstOrder, former.secondOrder].map { $0.map { quoted($0) } ?? "NULL" }
      (firstOrder, secondOrder) = isStraight ? (orders[0], orders[1]) : (orders[1], orders[0])
      let table = "src.\(quoted(former.name))"
      let names = [first, second].joined(separator: ", ")
      // Pairs that counted both ways are two now.
      links =
        former.isReflexive && !join.isReflexive
        ? "SELECT \(names) FROM \(table) UNION SELECT \(second), \(first) FROM \(table)"
        : "SELECT * FROM \(table)"
      if former.isReflexive, !join.isReflexive { (firstOrder, secondOrder) = ("NULL", "NULL") }
    } else if let own = self.links(of: join.relationship, in: join.entity) {
      links = own
    } else if let back = self.links(of: join.inverse, in: join.inverseEntity) {
      links = back
      (first, second) = ("destination", "owner")
      (firstOrder, secondOrder) = ("position", "inverse")
    } else {
      return nil
    }
    var columns = [join.first, join.second]
    var values = [first, second]
    if let column = join.firstOrder {
      columns.append(column)
      values.append(
        "coalesce(\(firstOrder), \(OrderKey.sql(numbering: second, by: first)))"
      )
    }
    if let column = join.secondOrder {
      columns.append(column)
      values.append(
        "coalesce(\(secondOrder), \(OrderKey.sql(numbering: first, by: second)))"
      )
    }
    let ends = formerEnds(of: join, before)
    let conditions = [
      isKept("e." + first, destination: join.entity, former: ends.first),
      isKept("e." + second, destination: join.inverseEntity, former: ends.second),
    ].compactMap { $0 }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let named = zip(values, columns).map { "\($0) AS \(quoted($1))" }
    return JoinProgram(
      entity: join.entity, relationship: join.relationship, table: join.name, columns: columns,
      select: "SELECT \(named.joined(separator: ", ")) FROM (\(links)) e\(filter)", former: before,
      takesAll: conditions.isEmpty)
  }

  /// Source entities that the two sides of a join table's links were of; `nil` where they can be any.
  private func formerEnds(
    of join: StoreSchema.JoinTable, _ former: (table: StoreSchema.JoinTable, isStraight: Bool)?
  ) -> (first: String?, second: String?) {
    if let (former, isStraight) = former {
      return isStraight
        ? (former.entity, former.inverseEntity) : (former.inverseEntity, former.entity)
    }
    func ends(_ relationship: String, _ entity: String) -> (String?, String?)? {
      let origins = mapping.origins(of: relationship, in: entity, destinationModel)
      guard let origin = origins.first else { return nil }
      // Several that moved up to one have no common declarer.
      guard Set(origins.map { sourceModel.declaringEntity(of: $0.name, in: $0.entity) }).count == 1
      else { return (nil, nil) }
      return (
        sourceModel.declaringEntity(of: origin.name, in: origin.entity),
        sourceModel.relationship(named: origin.name, of: origin.entity)?.destination
      )
    }
    if let own = ends(join.relationship, join.entity) { return (own.0, own.1) }
    if let back = ends(join.inverse, join.inverseEntity) { return (back.1, back.0) }
    return (nil, nil)
  }
}
