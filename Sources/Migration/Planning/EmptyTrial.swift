import Files
import ManagedModel
import ManagedStore
import SQLite

/// The steps of a plan on a store with the same tables and no rows: shows which tables and columns last.
struct EmptyTrial {
  let store: Store
  let steps: [MigrationStep]
  let meter: ProgressMeter

  /// - Returns: what the file at the end holds; `nil` where a step is not what a trial can decide.
  func result() throws -> DatabaseTables? {
    guard let first = steps.first, steps.allSatisfy({ $0.handlers == nil }) else { return nil }
    let folder = try PrivateFolder()
    var source = try Store(path: emptyStore(in: folder.path), model: first.source)
    for (index, step) in steps.enumerated() {
      var step = step
      step.rows = try StepSequence.rows(of: step.mapping, in: source)
      let path = folder.path + "/\(index + 1).sqlite"
      _ = try StepRun(
        step: step, source: source, archive: nil, policies: PolicyBindings(), meter: meter
      ).run(into: path)
      let next = index + 1 < steps.count ? steps[index + 1].source : nil
      source = try Store(path: path, model: next)
    }
    return source.database
  }

  /// A file with the store's tables, and of their rows only those that say what the store is.
  private func emptyStore(in folder: String) throws -> String {
    let path = folder + "/0.sqlite"
    _ = try FileSystem.createEmpty(path)
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    let shadows = try store.connection.shadowTables()
    try connection.transaction {
      for (table, sql) in store.database.sql.sorted(by: { $0.key < $1.key })
      where store.database.tables[table] != nil && !shadows.contains(table)
        && sql.uppercased().hasPrefix("CREATE TABLE") && !table.lowercased().hasPrefix("sqlite_")
      {
        // One statement, whatever else the text says.
        try connection.run(sql)
      }
      for table in ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
      where store.database.contains(table) {
        for row in try store.connection.rows("SELECT * FROM \(table)") {
          let places = Array(repeating: "?", count: row.count).joined(separator: ", ")
          try connection.run("INSERT INTO \(table) VALUES (\(places))", row)
        }
      }
    }
    return path
  }
}
