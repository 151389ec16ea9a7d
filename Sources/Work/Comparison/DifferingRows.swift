import ManagedModel
import ManagedStore
import SQLite
import Salvage

/// Finds the objects that may differ, without reading those that cannot: what is stored is compared by SQLite, of two
/// files of one lineage only where their pages differ.
///
/// It may find objects that turn out to be equal: they are compared in full afterwards.
final class DifferingRows {
  private static let everything = [Int64.min...Int64.max]

  private let a: Store
  private let b: Store
  private let connection: Connection
  private let tables: PairedTables
  private let isCancelled: () -> Bool
  /// The files as pages, where all of both is in their main files.
  private lazy var images = openImages()
  private lazy var rootsA = roots("src")
  private lazy var rootsB = roots("main")
  /// Ranges of rowids that may differ, by table.
  private var known: [String: (a: [ClosedRange<Int64>], b: [ClosedRange<Int64>])] = [:]

  init(
    _ a: Store, _ b: Store, _ tables: PairedTables, isCancelled: @escaping () -> Bool
  ) {
    (self.a, self.b, self.tables, self.isCancelled) = (a, b, tables, isCancelled)
    connection = tables.connection
  }

  /// The rows of two tables that may differ where rows are paired by key.
  func ranges(
    _ tableA: String, _ tableB: String
  ) throws -> (a: [ClosedRange<Int64>], b: [ClosedRange<Int64>]) {
    let place = tableA + "\n" + tableB
    if let ranges = known[place] { return ranges }
    var ranges = (a: Self.everything, b: Self.everything)
    // The same bytes are the same values only in the same columns.
    if tableA == tableB, a.metadata.uuid == b.metadata.uuid, let images, let one = rootsA[tableA],
      let other = rootsB[tableB], a.database.sql[tableA] == b.database.sql[tableB]
    {
      var pages = TreeComparison(images.a, images.b, isCancelled: isCancelled)
      if try pages.isSame(one, other) {
        ranges = ([], [])
      } else if let found = try pages.differing(one, other) {
        ranges = (found.one, found.other)
      }
    }
    known[place] = ranges
    return ranges
  }

  private func openImages() -> (a: DatabaseImage, b: DatabaseImage)? {
    guard let one = a.wholeFile, let other = b.wholeFile,
      let a = try? DatabaseImage(readBySQLiteAt: one),
      let b = try? DatabaseImage(readBySQLiteAt: other)
    else { return nil }
    return (a, b)
  }

  private func roots(_ schema: String) -> [String: Int] {
    let sql = "SELECT name, rootpage FROM \(schema).sqlite_master WHERE type = 'table'"
    return ((try? connection.rows(sql)) ?? []).reduce(into: [:]) { roots, row in
      if let name = row.first?.text, let root = row.last?.integer { roots[name] = Int(root) }
    }
  }

  // MARK: Rows

  /// Notes keys that two stores gave to two objects: those of two entities, and rows of which no value is equal, or
  /// that an identifying attribute distinguishes.
  ///
  /// A value that many objects share identifies nothing: NULL, and a Boolean. Keys rise, so that all keys up to one
  /// of an object that is the same in both were given out before the stores went their own ways.
  func findSplits(_ pair: EntityPair) throws {
    guard let a = pair.a, let b = pair.b, tables.isKeyed(a, b), isInA(a), isInB(b) else { return }
    let telling = pair.attributes.filter { $0.b.attribute.type != .boolean }
    guard !telling.isEmpty else { return }
    let equal = telling.map { "ifnull(\($0.a.place(in: "a")) = \($0.b.place(in: "b")), 0)" }
    let different = telling.map { "\($0.a.place(in: "a")) IS NOT \($0.b.place(in: "b"))" }
    let filled = telling.map { "\($0.a.place(in: "a")) IS NOT NULL" }
    var conditions = [a.ownRows("a"), b.ownRows("b")].compactMap { $0 }
    let same = conditions + ["NOT \(Self.any(different[...]))", Self.any(filled[...])]
    let shared = try connection.value(
      """
      SELECT a.Z_PK FROM src.\(quoted(a.table)) a CROSS JOIN main.\(quoted(b.table)) b ON b.Z_PK = a.Z_PK
      WHERE \(same.joined(separator: " AND ")) ORDER BY a.Z_PK DESC LIMIT 1
      """)?.integer
    let identities = telling.filter { StoreComparison.identifies($0.b.attribute) }
      .map { "\($0.a.place(in: "a")) <> \($0.b.place(in: "b"))" }
    conditions += [
      Self.any(different[...]), Self.any((["NOT \(Self.any(equal[...]))"] + identities)[...]),
    ]
    if let shared { conditions.append("a.Z_PK > \(shared)") }
    try tables.split(a, b, where: conditions.joined(separator: " AND "), in: ranges(pair).a)
  }

