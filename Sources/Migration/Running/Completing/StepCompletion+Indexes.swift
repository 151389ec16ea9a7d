import ManagedStore
import SQLite

extension StepCompletion {
  /// Brings indexes to those the destination has; what neither model asks for stays.
  func makeIndexes() throws {
    try meter.begin(.indexes)
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    let wanted = destination.indexStatements(style)
    let targets = Dictionary(first: wanted.map { ($0.name, $0.sql) })
    let own = Dictionary(first: source.schema.indexStatements(style).map { ($0.name, $0.sql) })
    // Where both models ask for the same, what the store has was right before and still is, however
    // its framework words it: unless a column of it was renamed, which changes the words.
    func isRight(_ name: String, _ sql: String) -> Bool {
      guard let target = targets[name] else { return false }
      return target == own[name] && sql == source.database.sql[name]
        || SchemaText.normalized(target) == SchemaText.normalized(sql)
    }
    let there = try DatabaseTables(connection)
    // Those of join tables are called by the numbers of entities.
    var renamings: [(from: String, to: SchemaStatement)] = []
    for name in there.indexes.keys.sorted() {
      guard let sql = there.sql[name], !isRight(name, sql) else { continue }
      // Indexes that neither model asks for stay: older ones of Core Data, or the app's own.
      guard targets[name] != nil || own[name] != nil else { continue }
      let heir = wanted.first { index in
        there.indexes[index.name] == nil && !renamings.contains { $0.to.name == index.name }
          && SchemaText.content(ofIndex: index.sql, named: index.name)
            == SchemaText.content(ofIndex: sql, named: name) ?? ""
      }
      if let heir {
        renamings.append((name, heir))
      } else {
        try connection.execute("DROP INDEX main.\(quoted(name))")
      }
    }
    try rename(renamings.map { ($0.from, $0.to.name, $0.to.sql) })
    var left = try DatabaseTables(connection)
    // Indexes that stay went with tables that were written again.
    for (name, table) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[name], left.indexes[name] == nil, left.contains(table),
        isRight(name, sql) || targets[name] == nil && own[name] == nil,
        SchemaText.fits(sql, left, writtenFor: source.database)
      else { continue }
      try connection.create(.index, sql)
    }
    left = try DatabaseTables(connection)
    let kept = schemas.keptTables
    for index in wanted {
      // On a table that stays as it is, what was not there before is not missed now.
      let stays = kept.contains(index.table) && own[index.name] == index.sql
      if left.indexes[index.name] == nil, !stays { try connection.execute(index.sql) }
      try meter.advance(by: 1)
    }
  }

  /// Gives indexes other names, with the tree that each has: SQLite has no statement for that. Where it
  /// does not let its schema be written, they go, and are made anew.
  private func rename(_ renamings: [(from: String, to: String, sql: String)]) throws {
    guard !renamings.isEmpty else { return }
    do {
      try connection.execute("PRAGMA writable_schema = ON")
      defer { try? connection.execute("PRAGMA writable_schema = RESET") }
      let statement = try connection.prepare(
        "UPDATE main.sqlite_master SET name = ?, sql = ? WHERE type = 'index' AND name = ?")
      for (from, to, sql) in renamings {
        try statement.run([.text(to), .text(sql), .text(from)])
      }
    } catch let error as SQLiteError {
      if error.isInterrupted { throw error }
      for (from, _, _) in renamings {
        try connection.execute("DROP INDEX IF EXISTS main.\(quoted(from))")
      }
    }
    // What was measured of one went with it when it was made anew.
    guard try DatabaseTables(connection).contains("sqlite_stat1") else { return }
    for (from, _, _) in renamings {
      try connection.prepare("DELETE FROM main.sqlite_stat1 WHERE idx = ?").run([.text(from)])
    }
  }

  /// Fills R-trees anew: keys of removed objects must not stay in them.
  func makeTrees() throws {
    guard connection.hasRTrees else { return }
    let (wanted, former) = (destination.rtreeIndexes, source.schema.rtreeIndexes)
    let there = try DatabaseTables(connection)
    for tree in former where there.contains(tree.name) && !wanted.contains(tree) {
      try connection.execute("DROP TABLE main.\(quoted(tree.name))")
    }
    for tree in wanted {
      if former.contains(tree), there.contains(tree.name) {
        try connection.execute("DELETE FROM main.\(quoted(tree.name))")
      } else {
        if !former.contains(tree), there.contains(tree.name) {
          try connection.execute("DROP TABLE main.\(quoted(tree.name))")
        }
        try connection.create(
          .table, former.contains(tree) ? source.database.sql[tree.name] ?? tree.sql : tree.sql)
      }
      try connection.execute(tree.fill)
    }
    try keepOtherTrees(besides: Set((wanted + former).map(\.name)), there)
  }

  /// Those that no fetch index tells of, such as that of Photos, stay, less the objects that went; in
  /// a new file they are made of the columns that are there.
  private func keepOtherTrees(besides known: Set<String>, _ there: DatabaseTables) throws {
    for name in source.database.tables.keys.sorted() where !known.contains(name) {
      guard let tree = RTreeIndex(named: name, in: source.database), there.contains(tree.table)
      else { continue }
      if there.contains(name) {
        try connection.execute(
          """
          DELETE FROM main.\(quoted(name)) WHERE Z_PK NOT IN (SELECT Z_PK FROM main.\(quoted(tree.table)))
          """)
      } else if there.columns(of: tree.table).isSuperset(of: tree.columns),
        let sql = source.database.sql[name]
      {
        try connection.create(.table, sql)
        try connection.execute(tree.fill)
      }
    }
  }
}
