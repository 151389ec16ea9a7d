import Files
import ManagedModel
import SQLite

/// All of a damaged store that can be read, in a private copy whose pages and indexes are sound.
///
/// Rows come by each table's own b-tree, never by an index, which are rebuilt. Where a page cannot
/// be read, the next key that can be is sought: the page costs what is on it and no more.
final class MendedCopy {
  let connection: Connection
  /// What could not be read.
  private(set) var holes: [FileDamage.Hole] = []
  /// What is lost at most where nothing shows whose pages are, as ``FileDamage`` has it.
  private(set) var openKeys: [String: Int]?
  private let folder: PrivateFolder

  /// - Throws: an error where not even the schema can be read, or there is no room.
  init(of source: Connection) throws {
    folder = try PrivateFolder()
    // The tables behind a virtual table are copied as they are, which a defensive connection refuses.
    connection = try Connection(
      path: folder.path + "/mended.sqlite", mode: .create, isDefensive: false)
    connection.limitValues()
    connection.takeOver(from: source)
    let schema = try source.rows("SELECT type, name, sql, rootpage FROM sqlite_master")
    try connection.adoptEncoding(of: source)
    try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    try connection.attach(source, as: "src")
    // Each statement by itself: in a transaction, one that failed would spoil those before it.
    for row in schema {
      guard row.count == 4, row[0].text == "table", let name = row[1].text,
        let sql = row[2].text, !name.hasPrefix("sqlite_")
      else { continue }
      // The tables behind a virtual one are made with it.
      // One statement, whatever else the text says.
      do { try connection.run(sql) } catch {
        if connection.shouldStop { throw error }
        guard (try? connection.rows("PRAGMA main.table_info(\(quoted(name)))"))?.isEmpty == false
        else { continue }
      }
      guard row[3].integer != 0 else { continue }
      try copy(name)
    }
    // What an index asks for need not be there: none is needed.
    for row in schema {
      guard row.count == 4, row[0].text == "index", let sql = row[2].text else { continue }
      try? connection.run(sql)
    }
    // Whatever failed for that is no hole.
    guard !connection.shouldStop else { throw SQLiteError.interrupted }
    try? connection.execute("DETACH DATABASE src")
  }

  /// All of a sound store, with texts in another encoding.
  init(of source: Connection, encoding: String) throws {
    folder = try PrivateFolder()
    connection = try Connection(
      path: folder.path + "/encoded.sqlite", mode: .create, isDefensive: false)
    connection.takeOver(from: source)
    try connection.execute(
      "PRAGMA encoding = '\(encoding)'; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    let schema = try source.rows(
      "SELECT type, name, sql, rootpage FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    for row in schema where row.count == 4 && row[0].text == "table" {
      guard let name = row[1].text, let sql = row[2].text else { continue }
      // The tables behind a virtual one are made with it.
      do { try connection.run(sql) } catch {
        guard !connection.shouldStop,
          try source.value("SELECT 1 FROM \(quoted(name)) LIMIT 1") == nil
            || connection.value("SELECT count(*) FROM \(quoted(name))") != nil
        else { throw error }
      }
      guard row[3].integer != 0 else { continue }
      let rows = try source.prepare("SELECT * FROM \(quoted(name))")
      let marks = Array(repeating: "?", count: rows.columnCount).joined(separator: ", ")
      let insert = try connection.prepare(
        "INSERT OR REPLACE INTO \(quoted(name)) VALUES (\(marks))")
      while try rows.step() { try insert.run(rows.row()) }
    }
    for row in schema where row.count == 4 && row[0].text == "index" {
      if let sql = row[2].text { try? connection.run(sql) }
    }
    try connection.execute("COMMIT")
    connection.limitValues()
  }