  /// Notes keys that are of one entity in the first store and of another in the second.
  ///
  /// - Parameter pairs: all of one table.
  func findOtherEntities(_ pairs: [EntityPair]) throws {
    guard let first = pairs.first(where: { $0.a != nil && $0.b != nil }), let a = first.a,
      let b = first.b, tables.isKeyed(a, b), a.numbers.count > 1 || !a.isWholeTable
    else { return }
    let cases = pairs.compactMap { pair in
      pair.a.flatMap { a in pair.b.map { "WHEN \(a.entityID) THEN \($0.entityID)" } }
    }
    try tables.split(
      a, b, where: "CASE a.Z_ENT \(cases.joined(separator: " ")) END IS NOT b.Z_ENT",
      in: pairs.allSatisfy(isAlike) ? ranges(a.table, b.table).a : Self.everything)
  }

  /// Notes keys that were given out after the copy that both stores come from.
  func split(_ a: EntityTable, _ b: EntityTable, above last: Int64) throws {
    guard tables.isKeyed(a, b) else { return }
    try tables.split(a, b, where: "a.Z_PK > \(last)", in: Self.everything)
  }

  /// Notes all objects of reported entities that may be changed, deleted or inserted.
  func find(_ pairs: [EntityPair]) throws {
    let all = Self.links(pairs, (a, b))
    for pair in pairs {
      let links = all.filter { $0.isInRows && $0.concerns(pair) }
      if pair.isReported || !links.isEmpty { try find(pair, links) }
    }
    for links in all {
      try connection.execute("DELETE FROM temp.compare_owner")
      if links.isInRows {
        for pair in pairs where links.concerns(pair) { try findOwners(links, in: pair) }
      } else {
        try findOwners(links)
      }
      for owner in links.owners { try note(owner) }
    }
  }

