import ManagedModel
import ManagedStore
import SQLite

/// Puts links into a new store, wherever its schema keeps a relationship, and reads them back.
struct LinkWriter {
  let schema: StoreSchema
  let connection: Connection

  /// Writes links that are determined by a SELECT.
  func write(_ link: LinkProgram) throws {
    let statements = try statements(
      link.select, relationship: link.relationship, of: link.entity, keepsFirst: true)
    for sql in statements {
      try connection.execute(sql)
    }
  }

  /// The statements that write the links of a SELECT of owner, destination, position and inverse
  /// position.
  ///
  /// - Parameter keepsFirst: whether of several owners, of several mappings too, the one of the lowest key
  ///   keeps an object that has room for one; else the one that is set last.
  func statements(
    _ select: String, relationship: String, of entity: String, keepsFirst: Bool = false
  ) throws -> [String] {
    guard let declared = schema.model.relationship(named: relationship, of: entity),
      let storage = schema.storage(of: relationship, in: entity)
    else { return [] }
    if storage.kind == .toOne {
      if let (_, inverse) = schema.inverse(of: declared), !inverse.isToMany {
        return try pairing(select, declared, inverse, of: entity)
      }
      return [
        toOne(
          storage, leadingTo: declared.destination,
          """
          SELECT owner AS key, min(destination) AS other, min(inverse) AS position
          FROM (\(select)) GROUP BY owner
          """)
      ]
    }
    if storage.kind == .inverseOfToOne {
      guard let (_, inverse) = schema.inverse(of: declared),
        let back = schema.storage(of: inverse.name, in: declared.destination)
      else { return [] }
      return [
        toOne(
          back, leadingTo: entity,
          """
          SELECT destination AS key, min(owner) AS other, position
          FROM (\(select)) GROUP BY destination
          """, keepsFirst: keepsFirst)
      ]
    }
    return [storage.insertion(of: select, in: "main.", keepsFirst: keepsFirst)]
  }

