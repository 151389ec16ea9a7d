import ManagedModel
import ManagedStore
import SQLite

/// Gives out the keys of each destination table, so that no two mappings claim one.
struct KeyPlanning {
  /// Highest key given out in each destination table (by its root entity).
  private(set) var bounds: [String: Int64] = [:]
  /// Source tables and entities whose objects keep their keys in a destination table.
  private var keepers: [String: (table: String, entities: Set<String>)] = [:]
  private let store: Store
  private let maxima: [String: Int64]

  init(store: Store) throws {
    self.store = store
    var maxima: [String: Int64] = [:]
    for table in store.entityTables where table.isWholeTable && store.database.contains(table.table)
    {
      let used = try store.reading {
        try store.connection.value("SELECT max(Z_PK) FROM \(quoted(table.table))")
      }
      maxima[table.table] = used?.integer ?? 0
    }
    self.maxima = maxima
  }

  /// Objects of one entity keep their keys in a table where nobody else could have them: where all
  /// others that keep theirs come from the same source table.
  mutating func offset(from entity: String, into root: String) throws -> Int64 {
    guard let table = store.table(of: entity)?.table else { return 0 }
    let highest = maxima[table] ?? 0
    if let keeper = keepers[root] {
      guard keeper.table == table, !keeper.entities.contains(entity) else {
        return try room(for: highest, in: root)
      }
    } else if let taken = bounds[root], taken > 0 {
      return try room(for: highest, in: root)
    }
    keepers[root, default: (table, [])].entities.insert(entity)
    bounds[root] = max(bounds[root] ?? 0, highest)
    return 0
  }

  private mutating func room(for highest: Int64, in root: String) throws -> Int64 {
    let taken = bounds[root] ?? 0
    let (bound, isTooLarge) = taken.addingReportingOverflow(max(0, highest))
    guard !isTooLarge else { throw PrimaryKeys.exhausted(root) }
    bounds[root] = bound
    return taken
  }

  /// The last key given out so far in a destination table.
  func bound(of root: String) -> Int64 { bounds[root] ?? 0 }

  /// Keys up to this one are taken from now on.
  mutating func take(upTo key: Int64, of root: String) {
    bounds[root] = max(bounds[root] ?? 0, key)
  }
}
