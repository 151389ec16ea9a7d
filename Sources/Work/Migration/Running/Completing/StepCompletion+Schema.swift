import ManagedModel
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
    // Those of join tables are named by the numbers of entities.
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
    let names = SchemaNames(in: left, since: source.database)
    // Indexes that stay went with tables that were written again.
    for (name, table) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[name], left.indexes[name] == nil, left.contains(table),
        isRight(name, sql) || targets[name] == nil && own[name] == nil,
        names.fit(sql)
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
  /// does not let its schema be written, they go, and are rebuilt.
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
    // What was measured of one went with it when it was rebuilt.
    guard try DatabaseTables(connection).contains("sqlite_stat1") else { return }
    for (from, _, _) in renamings {
      try connection.prepare("DELETE FROM main.sqlite_stat1 WHERE idx = ?").run([.text(from)])
    }
  }

  /// Refills R-trees: keys of removed objects must not stay in them.
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

  /// Those that no fetch index shows, such as that of Photos, stay, less the objects that went; in
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

extension StepCompletion {
  /// Defines what SQL of this migration calls: functions for derived values, and stand-ins for those
  /// of triggers, which only Core Data has.
  ///
  /// Before anything runs: SQLite defines no function again while an R-tree has a node open.
  func defineFunctions() throws {
    try history?.define(on: connection)
    try connection.defineTriggerFunctions(
      in: source.triggerStatements + destination.triggerStatements)
  }

  /// Makes the triggers that the destination model asks for. Those that only the source model asked
  /// for are gone; the app's own, of which neither knows, come back.
  func makeTriggers() throws {
    let former = source.triggerStatements
    let database = try DatabaseTables(connection)
    let names = SchemaNames(in: database, since: source.database)
    let before = source.schema.triggerGroups
    var made: [SchemaStatement] = []
    var others: [SchemaStatement] = []
    var claimed: Set<String> = []
    for group in destination.triggerGroups {
      let own = former.filter { group.owns($0.name, on: $0.table) }
      claimed.formUnion(own.map(\.name))
      let same = before.first { $0.entity == group.entity && $0.attribute == group.attribute }
      // Where nothing that they depend on changes, those that Core Data wrote are better than ours.
      let stays = !own.isEmpty && own.allSatisfy { names.fit($0.sql) }
      made += stays && isUnchanged(group, since: same) ? own : group.statements
    }
    let trees = destination.rtreeIndexes
    let formerTrees = source.schema.rtreeIndexes
    // Without R-trees in this SQLite their tables are as they were, and so are their triggers.
    if connection.hasRTrees {
      for tree in trees {
        let own = former.filter { tree.triggers.map(\.name).contains($0.name) }
        let stays = formerTrees.contains(tree) && own.count == tree.triggers.count
        made += stays ? own : tree.triggers
      }
      claimed.formUnion((trees + formerTrees).flatMap(\.triggers).map(\.name))
    }
    for trigger in former where !claimed.contains(trigger.name) {
      guard !before.contains(where: { $0.owns(trigger.name, on: trigger.table) }) else { continue }
      // SQLite looks at a trigger's columns only when it runs: one over a column that is gone would
      // make every later write fail, so it is not restored.
      if database.contains(trigger.table), names.fit(trigger.sql) { others.append(trigger) }
    }
    for trigger in made { try connection.create(.trigger, trigger.sql) }
    for trigger in others {
      try connection.create(.trigger, trigger.sql)
      // One that waits for the change of a column that is gone would never run.
      let waits = SchemaText.watchedColumns(ofTrigger: trigger.sql)
      guard
        try !waits.isSubset(of: database.columns(of: trigger.table))
          || breaksWrites(to: trigger.table)
      else { continue }
      try connection.execute("DROP TRIGGER main.\(quoted(trigger.name))")
    }
  }

  /// Whether a trigger keeps a table from being written to, since what it names is gone.
  private func breaksWrites(to table: String) throws -> Bool {
    let name = "main." + quoted(table)
    let columns = try connection.rows("PRAGMA main.table_info(\(quoted(table)))")
      .compactMap { $0.count > 1 ? $0[1].text.map(quoted) : nil }
    let all = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
    return [
      "DELETE FROM \(name)", "INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(all)",
    ].contains(where: namesWhatIsGone)
  }

  /// Whether an attribute is kept up just as before: by the same statements, or where none are
  /// known, by the same expression over the same entity numbers.
  private func isUnchanged(_ group: TriggerGroup, since former: TriggerGroup?) -> Bool {
    guard let former, former.statements == group.statements else { return false }
    guard group.statements.isEmpty else { return true }
    func derivation(_ model: Model) -> Attribute.Derivation? {
      model.entity(named: group.entity)?.attribute(named: group.attribute)?.derivation
    }
    return derivation(source.model) == derivation(step.destination)
      && schemas.renumbering.allSatisfy { $0.old == $0.new }
  }
}

extension Store {
  /// The triggers that are in the store, by name.
  package var triggerStatements: [SchemaStatement] {
    database.triggers.sorted(by: { $0.key < $1.key }).compactMap { name, table in
      database.sql[name].map { SchemaStatement(name: name, table: table, sql: $0) }
    }
  }
}

