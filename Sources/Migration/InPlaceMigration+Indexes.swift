import ManagedStore
import SQLite

extension InPlaceMigration {
  /// Brings indexes to those the destination has, and triggers back.
  func makeIndexes(triggers: [(table: String, sql: String)]) throws {
    try meter.begin(.indexes)
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    let wanted = destination.indexStatements(style)
    let names = Set(wanted.map(\.name))
    let own = Set(source.schema.indexStatements(style).map(\.name))
    let there = try DatabaseTables(connection)
    for name in there.indexes.keys.sorted() {
      guard let sql = there.sql[name] else { continue }
      let target = wanted.first { $0.name == name }
      let isRight = target.map { Self.normalized($0.sql) == Self.normalized(sql) } ?? false
      // Indexes that neither model asks for stay: older ones of Core Data, or the app's own.
      if !isRight, names.contains(name) || own.contains(name) {
        try connection.execute("DROP INDEX main.\(quoted(name))")
      }
    }
    var left = try DatabaseTables(connection)
    // Indexes of the app's own went with tables that were written again.
    for (name, table) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[name], left.indexes[name] == nil, !own.contains(name),
        !names.contains(name), left.contains(table), Self.fits(sql, left)
      else { continue }
      try connection.execute(sql)
    }
    left = try DatabaseTables(connection)
    for index in wanted {
      if left.indexes[index.name] == nil { try connection.execute(index.sql) }
      try meter.advance(by: 1)
    }
    // SQLite looks at a trigger's columns only when it runs: one over a column that is gone would
    // make every later write fail, so it is not put back.
    for (table, sql) in triggers where left.contains(table) && Self.fits(sql, left) {
      for function in Self.functionNames(in: sql) { try connection.defineNullFunction(function) }
      try connection.execute(sql)
    }
  }

  /// Names of functions that only Core Data has.
  static func functionNames(in sql: String) -> Set<String> {
    Set(words(of: sql).filter { $0.hasPrefix("NSCoreData") })
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

  private static func words(of sql: String) -> [String] {
    sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  private static func normalized(_ sql: String) -> String {
    sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
  }
}
