import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// A store that was migrated in place, as Core Data does it: what each version adds stands at the end of
/// its table. Then its schema is lost.
struct GrownStore {
  let folder: TemporaryFolder
  let path: String
  /// Every object as a line, before the damage.
  private(set) var lines: [String] = []

  /// Makes the store of the first version.
  init(_ model: Model) throws {
    folder = try TemporaryFolder()
    path = folder.path("Grown.sqlite")
    try StoreCreation.create(at: path, model: model, uuid: "5AD0BC53-7A4C-4A41-8B8D-6D2F5D8C7E10")
  }

  /// Runs SQL on it.
  func change(_ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
  }

  /// Appends the columns that a version has more, and takes its model.
  func grow(to model: Model) throws {
    let other = folder.path("Other.sqlite")
    try StoreCreation.create(at: other, model: model, uuid: "5AD0BC53-7A4C-4A41-8B8D-6D2F5D8C7E10")
    let connection = try Connection(path: path, mode: .readWrite)
    let present = try DatabaseTables(connection)
    for table in StoreSchema(model: model).tables {
      for column in table.columns where !present.columns(of: table.name).contains(column.name) {
        try connection.execute(
          "ALTER TABLE \(quoted(table.name)) ADD \(quoted(column.name)) \(column.type)")
      }
    }
    try connection.execute(
      """
      ATTACH '\(other)' AS other; DELETE FROM Z_METADATA; DELETE FROM Z_MODELCACHE;
      INSERT INTO Z_METADATA SELECT * FROM other.Z_METADATA;
      INSERT INTO Z_MODELCACHE SELECT * FROM other.Z_MODELCACHE; DETACH other
      """)
    let indexes = Set(
      try connection.rows("SELECT name FROM sqlite_master WHERE type = 'index'")
        .compactMap { $0.first?.text })
    for index in StoreSchema(model: model).indexStatements() where !indexes.contains(index.name) {
      try connection.execute(index.sql)
    }
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(other + suffix) }
  }

  /// Loses the schema: the first page, and each other one that sqlite_master has.
  ///
  /// - Parameter model: whether what tells of the model is lost too.
  mutating func loseSchema(andModel model: Bool = false) throws {
    try change("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
    lines = try StoreDump.lines(at: path)
    if model { try change("DELETE FROM Z_METADATA; DELETE FROM Z_MODELCACHE") }
    var file = try DamagedFile(path)
    for page in try masterPages() { file.zero(page: page) }
    try file.write()
  }

  private func masterPages() throws -> [Int] {
    let bytes = try FileSystem.read(path)
    // An interior first page begins its cells with the pages below.
    guard bytes[100] == 5 else { return [1] }
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    let cells = (0..<(Int(bytes[103]) << 8 | Int(bytes[104]))).map { index in
      number(Int(bytes[112 + 2 * index]) << 8 | Int(bytes[113 + 2 * index]))
    }
    return [1] + cells + [number(108)]
  }
}
