import Files
import ManagedModel
import ManagedStore
import SQLite

/// One SQL statement of a migration.
public struct MigrationStatement: Sendable, Equatable {
  /// Which of the plan's steps it belongs to, from 1.
  public var step: Int
  /// What it works at: an entity, or relationships, indexes, bookkeeping.
  public var part: String
  /// The statement, as the engine hands it to SQLite; `?` are the ends of a range of keys, or values.
  public var sql: String
}

extension StoreMigration {
  /// The statements that running a plan would hand to SQLite, in order.
  ///
  /// They are those of the engine itself, written down while it carries the plan out on a store of
  /// the same tables without rows, in the temporary folder. Questions that the engine asks to decide
  /// something are left out. A statement that runs once for each range of keys is listed once.
  ///
  /// - Throws: ``CoreDataError`` where the store cannot be read, or the plan cannot be carried out.
  public static func statements(
    of plan: MigrationPlan
  ) throws(CoreDataError) -> [MigrationStatement] {
    do {
      let folder = try PrivateFolder()
      return try withExtendedLifetime(folder) {
        try StatementRecording(plan: plan, folder: folder.path).statements()
      }
    } catch {
      throw StepSequence.translated(error, path: plan.storePath)
    }
  }
}

/// Carries a plan out on a store without rows and writes down the statements that SQLite is given.
private struct StatementRecording {
  let plan: MigrationPlan
  let folder: String

  func statements() throws -> [MigrationStatement] {
    let steps = plan.steps.filter { $0.mapping.kind != .none }
    guard let first = steps.first else { return [] }
    let store = try Store(path: plan.storePath, model: first.source)
    var bare = folder + "/0.sqlite"
    try BareStore(store: store, path: bare).write()
    var statements: [MigrationStatement] = []
    for (index, step) in steps.enumerated() {
      let source = try Store(path: bare, model: step.source)
      let next = folder + "/\(index + 1).sqlite"
      let log = StatementLog(step: index + 1)
      // What is decided by the store's rows is decided by the real ones where they are at hand.
      try carryOut(
        step, number: index + 1, of: steps.count, decidedBy: index == 0 ? store : source,
        from: source, into: next, log)
      statements += log.statements
      bare = next
    }
    return statements
  }

  private func carryOut(
    _ step: MigrationStep, number: Int, of count: Int, decidedBy store: Store,
    from source: Store, into path: String, _ log: StatementLog
  ) throws {
    let meter = ProgressMeter(isCancelled: { Task.isCancelled }) { log.follow($0) }
    try meter.begin(step: number, of: count, parts: StepSequence.parts(of: step, plan))
    let file = try FileSystem.createEmpty(path)
    let making = try StepMaking(
      step, from: source, decidedBy: store, into: file,
      archive: number == count ? plan.destinationArchive : nil, policies: plan.policies,
      meter: meter
    ) { $0.onStatement = { log.take($0) } }
    try making.run()
    making.connection.onStatement = nil
  }
}

/// What was handed to SQLite so far, and at which part.
private final class StatementLog {
  private let step: Int
  private var part = ""
  private(set) var statements: [MigrationStatement] = []

  init(step: Int) { self.step = step }

  func follow(_ progress: MigrationProgress) {
    guard progress.parts.indices.contains(progress.current) else { return }
    let current = progress.parts[progress.current]
    // The first part is at work before anything was begun.
    part = current.kind == .copy || statements.isEmpty ? "tables" : current.title
  }

  func take(_ sql: String) {
    for sql in sql.split(separator: ";\n").map(\.trimmed) where !sql.isEmpty {
      let word = sql.prefix { $0.isLetter }.uppercased()
      // Questions decide something; they change nothing.
      guard !["SELECT", "ATTACH", "DETACH", "EXPLAIN"].contains(word),
        word != "PRAGMA" || sql.contains("="), statements.last?.sql != sql
      else { continue }
      statements.append(MigrationStatement(step: step, part: part, sql: sql))
    }
  }
}

/// A store of the same tables with none of the rows, but those that say what the store is.
private struct BareStore {
  let store: Store
  let path: String

