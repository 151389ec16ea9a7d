import ManagedModel
import SQLite
import Salvage

extension SalvagedCopy {
  func makeTables(_ versions: [Model]) throws {
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
      if !lost.isEmpty { supposed = columns.orders() }
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
        name: name, numbers: numbers(of: name), root: roots[name] ?? trees.told[name] ?? 0,
        connection: connection,
        encoding: source.image.header.encoding)
      if let outcome = trees.tables[name] { table.add(copied: outcome.rows) }
      all.append(table)
      if table.root > 0 { byRoot[table.root] = table }
    }
  }

  /// The Z_ENT of a table's rows, as the store counts its entities.
  func numbers(of name: String) -> Set<Int64> {
    if let table = history[name] { return [table.rawValue] }
    guard let schema, let table = schema.table(named: name) else { return [] }
    return Set(schema.model.subtree(of: table.root).compactMap { schema.numbers[$0] })
  }

  /// What tells rows of each table from those of the others.
  func owners() throws -> [String: RowOwner] {
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
  func nameTrees() throws {
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
  func create(_ sql: String) throws {
    guard sql.prefix(7).uppercased() == "CREATE " else {
      throw SQLiteError(extendedCode: 11, message: "its text is no CREATE statement")
    }
    try connection.run(sql)
  }
}
