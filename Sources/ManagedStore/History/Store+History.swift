import ManagedModel
import SQLite

extension Store {
  /// Whether the store keeps persistent history.
  public var hasHistory: Bool {
    database.contains("ATRANSACTION") && database.contains("ACHANGE")
  }

  /// Transactions of persistent history, newest first; `nil` where the store keeps none.
  ///
  ///     var page = try store.transactions(limit: 100)
  ///     while let last = page?.last { page = try store.transactions(before: last.number, limit: 100) }
  ///
  /// - Parameters:
  ///   - before: only those with a smaller number: the last one of the page before.
  ///   - author: only those of this author; `.some(nil)` for those without one.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func transactions(
    before: Int64? = nil, author: String?? = nil, limit: Int = 100
  ) throws -> [HistoryTransaction]? {
    guard hasHistory else { return nil }
    var conditions: [String] = []
    var values: [Value] = []
    if let before {
      conditions.append("t.Z_PK < ?")
      values.append(.integer(before))
    }
    if let author {
      conditions.append("\(historyText("AUTHOR")) IS ?")
      values.append(author.map { .text($0) } ?? .null)
    }
    values.append(.integer(Int64(max(0, limit))))
    let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    let texts = ["AUTHOR", "CONTEXTNAME", "PROCESSID", "BUNDLEID"]
      .map { "substr(\(historyText($0)), 1, 500)" }.joined(separator: ", ")
    return try reading {
      try connection.rows(
        """
        WITH p AS MATERIALIZED (SELECT t.Z_PK pk, \(historyTime),
        \(texts) FROM ATRANSACTION t \(restriction) ORDER BY t.Z_PK DESC LIMIT ?)
        SELECT p.*, c.i, c.u, c.d FROM p LEFT JOIN (
        SELECT ZTRANSACTIONID id, sum(ZCHANGETYPE = 0) i, sum(ZCHANGETYPE = 1) u,
        sum(ZCHANGETYPE = 2) d FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT pk FROM p) GROUP BY 1
        ) c ON c.id = p.pk ORDER BY p.pk DESC
        """, values
      ).compactMap { row in
        guard row.count == 9, let number = row[0].integer else { return nil }
        return HistoryTransaction(
          number: number, timestamp: Self.seconds(row[1]), author: row[2].text,
          context: row[3].text,
          process: row[4].text, bundle: row[5].text,
          counts: Self.counts(row[6...]))
      }
    }
  }

  /// What one transaction changed, in the order of its rows; empty for a number that is none.
  ///
  /// - Parameter after: only those after this ``HistoryChange/number``: the last of the page before.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func changes(
    of transaction: Int64, after: Int64? = nil, limit: Int = 200
  ) throws -> [HistoryChange] {
    guard hasHistory else { return [] }
    let columns = database.columns(of: "ACHANGE")
    let tombstones = (0..<Tombstones.count(in: columns)).map(Tombstones.column)
    let bitmap = columns.contains("ZCOLUMNS") ? "CAST(substr(ZCOLUMNS, 1, 1024) AS BLOB)" : "NULL"
    // A tombstone may be a blob of any size: its beginning and its size will do.
    let kept = tombstones.flatMap { name in
      [
        "CASE WHEN typeof(\(name)) IN ('blob', 'text') THEN substr(\(name), 1, \(Self.objectSummary)) ELSE \(name) END",
        "length(\(name))",
      ]
    }
    let sql = """
      SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, \(([bitmap] + kept).joined(separator: ", "))
      FROM ACHANGE WHERE ZTRANSACTIONID = ? AND Z_PK > ? ORDER BY Z_PK LIMIT ?
      """
    return try reading {
      let statement = try connection.prepare(sql)
      try statement.bind([
        .integer(transaction), .integer(after ?? .min), .integer(Int64(max(0, limit))),
      ])
      var orders: [String: ChangedProperties] = [:]
      var walk: ModelWalk?
      var changes: [HistoryChange] = []
      while try statement.step() {
        let number = statement.integer(at: 2)
        let entity = entityNames[number] ?? "Z_ENT \(number)"
        var change = HistoryChange(
          number: statement.integer(at: 0), kind: .init(rawValue: statement.integer(at: 1)),
          object: ObjectID(entity: entity, key: statement.integer(at: 3)))
        if !statement.isNull(at: 4), change.kind == .update {
          let known = walk ?? ModelWalk(model, numbers: schema.numbers)
          walk = known
          let order = orders[entity] ?? ChangedProperties(known, entity: entity, model: model)
          orders[entity] = order
          change.properties = order.names(in: statement.bytes(at: 4))
        }
        if change.kind == .delete {
          change.tombstones = self.tombstones(statement, count: tombstones.count, of: entity)
        }
        changes.append(change)
      }
      return changes
    }
  }

  /// Totals of each author, most transactions first; `nil` where the store keeps no history.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func historyAuthors() throws -> [HistoryAuthor]? {
    guard hasHistory else { return nil }
    return try reading {
      try connection.rows(
        """
        WITH c AS (SELECT ZTRANSACTIONID id, sum(ZCHANGETYPE = 0) i, sum(ZCHANGETYPE = 1) u,
        sum(ZCHANGETYPE = 2) d FROM ACHANGE GROUP BY 1)
        SELECT substr(\(historyText("AUTHOR")), 1, 500) a, count(*), total(c.i), total(c.u),
        total(c.d), min(\(historyTime)), max(\(historyTime))
        FROM ATRANSACTION t LEFT JOIN c ON c.id = t.Z_PK GROUP BY a ORDER BY 2 DESC, a LIMIT 1000
        """
      ).compactMap { row in
        guard row.count == 7 else { return nil }
        return HistoryAuthor(
          name: row[0].text, transactions: Int(row[1].integer ?? 0), counts: Self.counts(row[2...]),
          first: Self.seconds(row[5]), last: Self.seconds(row[6]))
      }
    }
  }

  private func tombstones(
    _ statement: Statement, count: Int, of entity: String
  ) -> [HistoryChange.Tombstone] {
    let names = model.tombstoneAttributes(of: entity)
    let decoder = ValueDecoder(files: files, limit: Self.objectSummary)
    return (0..<count).compactMap { index in
      let column = 5 + 2 * index
      guard !statement.isNull(at: column) else { return nil }
      let name = names.indices.contains(index) ? names[index] : nil
      let attribute = name.flatMap { model.attribute(named: $0, of: entity) }
      let value = decoder.decode(
        statement.stored(at: column, sizeAt: column + 1), of: attribute ?? Attribute("", .binary))
      return HistoryChange.Tombstone(property: attribute?.name, value: value)
    }
  }

  /// SQL for the time of a transaction.
  var historyTime: String {
    database.columns(of: "ATRANSACTION").contains("ZTIMESTAMP") ? "t.ZTIMESTAMP" : "NULL"
  }

  /// SQL for one of a transaction's four texts: kept once for all transactions and referred to, or
  /// in the row itself, as older stores have it.
  func historyText(_ name: String) -> String {
    let columns = database.columns(of: "ATRANSACTION")
    var places: [String] = []
    if columns.contains("Z\(name)TS"), database.contains("ATRANSACTIONSTRING") {
      places.append("(SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.Z\(name)TS)")
    }
    if columns.contains("Z\(name)") { places.append("t.Z\(name)") }
    if places.count > 1 { return "coalesce(\(places.joined(separator: ", ")))" }
    return places.first ?? "NULL"
  }

  private static func counts(_ values: ArraySlice<Value>) -> HistoryCounts {
    let numbers = values.map { Int($0.integer ?? 0) }
    guard numbers.count >= 3 else { return HistoryCounts() }
    return HistoryCounts(inserted: numbers[0], updated: numbers[1], deleted: numbers[2])
  }
}