  func write() throws {
    // No journal: the file is thrown away.
    let connection = try Connection(path: path, mode: .create, isDefensive: false)
    try connection.adoptEncoding(of: store.connection)
    let pageSize = try store.connection.value("PRAGMA page_size")?.integer ?? 4096
    try connection.execute(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = \(pageSize)")
    try connection.attachSource(store)
    let shadows = try connection.shadowTables()
    try connection.transaction("BEGIN EXCLUSIVE") {
      for type in ["table", "index", "view", "trigger"] {
        for row in try connection.rows(
          "SELECT name, sql FROM src.sqlite_master WHERE type = ? AND sql IS NOT NULL",
          [.text(type)])
        {
          guard row.count == 2, let name = row[0].text, let sql = row[1].text,
            !name.hasPrefix("sqlite_"), !shadows.contains(name)
          else { continue }
          // What needs a module or a function of the app's takes no part in a migration either.
          if type == "table", sql.prefix(14).uppercased() != "CREATE VIRTUAL" {
            try connection.run(sql)
          } else {
            try? connection.run(sql)
          }
        }
      }
      for table in ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
      where store.database.contains(table) {
        try connection.execute(
          "INSERT INTO main.\(quoted(table)) SELECT * FROM src.\(quoted(table))")
      }
    }
    try connection.execute("DETACH DATABASE src")
    connection.close()
  }
}

extension Connection {
  /// A private database with a store attached, which goes away with the connection.
  static func scratch(over store: Store, isCancelled: (() -> Bool)? = nil) throws -> Connection {
    let connection = try Connection(path: "", mode: .create)
    if let isCancelled { connection.onProgress(isCancelled) }
    connection.limitValues()
    try connection.execute("PRAGMA temp_store = FILE")
    try connection.attachSource(store)
    return connection
  }

  /// Attaches a store as `src`, and defines what SQL over it calls.
  ///
  /// - Parameter other: the store whose files and identity the functions take, where it is another.
  package func attachSource(_ store: Store, functionsOf other: Store? = nil) throws {
    try MigrationFunctions.define(on: self, store: other ?? store)
    try attach(store.connection, as: "src")
  }

  /// Tables of `src` that its virtual tables make for themselves; SQLite knows them from tables that
  /// are only named like them.
  func shadowTables() throws -> Set<String> {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'src' AND type = 'shadow'"
    return Set(try rows(sql).compactMap { $0.first?.text })
  }

  /// The number that a query answers; 0 where that is NULL.
  package func number(_ sql: String, _ values: [Value] = []) throws -> Int {
    Int(try value(sql, values)?.integer ?? 0)
  }

  /// Copies what this connection sees into an empty file, through SQLite.
  ///
  /// - Returns: the connection to the copy.
  package func clone(
    to path: String, _ progress: (_ bytes: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> Connection {
    // No journal: the copy is thrown away when anything fails.
    let copy = try Connection(path: path, mode: .made, isDefensive: false)
    try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    let pageSize = Int(try value("PRAGMA page_size")?.integer ?? 4096)
    _ = try backup(to: copy) { done, total in
      try progress(done * pageSize, total * pageSize)
      return true
    }
    return copy
  }

  /// Copies the store that this connection reads into an empty file: the file itself where nothing can
  /// be in a log, else what SQLite makes of both.
  package func clone(
    _ files: StoreFiles, readAs access: StoreFiles.Access, to file: NewFile, _ meter: ProgressMeter
  ) throws {
    guard access == .immutable else {
      return try clone(to: file.path) { done, total in
        try meter.update(done: done, total: total, bytes: done)
      }.close()
    }
    let source = try OpenFile(files.path)
    try FileSystem.copy(source, into: file) { done in
      try meter.update(done: done, total: source.size, bytes: done)
    }
  }

  /// Closes a store as Apple's are left: their header says that they are written through a -wal.
  package func closeAsLogged() throws {
    try markAsLogged()
    close()
  }

  /// Writes that into the header; what is only read afterwards changes no byte of the file any more.
  func markAsLogged() throws {
    try execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL")
  }
}
