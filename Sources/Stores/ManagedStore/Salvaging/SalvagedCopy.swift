import Files
import ManagedModel
import SQLite
import Salvage
import StoreTables

/// Makes a new database of all rows that can be read in a damaged one.
///
/// Tables, indexes and triggers are those of the store's own schema, as far as that can be read; what of
/// it is gone is made as Core Data would for the model.
package final class SalvagedCopy {
  /// What became of a table.
  package struct Table: Sendable, Equatable {
    /// What it is called.
    package var name: String
    /// Rows that are in it now.
    package var rows: Int
    /// Rows of them that no tree referenced, whose place in the page had to be looked for, or whose page nothing
    /// vouches for.
    package var guessed: Int
    /// Keys of rows that were read and that a constraint of the table refuses.
    package var refused: [Int64]
    /// Values that are lost of rows that are there, by the row's key and the column.
    package var cut: [Int64: [String]]
    /// Keys that may be lost, where pages were.
    package var holes: [ClosedRange<Int64>]
  }

  /// A table whose CREATE statement is gone, and of which no version that is known proves the columns.
  package struct LostTable: Sendable, Equatable {
    /// Columns whose values may be those of another.
    package var doubtful: [String]
    /// Whether its rows fit no order of the columns.
    package var isUnfit: Bool
  }

  /// Which rows are wanted.
  package enum Contents: Sendable {
    case everything
    /// Those that Core Data keeps for itself, and no indexes: all tables of objects stay empty.
    case bookkeeping

    /// Whether a table's rows are.
    func holds(_ table: SalvagedTable) -> Bool {
      switch self {
      case .everything: true
      case .bookkeeping: StoreSchema.bookkeepingStatements.contains { $0.name == table.name }
      }
    }
  }

  /// The tables, in the order in which they were made.
  package private(set) var tables: [Table] = []
  /// Rows that belong to no table that is known.
  package internal(set) var unplaced = 0
  /// Trees with a page that cannot be read, of which no table is known.
  package private(set) var unknownHoles = 0
  /// Rows that stood where another table's should, and are in their own.
  package private(set) var misplaced = 0
  /// Rows of which a page may not have been written to its end.
  package private(set) var doubtful = 0
  /// Tables whose columns stand in the order of a new store because nothing shows another, by name.
  package private(set) var lostTables: [String: LostTable] = [:]
  /// Links of which several relationships could be, and which are kept in ``undecidedLinks``.
  package internal(set) var undecided = 0
  /// Rows of pages that may be of two times, by table.
  package private(set) var unbalanced: [String: Int] = [:]
  /// Cells that are no rows.
  package private(set) var unreadable = 0
  /// What a person should know, as sentences.
  package internal(set) var notes: [String] = []
  /// The database that was made.
  package private(set) var connection: Connection
  /// Whether trees of pages were copied as they are: it is for the caller to check the result, and to
  /// make it row by row where something in it is wrong.
  package private(set) var hasCopiedTrees = false

  /// Whether statements that make tables are lost, and neither a model nor a healthy store is at hand to make them by.
  package var lacksStatements: Bool {
    !source.isSchemaWhole && schema == nil && sibling == nil
  }

  /// Whether links were found of which the model alone would say whose they can be, and none is at hand.
  package var lacksRelationships: Bool { undecided > 0 && schema == nil }

  /// Whether every index came with its table, so that a check of the result compares the two.
  package var hasCopiedIndexes: Bool { hasCopiedTrees && trees.emptyIndexes.isEmpty }

  let source: SalvageSource
  var byRoot: [Int: SalvagedTable] = [:]
  var all: [SalvagedTable] = []
  /// The tables that Core Data would make for the model, with the store's own numbers.
  package private(set) var schema: StoreSchema?
  /// In which order the columns stand of tables that the schema no longer describes.
  var supposed: [String: LostColumns.Order] = [:]
  /// Tables of history that are made though the schema does not list them, and their indexes.
  var history: [String: HistoryTable] = [:]
  var indexesOfHistory: [(name: String, sql: String)] = []
  /// The Z_ENT of the rows of each table, as the store's counters name the entities.
  private(set) lazy var countedNumbers = (try? source.numbersOfTables()) ?? [:]
  /// What the tables are made like that the schema does not say.
  let sibling: SiblingStore?
  /// What was copied page for page.
  var trees = CopiedTrees()
  let contents: Contents
  private var unbalancedRoots: [Int: Int] = [:]
  /// How rows were given to tables: what decided it, the trees that were known then, and the join tables of trees
  /// and pages that were determined afterwards.
  private var placement:
    (rows: RowTables, trees: [Int: SalvagedTable], links: [Int: SalvagedTable])?
  /// The keys that links got whose own ones others have, by their page.
  private var newKeys: [Int: ClosedRange<Int64>] = [:]
  let isCancelled: () -> Bool
  private let progress: (Double) -> Void

  /// Makes the database.
  ///
  /// - Parameters:
  ///   - path: where it is to be: a file that is not there, or an empty one.
  ///   - model: what describes tables that the store's schema does not.
  ///   - versions: the versions of the model up to it, from the first, where they are known: a store that
  ///     was migrated in place has columns where they put them.
  ///   - sibling: a healthy store of the same version, which shows what the tables are like.
  ///   - contents: which rows it gets.
  ///   - copiesTrees: whether trees that are whole are copied page for page, where that can be done.
  ///   - progress: called with how much of the file was read, from 0 to 1.
  /// - Throws: ``CoreDataError`` where no table is known, the disk is full, or it was cancelled.
  package init(
    of source: SalvageSource, at path: String, model: Model?, versions: [Model] = [],
    like sibling: SiblingStore? = nil, contents: Contents = .everything, copiesTrees: Bool = false,
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    self.source = source
    self.contents = contents
    self.sibling = source.isSchemaWhole ? nil : sibling
    self.isCancelled = isCancelled
    self.progress = progress
    do {
      connection = try Self.open(path, of: source)
      schema = try model.map { try source.schema(for: $0, numbers: sibling?.numbers ?? []) }
      hasCopiedTrees =
        copiesTrees && contents == .everything && !source.isMixed
        && TreeCopy.isPossible(source.image)
        && (source.isSchemaWhole || schema != nil)
      try connection.execute("BEGIN")
      try makeTables(versions)
      if hasCopiedTrees {
        try makeStatedIndexes()
        try nameTrees()
        try connection.execute("COMMIT")
        try trees.copy(
          from: source, to: path, &connection, owners: try owners(),
          open: { try Self.open(path, of: source) },
          isCancelled: isCancelled, progress: progress)
        try connection.execute("BEGIN")
      }
      try listTables()
      if !hasCopiedTrees, contents == .everything { try fillTreesOfKeys() }
      try fill()
      // A statement that fails must take nothing with it.
      try connection.execute("COMMIT; PRAGMA journal_mode = MEMORY")
      if contents == .everything { try makeIndexes() }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    }
    lostTables = Dictionary(
      all.filter { $0.rows > 0 }.compactMap { table in supposed[table.name].map { (table.name, $0) }
      }
    ) { first, _ in first }.filter { $0.value.isAssumed || !$0.value.doubtful.isEmpty }.mapValues {
      LostTable(
        doubtful: $0.doubtful.map { column in
          let (entity, name) = column.content.property
          return entity + "." + name + (column.content.isOrder ? " (order)" : "")
        }, isUnfit: $0.isUnfit)
    }
    unknownHoles = source.trees.holes.count { $0.root > 1 && byRoot[$0.root] == nil }
    for (root, count) in unbalancedRoots {
      unbalanced[byRoot[root]?.name ?? "", default: 0] += count
    }
    tables = all.map { table in
      Table(
        name: table.name, rows: table.rows, guessed: table.guessed, refused: table.refused,
        cut: Dictionary(grouping: table.cut, by: \.key).mapValues { $0.map(\.column) },
        holes: holes(of: table))
    }
  }

  private static func open(_ path: String, of source: SalvageSource) throws -> Connection {
    // No journal, and the tables behind a virtual table are filled with what was found of them: not
    // defensive.
    let connection = try Connection(
      path: path, mode: FileIdentity(of: path) == nil ? .create : .made, isDefensive: false)
    // What is found in a file is never longer than the file.
    connection.limitValues()
    connection.extendLimit(
      by: source.image.size + (source.logPath.flatMap { FileSystem.status($0)?.size } ?? 0))
    // What is kept of it, and once more as much to sort the keys of its indexes in.
    try connection.execute(
      """
      PRAGMA synchronous = OFF; PRAGMA page_size = \(source.image.pageSize); \
      PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; \
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000
      """)
    return connection
  }

  private func fill() throws {
    var scan = RowScan(source.image, source.trees, besides: trees.isPageCopied)
    let pages = Double(max(1, source.image.pageCount))
    var owning = try RowTables(of: self)
    let (named, contents) = (owning.named, contents)
    try scan.rows(
      where: { $0 == .leaf && named[$1].map(contents.holds) == true }, isCancelled: isCancelled,
      progress: { self.progress(Double($0) / pages) }
    ) { row, record in
      switch owning.place(row, record) {
      case .table(let table): try table.insert(row.key, record, row.certainty)
      case .other(let table):
        misplaced += 1
        try table.insert(row.key, record, .guessed)
      case .none, .unknown: unplaced += 1
      case .deleted: break
      }
    }
    try check()
    placement = (owning, named, [:])
    guard !source.trees.holes.isEmpty || !source.isSchemaWhole || source.trees.hasAdopted else {
      (unreadable, doubtful, unbalancedRoots) = (scan.unreadable, scan.doubtful, scan.unbalanced)
      return
    }
    var joining = JoinPlacing(connection)
    var waiting = 0
    // The schema's own rows are no table's; leaves of the tables that it names were read.
    try scan.rows(where: { Self.isFound($0, $1, besides: named) }, isCancelled: isCancelled) {
      row, record in
      switch owning.place(row, record) {
      case .table(let table), .other(let table):
        guard contents.holds(table) else { return }
        try table.insert(row.key, record, row.certainty)
      case .none: unplaced += 1
      case .deleted: break
      case .unknown:
        if contents == .everything, joining.add(standing(row, record, in: named), record) {
          waiting += 1
        } else {
          unplaced += 1
        }
      }
    }
    let placing = owning.placing
    try check()
    placement = (owning, named, [:])
    (unreadable, doubtful, unbalancedRoots) = (scan.unreadable, scan.doubtful, scan.unbalanced)
    for (root, table) in placing.trees where byRoot[root] == nil { byRoot[root] = table }
    guard waiting > 0 else { return }
    // Rows of keys alone, when the objects are there that they may name.
    let known = byRoot
    let candidates = joinCandidates()
    let witnesses = JoinWitnesses(source)
    let groups = try joining.tables(
      among: candidates, isInOrder: placing.isInOrder(schema?.tables.map(\.name) ?? []),
      witnesses: witnesses.byIndexes(
        of: Set(candidates.map(\.table.name)), rows: joining.rows,
        known: source.trees.doubt == .all ? linksOfTrees(candidates.map(\.table)) : [:]),
      order: { options in
        try schema.map {
          try witnesses.byOrder(
            $0.namesInOrder, known: known.mapValues(\.name), waiting: options)
        } ?? [:]
      })
    placement?.links = groups
    if hasCopiedTrees { waiting -= try copyLinks(of: groups, joining.counts) }
    scan = RowScan(source.image, source.trees, besides: trees.isPageCopied)
    try scan.rows(where: { Self.isFound($0, $1, besides: known) }, isCancelled: isCancelled) {
      row, record in
      let row = standing(row, record, in: known)
      guard known[row.root] == nil, let table = groups[JoinPlacing.group(of: row)],
        table.fits(record)
      else { return }
      waiting -= 1
      guard source.trees.doubt == .all else {
        return try table.insert(row.key, record, row.certainty)
      }
      let key = try table.insertLink(row.key, record)
      guard key != row.key else { return }
      let keys = newKeys[row.page] ?? key...key
      newKeys[row.page] = min(key, keys.lowerBound)...max(key, keys.upperBound)
    }
    try check()
    for (root, table) in groups where root > 0 { byRoot[root] = table }
    unplaced += max(0, waiting)
    if waiting > 0, source.hasTables || schema != nil {
      undecided = waiting
      try keepLinks(besides: groups, known, joining)
    }
  }

  /// Copies the trees of links into join tables that have no rows yet, page for page.
  ///
  /// - Returns: how many links were copied.
  private func copyLinks(of groups: [Int: SalvagedTable], _ counts: [Int: Int]) throws -> Int {
    let places = Dictionary(grouping: groups.keys) { groups[$0]?.name ?? "" }
    let empty = all.filter { $0.rows == 0 && $0.refused.isEmpty }.compactMap { table in
      places[table.name].map { own in
        (
          table: table, roots: own.filter { $0 > 0 }.sorted(),
          rows: own.reduce(0) { $0 + (counts[$1] ?? 0) }
        )
      }
    }.filter { !$0.roots.isEmpty }
    guard !empty.isEmpty else { return 0 }
    try connection.execute("COMMIT")
    for table in all { table.pause() }
    let path = connection.path
    try trees.copyLinks(
      from: source, &connection, empty, open: { try Self.open(path, of: source) },
      isCancelled: isCancelled)
    for table in all { table.use(connection) }
    for (table, _, _) in empty { table.add(copied: trees.links[table.name] ?? 0) }
    try connection.execute("BEGIN")
    return trees.links.values.reduce(0, +)
  }

  private func check() throws { try CoreDataError.check(isCancelled) }

  /// Where keys may be lost: the holes of the table's tree, those beside each other as one.
  private func holes(of table: SalvagedTable) -> [ClosedRange<Int64>] {
    var keys = KeySet()
    for hole in source.trees.holes where byRoot[hole.root] === table { keys.insert(hole.keys) }
    keys.sort()
    return keys.ranges
  }
}

