import Files
import ManagedStore
import SQLite

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
  func attachSource(_ store: Store, functionsOf other: Store? = nil) throws {
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
  func clone(
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
