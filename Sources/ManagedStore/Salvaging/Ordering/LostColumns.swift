import ManagedModel
import Salvage

/// Finds the order of a table's columns where its CREATE statement is gone.
///
/// Core Data makes a new table with its columns in an order that the model shows, and a migration in place
/// puts what its version has more at the end, in that order too. So the version that made the store shows
/// it, or a text of the statement that still stands somewhere in the file. The rows say which versions
/// cannot be, by their length and by values that a column never holds; what values may mean is not asked.
struct LostColumns {
  /// What was found out about a table.
  struct Order: Equatable {
    /// The columns, in the order of the records, without the three that each table has.
    var columns: [StoreSchema.Column]
    /// Columns whose values may be those of another.
    var doubtful: [StoreSchema.Column] = []
    /// Whether the rows have values that no order puts into columns that can hold them.
    var isUnfit = false
    /// Whether it is that of a new store of the only version that is known.
    var isAssumed = false
  }

  /// How well the rows fit a model's tables, the better the smaller.
  struct Fit: Comparable {
    /// What cannot be: tables of which no order fits, rows of other entities, entities of other names.
    var contradictions: Int
    /// Columns that no row has.
    var missing: Int
    /// Columns that have to have come later.
    var appended: Int

    static func < (one: Fit, other: Fit) -> Bool {
      (one.contradictions, one.missing, one.appended)
        < (other.contradictions, other.missing, other.appended)
    }
  }

  private let schema: StoreSchema
  private let tables: [StoreSchema.Table]
  /// The tables of earlier versions of the model, from the latest to the first.
  private let earlier: [StoreSchema]
  private let remnants: SchemaRemnants
  /// What was found of each table's rows, by the tree that they are in.
  private var evidence: [String: [Int: ColumnEvidence]] = [:]
  /// Rows that look like objects, and are of no entity of the model.
  private var strangers = 0
  /// How many values the longest row has of each entity that is Core Data's own, such as those of history.
  private(set) var ofCoreData: [Int64: Int] = [:]

  /// Columns that come before the others in each table: Z_PK, Z_ENT, Z_OPT.
  static let standing = 3
  /// Rows with that many values more than the table has columns are none of it.
  private static let mostMore = 64

