import SQLite
import Salvage

/// What is known of each row that was found: kept beside the rows, in a file of its own, so that a
/// million of them take no memory.
struct RemainsCatalogue {
  private let connection: Connection

  /// Makes the list in a file that the connection is given besides its own.
  init(_ connection: Connection, at path: String) throws {
    self.connection = connection
    try connection.run("ATTACH ? AS found", [.text(path)])
    try connection.execute(
      """
      PRAGMA found.journal_mode = OFF; PRAGMA found.synchronous = OFF; \
      CREATE TABLE found.row (place INTEGER, pk INTEGER, key INTEGER, certainty TEXT, page INTEGER, \
      source INTEGER, age INTEGER, saved INTEGER, digest INTEGER, saves INTEGER, whole INTEGER, unsure INTEGER, cell INTEGER, \
      telling INTEGER, lost INTEGER, rest INTEGER, former INTEGER, aside INTEGER, cut INTEGER, state INTEGER, \
      PRIMARY KEY (place, pk)) WITHOUT ROWID; \
      CREATE INDEX found.byKey ON row (place, key); \
      CREATE INDEX found.byDigest ON row (place, digest, key); \
      CREATE INDEX found.byPart ON row (place, digest) WHERE whole = 0 AND former = 0
      """)
  }

  /// Whether a row with these values is listed already: with the same key, or with any where the key
  /// is not known. Rows of another time do not count: the same row elsewhere says more.
  func holds(_ place: Int, digest: UInt64, key: Int64?) throws -> Bool {
    let statement = try connection.cached(
      """
      SELECT 1 FROM found.row INDEXED BY byDigest \
      WHERE place = ?1 AND digest = ?2 AND \(key == nil ? "?3 IS NULL" : "key = ?3") AND former = 0
      """)
    try statement.bind([
      .integer(Int64(place)), .integer(Int64(bitPattern: digest)),
      key.map { .integer($0) } ?? .null,
    ])
    defer { statement.reset() }
    return try statement.step()
  }

  /// Takes into account that the key of a row that is listed was read with it elsewhere, in a cell perhaps.
  func confirm(_ place: Int, digest: UInt64, key: Int64, isCell: Bool) throws {
    try run(
      """
      UPDATE found.row INDEXED BY byDigest SET certainty = 'certain', cell = max(cell, ?4) \
      WHERE place = ?1 AND digest = ?2 AND key = ?3 AND former = 0
      """,
      [
        .integer(Int64(place)), .integer(Int64(bitPattern: digest)), .integer(key),
        .integer(isCell ? 1 : 0),
      ])
  }

  /// Takes into account that a row which is listed was found elsewhere with nothing written over it.
  func setWhole(_ place: Int, digest: UInt64, key: Int64?) throws {
    try run(
      """
      UPDATE found.row INDEXED BY \(key == nil ? "byPart" : "byDigest") SET whole = 1 \
      WHERE place = ?1 AND digest = ?2 AND \(key == nil ? "?3 IS NULL" : "key = ?3") \
      AND former = 0 AND whole = 0
      """,
      [
        .integer(Int64(place)), .integer(Int64(bitPattern: digest)),
        key.map { .integer($0) } ?? .null,
      ])
  }

  /// Takes into account that values of a row look overwritten: it is there in part.
  ///
  /// - Parameter isOfCells: whether that holds for a cell of a tree's page, too.
  func setPartial(_ place: Int, pk: Int64, isOfCells: Bool) throws {
    try run(
      "UPDATE found.row SET whole = 0 WHERE place = ?1 AND pk = ?2 AND (cell = 0 OR ?3)",
      [.integer(Int64(place)), .integer(pk), .integer(isOfCells ? 1 : 0)])
  }

