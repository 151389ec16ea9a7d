import ManagedModel
import SQLite
import Salvage
import StoreTables

extension SalvagedCopy {
  func makeTables(_ versions: [Model]) throws {
    // Virtual tables bring the tables behind them.
    let entries = source.objects.filter { $0.object.type == "table" && !$0.object.isSQLites }
    for entry in entries.sorted(by: { $0.root < $1.root }) {
      guard let sql = entry.object.sql else { continue }
      do { try create(sql) } catch let error as SQLiteError {
        let info = try connection.rows("PRAGMA table_info(\(quoted(entry.object.name)))")
        guard !info.isEmpty else {
          notes.append("The table \(entry.object.name) could not be created: \(error.message).")
          continue
        }
      }
    }
    for object in sibling?.objects ?? [] where object.type == "table" {
      let present = try DatabaseTables(connection)
      guard let sql = object.sql, !present.contains(object.name) else { continue }
      try create(sql)
    }
    if let schema { try makeLostTables(of: schema, versions) }
    // A virtual table that is new has rows of its own in the tables behind it.
    let virtual = try DatabaseTables(connection).virtual
    for entry in entries where entry.object.isShadow(of: virtual) {
      try connection.execute("DELETE FROM \(quoted(entry.object.name))")
    }
  }

  /// Makes the tables that the model has and that nothing states.
  private func makeLostTables(of schema: StoreSchema, _ versions: [Model]) throws {
    let known = Set(try DatabaseTables(connection).tables.keys)
    // A join table that is not there may be so under another name.
    let lost = schema.tables.filter { !known.contains($0.name) }
    // Those of history may be gone where all of the model's are listed.
    let lacksHistory =
      !source.isSchemaWhole && HistoryTable.allCases.contains { !known.contains($0.name) }
    if contents == .everything, !lost.isEmpty || lacksHistory {
      let columns = try LostColumns(
        source, schema, tables: lost, versions: versions, looksForTexts: !lost.isEmpty,
        isCancelled: isCancelled)
      if !lost.isEmpty { supposed = try columns.orders(isCancelled: isCancelled) }
      if !source.isSchemaWhole {
        for table in HistoryTable.allCases where !known.contains(table.name) {
          guard let length = columns.ofCoreData[table.rawValue],
            let made = table.statements(
              length: length, tombstones: Tombstones.count(for: schema.model))
          else { continue }
          try connection.execute(made.table)
          history[table.name] = table
          indexesOfHistory += made.indexes
        }
      }
    }
    for (name, sql) in schema.tables.map({ ($0.name, $0.sql(orderedBy: supposed[$0.name])) })
      + (source.isSchemaWhole ? [] : schema.joins.map { ($0.name, $0.sql) })
      + StoreSchema.bookkeepingStatements.map({ ($0.name, $0.sql) })
    where !known.contains(name) {
      try connection.execute(sql)
    }
  }

  func listTables() throws {
    let present = try DatabaseTables(connection)
    let virtual = present.virtual
    let entries = source.objects.filter { $0.object.type == "table" && !$0.object.isSQLites }
    let roots = Dictionary(entries.map { ($0.object.name, $0.root) }) { first, _ in first }
    for name in present.tables.keys.sorted() where !virtual.contains(name) {
      let table = try SalvagedTable(
        name: name, numbers: numbers(of: name), root: roots[name] ?? trees.told[name]?.first ?? 0,
        connection: connection,
        encoding: source.image.header.encoding)
      if let outcome = trees.tables[name] { table.add(copied: outcome.rows) }
      all.append(table)
      if table.root > 0 { byRoot[table.root] = table }
      for root in trees.told[name] ?? [] { byRoot[root] = table }
    }
  }

  /// The Z_ENT of a table's rows, as the store counts its entities.
  func numbers(of name: String) -> Set<Int64> {
    if let table = history[name] { return [table.rawValue] }
    // Where a page is not where it should be, rows are recognized by their numbers.
    let isInDoubt = source.isMixed || !source.isSchemaWhole
    if isInDoubt, let table = HistoryTable.allCases.first(where: { $0.name == name }) {
      return [table.rawValue]
    }
    if schema == nil, isInDoubt { return countedNumbers[name] ?? [] }
    guard let schema, let table = schema.table(named: name) else { return [] }
    return Set(schema.model.subtree(of: table.root).compactMap { schema.numbers[$0] })
  }

