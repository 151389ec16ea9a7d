import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport

/// The result of a copying migration, made again by SQL typed into the sqlite3 shell.
struct HandWritten {
  let source: String
  let result: String
  let folder: TemporaryFolder

  private let script: String

  /// - Parameter result: what a copying migration of `source` made.
  init(source: String, result: String, folder: TemporaryFolder) throws {
    (self.source, self.result, self.folder) = (source, result, folder)
    script = folder.path("typed.sql")
    try FileSystem.write(Array(try sql().utf8), to: script)
  }

  /// Types it once, into a new file.
  func run() throws -> Measured {
    let out = folder.path("typed.sqlite")
    FileSystem.remove(out)
    let run = Measured.run("sqlite3", [out, ".read '\(script)'"])
    guard run.status == 0 else { throw CoreDataError(.failed, "the typed SQL failed") }
    return run
  }

  private func sql() throws -> String {
    let (before, after) = (try Store(path: source), try Store(path: result))
    let (old, new) = (
      try DatabaseTables(before.connection), try DatabaseTables(after.connection)
    )
    let numbers = Dictionary(
      before.entityTables.map { ($0.entity, $0.entityID) }
    ) { first, _ in first }
    let cases = after.entityTables.compactMap { table in
      numbers[table.entity].map { "WHEN \($0) THEN \(table.entityID)" }
    }.joined(separator: " ")
    var text = """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;
      ATTACH 'file:\(source)?immutable=1' AS src; BEGIN;

      """
    for (name, columns) in new.tables.sorted(by: { $0.key < $1.key }) {
      guard let create = new.sql[name], !name.hasPrefix("sqlite_") else { continue }
      text += create + ";\n"
      let former = old.contains(name) ? name : renamed(name, old)
      guard let former else { continue }
      let there = (old.tables[former] ?? []).map(\.name)
      let isJoin = name != former || !there.contains("Z_PK")
      let pairs = columns.enumerated().compactMap { index, column -> (String, String)? in
        if isJoin { return index < there.count ? (column.name, quoted(there[index])) : nil }
        if column.name == "Z_ENT" { return (column.name, "CASE Z_ENT \(cases) END") }
        if column.name == "ZSERVINGS" { return (column.name, "ZSERVES") }
        if column.name == "ZISVEGAN" { return (column.name, "0") }
        return there.contains(column.name) ? (column.name, quoted(column.name)) : nil
      }
      text += """
        INSERT INTO \(name) (\(pairs.map { quoted($0.0) }.joined(separator: ", ")))
        SELECT \(pairs.map(\.1).joined(separator: ", ")) FROM src.\(quoted(former));

        """
    }
    for name in new.indexes.keys.sorted() { if let sql = new.sql[name] { text += sql + ";\n" } }
    return text + "COMMIT;\n"
  }

  /// The source's join table that became one of another number.
  private func renamed(_ name: String, _ old: DatabaseTables) -> String? {
    guard name.hasPrefix("Z_") else { return nil }
    let base = name.dropFirst(2).drop { $0.isNumber }
    return old.tables.keys.first { other in
      other.hasPrefix("Z_") && other.dropFirst(2).drop { $0.isNumber } == base
    }
  }
}