  /// Lists a row under the key that it has here.
  func add(
    _ remnant: Remnant, _ place: Int, pk: Int64, digest: UInt64, rest: UInt64, saves: Int64,
    isWhole: Bool, isTelling: Bool, isLost: Bool
  ) throws {
    let statement = try connection.cached(
      "INSERT INTO found.row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)")
    try statement.bind([
      .integer(Int64(place)), .integer(pk), remnant.key.map { .integer($0) } ?? .null,
      .text(remnant.certainty.rawValue), .integer(Int64(remnant.page)),
      .integer(remnant.source.code), .integer(Int64(remnant.source.age)),
      .integer(remnant.source.isSaved ? 1 : 0),
      .integer(Int64(bitPattern: digest)), .integer(saves), .integer(isWhole ? 1 : 0),
      .integer(remnant.isUnsure ? 1 : 0), .integer(remnant.isCell ? 1 : 0),
      .integer(isTelling ? 1 : 0), .integer(isLost ? 1 : 0), .integer(Int64(bitPattern: rest)),
      .integer(remnant.source.age == 0 && !remnant.isOfOwnPage ? 1 : 0),
      .integer(remnant.isCut ? 1 : 0),
      remnant.isEarlier ? .integer(RowOrigin.State.older.rawValue) : .null,
    ])
    try statement.step()
  }

  /// Takes into account that rows of a page are of another time.
  ///
  /// - Parameters:
  ///   - table: what their table is called.
  ///   - pks: those that were found on the page.
  func setFormer(_ finding: FormerPages.Finding, in table: String, _ pks: ClosedRange<Int64>) throws
  {
    let known = finding.numbers.compactMap { number, now in now.map { (number, $0) } }
    func cases(_ result: (Int64) -> Int64) -> String {
      known.map { "WHEN \($0) THEN \(result($1)) " }.joined()
    }
    let values: [Value] = [
      .integer(Int64(finding.place)), .integer(pks.lowerBound), .integer(pks.upperBound),
    ]
    let name = quoted(table)
    // One case at least, so that there is an expression.
    try connection.run(
      """
      UPDATE found.row SET former = CASE (SELECT Z_ENT FROM \(name) t WHERE t.Z_PK = row.pk) \
      WHEN NULL THEN 0 \(cases { _ in 1 })ELSE 2 END \
      WHERE place = ?1 AND pk BETWEEN ?2 AND ?3 AND (cell = 0 OR ?4)
      """, values + [.integer(finding.isOfCells ? 1 : 0)])
    try connection.run(
      """
      UPDATE \(name) SET Z_ENT = CASE Z_ENT WHEN NULL THEN 0 \(cases { $0 })ELSE Z_ENT END \
      WHERE Z_PK IN (SELECT pk FROM found.row WHERE place = ?1 AND pk BETWEEN ?2 AND ?3 AND former = 1)
      """, values)
    // What another page of the time has, too.
    try connection.run(
      """
      UPDATE found.row SET state = -1 WHERE place = ?1 AND pk BETWEEN ?2 AND ?3 AND former > 0 AND EXISTS \
      (SELECT 1 FROM found.row o INDEXED BY byDigest WHERE o.place = ?1 AND o.digest = row.digest \
      AND o.key IS row.key AND o.former > 0 AND o.pk > ?3)
      """, values)
  }

  /// Compares a row of the store with what was found of it: equal ones are copies, others are earlier
  /// states.
  func compare(_ place: Int, key: Int64, digest: UInt64, rest: UInt64, hasKey: Bool) throws {
    let values: [Value] = [
      .integer(Int64(place)), .integer(Int64(bitPattern: digest)), .integer(key),
    ]
    if hasKey {
      try run(
        """
        UPDATE found.row INDEXED BY byKey SET state = iif(digest = ?2 OR (former > 0 AND rest = ?4), -1, 1) \
        WHERE place = ?1 AND key = ?3 AND state IS NOT -1
        """, values + [.integer(Int64(bitPattern: rest))])
    }
    // A key that was inferred may be another's: the same values, few of which other rows have, are a copy.
    try run(
      """
      UPDATE found.row INDEXED BY byDigest SET state = iif(key IS NULL OR telling, -1, state), unsure = 1 \
      WHERE place = ?1 AND digest = ?2 AND (key IS NULL OR certainty = 'inferred' AND key <> ?3)
      """, values)
  }

  /// The key of a row without one follows from others.
  func setKey(_ place: Int, pk: Int64, key: Int64, isLost: Bool) throws {
    try run(
      """
      UPDATE found.row SET key = ?3, certainty = 'inferred', unsure = 0, lost = ?4 \
      WHERE place = ?1 AND pk = ?2 AND key IS NULL AND state IS NULL
      """,
      [.integer(Int64(place)), .integer(pk), .integer(key), .integer(isLost ? 1 : 0)])
  }

