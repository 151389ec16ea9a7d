import ManagedStore
import SQLite

extension InPlaceMigration {
  /// Brings indexes to those the destination has; what neither model asks for stays.
  func makeIndexes() throws {
    try meter.begin(.indexes)
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    let wanted = destination.indexStatements(style)
    let targets = Dictionary(wanted.map { ($0.name, $0.sql) }) { first, _ in first }
    let own = Dictionary(
      source.schema.indexStatements(style).map { ($0.name, $0.sql) }
    ) { first, _ in first }
    // Where both models ask for the same, what the store has was right before and still is, however
    // its framework words it: unless a column of it was renamed, which changes the words.
    func isRight(_ name: String, _ sql: String) -> Bool {
      guard let target = targets[name] else { return false }
      return target == own[name] && sql == source.database.sql[name]
        || Self.normalized(target) == Self.normalized(sql)
    }
    let there = try DatabaseTables(connection)
    for name in there.indexes.keys.sorted() {
      guard let sql = there.sql[name], !isRight(name, sql) else { continue }
      // Indexes that neither model asks for stay: older ones of Core Data, or the app's own.
      if targets[name] != nil || own[name] != nil {
        try connection.execute("DROP INDEX main.\(quoted(name))")
      }
    }
    var left = try DatabaseTables(connection)
    // Indexes that stay went with tables that were written again.
    for (name, table) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[name], left.indexes[name] == nil, left.contains(table),
        isRight(name, sql) || targets[name] == nil && own[name] == nil, Self.fits(sql, left)
      else { continue }
      try connection.execute(sql)
    }
    left = try DatabaseTables(connection)
    for index in wanted {
      if left.indexes[index.name] == nil { try connection.execute(index.sql) }
      try meter.advance(by: 1)
    }
  }

  /// Makes R-trees anew: keys of removed objects must not stay in them.
  func makeTrees() throws {
    let wanted = destination.rtreeIndexes
    let there = try DatabaseTables(connection)
    guard connection.hasRTrees else { return }
    let known = Set(wanted.map(\.name)).union(source.schema.rtreeIndexes.map(\.name))
    for name in known.sorted() where there.contains(name) {
      try connection.execute("DROP TABLE main.\(quoted(name))")
    }
    for tree in wanted {
      try connection.execute(tree.sql)
      try connection.execute(tree.fill)
    }
    // One that no fetch index tells of, such as that of Photos, stays, less the objects that went.
    for name in there.tables.keys.sorted() where name.hasPrefix("Z_RT_") && !known.contains(name) {
      guard there.sql[name]?.uppercased().contains("USING RTREE") == true,
        let table = source.database.triggers[name + "_DELETE"], there.contains(table)
      else { continue }
      try connection.execute(
        """
        DELETE FROM main.\(quoted(name)) WHERE Z_PK NOT IN (SELECT Z_PK FROM main.\(quoted(table)))
        """)
    }
  }

  /// Whether every table and column that an index or trigger names is still there.
  ///
  /// Core Data's names are all in capitals and begin with Z; the statement's own name comes third.
  static func fits(_ sql: String, _ database: DatabaseTables) -> Bool {
    let known = Set(database.tables.keys).union(
      database.tables.values.flatMap { $0.map(\.name) })
    var words = words(of: sql)
    guard
      let name = words.firstIndex(where: {
        $0.uppercased() == "INDEX" || $0.uppercased() == "TRIGGER"
      }),
      name + 1 < words.count
    else { return false }
    words.remove(at: name + 1)
    return words.allSatisfy { word in
      !word.hasPrefix("Z") || word != word.uppercased() || known.contains(word)
    }
  }

  static func words(of sql: String) -> [String] {
    sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  private static func normalized(_ sql: String) -> String {
    sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
  }
}