extension SalvagedCopy {
  /// A page that rows were read from.
  package struct PageOrigin: Sendable, Equatable {
    /// Their table.
    package var table: String
    /// The page, from 1.
    package var page: Int
    /// The frame of the -wal that it stands in, from 0; `nil` for the main file.
    package var frame: Int?
    /// The rows' keys, from the least to the greatest.
    package var keys: ClosedRange<Int64>
    /// How many rows there are.
    package var rows: Int
    /// Whether the table's tree references it; else it was found by looking.
    package var isCertain: Bool
  }

  /// Reports every page that rows were read from, in the order of pages: so where each object is from.
  package func origins(_ body: (PageOrigin) throws -> Void) throws {
    guard let (placed, trees, links) = placement else { return }
    var rows = placed
    var current: PageOrigin?
    var scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { role, root in
        root != 1 && (role == .leaf || role == .adopted || role == .broken)
      }, isCancelled: isCancelled
    ) { row, record in
      let name: String?
      switch rows.place(row, record) {
      case .table(let table), .other(let table): name = table.name
      case .unknown:
        name = links[JoinPlacing.group(of: standing(row, record, in: trees))]?.name
      case .none, .deleted: name = nil
      }
      guard let table = name else { return }
      if var page = current, page.page == row.page, page.table == table {
        page.keys = min(page.keys.lowerBound, row.key)...max(page.keys.upperBound, row.key)
        page.rows += 1
        current = page
        return
      }
      if let current { try body(current) }
      let frame: Int? = if case .frame(let frame) = row.origin { frame } else { nil }
      let others = newKeys[row.page] ?? row.key...row.key
      current = PageOrigin(
        table: table, page: row.page, frame: frame,
        keys: min(row.key, others.lowerBound)...max(row.key, others.upperBound), rows: 1,
        isCertain: row.certainty == .certain)
    }
    if let current { try body(current) }
  }
}