  /// Rows without a key are earlier states, since no row of the table was deleted.
  func setAllOlder(_ place: Int) throws {
    try run(
      "UPDATE found.row SET state = 1 WHERE place = ? AND key IS NULL AND state IS NULL",
      [.integer(Int64(place))])
  }

  /// Rows without a key may be earlier states of objects that live.
  func setUnsure(_ place: Int) throws {
    try run(
      "UPDATE found.row SET unsure = 1 WHERE place = ? AND key IS NULL AND state IS NULL",
      [.integer(Int64(place))])
  }

  /// A row without a key is an earlier state of the object with this one.
  func setOlder(_ place: Int, pk: Int64, of key: Int64) throws {
    try run(
      """
      UPDATE found.row SET state = 1, key = ?3, certainty = 'inferred' \
      WHERE place = ?1 AND pk = ?2 AND key IS NULL AND (state IS NULL OR state >= 0)
      """, [.integer(Int64(place)), .integer(pk), .integer(key)])
  }

  /// Of each object that is not in the store the newest state is what was deleted, others are earlier
  /// ones.
  ///
  /// A cell of a tree's page comes before what was found in room that is not in use: of that any byte may
  /// have been overwritten. What is of another time comes last. Where another row has the same key, and nothing shows that it is older, both
  /// are ambiguous. Without a key nothing shows that a row which is there in part is no copy of another.
  func settle() throws {
    try run("UPDATE found.row SET state = -1 WHERE cut AND key IS NULL", [])
    try settleFormer()
    try connection.execute(
      """
      UPDATE found.row SET state = -1 WHERE (state IS NULL OR state >= 0) AND key IS NULL AND EXISTS \
      (SELECT 1 FROM found.row o INDEXED BY byDigest WHERE o.place = row.place AND o.digest = row.digest \
      AND o.key IS NOT NULL AND (o.state IS NULL OR o.state >= 0)); \
      CREATE TABLE found.best AS SELECT place, pk FROM (SELECT place, pk, row_number() OVER \
      (PARTITION BY place, key ORDER BY saved DESC, former, cell DESC, certainty, whole DESC, saves DESC, age, pk) n FROM found.row WHERE state IS NULL AND key IS NOT NULL) WHERE n = 1; \
      UPDATE found.row SET state = 0 WHERE state IS NULL AND \
      (key IS NULL OR (place, pk) IN (SELECT place, pk FROM found.best)); \
      CREATE TABLE found.rival AS SELECT b.place, b.pk one, o.pk other FROM found.best n \
      JOIN found.row b ON b.place = n.place AND b.pk = n.pk \
      JOIN found.row o INDEXED BY byKey ON o.place = b.place AND o.key = b.key AND o.pk <> b.pk \
      WHERE o.state IS NULL AND o.saved = b.saved AND o.former <= b.former AND o.certainty = 'certain' AND o.digest <> b.digest AND \
      CASE WHEN o.cell = b.cell AND b.cell THEN o.saves > b.saves OR (o.saves = b.saves AND b.age = 0) \
      WHEN o.cell = b.cell THEN o.whole >= b.whole AND o.saves >= b.saves \
      ELSE o.whole AND o.saves > b.saves END; \
      UPDATE found.row SET certainty = 'ambiguous' WHERE certainty = 'certain' AND \
      ((place, pk) IN (SELECT place, one FROM found.rival) \
      OR (place, pk) IN (SELECT place, other FROM found.rival)); \
      UPDATE found.row SET state = 1 WHERE state IS NULL; \
      DROP TABLE found.best; DROP TABLE found.rival
      """)
  }

