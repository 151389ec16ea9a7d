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
      telling INTEGER, lost INTEGER, state INTEGER, \
      PRIMARY KEY (place, pk)) WITHOUT ROWID; \
      CREATE INDEX found.byKey ON row (place, key); \
      CREATE INDEX found.byDigest ON row (place, digest)
      """)
  }

  /// Whether a row with these values is listed already: with the same key, or with any where the key
  /// is not known.
  func holds(_ place: Int, digest: UInt64, key: Int64?) throws -> Bool {
    let statement = try connection.cached(
      """
      SELECT 1 FROM found.row INDEXED BY byDigest \
      WHERE place = ?1 AND digest = ?2 AND (?3 IS NULL OR key = ?3)
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
      WHERE place = ?1 AND digest = ?2 AND key = ?3
      """,
      [
        .integer(Int64(place)), .integer(Int64(bitPattern: digest)), .integer(key),
        .integer(isCell ? 1 : 0),
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
    _ remnant: Remnant, _ place: Int, pk: Int64, digest: UInt64, saves: Int64, isWhole: Bool,
    isTelling: Bool, isLost: Bool
  ) throws {
    let statement = try connection.cached(
      "INSERT INTO found.row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    try statement.bind([
      .integer(Int64(place)), .integer(pk), remnant.key.map { .integer($0) } ?? .null,
      .text(remnant.certainty.rawValue), .integer(Int64(remnant.page)),
      .integer(remnant.source.code), .integer(Int64(remnant.source.age)),
      .integer(remnant.source.isSaved ? 1 : 0),
      .integer(Int64(bitPattern: digest)), .integer(saves), .integer(isWhole ? 1 : 0),
      .integer(remnant.isUnsure ? 1 : 0), .integer(remnant.isCell ? 1 : 0),
      .integer(isTelling ? 1 : 0), .integer(isLost ? 1 : 0),
      remnant.isEarlier ? .integer(RowOrigin.State.older.rawValue) : .null,
    ])
    try statement.step()
  }

  /// Compares a row of the store with what was found of it: equal ones are copies, others are earlier
  /// states.
  func compare(_ place: Int, key: Int64, digest: UInt64, hasKey: Bool) throws {
    let values: [Value] = [
      .integer(Int64(place)), .integer(Int64(bitPattern: digest)), .integer(key),
    ]
    if hasKey {
      try run(
        "UPDATE found.row INDEXED BY byKey SET state = iif(digest = ?2, -1, 1) WHERE place = ?1 AND key = ?3",
        values
      )
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
  /// have been overwritten. Where another row has the same key, and nothing shows that it is older, both
  /// are ambiguous.
  func settle() throws {
    try connection.execute(
      """
      UPDATE found.row SET state = -1 WHERE (state IS NULL OR state >= 0) AND key IS NULL AND EXISTS \
      (SELECT 1 FROM found.row o INDEXED BY byDigest WHERE o.place = row.place AND o.digest = row.digest \
      AND o.key IS NOT NULL AND (o.state IS NULL OR o.state >= 0)); \
      CREATE TABLE found.best AS SELECT place, pk FROM (SELECT place, pk, row_number() OVER \
      (PARTITION BY place, key ORDER BY saved DESC, cell DESC, certainty, whole DESC, saves DESC, age, pk) n FROM found.row WHERE state IS NULL AND key IS NOT NULL) WHERE n = 1; \
      UPDATE found.row SET state = 0 WHERE state IS NULL AND \
      (key IS NULL OR (place, pk) IN (SELECT place, pk FROM found.best)); \
      CREATE TABLE found.rival AS SELECT b.place, b.pk one, o.pk other FROM found.best n \
      JOIN found.row b ON b.place = n.place AND b.pk = n.pk \
      JOIN found.row o INDEXED BY byKey ON o.place = b.place AND o.key = b.key AND o.pk <> b.pk \
      WHERE o.state IS NULL AND o.saved = b.saved AND o.certainty = 'certain' AND o.digest <> b.digest AND \
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

/// Where a row comes from that is no longer in a store, or is there in another state.
package struct RowOrigin: Sendable, Equatable {
  /// What the row is.
  package enum State: Int64, Sendable {
    /// Of an object that is not there any more.
    case deleted = 0
    /// An earlier state of an object, which lives or of which there is a newer state.
    case older = 1
  }

  /// What it is.
  package var state: State
  /// The object's key, as far as it is known; the row's own is another where that was not free.
  package var key: Int64?
  /// How far that can be trusted.
  package var certainty: Remnant.KeyCertainty
  /// The page that it was found on.
  package var page: Int
  /// Where.
  package var source: Remnant.Source
  /// Whether all of its values are there.
  package var isWhole: Bool
  /// Whether it may be an earlier state of an object that lives, though it counts as deleted.
  package var isUnsure: Bool
  /// Whether its object may be lost, and not deleted: its row may have stood where nothing can be read, or not be
  /// trusted.
  package var isLost: Bool
}