  /// Reads all rows of a source.
  ///
  /// - Parameters:
  ///   - tables: those whose CREATE statements are gone.
  ///   - versions: the versions of the model up to the one that the schema is of.
  ///   - looksForTexts: whether texts of the statements are looked for.
  init(
    _ source: SalvageSource, _ schema: StoreSchema, tables: [StoreSchema.Table],
    versions: [Model] = [], looksForTexts: Bool, isCancelled: () -> Bool
  ) throws {
    self.schema = schema
    self.tables = tables
    earlier = versions.reversed().filter { $0 != schema.model }.map { StoreSchema(model: $0) }
    remnants =
      looksForTexts
      ? try SchemaRemnants(source.image, of: Set(tables.map(\.name))) : SchemaRemnants()
    try read(source, isCancelled)
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
        let number = record.integer(1), number > 0, number < HistoryTable.end
      else { return }
      // Rows of history have no Z_OPT in any store of Apple's.
      guard number < EntityNumbering.firstReserved else {
        return ofCoreData[number] = max(ofCoreData[number] ?? 0, record.count)
      }
      guard let saves = record.integer(2), saves > 0 else { return }
      guard numbers.contains(number) else { return strangers += 1 }
      guard let table = owners[number],
        record.count <= table.columns.count + Self.standing + Self.mostMore
      else { return }
      evidence[table.name, default: [:]][row.root, default: ColumnEvidence()]
        .add(number: number, record)
    }
  }

  /// The rows that describe a table: those of its largest tree, else those of none.
  private func evidence(of table: StoreSchema.Table) -> ColumnEvidence? {
    let trees = evidence[table.name] ?? [:]
    return trees.filter { $0.key > 0 }.max { ($0.value.rows, $1.key) < ($1.value.rows, $0.key) }?
      .value ?? trees[0]
  }

  /// The order of each table's columns; that of a new store where a table has no rows.
  func orders() -> [String: Order] {
    let choices = tables.map { ($0, choice(for: $0)) }
    // A store was made by one version, and what came later was added to all of its tables.
    let starts = Array(0...earlier.count).filter { start in
      choices.allSatisfy { _, choice in
        choice.map { $0.isPossible($0.candidates[start]) } ?? true
      }
    }
    return Dictionary(
      choices.map { table, choice in
        (table.name, choice?.order(starts: starts) ?? Order(columns: table.columns))
      }
    ) { first, _ in first }
  }

  /// How well all rows fit the tables.
  var fit: Fit {
    var fit = Fit(contradictions: strangers > 0 ? 1 : 0, missing: 0, appended: 0)
    for table in tables {
      guard let evidence = evidence(of: table), let choice = choice(for: table) else { continue }
      guard let appended = choice.fewestAppended else {
        fit.contradictions += 1
        continue
      }
      // A column that no row has came last, or is of a later version.
      fit.missing += table.columns.count + Self.standing - evidence.longest
      fit.appended += appended
    }
    return fit
  }

  /// How many rows were found of the tables.
  var rows: Int { evidence.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.rows } } }

  /// What there is to choose from; `nil` where there are no rows.
  private func choice(for table: StoreSchema.Table) -> OrderChoice? {
    guard let evidence = evidence(of: table) else { return nil }
    return OrderChoice(
      columns: table.columns,
      traits: table.columns.map { ColumnTraits($0, of: table, in: schema) }, evidence: evidence,
      candidates: candidates(for: table), remnants: remnants.orders(of: table))
  }

  /// The orders that a chain of versions leads to, by how many versions before this one made the store: its
  /// columns, with what each later one added at the end.
  private func candidates(for table: StoreSchema.Table) -> [OrderChoice.Candidate] {
    let all = Array(table.columns.indices)
    var result = [OrderChoice.Candidate(order: all, original: all.count)]
    var later: [[Int]] = []
    var known = Set(all)
    var isMadeAnew = false
    var (name, schema) = (table.name, schema)
    // What each place's column is called, version by version.
    var names = Dictionary(
      zip(table.columns.map { Self.name(of: $0, at: nil, in: schema) }, all)
    ) { first, _ in first }
    for version in earlier {
      if let own = schema.table(named: name) {
        let identified = own.columns.map {
          (Self.name(of: $0, at: nil, in: schema), Self.name(of: $0, at: version, in: schema))
        }
        let former = Dictionary(identified) { first, _ in first }
        names = Dictionary(names.map { (former[$0] ?? $0, $1) }) { first, _ in first }
        let identifier = schema.model.entity(named: own.root)?.renamingIdentifier ?? own.root
        name = version.table(ofRoot: identifier)?.name ?? name
      }
      let former = version.table(named: name)
      let places = (former?.columns ?? []).compactMap {
        names[Self.name(of: $0, at: nil, in: version)]
      }
      // What is gone was taken out by recreating the table.
      if former == nil || places.count != former?.columns.count || !known.isSuperset(of: places) {
        isMadeAnew = true
      }
      if !isMadeAnew {
        let added = known.subtracting(places).sorted()
        if !added.isEmpty { later.insert(added, at: 0) }
        // Names may have changed, and with them the order of those that stay.
        known = Set(places)
      }
      result.append(
        .init(
          order: (isMadeAnew ? known.sorted() : places) + later.joined(), original: known.count))
      schema = version
    }
    return result
  }

  /// What a column is called, without numbers of entities, which shift from version to version.
  ///
  /// - Parameter former: where it is given, the version before: by the identifier that a renamed property
  ///   has for it.
  private static func name(
    of column: StoreSchema.Column, at former: StoreSchema?, in schema: StoreSchema
  ) -> String {
    let (entity, property) = column.content.property
    let own = schema.model.entity(named: entity)
    let identifier =
      former == nil
      ? nil
      : own?.attributes.first { $0.name == property }?.renamingIdentifier
        ?? own?.relationships.first { $0.name == property }?.renamingIdentifier
    switch column.content {
    case .toOneEntity, .owner, .ownerOrder:
      return "\(identifier ?? property).\(column.content.isOrder).\(column.type)"
    case .toOneOrder: return "\(identifier ?? property).order"
    case .attribute, .toOne:
      return identifier.map { "Z" + $0.uppercased() } ?? column.name
    }
  }
}

extension StoreSchema.Table {
  /// CREATE TABLE with the columns in the order that was found; in that of a new store where none was.
  func sql(orderedBy order: LostColumns.Order?) -> String {
    guard let order else { return sql }
    var table = self
    table.columns = order.columns
    return table.sql
  }
}

/// Chooses among the orders that a lost table's columns may have: by what cannot be, never by what values
/// may mean.
struct OrderChoice {
  /// An order, as columns by place.
  struct Candidate: Equatable {
    var order: [Int]
    /// How many of them the table was made with: no row is shorter.
    var original: Int
  }

  let columns: [StoreSchema.Column]
  private let evidence: ColumnEvidence
  /// Whether a column may stand in a place.
  private let holds: [[Bool]]
  /// The orders that the versions lead to, by how many versions before this one made the store.
  let candidates: [Candidate]
  /// Orders that a text in the file states.
  private let remnants: [[Int]]
  /// The to-one relationship of each column of positions.
  private var linkOfOrder: [Int: Int] = [:]

  /// More columns at the end than that are not guessed.
  private static let mostAppended = 3
  /// More columns of positions are not turned among themselves.
  private static let mostTurned = 4
  /// Of more columns only one at the end is guessed.
  private static let mostTried = 60
  /// One wrong value in so many may be of a row that is none.
  private static let tolerance = 20

  init(
    columns: [StoreSchema.Column], traits: [ColumnTraits], evidence: ColumnEvidence,
    candidates: [Candidate], remnants: [[Int]]
  ) {
    self.columns = columns
    self.evidence = evidence
    self.candidates = candidates
    self.remnants = remnants
    for (place, column) in columns.enumerated() where column.content.isOrder {
      linkOfOrder[place] = columns.firstIndex {
        if case .toOne = $0.content {
          $0.content.property == column.content.property
        } else {
          false
        }
      }
    }
    holds = traits.map { traits in
      columns.indices.map { place in
        let (wrong, all) = traits.misfits(place + LostColumns.standing, evidence)
        return wrong * Self.tolerance <= all && (wrong == 0 || all > Self.tolerance)
      }
    }
  }