extension Connection {
  /// Stand-ins for the functions that triggers call and only Core Data has: they give NULL.
  package func defineTriggerFunctions(in triggers: [SchemaStatement]) throws {
    // Functions that only Core Data has.
    let words = Set(triggers.flatMap { SchemaText.words(of: $0.sql) })
    for name in words where name.hasPrefix("NSCoreData") {
      try defineNullFunction(name)
    }
  }
}

/// An app's own views, of which no model speaks.
extension StepCompletion {
  /// SQLite renames no column while a view cannot be read, be it for a function of its app.
  func dropViews() throws {
    for (name, _) in try sourceViews() {
      try connection.execute("DROP VIEW IF EXISTS main.\(quoted(name))")
    }
  }

  /// Makes the source's views again, but for those over tables and columns that are gone.
  func makeViews() throws {
    var made: [String] = []
    for (name, sql) in try sourceViews() {
      try connection.create(.view, sql)
      made.append(name)
    }
    // One that goes may take others with it.
    while let broken = made.firstIndex(where: {
      namesWhatIsGone("SELECT * FROM main.\(quoted($0))")
    }) {
      try connection.execute("DROP VIEW main.\(quoted(made.remove(at: broken)))")
    }
  }

  private func sourceViews() throws -> [(name: String, sql: String)] {
    // Through this connection, which may hold a lock on the source that is a private copy.
    try connection.rows("SELECT name, sql FROM src.sqlite_master WHERE type = 'view'").compactMap {
      row in
      guard row.count == 2, let name = row[0].text, let sql = row[1].text else { return nil }
      return (name, sql)
    }
  }

  /// Whether a statement cannot be prepared for a table or a column that is gone. One that calls a function of its app
  /// cannot be prepared here either, and yet is sound.
  private func namesWhatIsGone(_ sql: String) -> Bool {
    do {
      _ = try connection.prepare(sql)
      return false
    } catch {
      let message = (error as? SQLiteError)?.message ?? ""
      return message.contains("no such table") || message.contains("no such column")
    }
  }
}

/// The names of a store's tables and columns, of which statements are asked that were written for another state.
struct SchemaNames {
  private let known: Set<String>
  /// Tables of the former state.
  private let gone: Set<String>
  /// Columns that a table had and has no more, though another may have one of the name.
  private let goneColumns: Set<String>

  init(in database: DatabaseTables, since former: DatabaseTables) {
    known = Set(database.tables.keys).union(database.tables.values.lazy.joined().map(\.name))
    gone = Set(former.tables.keys).subtracting(known)
    goneColumns = former.tables.keys.reduce(into: []) {
      $0.formUnion(former.columns(of: $1).subtracting(database.columns(of: $1)))
    }
  }

  /// Whether a statement names a column that a table has no more: it may be that table's, or another's.
  func mayNotFit(_ sql: String) -> Bool {
    SchemaText.words(of: sql).contains(where: goneColumns.contains)
  }

  /// Whether every table and column that an index or trigger names is still there.
  ///
  /// Core Data's names are all in capitals and begin with Z; the statement's own name comes third.
  func fit(_ sql: String) -> Bool {
    var words = SchemaText.words(of: sql)
    guard
      let name = words.firstIndex(where: {
        $0.uppercased() == "INDEX" || $0.uppercased() == "TRIGGER"
      }),
      name + 1 < words.count
    else { return false }
    words.remove(at: name + 1)
    return words.allSatisfy { word in
      !gone.contains(word)
        && (!word.hasPrefix("Z") || word != word.uppercased() || known.contains(word))
    }
  }
}

/// The text of CREATE statements, as far as a migration looks into it.
enum SchemaText {
  /// The words of a statement, names without their quotes.
  static func words(of sql: String) -> [String] {
    sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  /// The columns for whose change a trigger waits, by its `UPDATE OF a, b ON`; none where it waits for any.
  static func watchedColumns(ofTrigger sql: String) -> Set<String> {
    let words = words(of: sql)
    guard
      let place = words.indices.dropLast().first(where: {
        words[$0].uppercased() == "UPDATE" && words[$0 + 1].uppercased() == "OF"
      }),
      let end = words[place...].firstIndex(where: { $0.uppercased() == "ON" })
    else { return [] }
    return Set(words[(place + 2)..<max(place + 2, end)])
  }

  /// What an index is of, as its statement has it, whatever the index is called; `nil` for a statement
  /// that begins in another way than SQLite keeps it, and for one with a condition, in which upper and
  /// lower case may make a difference.
  static func content(ofIndex sql: String, named name: String) -> String? {
    let (text, name) = (normalized(sql), normalized(name))
    guard !text.contains("WHERE") else { return nil }
    for beginning in ["CREATEINDEX", "CREATEUNIQUEINDEX"]
    where text.hasPrefix(beginning + name + "ON") {
      return beginning + text.dropFirst(beginning.count + name.count)
    }
    return nil
  }

  /// A statement without what SQLite reads over: white space, quotes, upper and lower case.
  static func normalized(_ sql: String) -> String {
    sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
  }
}
