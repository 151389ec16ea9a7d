import ManagedModel
import ManagedStore
import SQLite

/// The objects of two stores on one connection, `src` and `main`, with what is known of which is which.
///
/// Keys are kept in tables of the connection's own, which go to a file where they are many: memory does not grow
/// with the stores.
final class PairedTables {
  /// The tables with the keys of all rows that belong together.
  private enum Place {
    /// `a` of the table `t` of the first store is `b` of the table `u` of the second.
    static let pair = "temp.compare_pair"
    /// One key in both, and two objects.
    static let split = "temp.compare_split"
  }

  let connection: Connection
  /// Numbers of tables, by their names.
  private let numbersA: [String: Int]
  private let numbersB: [String: Int]
  /// Tables of the first store whose rows have their counterparts' keys, and of the second.
  private var keyedA: Set<String> = []
  private var keyedB: Set<String> = []
  /// Those among them that have keys which are two objects.
  private var splitA: Set<String> = []
  private var splitB: Set<String> = []

  init(_ a: Store, _ b: Store, on connection: Connection) {
    self.connection = connection
    func numbers(_ store: Store) -> [String: Int] {
      let names = Set(store.entityTables.map(\.table)).sorted { $0.precedes($1) }
      return Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    }
    (numbersA, numbersB) = (numbers(a), numbers(b))
  }

  /// Makes the tables of the connection's own.
  func make() throws {
    try connection.execute(
      """
      CREATE TEMP TABLE compare_pair (t INTEGER, a INTEGER, u INTEGER, b INTEGER, PRIMARY KEY (t, a)) WITHOUT ROWID;
      CREATE TEMP TABLE compare_split (t INTEGER, key INTEGER, u INTEGER, PRIMARY KEY (t, key)) WITHOUT ROWID;
      CREATE INDEX temp.compare_split_b ON compare_split (u, key);
      CREATE TEMP TABLE compare_changed (
        place INTEGER, a INTEGER, b INTEGER, differs INTEGER, saves INTEGER, PRIMARY KEY (place, a)) WITHOUT ROWID;
      CREATE TEMP TABLE compare_inserted (place INTEGER, b INTEGER, PRIMARY KEY (place, b)) WITHOUT ROWID;
      CREATE TEMP TABLE compare_owner (a INTEGER NOT NULL PRIMARY KEY) WITHOUT ROWID;
      CREATE TEMP TABLE compare_range (side INTEGER, first INTEGER, last INTEGER);
      """)
  }

  /// Takes the tables away again.
  func drop() {
    for table in ["pair", "split", "changed", "inserted", "owner", "range"] {
      try? connection.execute("DROP TABLE IF EXISTS temp.compare_\(table)")
    }
  }

  /// Says that rows of two tables are paired by key.
  func setKeyed(_ a: String, _ b: String) {
    keyedA.insert(a)
    keyedB.insert(b)
  }

  func isKeyed(_ a: EntityTable, _ b: EntityTable) -> Bool { areKeyed(a.table, b.table) }

  func areKeyed(_ a: String, _ b: String) -> Bool { keyedA.contains(a) && keyedB.contains(b) }

  /// Whether a row that is the same in both may lead to another object: its table, or one that it leads to, has keys
  /// that are two objects.
  func hasSplits(_ a: String) -> Bool { splitA.contains(a) }

  /// SQL of the key in the second store of the object that has a key in the first; NULL where it has none.
  func inB(_ table: String, _ key: String) -> String {
    let number = numbersA[table] ?? -1
    guard keyedA.contains(table) else {
      return "(SELECT p.b FROM \(Place.pair) p WHERE p.t = \(number) AND p.a = \(key))"
    }
    guard splitA.contains(table) else { return key }
    return """
      CASE WHEN EXISTS (SELECT 1 FROM \(Place.split) s WHERE s.t = \(number) AND s.key = \(key)) \
      THEN NULL ELSE \(key) END
      """
  }

  /// SQL of the key in the first store of the object that has a key in the second; NULL where it has none.
  func inA(_ table: String, _ key: String) -> String {
    let number = numbersB[table] ?? -1
    guard keyedB.contains(table) else {
      return "(SELECT p.a FROM \(Place.pair) p WHERE p.u = \(number) AND p.b = \(key))"
    }
    guard splitB.contains(table) else { return key }
    return """
      CASE WHEN EXISTS (SELECT 1 FROM \(Place.split) s WHERE s.u = \(number) AND s.key = \(key)) \
      THEN NULL ELSE \(key) END
      """
  }

  /// The key in the second store of an object of the first; `nil` where it has none.
  func counterpart(of key: Int64, in table: String) throws -> Int64? {
    try answer(inB(table, "?1"), key)
  }

  /// The key in the first store of an object of the second; `nil` where it has none.
  func former(of key: Int64, in table: String) throws -> Int64? {
    try answer(inA(table, "?1"), key)
  }

