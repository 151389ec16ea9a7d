import Files
import ManagedModel
import SQLite
import Salvage

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
    /// Rows of them that no tree led to, or whose place in the page had to be looked for.
    package var guessed: Int
    /// Keys of rows that were read and that a constraint of the table refuses.
    package var refused: [Int64]
    /// Values that are lost of rows that are there, by the row's key and the column.
    package var cut: [Int64: [String]]
    /// Keys that may be lost, where pages were.
    package var holes: [ClosedRange<Int64>]
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
  package private(set) var unplaced = 0
  /// Trees with a page that cannot be read, of which no table is known.
  package private(set) var unknownHoles = 0
  /// Rows that stood where another table's should, and are in their own.
  package private(set) var misplaced = 0
  /// Rows of which a page may not have been written to its end.
  package private(set) var doubtful = 0
  /// Cells that are no rows.
  package private(set) var unreadable = 0
  /// What a person should know, as sentences.
  package private(set) var notes: [String] = []
  /// The database that was made.
  package private(set) var connection: Connection
  /// Whether trees of pages were copied as they are: it is for the caller to check the result, and to
  /// make it row by row where something in it is wrong.
  package private(set) var hasCopiedTrees = false

  let source: SalvageSource
  private(set) var byRoot: [Int: SalvagedTable] = [:]
  private(set) var all: [SalvagedTable] = []
  /// The tables that Core Data would make for the model, with the store's own numbers.
  package private(set) var schema: StoreSchema?
  /// In which order the columns stand of tables that the schema no longer describes.
  private var supposed: [String: ColumnOrdering.Order] = [:]
  /// What was copied page for page.
  private(set) var trees = CopiedTrees()
  private let contents: Contents
  let isCancelled: () -> Bool
  private let progress: (Double) -> Void

  /// Makes the database.
  ///
  /// - Parameters:
  ///   - path: where it is to be: a file that is not there, or an empty one.
  ///   - model: what tells tables that the store's schema does not.
  ///   - versions: the versions of the model up to it, from the first, where they are known: a store that
  ///     was migrated in place has columns where they put them.
  ///   - contents: which rows it gets.
  ///   - copiesTrees: whether trees that are whole are copied page for page, where that can be done.
  ///   - progress: told how much of the file was read, from 0 to 1.
  /// - Throws: ``CoreDataError`` where no table is known, the disk is full, or it was cancelled.
  package init(
    of source: SalvageSource, at path: String, model: Model?, versions: [Model] = [],
    contents: Contents = .everything, copiesTrees: Bool = false,
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    self.source = source
    self.contents = contents
    self.isCancelled = isCancelled
    self.progress = progress
    do {
      connection = try Self.open(path, of: source)
      schema = try model.map { try source.schema(for: $0) }
      hasCopiedTrees =
        copiesTrees && contents == .everything && TreeCopy.isPossible(source.image)
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
    let filled = Set(all.filter { $0.rows > 0 }.map(\.name))
    notes += ColumnOrdering.notes(on: supposed.filter { filled.contains($0.key) })
    unknownHoles = source.trees.holes.count { $0.root > 1 && byRoot[$0.root] == nil }
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
    try connection.execute(
      """
      PRAGMA synchronous = OFF; PRAGMA page_size = \(source.image.pageSize); \
      PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; \
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16000
      """)
    return connection
  }

  private func makeTables(_ versions: [Model]) throws {
    // Virtual tables bring the tables behind them.
    let entries = source.objects.filter { $0.object.type == "table" && !$0.object.isSQLites }
    for entry in entries.sorted(by: { $0.root < $1.root }) {
      guard let sql = entry.object.sql else { continue }
      do { try create(sql) } catch let error as SQLiteError {
        let info = try connection.rows("PRAGMA table_info(\(quoted(entry.object.name)))")
        guard !info.isEmpty else {
          notes.append("The table \(entry.object.name) could not be made: \(error.message).")
          continue
        }
      }
    }
    if let schema {
      let known = Set(try DatabaseTables(connection).tables.keys)
      // A join table that is not there may be so under another name.
      let lost = schema.tables.filter { !known.contains($0.name) }
      if contents == .everything, !lost.isEmpty {
        supposed = try ColumnOrdering(
          source, schema, tables: lost, versions: versions, isCancelled: isCancelled
        ).orders()
      }
      for (name, sql) in schema.tables.map({ ($0.name, $0.sql(orderedBy: supposed[$0.name])) })
        + (source.isSchemaWhole ? [] : schema.joins.map { ($0.name, $0.sql) })
        + StoreSchema.bookkeepingStatements.map({ ($0.name, $0.sql) })
      where !known.contains(name) {
        try connection.execute(sql)
      }
    }
    // A virtual table that is new has rows of its own in the tables behind it.
    let virtual = try DatabaseTables(connection).virtual
    for entry in entries where entry.object.isShadow(of: virtual) {
      try connection.execute("DELETE FROM \(quoted(entry.object.name))")
    }
  }

  private func listTables() throws {
    let present = try DatabaseTables(connection)
    let virtual = present.virtual
    let entries = source.objects.filter { $0.object.type == "table" && !$0.object.isSQLites }
    let roots = Dictionary(entries.map { ($0.object.name, $0.root) }) { first, _ in first }
    for name in present.tables.keys.sorted() where !virtual.contains(name) {
      let table = try SalvagedTable(
        name: name, numbers: numbers(of: name), root: roots[name] ?? trees.told[name] ?? 0,
        connection: connection,
        encoding: source.image.header.encoding)
      if let outcome = trees.tables[name] { table.add(copied: outcome.rows) }
      all.append(table)
      if table.root > 0 { byRoot[table.root] = table }
    }
  }

  /// The Z_ENT of a table's rows, as the store counts its entities.
  private func numbers(of name: String) -> Set<Int64> {
    guard let schema, let table = schema.table(named: name) else { return [] }
    return Set(schema.model.subtree(of: table.root).compactMap { schema.numbers[$0] })
  }

  /// What tells rows of each table from those of the others.
  private func owners() throws -> [String: RowOwner] {
    let present = try DatabaseTables(connection).tables
    let all = Set(schema?.numbers.values.map { $0 } ?? [])
    return Dictionary(
      uniqueKeysWithValues: present.map { name, columns in
        let own = numbers(of: name)
        return (
          name,
          RowOwner(
            columns: columns.count, numbers: own, others: own.isEmpty ? [] : all.subtracting(own))
        )
      })
  }

  /// Tells of trees that the schema does not name which tables they are.
  private func nameTrees() throws {
    guard !source.isSchemaWhole else { return }
    try listTables()
    // Which of two join tables a row is of is told by the objects, when they are there.
    trees = CopiedTrees(
      told: try TreeNames.tables(
        of: source, among: all.filter { !joins.keys.contains($0.name) }, besides: Set(byRoot.keys)
      ).filter { name, _ in all.contains { $0.name == name && $0.root == 0 } })
    (all, byRoot) = ([], [:])
  }

  /// Runs what the file says made a part of its schema: one statement, and none of another kind.
  private func create(_ sql: String) throws {
    guard sql.prefix(7).uppercased() == "CREATE " else {
      throw SQLiteError(extendedCode: 11, message: "its text is no CREATE statement")
    }
    try connection.run(sql)
  }

  private func fill() throws {
    var scan = RowScan(source.image, source.trees, besides: trees.isPageCopied)
    let pages = Double(max(1, source.image.pageCount))
    let named = byRoot
    let contents = contents
    let owners = try owners()
    var byNumber: [Int64: SalvagedTable] = [:]
    for table in all { for number in table.numbers { byNumber[number] = table } }
    try scan.rows(
      where: { $0 == .leaf && named[$1].map(contents.holds) == true }, isCancelled: isCancelled,
      progress: { self.progress(Double($0) / pages) }
    ) { row, record in
      guard let table = named[row.root] else { return }
      // Of a cell without one column nothing is a row.
      guard record.count > 0, trees.told[table.name] == nil || table.fits(record) else {
        return unplaced += 1
      }
      guard owners[table.name]?.isOwn(record.count, record.integer(1)) != false else {
        // The page is another table's, or the cell is.
        guard let other = record.integer(1).flatMap({ byNumber[$0] }), other.fits(record) else {
          return unplaced += 1
        }
        misplaced += 1
        return try other.insert(row.key, record, isGuessed: true)
      }
      try table.insert(row.key, record, isGuessed: false)
    }
    try check()
    guard !source.trees.holes.isEmpty || !source.isSchemaWhole || source.trees.hasAdopted else {
      (unreadable, doubtful) = (scan.unreadable, scan.doubtful)
      return
    }
    var placing = RowPlacing(
      tables: all.filter { !joins.keys.contains($0.name) },
      trees: named.filter { trees.told[$0.value.name] != nil })
    var joining = JoinPlacing(connection)
    var waiting = 0
    // The schema's own rows are no table's; leaves of the tables that it names were read.
    try scan.rows(where: { Self.isFound($0, $1, besides: named) }, isCancelled: isCancelled) {
      row, record in
      if let table = named[row.root] ?? placing.table(for: record, in: row.root) {
        guard contents.holds(table) else { return }
        guard table.fits(record) else { return unplaced += 1 }
        // A page without its list of cells has rows in room that is not in use, too.
        if source.trees.role(of: row.page) == .broken,
          ValueDoubts.areAny(in: record, source.image.header.encoding)
        {
          return unplaced += 1
        }
        try table.insert(row.key, record, isGuessed: row.certainty == .guessed)
      } else if contents == .everything, joining.add(row, record) {
        waiting += 1
      } else {
        unplaced += 1
      }
    }
    try check()
    (unreadable, doubtful) = (scan.unreadable, scan.doubtful)
    for (root, table) in placing.trees where byRoot[root] == nil { byRoot[root] = table }
    guard waiting > 0 else { return }
    // Rows of keys alone, when the objects are there that they may name.
    let groups = try joining.tables(
      among: joinCandidates(),
      isInOrder: placing.isInOrder(schema?.tables.map(\.name) ?? []))
    let known = byRoot
    scan = RowScan(source.image, source.trees)
    try scan.rows(where: { Self.isFound($0, $1, besides: known) }, isCancelled: isCancelled) {
      row, record in
      guard known[row.root] == nil, let table = groups[JoinPlacing.group(of: row)],
        table.fits(record)
      else { return }
      try table.insert(row.key, record, isGuessed: row.certainty == .guessed)
      waiting -= 1
    }
    try check()
    for (root, table) in groups where root > 0 { byRoot[root] = table }
    unplaced += max(0, waiting)
    if waiting > 0, source.hasTables || schema != nil {
      notes.append(
        "\(waiting) links between objects were read of which nothing tells whose they are: several relationships could have them. They are left out."
      )
    }
  }

  /// Puts rows in of tables that keep them in the tree of their primary key.
  private func fillTreesOfKeys() throws {
    for entry in source.objects where entry.object.isWithoutRowID && entry.root > 1 {
      let name = entry.object.name
      let key = try connection.rows("PRAGMA index_list(\(quoted(name)))").first {
        $0.count >= 4 && $0[3].text == "pk"
      }?[1].text
      // The columns of the key stand first, then the others.
      let columns =
        try key.map { key in
          try connection.rows("PRAGMA index_xinfo(\(quoted(key)))").compactMap { $0[2].text }
        } ?? []
      guard !columns.isEmpty else { continue }
      let insert = try connection.prepare(
        "INSERT OR IGNORE INTO \(quoted(name)) (\(columns.map(quoted).joined(separator: ", "))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
      )
      let encoding = source.image.header.encoding
      let isWhole = try IndexTree.rows(of: entry.root, in: source.image) { record in
        guard record.count <= columns.count, record.isWhole else { return unplaced += 1 }
        insert.reset()
        for index in columns.indices {
          try insert.bind(record.value(index)?.value(encoding) ?? .null, at: index)
        }
        try insert.step()
      }
      if !isWhole { unplaced += 1 }
    }
  }

  /// Whether a page's rows were found besides the tables that the schema names.
  private static func isFound(
    _ role: TreeMap.Role, _ root: Int, besides named: [Int: SalvagedTable]
  ) -> Bool {
    root != 1
      && (role == .broken || role == .adopted || role == .leaf && named[root] == nil)
  }

  private var joins: [String: StoreSchema.JoinTable] {
    Dictionary((schema?.joins ?? []).map { ($0.name, $0) }) { first, _ in first }
  }

  /// Join tables whose tree is not known.
  private func joinCandidates() -> [JoinPlacing.Candidate] {
    guard let schema else { return [] }
    let greatest = Dictionary(
      ((try? connection.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY")) ?? []).compactMap { row in
        row.count == 2
          ? row[0].integer.flatMap { entity in row[1].integer.map { (entity, $0) } } : nil
      }
    ) { first, _ in first }
    let tables = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    return schema.joins.compactMap { join in
      // One whose tree lacks pages may have lost those that lead to the rest.
      guard let table = tables[join.name],
        table.root == 0 || source.trees.holes.contains(where: { $0.root == table.root })
      else { return nil }
      let sides = [join.entity, join.inverseEntity].compactMap { entity in
        schema.table(of: entity).map { side in
          JoinPlacing.Side(
            table: side.name,
            numbers: Set(schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }),
            greatest: greatest[schema.numbers[side.root] ?? 0] ?? .max)
        }
      }
      return sides.count == 2 ? .init(table: table, sides: sides) : nil
    }
  }

  private func check() throws {
    if isCancelled() { throw CoreDataError(.cancelled, code: .migrationCancelled, "cancelled") }
  }

  /// Makes what the store's own schema has of a kind.
  private func makeObjects(_ type: String) {
    for entry in source.objects where entry.object.type == type {
      guard let sql = entry.object.sql else { continue }
      do { try create(sql) } catch {
        let message = (error as? SQLiteError)?.message ?? "\(error)"
        notes.append("The \(type) \(entry.object.name) could not be made: \(message).")
      }
    }
  }

  /// Makes the indexes of the store's own schema, else those that Core Data would.
  private func makeStatedIndexes() throws {
    if source.isSchemaWhole {
      makeObjects("index")
    } else if let schema {
      try make(schema.indexStatements().map { ($0.name, $0.sql) })
    }
  }

  private func makeIndexes() throws {
    if hasCopiedTrees {
      for index in trees.emptyIndexes { try connection.execute("REINDEX \(quoted(index))") }
    } else {
      try makeStatedIndexes()
    }
    if source.isSchemaWhole { makeObjects("view") }
  }

  /// Makes the triggers, once everything is in that is to be in it.
  package func makeTriggers() throws {
    if source.isSchemaWhole {
      makeObjects("trigger")
    } else if let schema {
      try make(schema.triggerGroups.flatMap(\.statements).map { ($0.name, $0.sql) })
    }
  }

  private func make(_ statements: [(name: String, sql: String)]) throws {
    for (name, sql) in statements {
      do { try connection.execute(sql) } catch let error as SQLiteError {
        notes.append("\(name) could not be made: \(error.message).")
      }
    }
  }

  /// Where keys may be lost: the holes of the table's tree, those beside each other as one.
  private func holes(of table: SalvagedTable) -> [ClosedRange<Int64>] {
    let holes = source.trees.holes.filter { byRoot[$0.root] === table }.map { hole in
      let first = hole.above.map { $0 == .max ? $0 : $0 + 1 } ?? 1
      return first...max(first, hole.upTo ?? .max)
    }
    return holes.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { result, hole in
      if let last = result.last, last.upperBound == .max || hole.lowerBound <= last.upperBound + 1 {
        result[result.count - 1] = last.lowerBound...max(last.upperBound, hole.upperBound)
      } else {
        result.append(hole)
      }
    }
  }
}
