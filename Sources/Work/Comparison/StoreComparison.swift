import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Compares the objects of two stores, in memory that does not grow with them.
///
///     let comparison = try StoreComparison(yesterday, today)
///     print(comparison.pairings)
///     let summary = try comparison.run { change in print(change.kind, change.entity, change.label) }
///
/// Objects are paired by key where both stores have one UUID, since one line of saves never gives a key out twice;
/// else by a uniqueness constraint, by an attribute that identifies, or as the request says. Neither store is
/// changed.
public final class StoreComparison {
  /// How objects were paired, an entity that is reported each.
  public private(set) var pairings: [EntityPairing] = []
  /// What differs between the two models.
  public let model: ModelPairing

  /// Kilobytes of pages that a connection keeps of each database, and of what it sorts before that goes to a file.
  private static let cacheSize = 4000

  let (a, b): (Store, Store)
  private let request: ComparisonRequest
  let alignment: ModelAlignment
  private let tables: PairedTables
  private let pairs: [EntityPair]
  private let connection: Connection
  let isCancelled: () -> Bool
  private var saves = 0
  private var bookkeeping: [ComparisonSummary.Bookkeeping] = []
  /// Whether a program saved the first store too often for all of it to be read in one state.
  private var mixesStates = false

  /// Pairs the objects of two stores.
  ///
  /// - Parameters:
  ///   - a: the first store, which was before.
  ///   - b: the second, which is now; nothing else may use it until the comparison is let go.
  ///   - base: the copy that both come from: keys above its last one are never paired.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Throws: ``CoreDataError``: of kind usage for a name that neither store has, and for a base of another line
  ///   of saves; where a store cannot be read; when cancelled.
  public init(
    _ a: Store, _ b: Store, _ request: ComparisonRequest = ComparisonRequest(),
    base: Store? = nil, isCancelled: @escaping () -> Bool = { false }
  ) throws {
    (self.a, self.b, self.request, self.isCancelled) = (a, b, request, isCancelled)
    let known = Self.names(a.model).union(Self.names(b.model))
    for name in request.entities + request.ignored.sorted() + Self.entities(request.matches)
    where !known.contains(name) {
      throw CoreDataError(
        .usage, "neither store has the \(name.contains(".") ? "property" : "entity") \(name)",
        hint: Nearest.hint(
          name, in: known.filter { $0.contains(".") == name.contains(".") }.sorted()))
    }
    // Of two stores without a model the tables are compared as they are.
    if a.modelSource == .raw || b.modelSource == .raw, a.modelSource != b.modelSource {
      throw (a.modelSource == .raw ? a : b).modelNeeded(for: "what its tables hold", .unreadable)
    }
    for store in [a, b] { try store.refuseMissingTables(.unreadable) }
    // What is read is checked, or a copy of all that can be read; indexes can be trusted then.
    for store in [a, b] {
      try store.stopping(when: isCancelled) { try store.inspect(isForPlan: false) }
    }
    alignment = ModelAlignment(a.model, b.model)
    model = alignment.pairing
    pairs = Self.pairs(a, b, alignment, request)
    // SQLite joins no databases of two text encodings.
    try a.takeEncoding(of: b)
    connection = b.connection
    for reader in [a.connection, connection] {
      // What the check read is read again row by row; with two databases, and what is sorted, on one connection.
      try? reader.execute("PRAGMA shrink_memory; PRAGMA cache_size = -\(Self.cacheSize)")
    }
    tables = PairedTables(a, b, on: connection)
    do {
      try connection.execute("PRAGMA temp_store = FILE")
      try connection.attach(a.connection, as: "src")
      mixesStates = try !holdStates()
      if !request.ignoresBookkeeping { bookkeeping = try compareBookkeeping() }
      connection.onProgress(isCancelled)
      try tables.make()
      try pairObjects(base)
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: b.path)
    }
  }

  deinit {
    connection.onProgress(nil)
    releaseStates()
    tables.drop()
    try? connection.execute("DETACH DATABASE src")
  }

  /// Reads on in one state of either store, whatever is saved meanwhile; the first is read by two connections.
  ///
  /// - Returns: false where the first is saved so often that both were not of one state.
  private func holdStates() throws -> Bool {
    for _ in 0..<20 {
      let version = try a.connection.value("PRAGMA data_version")
      try connection.execute("BEGIN")
      for schema in ["main", "src"] {
        _ = try connection.value("SELECT count(*) FROM \(schema).sqlite_master")
      }
      try a.connection.execute("BEGIN")
      if try a.connection.value("PRAGMA data_version") == version { return true }
      releaseStates()
    }
    return false
  }

  private func releaseStates() {
    for connection in [a.connection, b.connection] { try? connection.execute("COMMIT") }
  }

  /// Names of entities, and of properties behind them.
  private static func names(_ model: Model) -> Set<String> {
    var names: Set<String> = []
    for entity in model.entities {
      names.insert(entity.name)
      for parent in model.lineage(of: entity.name) {
        for property in parent.attributes.map(\.name) + parent.relationships.map(\.name) {
          names.insert("\(entity.name).\(property)")
        }
      }
    }
    return names
  }

  private static func entities(_ matches: [ComparisonRequest.Match]) -> [String] {
    matches.flatMap { match -> [String] in
      guard case .attributes(let entity?, let names) = match else { return [] }
      return [entity] + names.map { "\(entity).\($0.prefix { $0 != "." })" }
    }
  }

  /// Entities of the second store in the order of their names, then those that only the first has.
  private static func pairs(
    _ a: Store, _ b: Store, _ alignment: ModelAlignment, _ request: ComparisonRequest
  ) -> [EntityPair] {
    let formers = Dictionary(alignment.entities.map { ($0.value, $0.key) }) { first, _ in first }
    var pairs: [EntityPair] = []
    func add(_ one: EntityTable?, _ other: EntityTable?) {
      pairs.append(EntityPair(place: pairs.count, one, other, alignment, request, (a, b)))
    }
    for entity in b.model.entities.map(\.name).sorted(by: { $0.precedes($1) }) {
      guard let table = b.table(of: entity) else { continue }
      add(formers[entity].flatMap { a.table(of: $0) }, table)
    }
    for entity in a.model.entities.map(\.name).sorted(by: { $0.precedes($1) })
    where alignment.entities[entity] == nil {
      guard let table = a.table(of: entity) else { continue }
      add(table, nil)
    }
    return pairs
  }

  // MARK: Pairing

  private func pairObjects(_ base: Store?) throws {
    var ways: [Int: Way] = [:]
    for pair in pairs { ways[pair.place] = try way(of: pair) }
    for (_, group) in Dictionary(grouping: pairs, by: { $0.a?.table ?? "" }) {
      let both = group.filter { $0.a != nil && $0.b != nil }
      guard let one = both.first?.a?.table, let other = both.first?.b?.table,
        both.allSatisfy({ ways[$0.place]?.by == .key && $0.b?.table == other }),
        pairs.allSatisfy({ $0.b?.table != other || $0.a == nil || $0.a?.table == one })
      else { continue }
      tables.setKeyed(one, other)
    }
    let rows = DifferingRows(a, b, tables, isCancelled: isCancelled)
    for (_, group) in Dictionary(grouping: pairs, by: { $0.a?.table ?? "" }) {
      try rows.findOtherEntities(group)
    }
    for pair in pairs {
      guard let one = pair.a, let other = pair.b, ways[pair.place]?.by == .key else { continue }
      if let base {
        try rows.split(one, other, above: try Self.lastKey(of: one, a, in: base))
      } else {
        try rows.findSplits(pair)
      }
    }
    for pair in pairs {
      guard let one = pair.a, let other = pair.b, !tables.isKeyed(one, other) else { continue }
      switch ways[pair.place]?.by {
      case .key: try tables.pairKeys(one, other)
      case .unique, .attribute, .match:
        try tables.pair(one, other, on: ways[pair.place]?.columns ?? [])
      default: continue
      }
    }
    try tables.finishPairs()
    try rows.find(pairs)
    for pair in pairs where pair.isReported {
      let way = ways[pair.place] ?? Way(by: .none)
      var pairing = EntityPairing(
        entity: pair.entity, by: way.by, on: way.columns.map(\.b.attribute.name))
      pairing.unpairedA = try connection.count(
        "FROM temp.compare_changed WHERE place = \(pair.place) AND b IS NULL")
      pairing.unpairedB = try connection.count(
        "FROM temp.compare_inserted WHERE place = \(pair.place)")
      saves += try connection.count(
        "FROM temp.compare_changed WHERE place = \(pair.place) AND saves AND b IS NOT NULL")
      if way.by == .key, let one = pair.a { pairing.splitKeys = try tables.splitCount(one) }
      pairings.append(pairing)
    }
  }

  /// What pairs the objects of an entity.
  private struct Way {
    var by: EntityPairing.By
    typealias Columns = [(a: EntityTable.AttributeColumn, b: EntityTable.AttributeColumn)]
    var columns: Columns = []
  }

  private func way(of pair: EntityPair) throws -> Way {
    guard let one = pair.a, let other = pair.b else { return Way(by: .none) }
    let kinds = Set(
      (a.model.lineage(of: one.entity) + b.model.lineage(of: other.entity)).map(\.name))
    var named: Way?
    var general: ComparisonRequest.Match?
    for match in request.matches {
      switch match {
      case .key, .unique: general = match
      case .attributes(let entity?, let names):
        guard kinds.contains(entity) else { continue }
        guard let columns = columns(names, pair) else {
          throw CoreDataError(
            .usage, "objects of \(entity) cannot be paired by \(names.joined(separator: ", "))",
            entity: entity, hint: "Name stored attributes that both stores have.")
        }
        named = Way(by: .match, columns: columns)
      case .attributes(nil, let names):
        if named == nil, let columns = columns(names, pair) {
          named = Way(by: .match, columns: columns)
        }
      }
    }
    if let named { return named }
    let isOneLine = a.metadata.uuid == b.metadata.uuid
    if general == .key || isOneLine && general != .unique { return Way(by: .key) }
    for entity in b.model.lineage(of: other.entity) {
      for constraint in entity.uniquenessConstraints {
        if let columns = columns(constraint, pair), try haveValues(columns, one, other) {
          return Way(by: .unique, columns: columns)
        }
      }
    }
    for column in pair.attributes where Self.identifies(column.b.attribute) {
      if try isUnique(column.a, one, "src"), try isUnique(column.b, other, "main"),
        try haveValues([column], one, other)
      {
        return Way(by: .attribute, columns: [column])
      }
    }
    return Way(by: .none)
  }

  private func columns(_ names: [String], _ pair: EntityPair) -> Way.Columns? {
    let found = names.compactMap { name in
      pair.attributes.first { $0.b.attribute.name == name || $0.a.attribute.name == name }
    }
    return found.count == names.count && !found.isEmpty ? found : nil
  }

  /// Whether attributes can pair objects: each store that has any has one with values.
  private func haveValues(
    _ columns: Way.Columns, _ one: EntityTable, _ other: EntityTable
  ) throws -> Bool {
    func has(_ schema: String, _ table: EntityTable, _ columns: [String]) throws -> Bool {
      let from = "SELECT 1 FROM \(schema).\(quoted(table.table)) WHERE \(table.ownRows() ?? "1")"
      let values = from + columns.map { " AND \(quoted($0)) IS NOT NULL" }.joined()
      return try connection.value(from) == nil || connection.value(values) != nil
    }
    let isThere = a.database.contains(one.table) && b.database.contains(other.table)
    guard request.needsValues, isThere else { return true }
    let (former, now) = (columns.map(\.a.column), columns.map(\.b.column))
    return try has("src", one, former) && has("main", other, now)
  }

  /// Whether the name of an attribute says that no two objects have one value.
  static func identifies(_ attribute: Attribute) -> Bool {
    (attribute.type == .uuid || attribute.type == .string)
      && (["id", "uuid", "identifier"].contains(attribute.name.lowercased())
        || attribute.name.hasSuffix("ID"))
  }

  private func isUnique(
    _ column: EntityTable.AttributeColumn, _ table: EntityTable, _ schema: String
  ) throws -> Bool {
    guard (schema == "src" ? a : b).database.contains(table.table) else { return false }
    let name = quoted(column.column)
    let conditions = [table.ownRows(), "\(name) IS NOT NULL"].compactMap { $0 }
    return try connection.value(
      """
      SELECT 1 FROM \(schema).\(quoted(table.table)) WHERE \(conditions.joined(separator: " AND "))
      GROUP BY \(name) HAVING count(*) > 1 LIMIT 1
      """) == nil
  }

  /// The last key that the copy which both stores come from had given out in an entity's table.
  private static func lastKey(of table: EntityTable, _ a: Store, in base: Store) throws -> Int64 {
    guard base.metadata.uuid == a.metadata.uuid else {
      throw CoreDataError(
        .usage, "this is not the copy that the stores come from: its UUID is another",
        path: base.path, hint: "The first store’s is \(a.metadata.uuid).")
    }
    guard
      let root = base.entityTables.first(where: { $0.table == table.table && $0.isWholeTable })
    else { return 0 }
    return try base.reading {
      try PrimaryKeys(base.connection).last(root.entityID, in: root.table)
    }
  }

  /// Reports every two objects that are one, an entity at a time, by their keys in both stores.
  ///
  /// - Parameter report: also called with whether the two may differ: all others are equal.
  package func eachPair(
    _ report: (_ entity: String, _ a: Int64, _ b: Int64, _ mayDiffer: Bool) throws -> Void
  ) throws {
    for pair in pairs {
      guard let one = pair.a, let other = pair.b, a.database.contains(one.table),
        b.database.contains(other.table)
      else { continue }
      let conditions = [one.ownRows("a"), other.ownRows("b")].compactMap { $0 }
      let statement = try connection.prepare(
        """
        SELECT a.Z_PK, b.Z_PK, ifnull(c.differs, 0) FROM src.\(quoted(one.table)) a
        CROSS JOIN main.\(quoted(other.table)) b ON b.Z_PK = \(tables.inB(one.table, "a.Z_PK"))
        LEFT JOIN temp.compare_changed c ON c.place = \(pair.place) AND c.a = a.Z_PK
        \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
        """)
      while try statement.step() {
        try report(
          pair.entity, statement.integer(at: 0), statement.integer(at: 1),
          statement.integer(at: 2) != 0)
      }
    }
  }

  // MARK: Changes

  /// Reports every object that differs, an entity at a time: those that changed or are only in the first store by
  /// their keys there, then those that are only in the second.
  ///
  /// - Parameter report: called with as many changes of each entity as the request's limit allows.
  /// - Returns: how many differ; all are counted.
  /// - Throws: what `report` throws; ``CoreDataError`` where a store cannot be read, or when cancelled.
  public func run(_ report: (ObjectChange) throws -> Void) throws -> ComparisonSummary {
    var summary = ComparisonSummary()
    summary.bookkeeping = bookkeeping
    summary.mixesStates = mixesStates
    if saves > 0, !request.ignoresBookkeeping {
      summary.bookkeeping.insert(
        .init(part: "saves", message: "the number of saves (Z_OPT) differs", count: saves), at: 0)
    }
    do {
      for pair in pairs where pair.isReported {
        let entity = try PairComparison(
          pair, stores: (a, b), tables, alignment, predicate: request.predicate)
        let count = try entity.run(limit: request.limit, isCancelled: isCancelled, report)
        summary.unreadableValues += entity.unreadableValues
        summary.entities.append(count)
      }
      let hasFiles = (a.entityTables + b.entityTables).contains { table in
        table.attributes.contains { $0.attribute.allowsExternalBinaryDataStorage }
      }
      if hasFiles { summary.files = [try a.externalData(), try b.externalData()] }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: b.path)
    }
    return summary
  }
}