  /// All of a store that SQLite does not open, found page by page.
  ///
  /// - Throws: an error where nothing of it is known by name.
  init(salvaging source: SalvageSource, model given: Model?) throws {
    let model = try given ?? source.model()
    guard model != nil || source.hasTables else {
      throw CoreDataError(.unreadable, "the store's schema is gone")
    }
    folder = try PrivateFolder()
    let copy = try SalvagedCopy(of: source, at: folder.path + "/mended.sqlite", model: model)
    if source.missingPages + copy.unknownHoles > 0 { openKeys = try copy.openKeys() }
    _ = try SalvagedBookkeeping(copy.connection).complete(with: model, copy.schema)
    connection = copy.connection
    try copy.makeTriggers()
    if (try? StoreMetadata(connection, path: "")) == nil {
      // Without model and metadata the tables can still be looked at, under their own names.
      try connection.run(
        "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, '', ?)",
        [.blob(PropertyList.binary(.dictionary([:])))])
    }
    for table in copy.tables {
      // What stood there may have been found elsewhere.
      for keys in table.holes where try copy.keys(in: keys, lackedBy: table.name) != 0 {
        holes.append(
          .init(
            table: table.name, first: keys.lowerBound,
            last: keys.upperBound == .max ? nil : keys.upperBound, counts: nil))
      }
    }
    // Another connection reads it as well, where two stores are compared. The lock goes with the next read.
    try connection.execute("PRAGMA locking_mode = NORMAL")
    _ = try connection.value("SELECT count(*) FROM sqlite_master")
  }

  private func copy(_ table: String) throws {
    let name = quoted(table)
    do {
      _ = try connection.prepare("SELECT rowid FROM src.\(name)")
    } catch {
      // Without row ids there is no key to go on from.
      do {
        try connection.execute("INSERT OR REPLACE INTO main.\(name) SELECT * FROM src.\(name)")
      } catch { holes.append(.init(table: table, first: 0, last: nil, counts: nil)) }
      return
    }
    let source = TableSeek(table: table, connection: connection)
    let take = try connection.prepare(
      """
      INSERT OR REPLACE INTO main.\(name) SELECT * FROM src.\(name) NOT INDEXED
      WHERE rowid >= ? ORDER BY rowid LIMIT ?
      """)
    var first = Int64.min
    var batch: Int64 = 4096
    while true {
      do {
        guard let end = try source.key(from: first, places: batch) else { return }
        // Keys that do not rise are no keys.
        guard end >= first else { throw SQLiteError.outOfOrder }
        // A limit, and no end: to see that a key is past it, the next page would be read.
        try take.bind([.integer(first), .integer(batch)])
        while try take.step() {}
        guard end < .max else { return }
        first = end + 1
        batch = min(4096, batch * 2)
      } catch let error as SQLiteError {
        guard error.isDamage || error.isEvaluation || error.isConstraint else { throw error }
        guard batch == 1 else {
          batch = max(1, batch / 4)
          continue
        }
        // Keys begin at 1; those below are an app's own.
        let start = first == .min ? 1 : first
        let last: Int64
        if let row = try? source.key(from: first, places: 1), row >= start {
          // The row is there, and what it goes on in is not.
          add(table, row, row, source)
          last = row
        } else if let next = source.firstReadable(from: start) {
          last = max(start, next - 1)
          add(table, start, last, source)
        } else {
          add(table, start, nil, source)
          return
        }
        guard last < .max else { return }
        first = last + 1
      }
    }
  }

  private func add(_ table: String, _ first: Int64, _ last: Int64?, _ source: TableSeek) {
    let found = source.rowsInIndex(first, last ?? .max)
    // Nothing was there: a page whose rows were all deleted.
    if let found, found.counts.values.reduce(0, +) == 0 { return }
    holes.append(
      .init(
        table: table, first: found?.first ?? first, last: found?.last ?? last,
        counts: found?.counts))
  }
}

extension SQLiteError {
  fileprivate static let outOfOrder = SQLiteError(
    extendedCode: 11, message: "keys are out of order")
}

/// Finds the keys of a damaged table that can still be read, in the database attached as `src`.
struct TableSeek {
  let table: String
  let connection: Connection

