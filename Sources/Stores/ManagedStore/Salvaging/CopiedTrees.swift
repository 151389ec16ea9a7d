import SQLite
import Salvage

/// What was copied page for page into a database that is made.
struct CopiedTrees {
  /// Roots of tables that the schema does not name, or whose page is lost, as far as their rows determine them, by
  /// name: several where the page that leads to them is lost.
  private(set) var told: [String: [Int]] = [:]
  private var shapes: [String: RowShape] = [:]
  /// What was copied of tables, by name.
  private(set) var tables: [String: TreeCopy.Outcome] = [:]
  /// How many rows were copied of join tables whose trees were determined by the objects, by name.
  private(set) var links: [String: Int] = [:]
  /// Which pages were; the first is page 1.
  private(set) var isPageCopied: [Bool] = []
  /// Tables that rows were copied into.
  private(set) var filled: Set<String> = []
  /// Indexes that were not copied.
  private(set) var emptyIndexes: [(name: String, table: String)] = []
  /// The statements of those that are made when all rows are there, by name.
  private(set) var postponed: [String: String] = [:]
  /// Indexes that were copied without a schema that names their trees, or those of their tables.
  private(set) var foundIndexes: [(name: String, table: String, entries: Int)] = []

  /// Nothing.
  init() {}

  /// - Parameters:
  ///   - told: the roots of tables that are recognised by their rows, by name.
  ///   - shapes: what rows of these look like, by name.
  init(told: [String: [Int]], shapes: [String: RowShape]) {
    self.told = told
    self.shapes = shapes
  }

  /// Copies tables, and indexes of those that are whole, into the empty ones that were made.
  ///
  /// - Parameters:
  ///   - path: the new database.
  ///   - connection: to it; another one afterwards.
  ///   - owners: how rows of a table differ from those of others, by name.
  ///   - open: opens it.
  /// - Throws: `CoreDataError` where a file cannot be read or written, or it was cancelled;
  ///   `SQLiteError`.
  mutating func copy(
    from source: SalvageSource, to path: String, _ connection: inout Connection,
    owners: [String: RowOwner], open: () throws -> Connection, isCancelled: @escaping () -> Bool,
    progress: @escaping (Double) -> Void
  ) throws {
    let stated = Dictionary(source.objects.map { ($0.object.name, $0) }) { first, _ in first }
    func root(of name: String, _ type: String) -> Int? {
      stated[name].flatMap { $0.object.type == type && $0.root > 1 ? $0.root : nil }
    }
    let places = try connection.rows(
      "SELECT type, name, tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0")
    connection.close()
    var copy = try TreeCopy(
      source.image, source.trees, to: path, isCancelled: isCancelled, progress: progress)
    for row in places where row.count == 4 && row[0].text == "table" {
      guard let name = row[1].text, let place = row[3].integer,
        let roots = told[name] ?? root(of: name, "table").map({ [$0] })
      else { continue }
      if stated[name]?.object.isWithoutRowID == true {
        let entries = try copy.copyIndex(root: roots.first ?? 0, to: Int(place))
        if entries == nil {
          throw CoreDataError(.unreadable, "\(name) cannot be copied page for page")
        }
        filled.insert(name)
        continue
      }
      let (owner, shape) = (owners[name], shapes[name])
      let outcome = try copy.copyTable(
        roots: roots, to: Int(place), isOfObjects: owner?.numbers.isEmpty == false
      ) { record in
        owner?.isOwn(record.count, record.integer(1)) != false && shape?.fits(record) != false
      }
      tables[name] = outcome
      if outcome.rows > 0 { filled.insert(name) }
    }
    try copy.finish()
    isPageCopied = copy.isCopied
    connection = try open()
    let indexes =
      source.isSchemaWhole
      ? [:] : try TreeNames.indexes(of: source, besides: isPageCopied, in: connection)
    connection.close()
    copy = try TreeCopy(
      source.image, source.trees, to: path, besides: isPageCopied, isCancelled: isCancelled,
      progress: progress)
    for row in places where row.count == 4 && row[0].text == "index" {
      guard let name = row[1].text, let table = row[2].text, let new = row[3].integer else {
        continue
      }
      let root = root(of: name, "index")
      guard tables[table]?.isWhole == true, let place = root ?? indexes[name],
        let entries = try copy.copyIndex(root: place, to: Int(new))
      else {
        emptyIndexes.append((name, table))
        continue
      }
      if root == nil || told[table] != nil { foundIndexes.append((name, table, entries)) }
    }
    try copy.finish()
    connection = try open()
    try postponeIndexes(connection)
  }

