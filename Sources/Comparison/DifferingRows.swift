import ManagedModel
import ManagedStore
import SQLite
import Salvage

/// Finds the objects that may differ, without reading those that cannot: what is stored is compared by SQLite, of two
/// files of one lineage only where their pages differ.
///
/// What it finds is too much rather than too little: whoever reads the objects decides.
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

  /// Notes all objects of an entity that may be changed, deleted or inserted.
  ///
  /// - Returns: how many rows differ in the number of their saves.
  func find(_ pair: EntityPair) throws -> Int {
    var saves = 0
    let ownA = pair.a?.ownRows("a") ?? "1"
    let ownB = pair.b?.ownRows("b") ?? "1"
    if let a = pair.a, let b = pair.b, isInA(a), isInB(b) {
      let isKeyed = tables.isKeyed(a, b)
      let ranges = isKeyed ? try rowRanges(pair) : Self.everything
      let rows = """
        FROM src.\(quoted(a.table)) a CROSS JOIN main.\(quoted(b.table)) b
        ON b.Z_PK = \(tables.inB(a.table, "a.Z_PK"))
        WHERE a.Z_PK BETWEEN ? AND ? AND \(ownA) AND \(ownB)
        """
      let different = differences(pair)
      if !different.isEmpty {
        try connection.prepare(
          """
          INSERT OR IGNORE INTO temp.compare_changed SELECT \(pair.place), a.Z_PK, b.Z_PK
          \(rows) AND \(Self.any(different[...]))
          """
        ).run(ranges)
      }
      if isKeyed {
        let statement = try connection.prepare(
          "SELECT count(*) \(rows) AND a.Z_OPT IS NOT b.Z_OPT")
        for range in ranges {
          let row = try statement.firstRow([
            .integer(range.lowerBound), .integer(range.upperBound),
          ])
          saves += Int(row.first?.integer ?? 0)
        }
      }
    }
    if let a = pair.a, isInA(a) {
      var missing = ""
      if let b = pair.b, isInB(b) {
        missing = """
          AND NOT EXISTS (SELECT 1 FROM main.\(quoted(b.table)) b
          WHERE b.Z_PK = \(tables.inB(a.table, "a.Z_PK")) AND \(ownB))
          """
      }
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_changed SELECT \(pair.place), a.Z_PK, NULL
        FROM src.\(quoted(a.table)) a WHERE a.Z_PK BETWEEN ? AND ? AND \(ownA) \(missing)
        """
      ).run(ranges(pair).a)
    }
    if let b = pair.b, isInB(b) {
      var missing = ""
      if let a = pair.a, isInA(a) {
        missing = """
          AND NOT EXISTS (SELECT 1 FROM src.\(quoted(a.table)) a
          WHERE a.Z_PK = \(tables.inA(b.table, "b.Z_PK")) AND \(ownA))
          """
      }
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_inserted SELECT \(pair.place), b.Z_PK
        FROM main.\(quoted(b.table)) b WHERE b.Z_PK BETWEEN ? AND ? AND \(ownB) \(missing)
        """
      ).run(ranges(pair).b)
    }
    return saves
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
  private func rowRanges(_ pair: EntityPair) throws -> [ClosedRange<Int64>] {
    let leadsElsewhere = pair.relationships.contains { one, other in
      guard one.storage?.toOneColumn != nil,
        let to = self.a.table(of: one.relationship.destination),
        let target = self.b.table(of: other.relationship.destination)
      else { return false }
      return !tables.isKeyed(to, target) || tables.hasSplits(to.table)
    }
    let hasFiles = pair.attributes.contains { $0.a.attribute.allowsExternalBinaryDataStorage }
    return leadsElsewhere || hasFiles ? Self.everything : try ranges(pair).a
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
          let table = self.a.table(of: one.relationship.destination)?.table
        else { return nil }
        let key = "a." + quoted(former)
        let value = "b." + quoted(column)
        // A reference to an object that has no counterpart is another reference.
        return """
          \(tables.inB(table, key)) IS NOT \(value)
          """
      }
  }

  // MARK: Links

  /// Links of a to-many relationship, as both stores keep them.
  private struct Links: Hashable {
    var tables: [String]
    var owners: [String]
  }

  /// Notes the owners of to-many relationships that may lead to other objects, or in another order.
  func findOwners(_ pairs: [EntityPair]) throws {
    var found: [Links: [(pair: EntityPair, index: Int)]] = [:]
    var order: [Links] = []
    for pair in pairs where pair.isReported {
      for (index, entry) in pair.relationships.enumerated() {
        guard let one = entry.a.storage, let other = entry.b.storage, one.kind != .toOne,
          other.kind != .toOne
        else { continue }
        let links = Links(
          tables: [one.table, other.table, pair.a?.table ?? "", pair.b?.table ?? ""],
          owners: [one.owner, one.destination, other.owner, other.destination])
        if found[links] == nil { order.append(links) }
        found[links, default: []].append((pair, index))
      }
    }
    for links in order {
      guard let uses = found[links], let first = uses.first else { continue }
      guard try findOwners(first.pair.relationships[first.index], first.pair) else { continue }
      for use in uses { try note(use.pair) }
    }
  }

  /// - Returns: whether any was found.
  private func findOwners(
    _ entry: (a: EntityTable.RelationshipColumns, b: EntityTable.RelationshipColumns),
    _ pair: EntityPair
  ) throws -> Bool {
    guard let one = entry.a.storage, let other = entry.b.storage, let a = pair.a, let b = pair.b,
      let to = self.a.table(of: entry.a.relationship.destination),
      let target = self.b.table(of: entry.b.relationship.destination)
    else { return false }
    let isKeyed =
      tables.isKeyed(a, b) && tables.isKeyed(to, target) && !tables.hasSplits(a.table)
      && !tables.hasSplits(to.table)
    let ranges =
      isKeyed ? try ranges(one.table, other.table) : (a: Self.everything, b: Self.everything)
    try connection.execute("DELETE FROM temp.compare_owner")
    let formerly = Side(one, schema: "src", alias: "l")
    let now = Side(other, schema: "main", alias: "m")
    let isOrdered = one.position != nil && other.position != nil
    for (column, opposite) in formerly.directions {
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_owner SELECT \(column) FROM \(formerly.from)
        WHERE l.rowid BETWEEN ? AND ? AND \(column) IS NOT NULL AND NOT \(now.holds(
          tables.inB(a.table, column), tables.inB(to.table, opposite),
          position: isOrdered ? formerly.position : nil))
        """
      ).run(ranges.a)
    }
    for (column, opposite) in now.directions {
      try connection.prepare(
        """
        INSERT OR IGNORE INTO temp.compare_owner SELECT k FROM (SELECT \(tables.inA(b.table, column)) AS k
        FROM \(now.from) WHERE m.rowid BETWEEN ? AND ? AND \(column) IS NOT NULL AND NOT \(formerly.holds(
          tables.inA(b.table, column), tables.inA(target.table, opposite),
          position: isOrdered ? now.position : nil))) WHERE k IS NOT NULL
        """
      ).run(ranges.b)
    }
    return try connection.value("SELECT 1 FROM temp.compare_owner LIMIT 1") != nil
  }

  /// Links in one store, as rows of a table.
  private struct Side {
    let storage: RelationshipStorage
    let schema: String
    let alias: String

    init(_ storage: RelationshipStorage, schema: String, alias: String) {
      (self.storage, self.schema, self.alias) = (storage, schema, alias)
    }

    var from: String { "\(schema).\(quoted(storage.table)) \(alias)" }
    var position: String? { storage.position.map { "\(alias).\(quoted($0))" } }
    private var owner: String { "\(alias).\(quoted(storage.owner))" }
    private var destination: String { "\(alias).\(quoted(storage.destination))" }

    /// Columns of the owner and of what it leads to: both ways where they count so.
    var directions: [(owner: String, destination: String)] {
      storage.kind == .reflexive
        ? [(owner, destination), (destination, owner)] : [(owner, destination)]
    }

    /// Whether there is a link, as SQL.
    func holds(_ from: String, _ to: String, position: String?) -> String {
      let links = directions.map { "(\($0.owner) = \(from) AND \($0.destination) = \(to))" }
      let place = position.flatMap { other in self.position.map { " AND \($0) IS \(other)" } } ?? ""
      return
        "EXISTS (SELECT 1 FROM \(self.from) WHERE (\(links.joined(separator: " OR ")))\(place))"
    }
  }

  /// Notes the owners that were found among the objects of an entity.
  private func note(_ pair: EntityPair) throws {
    guard let a = pair.a, let b = pair.b else { return }
    try connection.execute(
      """
      INSERT OR IGNORE INTO temp.compare_changed SELECT \(pair.place), a.Z_PK, b.Z_PK
      FROM temp.compare_owner o CROSS JOIN src.\(quoted(a.table)) a ON a.Z_PK = o.a
      CROSS JOIN main.\(quoted(b.table)) b ON b.Z_PK = \(tables.inB(a.table, "a.Z_PK"))
      WHERE \(a.ownRows("a") ?? "1") AND \(b.ownRows("b") ?? "1")
      """)
  }
}
