import ManagedModel
import Salvage
import StoreTables

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
  /// What was found of the rows that describe each table.
  private var evidence: [String: ColumnEvidence] = [:]
  /// How many rows were found of the tables.
  private(set) var rows = 0
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
    var owners: [Int64: Int] = [:]
    for (place, table) in tables.enumerated() {
      for entity in schema.model.subtree(of: table.root) {
        if let number = schema.numbers[entity] { owners[number] = place }
      }
    }
    let numbers = Set(schema.numbers.values)
    // How many rows each tree has of a table, 0 for those of none: what all of them hold would take much memory
    // where the upper pages of a large table are lost, and each page below is the root of a tree.
    var counts = [[Int: Int]](repeating: [:], count: tables.count)
    // Rows of one entity stand beside each other in a tree: they are added up first.
    var run = (number: Int64(0), root: 0, place: Int?.none, rows: 0)
    func finishRun() {
      if let place = run.place, run.rows > 0 { counts[place][run.root, default: 0] += run.rows }
      rows += run.rows
      run.rows = 0
    }
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
      if number != run.number || row.root != run.root {
        finishRun()
        guard numbers.contains(number) else { return strangers += 1 }
        run = (number, row.root, owners[number], 0)
      }
      if let place = run.place, isRow(record, of: place) { run.rows += 1 }
    }
    finishRun()
    // The rows that describe a table: those of its largest tree, else those of none.
    var roots: [Int: Set<Int>] = [:]
    for (place, trees) in counts.enumerated() where !trees.isEmpty {
      let largest = trees.filter { $0.key > 0 }.max { ($0.value, $1.key) < ($1.value, $0.key) }
      roots[largest?.key ?? 0, default: []].insert(place)
    }
    scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { SalvageSource.holdsRows($0, $1) && roots[$1] != nil }, isCancelled: isCancelled
    ) { row, record in
      guard record.count >= Self.standing, record.kind(0) == .null,
        let number = record.integer(1), let saves = record.integer(2), saves > 0,
        let place = owners[number], roots[row.root]?.contains(place) == true,
        isRow(record, of: place)
      else { return }
      evidence[tables[place].name, default: ColumnEvidence()].add(number: number, record)
    }
  }

  /// Whether a row with a table's Z_ENT has no more values than one of it can have.
  private func isRow(_ record: borrowing Record, of place: Int) -> Bool {
    record.count <= tables[place].columns.count + Self.standing + Self.mostMore
  }

  /// The order of each table's columns; that of a new store where a table has no rows.
  ///
  /// - Parameter isCancelled: asked every few orders that are tried.
  /// - Throws: ``CoreDataError`` where it was cancelled.
  func orders(isCancelled: () -> Bool = { false }) throws -> [String: Order] {
    let choices = tables.map { ($0, choice(for: $0)) }
    // A store was made by one version, and what came later was added to all of its tables.
    let starts = Array(0...earlier.count).filter { start in
      choices.allSatisfy { _, choice in
        choice.map { $0.isPossible($0.candidates[start]) } ?? true
      }
    }
    return Dictionary(
      try choices.map { table, choice in
        (
          table.name,
          try choice?.order(starts: starts, isCancelled: isCancelled)
            ?? Order(columns: table.columns)
        )
      }
    ) { first, _ in first }
  }

  /// How well all rows fit the tables.
  ///
  /// - Parameter isCancelled: asked every few orders that are tried.
  /// - Throws: ``CoreDataError`` where it was cancelled.
  func fit(isCancelled: () -> Bool = { false }) throws -> Fit {
    var fit = Fit(contradictions: strangers > 0 ? 1 : 0, missing: 0, appended: 0)
    for table in tables {
      guard let evidence = evidence[table.name], let choice = choice(for: table) else { continue }
      guard let appended = try choice.fewestAppended(isCancelled) else {
        fit.contradictions += 1
        continue
      }
      // A column that no row has came last, or is of a later version.
      fit.missing += table.columns.count + Self.standing - evidence.longest
      fit.appended += appended
    }
    return fit
  }

  /// What there is to choose from; `nil` where there are no rows.
  private func choice(for table: StoreSchema.Table) -> OrderChoice? {
    guard let evidence = evidence[table.name] else { return nil }
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
