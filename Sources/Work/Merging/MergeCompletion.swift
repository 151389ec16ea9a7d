import Comparison
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// What follows from the rows of a merged store: counts of saves, the last keys, derived attributes, R-trees, history.
struct MergeCompletion {
  let map: ObjectMap
  private let list: ChangeList
  private let trees: [RTreeIndex]
  private let derived: [DerivedColumn]

  private var connection: Connection { map.connection }

  /// To be made before anything is changed: it notes which derived values are not what they are derived from, as in
  /// stores in which another framework computed them. Those stay.
  ///
  /// - Parameter list: is attached to the connection that writes.
  init(_ map: ObjectMap, _ list: ChangeList) throws {
    (self.map, self.list) = (map, list)
    let store = map.stores.new
    let connection = map.connection
    trees = store.database.virtual.sorted().compactMap {
      RTreeIndex(named: $0, in: store.database)
    }
    guard trees.isEmpty || connection.hasRTrees else {
      throw CoreDataError(
        .refused, "the store has R-trees, which this SQLite cannot write", path: store.path,
        hint: "Use a build of SQLite with SQLITE_ENABLE_RTREE.")
    }
    try connection.execute(
      "CREATE TEMP TABLE merge_inexact (i INTEGER, k INTEGER, PRIMARY KEY (i, k)) WITHOUT ROWID")
    var known: [DerivedColumn] = []
    for entry in store.schema.tables.flatMap({ store.derivedColumns(of: $0) }) {
      do {
        try connection.execute(
          """
          INSERT INTO temp.merge_inexact SELECT \(known.count), s.Z_PK FROM main.\(quoted(entry.table)) AS s
          WHERE s.\(quoted(entry.column)) IS NOT \(entry.sql) AND s.Z_ENT IN (\(entry.numbers.list))
          """)
        known.append(entry)
      } catch let error as SQLiteError where !error.isInterrupted {
        // An expression over a table that is not there: its values are as they come.
        continue
      }
    }
    self.derived = known
  }

  /// - Parameter check: throws where it was cancelled.
  /// - Returns: the number of the transaction in history; `nil` if there is none.
  func run(check: @escaping () throws -> Void) throws -> Int64? {
    try trace()
    try list.count(on: connection)
    try countSaves()
    try raiseKeys()
    // What a value is derived from may be derived itself.
    for _ in 0..<2 {
      for (index, entry) in derived.enumerated() {
        try connection.execute(
          """
          UPDATE main.\(quoted(entry.table)) AS s SET \(quoted(entry.column)) = \(entry.sql)
          WHERE s.Z_ENT IN (\(entry.numbers.list)) AND s.\(quoted(entry.column)) IS NOT \(entry.sql)
          AND s.Z_PK NOT IN (SELECT k FROM temp.merge_inexact WHERE i = \(index))
          """)
      }
    }
    for tree in trees { try refill(tree) }
    guard !list.isEmpty else { return nil }
    return try ChangeHistory(map.stores.new, on: connection, original: "now", check: check).write()
  }

  /// Lists what differs from the newer store. Objects whose to-many relationships have others now are saved as well.
  private func trace() throws {
    let trace = try RowTrace(map.stores.new, on: connection, original: "now")
    for (number, entity) in tables {
      try trace.add(
        """
        SELECT r AS key FROM temp.merge_touched WHERE t = \(number)
        UNION SELECT r FROM temp.merge_key WHERE t = \(number) AND kind > 0
        """, of: entity.new.table)
    }
    try trace.addLinks()
    try trace.tell()
    for entity in map.entities {
      try connection.execute(
        """
        INSERT OR IGNORE INTO temp.merge_touched
        SELECT DISTINCT \(map.number(entity.old.table)), key FROM \(ChangeList.schema).changes
        WHERE number = \(entity.new.entityID)
        """)
    }
  }

  /// The older store's tables with the newer store's names for them, and an entity of each.
  private var tables: [(number: Int, entity: MergedEntity)] {
    var done: Set<String> = []
    return map.entities.filter { done.insert($0.old.table).inserted }
      .map { (map.number($0.old.table), $0) }
  }

  private func countSaves() throws {
    for (number, entity) in tables {
      try connection.execute(
        """
        UPDATE main.\(quoted(entity.new.table)) SET Z_OPT = \(HistoryWriter.raisedVersion) WHERE Z_PK IN (
        SELECT x.r FROM temp.merge_touched x WHERE x.t = \(number) AND NOT EXISTS (
        SELECT 1 FROM temp.merge_key k WHERE k.t = x.t AND k.r = x.r AND k.kind > 0))
        """)
    }
  }

  private func raiseKeys() throws {
    let keys = PrimaryKeys(connection)
    for (_, entity) in tables {
      let root = map.stores.new.model.root(of: entity.name)
      guard let number = map.stores.new.schema.numbers[root],
        let used = try keys.used(in: entity.new.table),
        used > (try keys.counter(number) ?? .max)
      else { continue }
      try keys.raise(number, to: used)
    }
  }

  /// Enters the rows that are new or were changed.
  private func refill(_ tree: RTreeIndex) throws {
    guard let (number, _) = tables.first(where: { $0.entity.new.table == tree.table }) else {
      return
    }
    let rows = """
      SELECT r FROM temp.merge_touched WHERE t = \(number)
      UNION SELECT r FROM temp.merge_key WHERE t = \(number) AND kind > 0
      """
    let bounds = tree.columns.flatMap { [quoted($0 + "_MIN"), quoted($0 + "_MAX")] }
    let values = tree.columns.flatMap {
      ["ifnull(s.\(quoted($0)), 0)", "ifnull(s.\(quoted($0)), 0)"]
    }
    try connection.execute("DELETE FROM main.\(quoted(tree.name)) WHERE Z_PK IN (\(rows))")
    try connection.execute(
      """
      INSERT INTO main.\(quoted(tree.name)) (Z_PK, \(bounds.joined(separator: ", ")))
      SELECT s.Z_PK, \(values.joined(separator: ", ")) FROM main.\(quoted(tree.table)) s
      WHERE s.Z_PK IN (\(rows))
      """)
  }
}
