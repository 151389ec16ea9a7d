import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// A demo store whose app was killed amid a save with a rollback journal: half of the save is in the main
/// file, and the -journal has the pages as they were.
struct InterruptedSave {
  /// How the app wrote its journal.
  enum Journal: String, CaseIterable {
    /// Several headers, each counted and synced before pages were written.
    case full
    /// One header that counts nothing: records fill the file.
    case off
    /// The file of an earlier, longer journal, whose rest stands behind the new one.
    case persist
    case truncate
  }

  let store: DamagedDemo
  /// The main file before the save.
  let saved: [UInt8]

  var path: String { store.path }
  var journalPath: String { store.path + "-journal" }

  static let save =
    """
    UPDATE ZPERSON SET Z_OPT = Z_OPT + 77; DELETE FROM ZSTEP WHERE Z_PK % 3 = 0; \
    UPDATE ZRECIPE SET ZTITLE = 'half-written ' || Z_PK; \
    CREATE TABLE ZNEW (a); INSERT INTO ZNEW SELECT randomblob(3000) FROM ZPERSON LIMIT 50
    """

  init(_ journal: Journal = .full, objects: Int = 700) throws {
    store = try DamagedDemo(objects: objects)
    let live = store.path + ".live"
    let connection = try Connection(path: store.path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    saved = try FileSystem.read(store.path)
    try FileSystem.copyOver(store.path, to: live)
    let app = try Connection(path: live, mode: .readWrite)
    try StoreFunctions.define(on: app)
    switch journal {
    case .full: try app.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL")
    case .off: try app.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF")
    case .truncate: try app.execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
    case .persist:
      try app.execute(
        """
        PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; \
        BEGIN; UPDATE ZPERSON SET Z_OPT = 1; UPDATE ZSTEP SET Z_OPT = 1; UPDATE ZRECIPE SET Z_OPT = 1; \
        COMMIT
        """)
    }
    let before = try FileSystem.read(live)
    try app.execute("PRAGMA cache_size = 5; PRAGMA cache_spill = 5; BEGIN; " + Self.save)
    try FileSystem.copyOver(live, to: store.path)
    try FileSystem.copyOver(live + "-journal", to: store.path + "-journal")
    try app.execute("ROLLBACK")
    app.close()
    for suffix in ["", "-journal"] { FileSystem.remove(live + suffix) }
    #expect(try FileSystem.read(store.path) != before)
  }

  /// Makes the journal one with a single header, which counts its records.
  func countRecords() throws {
    try store.change("-journal") { bytes in
      let count = (bytes.count - 512) / (4096 + 8)
      bytes.replaceSubrange(8..<12, with: [0, 0, UInt8(count >> 8), UInt8(count & 0xFF)])
    }
  }

  /// The main file as SQLite leaves it once it has opened copies of both files.
  func recovered() throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let copy = folder.path("Copy.sqlite")
    for suffix in ["", "-journal"] where FileSystem.isFile(path + suffix) {
      try FileSystem.copyOver(path + suffix, to: copy + suffix)
    }
    let connection = try Connection(path: copy, mode: .readWrite)
    // What is damaged can fail after it was rolled back.
    _ = try? connection.value("SELECT count(*) FROM sqlite_master")
    connection.close()
    return try FileSystem.read(copy)
  }
}

extension InterruptedSave {
  /// A -wal with a change of the store at a path.
  static func logged(_ path: String) throws -> [UInt8] {
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    defer { for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) } }
    let connection = try Connection(path: live, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; UPDATE ZPERSON SET ZNAME = 'logged ' || Z_PK"
    )
    return try FileSystem.read(live + "-wal")
  }
}