extension RowOrigin {
  /// What ``init(_:)`` reads, by the table's place and the row's key.
  package static let query =
    "SELECT state, key, certainty, page, source, whole, unsure, lost FROM row WHERE place = ? AND pk = ?"

  /// Reads a row of the list of what was found; `nil` where it is none.
  package init?(_ row: [Value]) {
    guard row.count == 8, let state = row[0].integer.flatMap(State.init),
      let certainty = row[2].text.flatMap(Remnant.KeyCertainty.init), let page = row[3].integer,
      let code = row[4].integer
    else { return nil }
    self.init(
      state: state, key: row[1].integer, certainty: certainty, page: Int(page),
      source: Remnant.Source(code: code), isWhole: row[5].integer != 0,
      isUnsure: row[6].integer != 0, isLost: row[7].integer != 0)
  }

  /// Whether it is one of an object that is not there any more: of two rows with its key either.
  package var isOfDeleted: Bool { state == .deleted || certainty == .ambiguous }

  /// Where it was found, in few words.
  package var place: String {
    switch source {
    case .room: "page \(page)"
    case .freePage: "free page \(page)"
    case .frame(let frame): "-wal frame \(frame)"
    case .main: "main file, page \(page)"
    case .uncommitted(let frame): "-wal frame \(frame), never saved"
    case .earlier(let frame): "earlier -wal, frame \(frame)"
    }
  }
}

extension Remnant.Source {
  /// A number for each, to be kept in a table.
  var code: Int64 {
    switch self {
    case .room: 0
    case .freePage: 1
    case .main: 2
    case .frame(let frame): Int64(frame) << 2 | 1 << 40
    case .uncommitted(let frame): Int64(frame) << 2 | 2 << 40
    case .earlier(let frame): Int64(frame) << 2 | 3 << 40
    }
  }

  /// That of a number.
  init(code: Int64) {
    let frame = Int(code & 0xFF_FFFF_FFFF) >> 2
    self =
      switch code >> 40 {
      case 1: .frame(frame)
      case 2: .uncommitted(frame)
      case 3: .earlier(frame)
      default: code == 0 ? .room : code == 1 ? .freePage : .main
      }
  }
}

extension RemainsCopy {
  /// How many rows of an entity were found.
  package struct Count: Sendable, Equatable {
    /// The entity.
    package var entity: String
    /// What the rows are.
    package var state: RowOrigin.State
    /// How many there are.
    package var rows: Int
    /// How many of them have a key that was inferred.
    package var inferred: Int
    /// How many have none that is known.
    package var keyless: Int
    /// Of how many some values are lost.
    package var partial: Int
    /// How many of them were never saved.
    package var unsaved: Int
    /// How many of them may be earlier states of objects that live.
    package var unsure: Int
    /// Of how many the key is one that two rows have, and nothing shows which was there last.
    package var ambiguous: Int
    /// How many of them may be lost, and not deleted.
    package var lost: Int
  }

  /// What was found of each entity, in the order of names.
  package func counts() throws -> [Count] {
    let names = Dictionary(schema.numbers.map { ($1, $0) }) { first, _ in first }
    var result: [Count] = []
    for (place, table) in tables.enumerated() {
      let rows = try connection.rows(
        """
        SELECT t.Z_ENT, r.state, count(*), total(r.certainty = 'inferred'), total(r.key IS NULL), \
        total(NOT r.whole), total(NOT r.saved), total(r.unsure AND r.certainty <> 'certain'), \
        total(r.certainty = 'ambiguous'), total(r.lost) \
        FROM found.row r JOIN \(quoted(table)) t ON t.Z_PK = r.pk WHERE r.place = ? GROUP BY 1, 2
        """, [.integer(Int64(place))])
      for row in rows {
        guard let number = row[0].integer, let name = names[number],
          let state = row[1].integer.flatMap(RowOrigin.State.init)
        else { continue }
        func count(_ column: Int) -> Int {
          if case .real(let number) = row[column] { return Int(number) }
          return Int(row[column].integer ?? 0)
        }
        result.append(
          Count(
            entity: name, state: state, rows: count(2), inferred: count(3), keyless: count(4),
            partial: count(5), unsaved: count(6), unsure: count(7), ambiguous: count(8),
            lost: count(9)))
      }
    }
    return result.sorted { ($0.entity, $0.state.rawValue) < ($1.entity, $1.state.rawValue) }
  }
}
