import ManagedModel
import ManagedStore
import SQLite

/// Reads the objects of one entity that may differ, and reports which do.
final class PairComparison: ObjectPairing {
  /// Values that could not be read, so that it is unknown whether they differ.
  private(set) var unreadableValues = 0
  /// Whether links of the object that is compared could not be read.
  private var isUnknown = false

  private let pair: EntityPair
  private let connection: Connection
  private let tables: PairedTables
  private let alignment: ModelAlignment
  private let sideA: ObjectSide?
  private let sideB: ObjectSide?
  private let difference: ObjectDifference
  /// Whether rows of either store's table may be missing.
  private let lacksRows: (a: Bool, b: Bool)

  init(
    _ pair: EntityPair, stores: (a: Store, b: Store), _ tables: PairedTables,
    _ alignment: ModelAlignment, predicate: String?
  ) throws {
    (self.pair, self.tables, self.alignment) = (pair, tables, alignment)
    connection = tables.connection
    var refusal: CoreDataError?
    func side(_ store: Store, _ table: EntityTable?, _ ignored: Set<String>) throws -> ObjectSide? {
      guard let table else { return nil }
      var filter: RowFilter?
      if let predicate {
        // A property that one version has not is no mistake.
        do { filter = try RowFilter(predicate, entity: table.entity, store: store) } catch {
          refusal = error
        }
      }
      return try ObjectSide(
        store, table, ignored: ignored, filter: filter, isFiltered: predicate != nil)
    }
    sideA = try side(stores.a, pair.a, pair.ignored.a)
    sideB = try side(stores.b, pair.b, pair.ignored.b)
    if let refusal, sideA?.filter == nil, sideB?.filter == nil { throw refusal }
    difference = ObjectDifference(pair, stores)
    lacksRows = (
      pair.a.map { stores.a.mayLackRows(of: $0.table) } ?? false,
      pair.b.map { stores.b.mayLackRows(of: $0.table) } ?? false
    )
  }

  /// Reports changes up to a limit, and counts them all.
  func run(
    limit: Int, isCancelled: () -> Bool, _ report: (ObjectChange) throws -> Void
  ) throws -> ComparisonSummary.EntityCount {
    var count = ComparisonSummary.EntityCount(entity: pair.entity)
    let changed = try connection.prepare(
      "SELECT a, b FROM temp.compare_changed WHERE place = \(pair.place) AND differs ORDER BY a")
    while try changed.step() {
      try CoreDataError.check(isCancelled)
      let key = changed.integer(at: 0)
      guard !changed.isNull(at: 1) else {
        guard let sideA, try sideA.counts(key) else { continue }
        guard !lacksRows.b else {
          count.unknown += 1
          continue
        }
        count.deleted += 1
        if count.count <= limit, let object = try sideA.object(key) {
          try report(sideA.change(.delete, object))
        }
        continue
      }
      guard let sideA, let sideB, let old = try sideA.object(key),
        let new = try sideB.object(changed.integer(at: 1))
      else { continue }
      isUnknown = false
      let change = try difference.change(
        from: old, to: new, sideA, sideB, unreadable: &unreadableValues, pairing: self)
      guard change != nil || isUnknown, try sideA.counts(old.key) || sideB.counts(new.key)
      else { continue }
      guard let change else {
        count.unknown += 1
        continue
      }
      count.updated += 1
      if count.count <= limit { try report(change) }
    }
    let inserted = try connection.prepare(
      "SELECT b FROM temp.compare_inserted WHERE place = \(pair.place) ORDER BY b")
    while let sideB, try inserted.step() {
      try CoreDataError.check(isCancelled)
      let key = inserted.integer(at: 0)
      guard try sideB.counts(key) else { continue }
      guard !lacksRows.a else {
        count.unknown += 1
        continue
      }
      count.inserted += 1
      if count.count <= limit, let object = try sideB.object(key) {
        try report(sideB.change(.insert, object))
      }
    }
    return count
  }

  func counterpart(of id: ObjectID, _ related: ObjectDifference.Related) throws -> ObjectID? {
    try tables.counterpart(of: id.key, in: related.tables.a).map {
      ObjectID(entity: alignment.entities[id.entity] ?? id.entity, key: $0)
    }
  }

  func isRemoved(_ counterpart: ObjectID?, _ related: ObjectDifference.Related) throws -> Bool {
    try !related.lacksLinks.b || isRead(counterpart?.key, "main", related.tables.b, related)
  }

  func isAdded(_ id: ObjectID, _ related: ObjectDifference.Related) throws -> Bool {
    guard related.lacksLinks.a else { return true }
    return try isRead(
      tables.former(of: id.key, in: related.tables.b), "src", related.tables.a, related)
  }

  /// Whether a link to an object is known to be missing in a store some of whose links could not be read: its row is
  /// there, and says so.
  private func isRead(
    _ key: Int64?, _ schema: String, _ table: String, _ related: ObjectDifference.Related
  ) throws -> Bool {
    if related.isInRows, let key {
      let statement = try connection.cached(
        "SELECT 1 FROM \(schema).\(quoted(table)) WHERE Z_PK = ?")
      try statement.bind([.integer(key)])
      defer { statement.reset() }
      if try statement.step() { return true }
    }
    isUnknown = true
    return false
  }
}
