import Demo
import Files
import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// A demo store that a test damages, and what it held before.
struct DamagedDemo {
  let folder: TemporaryFolder
  let path: String
  /// Every object as a line, before the damage.
  let lines: [String]
  /// The root page of each table.
  let roots: [String: Int]

  /// - Parameters:
  ///   - isLogged: whether the store's last state stands in its -wal alone.
  ///   - statements: what is changed there besides.
  init(objects: Int = 2_000, isLogged: Bool = false, logging statements: [String] = []) throws {
    folder = try TemporaryFolder()
    path = folder.path("Demo.sqlite")
    _ = try DemoStore.write(
      to: path, model: #require(DemoModels.versions().first).model, objects: objects)
    if isLogged { try Self.log(path, statements) }
    let store = try Store(path: path)
    lines = try StoreDump.lines(store)
    roots = Dictionary(
      try store.connection.rows("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")
        .compactMap { row in
          row.count == 2
            ? row[0].text.flatMap { name in row[1].integer.map { (name, Int($0)) } } : nil
        }
    ) { first, _ in first }
  }

  /// Changes rows in two transactions, and others, that stay in the -wal.
  private static func log(_ path: String, _ statements: [String]) throws {
    let copy = path + ".open"
    try FileSystem.copyOver(path, to: copy)
    do {
      let connection = try Connection(path: copy, mode: .create)
      try connection.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL")
      try StoreFunctions.define(on: connection)
      try connection.execute("UPDATE ZPERSON SET Z_OPT = Z_OPT + 1")
      try connection.execute("DELETE FROM ZSTEP WHERE Z_PK % 7 = 0")
      for statement in statements { try connection.execute(statement) }
      try FileSystem.write(FileSystem.read(copy), to: path)
      try FileSystem.write(FileSystem.read(copy + "-wal"), to: path + "-wal")
    }
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
  }

  /// Changes the bytes of the main file, or of the file with a suffix.
  func change(_ suffix: String = "", _ body: (inout [UInt8]) -> Void) throws {
    var bytes = try FileSystem.read(path + suffix)
    body(&bytes)
    try FileSystem.write(bytes, to: path + suffix)
  }

  /// Runs `body` over a file of pages.
  func damage(_ body: (inout DamagedFile) -> Void) throws {
    var file = try DamagedFile(path)
    body(&file)
    try file.write()
  }

  /// The files of the store as they are, to see that nothing changes them.
  func bytes() throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try FileSystem.list(folder.path) where FileSystem.isFile(folder.path(name)) {
      result[name] = try FileSystem.read(folder.path(name))
    }
    return result
  }
}