  private func answer(_ sql: String, _ key: Int64) throws -> Int64? {
    if sql == "?1" { return key }
    let statement = try connection.cached("SELECT \(sql)")
    try statement.bind([.integer(key)])
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(at: 0) ? statement.integer(at: 0) : nil
  }

  /// Notes keys that are in both stores and are two objects.
  ///
  /// - Parameter condition: of rows `a` and `b` of one key.
  func split(
    _ a: EntityTable, _ b: EntityTable, where condition: String, in ranges: [ClosedRange<Int64>]
  ) throws {
    let (t, u) = (numbersA[a.table] ?? -1, numbersB[b.table] ?? -1)
    let statement = try connection.prepare(
      """
      INSERT OR IGNORE INTO \(Place.split) SELECT \(t), a.Z_PK, \(u)
      FROM src.\(quoted(a.table)) a CROSS JOIN main.\(quoted(b.table)) b ON b.Z_PK = a.Z_PK
      WHERE a.Z_PK BETWEEN ? AND ? AND (\(condition))
      """)
    try statement.run(ranges)
    let found = try connection.value("SELECT 1 FROM \(Place.split) WHERE t = \(t) LIMIT 1")
    guard found != nil else { return }
    splitA.insert(a.table)
    splitB.insert(b.table)
  }

  /// How many of an entity's objects of the first store have the key of another object in the second.
  func splitCount(_ a: EntityTable) throws -> Int {
    guard splitA.contains(a.table) else { return 0 }
    return try connection.count(
      """
      FROM \(Place.split) s CROSS JOIN src.\(quoted(a.table)) a ON a.Z_PK = s.key
      WHERE s.t = \(numbersA[a.table] ?? -1) AND \(a.ownRows("a") ?? "1")
      """)
  }

  /// Pairs rows by equal values that no other row of either entity has: those of both stores in one order.
  func pair(
    _ a: EntityTable, _ b: EntityTable,
    on columns: [(a: EntityTable.AttributeColumn, b: EntityTable.AttributeColumn)]
  ) throws {
    func rows(_ schema: String, _ table: EntityTable, _ columns: [String], _ keys: String) -> String
    {
      let names = columns.map { "x." + quoted($0) }
      let conditions = [table.ownRows("x")].compactMap { $0 } + names.map { "\($0) IS NOT NULL" }
      let values = names.enumerated().map { "\($0.element) AS v\($0.offset)" }
      return """
        SELECT \(keys), \(values.joined(separator: ", ")) FROM \(schema).\(quoted(table.table)) x
        WHERE \(conditions.joined(separator: " AND "))
        """
    }
    let values = columns.indices.map { "v\($0)" }.joined(separator: ", ")
    try connection.execute(
      """
      INSERT OR IGNORE INTO \(Place.pair)
      SELECT \(numbersA[a.table] ?? -1), max(a) AS k, \(numbersB[b.table] ?? -1), max(b) FROM (
      \(rows("src", a, columns.map(\.a.column), "x.Z_PK AS a, NULL AS b")) UNION ALL
      \(rows("main", b, columns.map(\.b.column), "NULL, x.Z_PK")))
      GROUP BY \(values) HAVING count(*) = 2 AND count(a) = 1 ORDER BY k
      """)
  }

  /// Says that all pairs are known.
  func finishPairs() throws {
    try connection.execute("CREATE UNIQUE INDEX temp.compare_pair_b ON compare_pair (u, b)")
  }

  /// Pairs rows of one key in tables whose other rows are paired by values.
  func pairKeys(_ a: EntityTable, _ b: EntityTable) throws {
    let (t, u) = (numbersA[a.table] ?? -1, numbersB[b.table] ?? -1)
    try connection.execute(
      """
      INSERT OR IGNORE INTO \(Place.pair) SELECT \(t), a.Z_PK, \(u), b.Z_PK
      FROM src.\(quoted(a.table)) a CROSS JOIN main.\(quoted(b.table)) b ON b.Z_PK = a.Z_PK
      WHERE \(a.ownRows("a") ?? "1") AND \(b.ownRows("b") ?? "1")
      AND NOT EXISTS (SELECT 1 FROM \(Place.split) s WHERE s.t = \(t) AND s.key = a.Z_PK)
      """)
  }
}

extension Connection {
  /// How many rows there are of what FROM and WHERE say.
  func count(_ from: String) throws -> Int {
    Int(try value("SELECT count(*) \(from)")?.integer ?? 0)
  }
}

extension Statement {
  /// Runs it for each range, whose ends are its first values.
  func run(_ ranges: [ClosedRange<Int64>]) throws {
    for range in ranges { try run([.integer(range.lowerBound), .integer(range.upperBound)]) }
  }
}