  /// Finds out what of the rows that are on no page of their table is of another time, as copies there of live
  /// objects show it that are not as these are; and which row without a key is one of those that have theirs.
  private func settleFormer() throws {
    try connection.execute(
      """
      CREATE TABLE found.stale AS SELECT DISTINCT place, page, source, cell FROM found.row \
      WHERE aside AND state = 1 AND certainty = 'certain'; \
      CREATE INDEX found.byPage ON stale (page, place); \
      UPDATE found.row SET former = 1 WHERE former = 0 AND aside AND state IS NULL AND EXISTS \
      (SELECT 1 FROM found.stale s WHERE s.page = row.page AND s.place = row.place \
      AND s.source = row.source AND s.cell >= row.cell); \
      DROP TABLE found.stale
      """)
    guard try connection.value("SELECT 1 FROM found.row WHERE former > 0 LIMIT 1") != nil else {
      return
    }
    // The same values, of which few rows have some, are the same object's: its row of now lost the key, and that of
    // another time has it.
    try connection.execute(
      """
      CREATE INDEX found.byRest ON row (place, rest) WHERE key IS NULL; \
      CREATE TABLE found.pair AS SELECT k.place, k.pk, f.key, f.pk former, f.lost, \
      count(*) OVER (PARTITION BY k.place, k.pk) keys, count(*) OVER (PARTITION BY f.place, f.key) rows \
      FROM found.row f CROSS JOIN found.row k INDEXED BY byRest ON k.place = f.place AND k.rest = f.rest \
      WHERE f.former > 0 AND f.certainty = 'certain' AND f.state IS NULL AND f.telling \
      AND k.key IS NULL AND k.former = 0 AND k.state IS NULL; \
      DELETE FROM found.pair WHERE keys > 1 OR rows > 1; \
      CREATE INDEX found.byRow ON pair (place, pk); \
      UPDATE found.row SET certainty = 'inferred', unsure = 0, \
      (key, lost) = (SELECT p.key, p.lost FROM found.pair p WHERE p.place = row.place AND p.pk = row.pk) \
      WHERE (place, pk) IN (SELECT place, pk FROM found.pair); \
      UPDATE found.row SET state = -1 WHERE (place, pk) IN (SELECT place, former FROM found.pair); \
      DROP INDEX found.byRest; DROP TABLE found.pair
      """)
  }

  /// Takes out of a table what is no find, and gives deleted objects their own keys where these are
  /// free, the rest keys above all others.
  ///
  /// - Parameter greatest: the last key that was given out.
  func apply(to table: String, _ place: Int, greatest: Int64) throws {
    let name = quoted(table)
    let values: [Value] = [.integer(Int64(place))]
    try run(
      "DELETE FROM \(name) WHERE Z_PK IN (SELECT pk FROM found.row WHERE place = ? AND state < 0)",
      values)
    try run("DELETE FROM found.row WHERE place = ? AND state < 0", values)
    let rows = try connection.rows(
      """
      SELECT pk, key FROM found.row WHERE place = ? AND state = 0 AND key BETWEEN 1 AND \(1 << 60)
      """, values)
    var last = greatest
    for row in rows {
      guard let pk = row[0].integer, let key = row[1].integer else { continue }
      if try move(name, place, pk, to: key) { last = max(last, key) }
    }
    // Those that were found first come first.
    for row in try connection.rows(
      "SELECT pk FROM found.row WHERE place = ? AND pk < 0 ORDER BY pk DESC", values)
    {
      guard let pk = row[0].integer else { continue }
      last += 1
      _ = try move(name, place, pk, to: last)
    }
  }

  /// Gives a row another key; false where that is taken.
  private func move(_ name: String, _ place: Int, _ pk: Int64, to key: Int64) throws -> Bool {
    try run(
      "UPDATE OR IGNORE \(name) SET Z_PK = ? WHERE Z_PK = ?", [.integer(key), .integer(pk)])
    guard connection.changes > 0 else { return false }
    try run(
      "UPDATE found.row SET pk = ? WHERE place = ? AND pk = ?",
      [.integer(key), .integer(Int64(place)), .integer(pk)])
    return true
  }

  private func run(_ sql: String, _ values: [Value]) throws {
    let statement = try connection.cached(sql)
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() {}
  }
}

/// Links of a join table that stand in freed room: each was there once, and nothing says until when.
package struct CarvedLinks {
  private let insert: Statement

  /// What their table is called, in the database of what was found.
  package static func table(of join: String) -> String { join + "-freed" }

  /// Makes their table.
  init(of join: SalvagedTable, _ connection: Connection) throws {
    let name = quoted(Self.table(of: join.name))
    let columns = join.columns.map { quoted($0.name) }.joined(separator: ", ")
    try connection.execute("CREATE TABLE \(name) (\(columns))")
    let marks = join.columns.map { _ in "?" }.joined(separator: ", ")
    insert = try connection.prepare("INSERT INTO \(name) VALUES (\(marks))")
  }

  func add(_ link: [Int64?]) throws {
    insert.reset()
    for (place, value) in link.enumerated() {
      try insert.bind(value.map { .integer($0) } ?? .null, at: place)
    }
    try insert.step()
  }
}
