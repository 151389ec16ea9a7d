import ManagedModel
import SQLite
import StoreTables

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
  ///   - object: only those that changed this object, which need not be there any more.
  ///   - match: only those that changed what a text was found in, or whose author, context, process or bundle
  ///     contains it.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func transactions(
    before: Int64? = nil, author: String?? = nil, of object: ObjectID? = nil,
    matching match: HistoryMatch? = nil, limit: Int = 100
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
    if let object {
      conditions.append(
        "t.Z_PK IN (SELECT ZTRANSACTIONID FROM ACHANGE WHERE \(changes(of: object)))")
    }
    if let match {
      let texts = Self.historyTexts.map { "instr(lower(\(historyText($0))), lower(?)) > 0" }
      conditions.append(
        "(t.Z_PK IN (SELECT ZTRANSACTIONID FROM ACHANGE WHERE \(changes(matching: match))) OR \(texts.joined(separator: " OR ")))"
      )
      values += texts.map { _ in .text(match.text.trimmed) }
    }
    values.append(.integer(Int64(max(0, limit))))
    let restriction = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    let texts = Self.historyTexts
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
  /// - Parameters:
  ///   - after: only those after this ``HistoryChange/number``: the last of the page before.
  ///   - object: only what it did to this object.
  ///   - match: only what it did to objects that a text was found in.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func changes(
    of transaction: Int64, after: Int64? = nil, to object: ObjectID? = nil,
    matching match: HistoryMatch? = nil, limit: Int = 200
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
    let restriction = [object.map(changes(of:)), match.map(changes(matching:))].compactMap { $0 }
      .map { " AND " + $0 }.joined()
    let sql = """
      SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, \(([bitmap] + kept).joined(separator: ", "))
      FROM ACHANGE WHERE ZTRANSACTIONID = ? AND Z_PK > ?\(restriction)
      ORDER BY Z_PK LIMIT ?
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
        let entity = entityName(number)
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

  /// SQL that is true of the changes of one object: keys run through a whole hierarchy, so that a change may
  /// name any of its entities.
  private func changes(of object: ObjectID) -> String {
    "\(changedEntities(of: object.entity)) AND ZENTITYPK = \(object.key)"
  }

  /// SQL that is true of the changes of objects of an entity's hierarchy.
  func changedEntities(of entity: String) -> String {
    let root = layout.table(of: model.root(of: entity))
    let unknown = entityNumber(unknown: entity).map { [$0] }
    return "ZENTITY IN (\((root?.numbers ?? unknown ?? []).list))"
  }

  /// The texts of a transaction.
  private static let historyTexts = ["AUTHOR", "CONTEXTNAME", "PROCESSID", "BUNDLEID"]

  /// What an entity is called of which the model has no name.
  private static let unknownEntity = "Z_ENT "

  /// What an entity is called by its number.
  func entityName(_ number: Int64) -> String {
    entityNames[number] ?? Self.unknownEntity + String(number)
  }

  /// The number of an entity by its name, or in such a name.
  func entityNumber(named name: String) -> Int64? {
    layout.table(of: name)?.entityID ?? entityNumber(unknown: name)
  }

  private func entityNumber(unknown name: String) -> Int64? {
    name.hasPrefix(Self.unknownEntity) ? Int64(name.dropFirst(Self.unknownEntity.count)) : nil
  }

  /// SQL for the time of a transaction.
  var historyTime: String {
    database.columns(of: "ATRANSACTION").contains("ZTIMESTAMP") ? "t.ZTIMESTAMP" : "NULL"
  }

  /// SQL for one of the texts of a transaction `t`.
  func historyText(_ name: String) -> String { HistoryTable.text(name, in: database) }

  private static func counts(_ values: ArraySlice<Value>) -> HistoryCounts {
    let numbers = values.map { Int($0.integer ?? 0) }
    guard numbers.count >= 3 else { return HistoryCounts() }
    return HistoryCounts(inserted: numbers[0], updated: numbers[1], deleted: numbers[2])
  }
}

/// A save that persistent history remembers: when, by whom, and how much it changed.
public struct HistoryTransaction: Sendable, Equatable {
  /// The number that a history token holds (ATRANSACTION.Z_PK); later saves have greater ones.
  public var number: Int64
  /// Seconds since 2001-01-01 UTC; `nil` where the row has none.
  public var timestamp: Double?
  /// `transactionAuthor` of the context that saved.
  public var author: String?
  /// `name` of the context that saved.
  public var context: String?
  /// The process that saved.
  public var process: String?
  /// The bundle identifier of that process.
  public var bundle: String?
  /// Objects inserted, updated and deleted.
  public var counts = HistoryCounts()

  /// The version that the store had before, where a migration left this transaction.
  public var formerVersion: FormerVersion? {
    author.flatMap { MigratorAuthor($0) }.map {
      FormerVersion(
        transaction: number, timestamp: timestamp, migrator: $0.migrator, digest: $0.digest,
        stage: $0.stage, process: process)
    }
  }
}

/// How many objects were inserted, updated and deleted.
public struct HistoryCounts: Sendable, Equatable {
  /// Objects that were made.
  public var inserted = 0
  /// Objects of which a value changed.
  public var updated = 0
  /// Objects that went.
  public var deleted = 0

  /// All of them.
  public var total: Int { inserted + updated + deleted }
}

/// What one transaction did to one object.
public struct HistoryChange: Sendable, Equatable {
  /// The kinds of change, by the numbers that ACHANGE.ZCHANGETYPE has for them.
  public enum Kind: Int64, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  /// A value that history kept of a deleted object.
  public struct Tombstone: Sendable, Equatable {
    /// The attribute; `nil` where the model does not say whose value it is.
    public var property: String?
    /// The value as the attribute held it; as it is stored where the attribute is not known.
    public var value: PropertyValue
  }

  /// ACHANGE.Z_PK, by which the next page begins.
  public var number: Int64
  /// `nil` for a number that is none of Core Data's.
  public var kind: Kind?
  /// The object; of an entity called `Z_ENT 7` where the model has none of that number.
  public var object: ObjectID
  /// Names of the properties that an update wrote; `nil` where they cannot be determined. Of a to-many relationship
  /// the name ends in `?` where the bit may be another to-many's.
  public var properties: [String]?
  /// What is left of a deleted object.
  public var tombstones: [Tombstone] = []
}

/// What history knows of one author of transactions.
public struct HistoryAuthor: Sendable, Equatable {
  /// The author's name; `nil` for transactions without one.
  public var name: String?
  /// Transactions of that author.
  public var transactions: Int
  /// What all of them did.
  public var counts: HistoryCounts
  /// Timestamp of the oldest.
  public var first: Double?
  /// Timestamp of the newest.
  public var last: Double?
}