  /// Sets one side of a one-to-one as Core Data does: the other side follows, both former partners
  /// are left alone, and of two that claim one object the later has it.
  private func pairing(
    _ select: String, _ own: Relationship, _ inverse: Relationship, of entity: String
  ) throws -> [String] {
    guard let one = schema.storage(of: own.name, in: entity),
      let other = schema.storage(of: inverse.name, in: own.destination)
    else { return [] }
    try connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS \(Self.pairs)
      (owner INTEGER PRIMARY KEY, destination INTEGER UNIQUE)
      """)
    func leaving(
      _ side: RelationshipStorage, ledToBy back: RelationshipStorage, at end: String
    ) -> String {
      side.emptying(
        in: "main.",
        where: """
          Z_PK IN (SELECT o.\(quoted(back.destination))
          FROM temp.\(Self.pairs) p CROSS JOIN main.\(quoted(back.table)) o ON o.Z_PK = p.\(end))
          """)
    }
    let isReflexive = one == other
    return [
      "DELETE FROM temp.\(Self.pairs)",
      Self.replacing(in: Self.pairs, by: select, isForward: true, isReflexive: isReflexive),
      leaving(one, ledToBy: other, at: "destination"), leaving(other, ledToBy: one, at: "owner"),
      toOne(
        one, leadingTo: own.destination,
        "SELECT owner AS key, destination AS other, NULL AS position FROM temp.\(Self.pairs)"),
      isReflexive
        ? nil
        : toOne(
          other, leadingTo: entity,
          "SELECT destination AS key, owner AS other, NULL AS position FROM temp.\(Self.pairs)"),
    ].compactMap { $0 }
  }

  /// The temporary table of the pairs that are being set.
  private static let pairs = "pairs"

  /// Puts pairs into a table of owner and destination, each in the place of those that have one of
  /// its ends.
  ///
  /// - Parameter isForward: whether owners go into the column of that name.
  static func replacing(
    in table: String, by select: String, isForward: Bool, isReflexive: Bool
  ) -> String {
    let columns = isForward ? "(owner, destination)" : "(destination, owner)"
    let known = "WHERE owner IS NOT NULL AND destination IS NOT NULL"
    guard isReflexive else {
      return """
        INSERT OR REPLACE INTO temp.\(table) \(columns)
        SELECT owner, destination FROM (\(select)) \(known) ORDER BY owner, destination
        """
    }
    // Both ways, one right after the other.
    return """
      INSERT OR REPLACE INTO temp.\(table) (owner, destination) SELECT a, b FROM (
      SELECT owner AS a, destination AS b, owner AS k, destination AS l, 0 AS turn
      FROM (\(select)) \(known) UNION ALL
      SELECT destination, owner, owner, destination, 1 FROM (\(select)) \(known)
      ) ORDER BY k, l, turn
      """
  }

  /// UPDATE of a to-one's columns from a SELECT of key, other and position.
  private func toOne(
    _ storage: RelationshipStorage, leadingTo other: String, _ select: String,
    keepsFirst: Bool = false
  ) -> String {
    let key = quoted(storage.destination)
    var sets = ["\(key) = e.other"]
    if let column = storage.entityColumn, let table = schema.table(of: other)?.name {
      sets.append(
        "\(quoted(column)) = (SELECT d.Z_ENT FROM main.\(quoted(table)) d WHERE d.Z_PK = e.other)")
    }
    if let order = storage.inversePosition.map({ quoted($0) }) {
      sets.append("\(order) = coalesce(e.position, t.\(order))")
    }
    return """
      UPDATE main.\(quoted(storage.table)) AS t SET \(sets.joined(separator: ", "))
      FROM (\(select)) e WHERE t.Z_PK = e.key\
      \(keepsFirst ? " AND (t.\(key) IS NULL OR t.\(key) > e.other)" : "")
      """
  }

  /// SELECT of owner and destination as the new store has them.
  func links(of relationship: String, in entity: String) -> String? {
    schema.entityTable(of: entity).flatMap {
      $0.storage(of: relationship)?.pairs(in: "main.", of: $0.numbers)
    }
  }
}

/// The keys of a table in ranges of so few rows that progress and cancelling are felt at once.
struct KeyRanges {
  static let rows: Int64 = 20_000

  let connection: Connection
  /// As SQL, with its schema.
  let table: String
  /// The column that is its INTEGER PRIMARY KEY.
  var key = "Z_PK"

  /// Runs a statement whose parameters are the ends of a range, for each range.
  ///
  /// - Parameter evaluating: what each run is wrapped in.
  func run(
    _ sql: String, _ meter: ProgressMeter,
    evaluating: (() throws -> Void) throws -> Void = { try $0() }
  ) throws {
    let statement = try connection.prepare(sql)
    try forEach { low, high in
      try evaluating { try statement.run([.integer(low), .integer(high)]) }
      try meter.advance(by: connection.changes)
    }
  }

  /// Calls `body` with the first and the last key of each range, in rising order.
  func forEach(_ body: (_ low: Int64, _ high: Int64) throws -> Void) throws {
    // Each by itself is found at an end of the tree, both together in all rows.
    let ends = ["min", "max"].map { "(SELECT \($0)(\(key)) FROM \(table))" }
    guard let bounds = try connection.rows("SELECT \(ends.joined(separator: ", "))").first,
      bounds.count == 2, var low = bounds[0].integer, let last = bounds[1].integer
    else { return }
    // Ranges of keys need no look at the rows; where keys lie far apart, ranges of rows are fewer.
    let (span, isHuge) = last.subtractingReportingOverflow(low)
    if !isHuge, span < Self.rows * 5_000 {
      while low <= last {
        let high = min(last, low + Self.rows - 1)
        try body(low, high)
        guard high < Int64.max else { return }
        low = high + 1
      }
      return
    }
    let next = try connection.prepare(
      """
      SELECT max(\(key)) FROM (SELECT \(key) FROM \(table) WHERE \(key) >= ? ORDER BY \(key) LIMIT \(Self.rows))
      """)
    while low <= last {
      try next.bind([.integer(low)])
      guard try next.step(), let high = next.value(at: 0).integer else { return }
      next.reset()
      try body(low, high)
      guard high < Int64.max else { return }
      low = high + 1
    }
  }
}

/// A column of positions in an ordered to-many.
struct OrderNumbering {
  let table: String
  let order: String
  /// The column that shows whose relationship it is.
  let owner: String
  /// The column by which those are ordered that have no position.
  let key: String

  /// Gives a position to those that have none, as in a to-many that was not ordered before: by key,
  /// after those that have one, with room in between as Core Data leaves it.
  func run(on connection: Connection) throws {
    let (place, order, owner, key) = (
      "main." + quoted(table), quoted(order), quoted(owner), quoted(key)
    )
    try connection.execute(
      """
      UPDATE \(place) AS t SET \(order) = n.position FROM (
        SELECT a.\(owner) AS owner, a.\(key) AS key, min(ifnull(b.last, 0), \(Self.greatestLast))
          + \(OrderKey.sql(numbering: "a." + owner, by: "a." + key)) AS position
        FROM \(place) a LEFT JOIN (
          SELECT \(owner) AS owner, max(\(order)) AS last FROM \(place)
          WHERE \(order) IS NOT NULL AND \(owner) IS NOT NULL GROUP BY \(owner)
        ) b ON b.owner = a.\(owner) WHERE a.\(owner) IS NOT NULL AND a.\(order) IS NULL
      ) n WHERE t.\(key) = n.key AND t.\(owner) = n.owner
      """)
  }

  /// A position after all that there are: those without one get theirs.
  func last(on connection: Connection) throws -> Int64 {
    try run(on: connection)
    let last = try connection.value("SELECT max(\(quoted(order))) FROM main.\(quoted(table))")
    return min(last?.integer ?? 0, Self.greatestLast)
  }

  /// Leaves room for all that can come, whatever a damaged store says.
  private static let greatestLast = Int64.max / 2
}

extension RelationshipStorage {
  /// The positions that a link holds, on either side.
  var numberings: [OrderNumbering] {
    [
      inversePosition.map {
        OrderNumbering(table: table, order: $0, owner: destination, key: owner)
      }, position.map { OrderNumbering(table: table, order: $0, owner: owner, key: destination) },
    ].compactMap { $0 }
  }
}

extension StoreSchema.Table {
  /// The positions that its rows hold in ordered to-manys.
  var numberings: [OrderNumbering] {
    columns.compactMap { order in
      let owner: StoreSchema.Column? =
        switch order.content {
        case .toOneOrder(let entity, let name): column(.toOne(entity: entity, name: name))
        case .ownerOrder(let entity, let name): column(.owner(entity: entity, name: name))
        default: nil
        }
      return owner.map {
        OrderNumbering(table: name, order: order.name, owner: $0.name, key: "Z_PK")
      }
    }
  }
}