  /// Reads each table once, in the order of its keys.
  private func find(_ pair: EntityPair, _ links: [Links]) throws {
    let a = pair.a.flatMap { isInA($0) ? $0 : nil }
    let b = pair.b.flatMap { isInB($0) ? $0 : nil }
    let isKeyed = a.flatMap { a in b.map { tables.isKeyed(a, $0) } } ?? false
    let ownA = a?.ownRows("a") ?? "1"
    let ownB = b?.ownRows("b") ?? "1"
    if let a {
      var other = ""
      var (key, differs, saves) = ("NULL", "1", "0")
      if let b {
        other = """
          LEFT JOIN main.\(quoted(b.table)) b ON b.Z_PK = \(tables.inB(a.table, "a.Z_PK")) AND \(ownB)
          """
        key = "b.Z_PK"
        let conditions =
          (pair.isReported ? differences(pair) : []) + links.map { difference($0, in: pair) }
        differs = Self.any((["b.Z_PK IS NULL"] + conditions)[...])
        if isKeyed, pair.isReported { saves = "a.Z_OPT IS NOT b.Z_OPT" }
      }
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_changed
        SELECT \(pair.place), a.Z_PK, \(key), \(differs), \(saves) FROM src.\(quoted(a.table)) a \(other)
        WHERE a.Z_PK BETWEEN ? AND ? AND \(ownA) AND (\(saves) OR \(differs))
        """
      ).run(isKeyed ? try rowRanges(pair, links) : Self.everything)
    }
    if let b {
      var missing = ""
      if let a {
        missing =
          isKeyed
          ? """
          AND NOT EXISTS (SELECT 1 FROM src.\(quoted(a.table)) a
          WHERE a.Z_PK = \(tables.inA(b.table, "b.Z_PK")) AND \(ownA))
          """ : "AND \(tables.inA(b.table, "b.Z_PK")) IS NULL"
      }
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_inserted SELECT \(pair.place), b.Z_PK
        FROM main.\(quoted(b.table)) b WHERE b.Z_PK BETWEEN ? AND ? AND \(ownB) \(missing)
        """
      ).run(ranges(pair).b)
    }
  }

  private func isInA(_ table: EntityTable) -> Bool { a.database.contains(table.table) }
  private func isInB(_ table: EntityTable) -> Bool { b.database.contains(table.table) }

  /// SQL of several conditions of which one must be true: SQLite limits how deep a chain of them may be.
  private static func any(_ conditions: ArraySlice<String>) -> String {
    guard conditions.count > 1 else { return "(\(conditions.first ?? "0"))" }
    let middle = conditions.startIndex + conditions.count / 2
    return "(\(any(conditions[..<middle])) OR \(any(conditions[middle...])))"
  }

  /// Whether rows of the same bytes are of one entity and hold the same.
  private func isAlike(_ pair: EntityPair) -> Bool {
    guard let a = pair.a, let b = pair.b else { return false }
    return a.entityID == b.entityID && a.numbers == b.numbers
      && pair.attributes.allSatisfy { $0.a.column == $0.b.column }
      && pair.relationships.allSatisfy { $0.a.storage?.toOneColumn == $0.b.storage?.toOneColumn }
  }

  /// The rows that may differ, or be in one store only.
  private func ranges(
    _ pair: EntityPair
  ) throws -> (a: [ClosedRange<Int64>], b: [ClosedRange<Int64>]) {
    guard let a = pair.a, let b = pair.b, tables.isKeyed(a, b), isAlike(pair) else {
      return (Self.everything, Self.everything)
    }
    return try ranges(a.table, b.table)
  }

  /// The rows that may differ: all of them where one that is the same in both may lead to another object or file.
  private func rowRanges(_ pair: EntityPair, _ links: [Links]) throws -> [ClosedRange<Int64>] {
    let leadsElsewhere = pair.relationships.contains { one, other in
      guard one.storage?.toOneColumn != nil,
        let to = a.table(of: one.relationship.destination),
        let target = b.table(of: other.relationship.destination)
      else { return false }
      return !tables.isKeyed(to, target) || tables.hasSplits(to.table)
    }
    let isLedElsewhere = links.contains {
      !tables.isKeyed($0.owner.a, $0.owner.b) || tables.hasSplits($0.owner.a.table)
        || $0.a.owner != $0.b.owner || $0.a.position != $0.b.position
    }
    let hasFiles = pair.attributes.contains { $0.a.attribute.allowsExternalBinaryDataStorage }
    return leadsElsewhere || isLedElsewhere || hasFiles ? Self.everything : try ranges(pair).a
  }

  /// What is true of rows `a` and `b` that may differ.
  private func differences(_ pair: EntityPair) -> [String] {
    let values = pair.attributes.map { one, other in
      let (former, value) = (one.place(in: "a"), other.place(in: "b"))
      let isMarked =
        one.attribute.allowsExternalBinaryDataStorage
        || other.attribute.allowsExternalBinaryDataStorage
      // The same name can be of two files.
      return "\(former) IS NOT \(value)"
        + (isMarked ? " OR \(MarkedBytes.isFile(former))" : "")
    }
    return values
      + pair.relationships.compactMap { one, other in
        guard let former = one.storage?.toOneColumn, let column = other.storage?.toOneColumn,
          let table = a.table(of: one.relationship.destination)?.table
        else { return nil }
        return difference("a." + quoted(former), "b." + quoted(column), to: table)
      }
  }

  /// Whether two references lead to two objects: one to an object that has no counterpart is another than any, and
  /// another than none.
  private func difference(_ key: String, _ value: String, to table: String) -> String {
    let counterpart = tables.inB(table, key)
    let isOther = "\(counterpart) IS NOT \(value)"
    return counterpart == key ? isOther : "\(isOther) OR (\(value) IS NULL AND \(key) IS NOT NULL)"
  }

  // MARK: Links

  /// Links of a to-many relationship, as both stores keep them.
  private struct Links {
    let a: RelationshipStorage
    let b: RelationshipStorage
    let owner: (a: EntityTable, b: EntityTable)
    let destination: (a: String, b: String)
    /// The entities that have the relationship.
    var owners: [EntityPair] = []

    var isOrdered: Bool { a.position != nil && b.position != nil }
    /// Whether the links are the destinations' rows, which are compared anyway.
    var isInRows: Bool { a.isInDestinationRow && b.isInDestinationRow }

    func isInA(_ pair: EntityPair) -> Bool { pair.a?.table == a.table }
    func isInB(_ pair: EntityPair) -> Bool { pair.b?.table == b.table }
    func concerns(_ pair: EntityPair) -> Bool { isInA(pair) || isInB(pair) }

    func isSame(as other: Links) -> Bool {
      a == other.a && b == other.b && owner.a.table == other.owner.a.table
        && owner.b.table == other.owner.b.table
    }
  }

  private static func links(_ pairs: [EntityPair], _ stores: (a: Store, b: Store)) -> [Links] {
    var found: [Links] = []
    for pair in pairs where pair.isReported {
      guard let a = pair.a, let b = pair.b else { continue }
      for (one, other) in pair.relationships {
        guard let storage = one.storage, let now = other.storage, storage.kind != .toOne,
          now.kind != .toOne, let to = stores.a.table(of: one.relationship.destination),
          let target = stores.b.table(of: other.relationship.destination)
        else { continue }
        let links = Links(
          a: storage, b: now, owner: (a, b), destination: (to.table, target.table))
        if let index = found.firstIndex(where: links.isSame) {
          found[index].owners.append(pair)
        } else {
          found.append(links)
          found[found.count - 1].owners.append(pair)
        }
      }
    }
    return found
  }

  /// Whether rows `a` and `b` of an entity are links of other owners, or stand in another place.
  private func difference(_ links: Links, in pair: EntityPair) -> String {
    let key = links.isInA(pair) ? "a." + quoted(links.a.owner) : "NULL"
    let value = links.isInB(pair) ? "b." + quoted(links.b.owner) : "NULL"
    var conditions = [difference(key, value, to: links.owner.a.table)]
    if links.isInA(pair), links.isInB(pair), let one = links.a.position,
      let other = links.b.position
    {
      conditions.append("a.\(quoted(one)) IS NOT b.\(quoted(other))")
    }
    return "(" + conditions.joined(separator: " OR ") + ")"
  }

  /// Notes the owners of links that are rows of an entity, where those differ.
  private func findOwners(_ links: Links, in pair: EntityPair) throws {
    let differs = difference(links, in: pair)
    let a = pair.a.map { "CROSS JOIN src.\(quoted($0.table)) a ON a.Z_PK = c.a" } ?? ""
    let b = pair.b.map { "LEFT JOIN main.\(quoted($0.table)) b ON b.Z_PK = c.b" } ?? ""
    let now = tables.inA(links.owner.b.table, "b." + quoted(links.b.owner))
    let changed = "FROM temp.compare_changed c \(a) \(b) WHERE c.place = \(pair.place)"
    var found: [String] = []
    if links.isInA(pair), pair.a.map(isInA) == true {
      found.append("SELECT a.\(quoted(links.a.owner)) \(changed) AND (c.b IS NULL OR \(differs))")
    }
    if links.isInB(pair), let table = pair.b, isInB(table) {
      if pair.a.map(isInA) == true {
        found.append("SELECT \(now) \(changed) AND c.b IS NOT NULL AND \(differs)")
      }
      found.append(
        """
        SELECT \(now) FROM temp.compare_inserted i CROSS JOIN main.\(quoted(table.table)) b ON b.Z_PK = i.b
        WHERE i.place = \(pair.place)
        """)
    }
    for owners in found {
      try connection.execute("INSERT OR IGNORE INTO temp.compare_owner \(owners)")
    }
  }

  /// Notes the owners of links that are not in both stores, from all links of both in one order.
  private func findOwners(_ links: Links) throws {
    let (a, b) = links.owner
    var ranges = (a: Self.everything, b: Self.everything)
    if tables.isKeyed(a, b), !tables.hasSplits(a.table), !tables.hasSplits(links.destination.a),
      tables.areKeyed(links.destination.a, links.destination.b), links.a == links.b
    {
      ranges = try self.ranges(links.a.table, links.b.table)
    }
    guard !ranges.a.isEmpty || !ranges.b.isEmpty else { return }
    try connection.execute("DELETE FROM temp.compare_range")
    let range = try connection.prepare("INSERT INTO temp.compare_range VALUES (?, ?, ?)")
    for (side, ranges) in [(Int64(0), ranges.a), (1, ranges.b)] {
      for part in ranges {
        try range.run([.integer(side), .integer(part.lowerBound), .integer(part.upperBound)])
      }
    }
    /// SELECT of owner, destination and place, in both directions where they count so.
    func all(_ storage: RelationshipStorage, _ schema: String, side: Int, isAll: Bool) -> String {
      let place = links.isOrdered ? storage.position.map { "l." + quoted($0) } ?? "NULL" : "NULL"
      let table = "\(schema).\(quoted(storage.table)) l"
      let rows =
        isAll
        ? table
        : "temp.compare_range r CROSS JOIN \(table) ON r.side = \(side) AND l.rowid BETWEEN r.first AND r.last"
      func one(_ owner: String, _ destination: String) -> String {
        "SELECT l.\(quoted(owner)) o, l.\(quoted(destination)) d, \(place) p FROM \(rows)"
      }
      let forward = one(storage.owner, storage.destination)
      return storage.kind == .reflexive
        ? forward + " UNION " + one(storage.destination, storage.owner) : forward
    }
    let isAll = ranges == (Self.everything, Self.everything)
    let former = all(links.a, "src", side: 0, isAll: isAll)
    let now = all(links.b, "main", side: 1, isAll: isAll)
    try connection.execute(
      """
      INSERT OR IGNORE INTO temp.compare_owner SELECT o FROM (
        SELECT o, d, p FROM (\(former)) UNION ALL
        SELECT \(tables.inA(b.table, "o")), \(tables.inA(links.destination.b, "d")), p FROM (\(now)))
      GROUP BY o, d, p HAVING o IS NOT NULL AND (d IS NULL OR count(*) <> 2)
      """)
  }

  /// Notes the owners that were found among the objects of an entity.
  private func note(_ pair: EntityPair) throws {
    guard let a = pair.a, let b = pair.b, isInA(a), isInB(b) else { return }
    try connection.execute(
      """
      INSERT INTO temp.compare_changed SELECT \(pair.place), a.Z_PK, b.Z_PK, 1, 0
      FROM temp.compare_owner o CROSS JOIN src.\(quoted(a.table)) a ON a.Z_PK = o.a
      CROSS JOIN main.\(quoted(b.table)) b ON b.Z_PK = \(tables.inB(a.table, "a.Z_PK"))
      WHERE \(a.ownRows("a") ?? "1") AND \(b.ownRows("b") ?? "1")
      ON CONFLICT DO UPDATE SET differs = 1
      """)
  }
}
