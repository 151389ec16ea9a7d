import ManagedModel
import Salvage

/// Tells in which order a table's columns stand whose CREATE statement is gone.
///
/// Core Data makes a new table with its columns in an order that the model tells. One that was migrated in
/// place has what came later at its end, and nothing but the rows, the indexes, and what is left of
/// older schemas tells so. Where they do not decide, the columns are named that may stand for one another.
struct ColumnOrdering {
  /// What was found out about a table.
  struct Order: Equatable {
    /// The columns, in the order of the records, without the three that each table has.
    var columns: [StoreSchema.Column]
    /// Columns whose values may be those of another.
    var doubtful: [StoreSchema.Column] = []
    /// Whether the rows have values that no order puts into columns that can hold them.
    var isUnfit = false
  }

  private let schema: StoreSchema
  private let tables: [StoreSchema.Table]
  /// The tables of earlier versions of the model, from the latest to the first.
  private let earlier: [StoreSchema]
  private let remnants: SchemaRemnants
  /// What was found of each table's rows, by the tree that they are in.
  private var evidence: [String: [Int: ColumnEvidence]] = [:]
  private var keys: [Int64: KeySet] = [:]
  /// Rows that look like objects, and are of no entity of the model.
  private var strangers = 0
  /// Places that an index begins with, by table.
  private var indexed: [String: Set<Int>] = [:]

  /// The columns that an index of the model begins with, by table.
  private var firstIndexed: [String: Set<String>] = [:]

  /// Columns that come before the others in each table: Z_PK, Z_ENT, Z_OPT.
  static let standing = 3
  /// Rows with that many values more than the table has columns are none of it.
  private static let mostMore = 64
  /// An order that counts that much less than another may be the true one all the same.
  private static let doubt = 2.0
  /// How much better an order has to be for each column more that is at the end.
  private static let price = 4.0

  /// Reads all rows of a source, and nothing else that tells of them.
  ///
  /// - Parameter tables: those to read of.
  init(
    _ source: SalvageSource, _ schema: StoreSchema, tables: [StoreSchema.Table],
    isCancelled: () -> Bool
  ) throws {
    self.schema = schema
    self.tables = tables
    earlier = []
    remnants = SchemaRemnants()
    try read(source, isCancelled)
  }

  /// Reads all rows of a source.
  ///
  /// - Parameters:
  ///   - tables: those whose CREATE statements are gone.
  ///   - versions: the versions of the model up to the one that the schema is of.
  init(
    _ source: SalvageSource, _ schema: StoreSchema, tables: [StoreSchema.Table],
    versions: [Model], isCancelled: () -> Bool
  ) throws {
    self.schema = schema
    self.tables = tables
    earlier = versions.reversed().filter { $0 != schema.model }.map { StoreSchema(model: $0) }
    remnants = try SchemaRemnants(source.image, of: Set(tables.map(\.name)))
    try read(source, isCancelled)
    try readIndexes(source, isCancelled)
  }

  private mutating func read(_ source: SalvageSource, _ isCancelled: () -> Bool) throws {
    var owners: [Int64: StoreSchema.Table] = [:]
    for table in tables {
      for entity in schema.model.subtree(of: table.root) {
        if let number = schema.numbers[entity] { owners[number] = table }
      }
    }
    let numbers = Set(schema.numbers.values)
    var scan = RowScan(source.image, source.trees)
    try scan.rows(where: SalvageSource.holdsRows, isCancelled: isCancelled) { row, record in
      guard record.count >= Self.standing, record.kind(0) == .null,
        let number = record.integer(1), number > 0, number < EntityNumbering.firstReserved,
        let saves = record.integer(2), saves > 0
      else { return }
      guard numbers.contains(number) else { return strangers += 1 }
      keys[number, default: KeySet()].insert(row.key)
      guard let table = owners[number],
        record.count <= table.columns.count + Self.standing + Self.mostMore
      else { return }
      evidence[table.name, default: [:]][row.root, default: ColumnEvidence()]
        .add(row.key, number: number, record)
    }
    for number in keys.keys { keys[number]?.sort() }
  }

  /// The rows that tell of a table: those of its largest tree, else those of none.
  private func evidence(of table: StoreSchema.Table) -> ColumnEvidence? {
    let trees = evidence[table.name] ?? [:]
    return trees.filter { $0.key > 0 }.max { ($0.value.rows, $1.key) < ($1.value.rows, $0.key) }?
      .value ?? trees[0]
  }