  /// Keys that are tried one by one before the steps grow: at some microseconds each.
  private static let patience = 20_000

  private var source: String { "src.\(quoted(table)) NOT INDEXED" }

  /// The last of so many keys from one on; `nil` where there are none.
  func key(from key: Int64, places: Int64) throws -> Int64? {
    let statement = try connection.cached(
      "SELECT max(k) FROM (SELECT rowid k FROM \(source) WHERE rowid >= ? ORDER BY rowid LIMIT ?)")
    try statement.bind([.integer(key), .integer(places)])
    defer { statement.reset() }
    return try statement.step() ? statement.value(at: 0).integer : nil
  }

  /// The first key from there on that can be read; `nil` where the rest of the table cannot be.
  func firstReadable(from first: Int64) -> Int64? {
    let end: Int64
    if let greatest = try? connection.value("SELECT max(rowid) FROM \(source)")?.integer {
      guard greatest >= first else { return nil }
      end = greatest
    } else {
      // Its last page is gone as well: somewhere between there may be others.
      var width: Int64 = 1
      while true {
        let (key, isPast) = first.addingReportingOverflow(width)
        guard !isPast, width < 1 << 48 else { return nil }
        if seek(key) != nil {
          end = key
          break
        }
        width *= 2
      }
    }
    // Pages that can be read may lie between others that cannot: step by step first, then in leaps.
    var (failed, key, step, tries) = (first, first, Int64(1), 0)
    while key < end {
      if let found = seek(key) { return step == 1 ? found : boundary(failed, key) ?? found }
      tries += 1
      if tries > Self.patience, tries % 1_000 == 0 { step *= 2 }
      failed = key
      key = end - key > step ? key + step : end
    }
    return seek(end).map { boundary(failed, end) ?? $0 }
  }

  /// The first readable key between one that is not and one that is.
  private func boundary(_ failed: Int64, _ readable: Int64) -> Int64? {
    var (low, high) = (failed, readable)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if seek(middle) == nil { low = middle } else { high = middle }
    }
    return seek(high)
  }

  /// The first key that is not below one; `nil` if there is none, or its page cannot be read.
  private func seek(_ key: Int64) -> Int64? {
    guard let found = try? self.key(from: key, places: 1), found >= key else { return nil }
    return found
  }

  /// Rows in a range of keys, by Z_ENT where that can be determined, as an index knows them.
  func rowsInIndex(
    _ first: Int64, _ last: Int64
  ) -> (counts: [Int64?: Int], first: Int64?, last: Int64?)? {
    let list =
      (try? connection.rows("PRAGMA src.index_list(\(quoted(table)))")) ?? []
    // Of a partial one, not every row is in it.
    let names = list.compactMap { row -> String? in
      row.count >= 5 && row[4] == .integer(0) ? row[1].text : nil
    }
    let entities = names.filter { name in
      ((try? connection.rows("PRAGMA src.index_info(\(quoted(name)))")) ?? [])
        .contains { $0.count == 3 && $0[2].text == "Z_ENT" }
    }
    for name in entities + names {
      let column = entities.contains(name) ? "Z_ENT" : "NULL"
      guard
        let rows = try? connection.rows(
          """
          SELECT \(column), count(*), min(rowid), max(rowid)
          FROM src.\(quoted(table)) INDEXED BY \(quoted(name))
          WHERE rowid BETWEEN ? AND ? GROUP BY 1
          """, [.integer(first), .integer(last)])
      else { continue }
      var counts: [Int64?: Int] = [:]
      for row in rows where row.count == 4 {
        counts[row[0].integer] = Int(row[1].integer ?? 0)
      }
      return (
        counts, rows.compactMap { $0.count == 4 ? $0[2].integer : nil }.min(),
        rows.compactMap { $0.count == 4 ? $0[3].integer : nil }.max()
      )
    }
    return nil
  }
}
