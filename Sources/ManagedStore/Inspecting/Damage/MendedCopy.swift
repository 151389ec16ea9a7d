import Files
import ManagedModel
import SQLite

/// All of a damaged store that can be read, in a private copy whose pages and indexes are sound.
///
/// Rows come by each table's own b-tree, never by an index, which are made anew. Where a page cannot
/// be read, the next key that can be is sought: the page costs what is on it and no more.
final class MendedCopy {
  let connection: Connection
  /// What could not be read.
  private(set) var holes: [FileDamage.Hole] = []
  /// What is lost at most where nothing tells whose pages are, as ``FileDamage`` has it.
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
      for keys in table.holes {
        // What stood there may have been found elsewhere.
        let there =
          try connection.value(
            "SELECT count(*) FROM \(quoted(table.name)) WHERE rowid BETWEEN ? AND ?",
            [.integer(keys.lowerBound), .integer(keys.upperBound)])?.integer ?? 0
        let span = keys.upperBound.subtractingReportingOverflow(keys.lowerBound)
        if !span.overflow, span.partialValue == there - 1 { continue }
        holes.append(
          .init(
            table: table.name, first: keys.lowerBound,
            last: keys.upperBound == .max ? nil : keys.upperBound, counts: nil))
      }
    }
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