  /// What distinguishes rows of each table from those of the others.
  func owners() throws -> [String: RowOwner] {
    let present = try DatabaseTables(connection).tables
    let all = present.keys.reduce(into: Set(schema?.numbers.values.map { $0 } ?? [])) {
      $0.formUnion(numbers(of: $1))
    }
    return Dictionary(
      uniqueKeysWithValues: present.map { name, columns in
        let own = numbers(of: name)
        return (
          name,
          RowOwner(
            columns: columns.count, numbers: own.sorted(),
            others: own.isEmpty ? [] : all.subtracting(own))
        )
      })
  }

  /// Determines which tables the trees are that the schema does not name.
  func nameTrees() throws {
    guard !source.isSchemaWhole else { return }
    try listTables()
    // Which of two join tables a row is of is determined by the objects, when they are there.
    // The schema may name a page that is lost itself.
    let lost = Set(source.trees.holes.filter { $0.page == $0.root }.map(\.root))
    let told = try TreeNames.tables(
      of: source, among: all.filter { !joins.keys.contains($0.name) }, besides: Set(byRoot.keys)
    ).filter { name, _ in
      all.contains { $0.name == name && ($0.root == 0 || lost.contains($0.root)) }
    }
    trees = CopiedTrees(
      told: told,
      shapes: Dictionary(
        all.filter { told[$0.name] != nil }.map { ($0.name, $0.shape) }
      ) { first, _ in first })
    (all, byRoot) = ([], [:])
  }

  /// Runs what the file says made a part of its schema: one statement, and none of another kind.
  func create(_ sql: String) throws {
    guard sql.prefix(7).uppercased() == "CREATE " else {
      throw SQLiteError(extendedCode: 11, message: "its text is no CREATE statement")
    }
    try connection.run(sql)
  }
}

extension SalvagedCopy {
  /// Makes what the store's own schema has of a kind.
  func makeObjects(_ type: String) {
    for entry in source.objects where entry.object.type == type {
      guard let sql = entry.object.sql else { continue }
      do { try create(sql) } catch {
        let message = (error as? SQLiteError)?.message ?? "\(error)"
        notes.append("The \(type) \(entry.object.name) could not be created: \(message).")
      }
    }
  }

  /// Makes the indexes of the store's own schema, else those that Core Data would.
  func makeStatedIndexes() throws {
    if source.isSchemaWhole {
      makeObjects("index")
      try makeIndexesOfLackedTables()
    } else if let sibling {
      try make(sibling.statements("index"))
    } else if let schema {
      try make(schema.indexStatements().map { ($0.name, $0.sql) } + indexesOfHistory)
    }
  }

  /// Makes those of tables that the store lacks, though the list of its tables is whole.
  private func makeIndexesOfLackedTables() throws {
    guard let schema, source.isSchemaWhole else { return }
    try make(
      schema.indexStatements().filter { source.lacksTable($0.table) }.map { ($0.name, $0.sql) })
  }

  func makeIndexes() throws {
    // Entries are sorted in as much memory as pages may take, and go in one behind the other: few pages are kept.
    try connection.execute("PRAGMA cache_size = -2000")
    if hasCopiedTrees {
      for index in trees.emptyIndexes {
        if let statement = trees.postponed[index.name] {
          try connection.execute(statement)
        } else if trees.filled.contains(index.table) {
          // Of a table that was filled row by row it has all entries.
          try connection.execute("REINDEX \(quoted(index.name))")
        }
      }
      // Where a tree was found by what it holds, the index has an entry for each row, or one of them is not whole.
      let rows = Dictionary(all.map { ($0.name, $0.rows) }) { first, _ in first }
      for index in trees.foundIndexes where index.entries != rows[index.table] {
        try connection.execute("REINDEX \(quoted(index.name))")
      }
      try makeIndexesOfLackedTables()
    } else {
      try makeStatedIndexes()
    }
    if source.isSchemaWhole {
      makeObjects("view")
    } else if let sibling {
      try make(sibling.statements("view"))
    }
  }

  /// Makes the triggers, once everything is in that is to be in it.
  package func makeTriggers() throws {
    if source.isSchemaWhole {
      makeObjects("trigger")
      let lacked = schema?.triggerGroups.flatMap(\.statements) ?? []
      try make(lacked.filter { source.lacksTable($0.table) }.map { ($0.name, $0.sql) })
    } else if let sibling {
      try make(sibling.statements("trigger"))
    } else if let schema {
      try make(schema.triggerGroups.flatMap(\.statements).map { ($0.name, $0.sql) })
    }
  }

  func make(_ statements: [(name: String, sql: String)]) throws {
    for (name, sql) in statements {
      do { try create(sql) } catch let error as SQLiteError {
        notes.append("\(name) could not be created: \(error.message).")
      }
    }
  }
}

extension SalvagedCopy {
  /// Puts rows in of tables that keep them in the tree of their primary key.
  func fillTreesOfKeys() throws {
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
}
