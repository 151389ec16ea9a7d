import Files
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import Mapping
@testable import Migration

/// A comparison that checks the second file by the way, and reads rows beside the first.
@Suite(
  "verify, while the file is checked",
  .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
struct VerifyLargeTests {
  private let folder: TemporaryFolder
  private let before: String
  private let after: String
  private let models: String

  /// More than is checked whenever a store is opened.
  init() throws {
    folder = try TemporaryFolder()
    let place = folder.path("demo")
    #expect(Captured("demo", place, "--objects", "60000", "--no-open").status == .done)
    before = place + "/Recipes.sqlite"
    after = folder.path("After.sqlite")
    models = place + "/Recipes.xcdatamodeld"
    #expect(Captured("migrate", before, "--to", models, "--output", after).status == .done)
    #expect(try #require(FileSystem.status(after)?.size) > Store.checkedSize)
  }

  private func verify() -> Captured { Captured("verify", before, after, "--to", models) }

  @Test(
    "SQLite is asked for all rows only where values may be in files")
  func read() throws {
    let store = try Store(path: after)
    let source = try Store(path: before)
    var passes: [String] = []
    store.connection.onStatement = { sql in
      if sql.hasPrefix("SELECT count(*), count(d.Z_PK)") { passes.append(sql) }
      #expect(sql != "PRAGMA main.integrity_check(5)")
    }
    let mapping = try MappingInference.mapping(from: source.model, to: store.model)
    let report = try StoreVerification.compare(before: source, after: store, mapping: mapping)
    #expect(report.isEqual && report.isFileSound)
    #expect(passes.allSatisfy { $0.contains("strata_result") }, "\(passes)")
  }

  @Test(
    "bytes in a file of the second store's own that are others are told (1)")
  func file() throws {
    #expect(verify().status == .done)
    let own = StoreFiles(path: after).externalDataFolder
    let name = try #require(try FileSystem.list(own).sorted().first)
    FileSystem.remove(own + "/" + name)
    try FileSystem.write([1, 2, 3], to: own + "/" + name)
    let told = verify()
    #expect(told.status == .no, "\(told.out)")
  }

  @Test(
    "saves by another program are no difference, a value that it changed is (1)")
  func saved() throws {
    let table = try #require(
      try Store(path: after).entityTables.first { $0.entity == "Step" })
    let text = try #require(table.attributes.first { $0.attribute.name == "text" })
    let connection = try Connection(path: after, mode: .readWrite)
    try connection.execute("UPDATE \(table.table) SET Z_OPT = Z_OPT + 1")
    #expect(verify().status == .done)
    try connection.execute("UPDATE \(table.table) SET \(text.column) = 'x' WHERE Z_PK = 7")
    connection.close()
    let told = verify()
    #expect(told.status == .no)
    #expect(told.out.contains("✗ Step.text") && told.out.contains("/p7"), "\(told.out)")
  }

  @Test("a bit of a value that is flipped is told (1)", arguments: [1, 2])
  func damaged(_ part: Int) throws {
    let whole = try FileSystem.read(after)
    let pages = whole.count / 4096
    // A page in the midst, of rows, and one of the last, of an index: the cells of a page stand at its
    // end, and the last bytes of an index's page may be unused.
    let (page, place) = part == 1 ? (pages / 2, 4090) : (pages - 2, 4080)
    var bytes = whole
    bytes[page * 4096 + place] ^= 4
    FileSystem.remove(after)
    try FileSystem.write(bytes, to: after)
    let told = verify()
    // 4 where an index shows that one of its rows is damaged.
    #expect(
      told.status == .no
        || told.status == .unreadable && told.err.contains("different values in an index"),
      "page \(page + 1): \(told.out)")
  }
}