  /// Drops indexes that were not copied: each row that is put in would look for its place in them. One that
  /// refuses rows stays.
  private mutating func postponeIndexes(_ connection: Connection) throws {
    for (name, _) in emptyIndexes {
      let sql = try connection.value(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(name)])?.text
      guard let sql, sql.hasPrefix("CREATE INDEX ") else { continue }
      try connection.execute("DROP INDEX \(quoted(name))")
      postponed[name] = sql
    }
  }

  /// Copies join tables that have no row yet, when it is determined which trees are theirs, and the indexes of those of
  /// which that is all.
  ///
  /// - Parameters:
  ///   - tables: the tables, with the first pages of their trees, and how many rows were found of each.
  ///   - connection: to the new database; another one afterwards.
  ///   - open: opens it.
  /// - Throws: as ``copy(from:to:_:owners:open:isCancelled:progress:)``.
  mutating func copyLinks(
    from source: SalvageSource, _ connection: inout Connection,
    _ tables: [(table: SalvagedTable, roots: [Int], rows: Int)], open: () throws -> Connection,
    isCancelled: @escaping () -> Bool
  ) throws {
    let names = Set(tables.map(\.table.name))
    // Made while their tables are empty, they are so, too.
    let waiting = emptyIndexes.filter { names.contains($0.table) && postponed[$0.name] != nil }
    for index in waiting { try connection.execute(postponed[index.name] ?? "") }
    let places = Dictionary(
      try connection.rows("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0")
        .compactMap { row in
          row.first?.text.flatMap { name in row.last?.integer.map { (name, Int($0)) } }
        }
    ) { first, _ in first }
    let path = connection.path
    connection.close()
    var copy = try TreeCopy(
      source.image, source.trees, to: path, besides: isPageCopied, isCancelled: isCancelled,
      progress: { _ in })
    var whole: Set<String> = []
    for (table, roots, rows) in tables {
      guard let place = places[table.name] else { continue }
      let outcome = try copy.copyTable(roots: roots, to: place) { table.fits($0) }
      links[table.name] = outcome.rows
      if outcome.isWhole, outcome.rows == rows { whole.insert(table.name) }
    }
    try copy.finish()
    isPageCopied = copy.isCopied
    connection = try open()
    let indexes = waiting.filter { whole.contains($0.table) }
    if !indexes.isEmpty, !source.isSchemaWhole {
      let roots = try TreeNames.indexes(of: source, besides: isPageCopied, in: connection)
      connection.close()
      copy = try TreeCopy(
        source.image, source.trees, to: path, besides: isPageCopied, isCancelled: isCancelled,
        progress: { _ in })
      for (name, table) in indexes {
        guard let root = roots[name], let place = places[name],
          let entries = try copy.copyIndex(root: root, to: place)
        else { continue }
        foundIndexes.append((name, table, entries))
        emptyIndexes.removeAll { $0.name == name }
        postponed[name] = nil
      }
      try copy.finish()
      connection = try open()
    }
    for (name, _) in waiting where postponed[name] != nil {
      try connection.execute("DROP INDEX \(quoted(name))")
    }
    // What follows row by row must not be there twice.
    for index in emptyIndexes where postponed[index.name] == nil && links[index.table] ?? 0 > 0 {
      try connection.execute("REINDEX \(quoted(index.name))")
    }
  }
}