  private mutating func readIndexes(_ source: SalvageSource, _ isCancelled: () -> Bool) throws {
    for statement in schema.indexStatements() + schema.indexStatements(.columns) {
      guard let open = statement.sql.firstIndex(of: "(") else { continue }
      let first = statement.sql[statement.sql.index(after: open)...]
        .prefix { $0 != "," && $0 != ")" && $0 != " " }
      firstIndexed[statement.table, default: []].insert(first.filter { $0 != "\"" })
    }
    var search = IndexedPlaces()
    for table in tables {
      if let evidence = evidence(of: table) { search.add(table.name, evidence.sample) }
    }
    guard !search.isEmpty else { return }
    var entries = IndexEntries(source.image)
    for page in 2..<max(2, source.image.pageCount + 1) {
      if page % 256 == 0, isCancelled() { break }
      search.begin()
      try entries.entries(of: page) { key, record in search.take(key, record) }
      for (table, place) in search.found() { indexed[table, default: []].insert(place) }
    }
  }
}

extension ColumnOrdering {
  /// The order of each table's columns; that of a new store where a table has no rows, or where they have
  /// more values than the table columns.
  func orders() -> [String: Order] {
    let decisions = tables.map { ($0, decision(for: $0)) }
    // A store was made by one version, and what came later was added to all of its tables.
    let starts = OrderStarts(decisions.compactMap(\.1), doubt: Self.doubt)
    return Dictionary(
      decisions.map { table, decision in
        (
          table.name,
          decision.map { $0.order(doubt: Self.doubt, price: Self.price, starts: starts.likely) }
            ?? unfit(table)
        )
      }
    ) { first, _ in first }
  }

  /// How well all rows fit the tables: 0 where nothing speaks against it.
  var fit: Double {
    tables.reduce(strangers > 0 ? -Self.misfit : 0) { sum, table in
      guard let evidence = evidence(of: table) else { return sum }
      guard let decision = decision(for: table) else { return sum - Self.misfit }
      // A column that no row has came last, or is of a later version.
      let longest = evidence.lengths.keys.max() ?? 0
      let missing = table.columns.count + Self.standing - longest
      return sum + decision.fit(price: Self.price) - Self.price * Double(missing)
    }
  }

  /// How many rows were found of the tables.
  var rows: Int { evidence.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.rows } } }

  /// What a table counts that cannot be the one that the rows are of.
  private static let misfit = 100.0

  private func unfit(_ table: StoreSchema.Table) -> Order {
    guard evidence(of: table) != nil, !table.columns.isEmpty else {
      return Order(columns: table.columns)
    }
    return Order(columns: table.columns, doubtful: table.columns, isUnfit: true)
  }

  /// What there is to decide by; `nil` where there are no rows, or where they are too long.
  private func decision(for table: StoreSchema.Table) -> OrderDecision? {
    let columns = table.columns
    guard let evidence = evidence(of: table), !columns.isEmpty,
      evidence.lengths.keys.max() ?? 0 <= columns.count + Self.standing
    else { return nil }
    let own = indexed[table.name] ?? []
    let indexes = firstIndexed[table.name] ?? []
    let traits = columns.map { column in
      var traits = ColumnTraits(column, of: table, in: schema)
      traits.isIndexed = indexes.contains(column.name)
      return traits
    }
    func matrix(_ body: (ColumnTraits, Int) -> Double) -> [[Double]] {
      traits.map { traits in columns.indices.map { body(traits, $0 + Self.standing) } }
    }
    return OrderDecision(
      columns: columns, traits: traits,
      scores: matrix { $0.score($1, evidence, keys: keys, isIndexed: own.contains($1)) },
      hints: matrix { $0.hint($1, evidence) }, evidence: evidence,
      candidates: candidates(for: table), remnants: remnants.orders(of: table))
  }

  /// The orders that a chain of versions leads to, by how many versions before this one made the store:
  /// its columns, with what each later one added at the end. Empty where no other version is known.
  private func candidates(for table: StoreSchema.Table) -> [[Int]] {
    guard !earlier.isEmpty else { return [] }
    func bare(_ column: StoreSchema.Column) -> String {
      // Numbers of entities shift from version to version.
      switch column.content {
      case .toOneEntity, .owner, .ownerOrder:
        "\(column.content.property.name).\(column.content.isOrder).\(column.type)"
      default: column.name
      }
    }
    let names = Dictionary(table.columns.enumerated().map { (bare($1), $0) }) { first, _ in first }
    var result = [Array(table.columns.indices)]
    var later: [[Int]] = []
    var known = Set(table.columns.indices)
    var isMadeAnew = false
    for version in earlier {
      let former = version.table(named: table.name)
      let places = former?.columns.compactMap { names[bare($0)] } ?? []
      // What is gone was taken out by making the table anew.
      if former == nil || places.count != former?.columns.count || !known.isSuperset(of: places) {
        isMadeAnew = true
      }
      if !isMadeAnew {
        let added = known.subtracting(places).sorted()
        if !added.isEmpty { later.insert(added, at: 0) }
        known = Set(places)
      }
      result.append(known.sorted() + later.joined())
    }
    return result
  }
}