  /// Whether nothing in the rows speaks against an order.
  func isPossible(_ candidate: Candidate) -> Bool {
    evidence.longest <= columns.count + LostColumns.standing
      && candidate.original + LostColumns.standing <= evidence.shortest
      && isHeld(candidate.order)
  }

  private func isHeld(_ order: [Int]) -> Bool {
    order.indices.allSatisfy { holds[order[$0]][$0] } && areOrdersOfLinks(order)
  }

  /// Whether no row has a place in an order without the link that it is of.
  private func areOrdersOfLinks(_ order: [Int]) -> Bool {
    for (place, column) in order.enumerated() {
      guard let link = linkOfOrder[column], let own = order.firstIndex(of: link) else { continue }
      if evidence.hasValue(at: place + LostColumns.standing, without: own + LostColumns.standing) {
        return false
      }
    }
    return true
  }

  /// The order to take, with the columns that may stand for one another.
  ///
  /// - Parameter starts: which of the candidates nothing in the whole store speaks against, the latest
  ///   first.
  func order(starts: [Int]) -> LostColumns.Order {
    let stated = remnants.filter {
      isPossible(Candidate(order: $0, original: min($0.count, shortest)))
    }
    if let first = stated.first, stated.allSatisfy({ $0 == first }) {
      return result(first, others: [], isStated: true)
    }
    let known = starts.map { candidates[$0] }.filter(isPossible)
    let own = known.isEmpty ? candidates.filter(isPossible) : known
    if let first = own.first, candidates.count > 1 {
      return result(first.order, others: own.map(\.order), isStated: true)
    }
    // One version is known: what others there were, and what they added, only the rows can say.
    guard let found = appended() else {
      return .init(
        columns: candidates.first.map { $0.order.map { columns[$0] } } ?? columns,
        doubtful: columns, isUnfit: true)
    }
    return result(found[0], others: found, isStated: false)
  }

  private var shortest: Int { max(0, evidence.shortest - LostColumns.standing) }

  /// How few columns at the end make an order possible; `nil` where none of those that are tried does.
  var fewestAppended: Int? {
    guard evidence.longest <= columns.count + LostColumns.standing else { return nil }
    return sizes.first { !orders(appended: $0).isEmpty }
  }

  /// The orders with few columns at the end that nothing speaks against, the fewest first: those of the
  /// smallest number, and of one more.
  private func appended() -> [[Int]]? {
    guard let fewest = fewestAppended else { return nil }
    return orders(appended: fewest)
      + (fewest < sizes.upperBound ? orders(appended: fewest + 1) : [])
  }

  private var sizes: ClosedRange<Int> {
    let needed = max(0, columns.count - shortest)
    let most = min(columns.count, columns.count > Self.mostTried ? 1 : Self.mostAppended)
    return needed...max(needed, most)
  }

  /// All possible orders with so many columns at the end.
  private func orders(appended count: Int) -> [[Int]] {
    guard count <= Self.mostAppended, count <= 1 || columns.count <= Self.mostTried else {
      return []
    }
    var found: [[Int]] = []
    func extend(_ chosen: [Int]) {
      guard chosen.count < count else {
        let order = columns.indices.filter { !chosen.contains($0) } + chosen
        if isHeld(order) {
          if !found.contains(order) { found.append(order) }
        } else if count == 0 {
          // Their order comes out of a hash table: one of an earlier version of the model may have had another.
          found = turned(order).filter(isHeld)
        }
        return
      }
      for next in ((chosen.last ?? -1) + 1)..<max(columns.count, (chosen.last ?? -1) + 1) {
        extend(chosen + [next])
      }
    }
    extend([])
    return found
  }

  /// The same order with its columns of positions in each other order.
  private func turned(_ order: [Int]) -> [[Int]] {
    let places = order.indices.filter { linkOfOrder[order[$0]] != nil }
    guard (2...Self.mostTurned).contains(places.count) else { return [] }
    var result: [[Int]] = []
    func extend(_ chosen: [Int], _ rest: [Int]) {
      guard !rest.isEmpty else {
        var other = order
        for (place, column) in zip(places, chosen) { other[place] = column }
        return result.append(other)
      }
      for column in rest { extend(chosen + [column], rest.filter { $0 != column }) }
    }
    extend([], places.map { order[$0] })
    return result
  }

  private func result(_ order: [Int], others: [[Int]], isStated: Bool) -> LostColumns.Order {
    var doubtful: Set<Int> = []
    for other in others {
      for place in order.indices
      where other[place] != order[place] && evidence.isLive(place + LostColumns.standing) {
        doubtful.formUnion([order[place], other[place]])
      }
    }
    return .init(
      columns: order.map { columns[$0] }, doubtful: doubtful.sorted().map { columns[$0] },
      isAssumed: !isStated && columns.count > 1)
  }
}
