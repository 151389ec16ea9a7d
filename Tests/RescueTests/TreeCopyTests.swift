import Files
import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue

/// Trees of pages that are copied as they are into a new database.
@Suite("Trees of a damaged store that are copied page for page")
struct TreeCopyTests {
  /// A copy of a damaged demo store, with what SQLite says of the whole of it.
  private static func copy(_ demo: DamagedDemo) throws -> (copy: SalvagedCopy, problems: [String]) {
    let source = try SalvageSource(path: demo.path)
    let path = demo.folder.path("copy.sqlite")
    let copy = try SalvagedCopy(
      of: source, at: path, model: try source.model(), copiesTrees: true)
    #expect(copy.hasCopiedTrees)
    let lines = try copy.connection.rows("PRAGMA integrity_check").compactMap { $0.first?.text }
    return (copy, lines.filter { $0 != "ok" })
  }

  /// The demo with pages of another size: with small ones there are many pointer maps, deep trees and
  /// values on pages of their own.
  private static func demo(pageSize: Int) throws -> DamagedDemo {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageSize); VACUUM")
    return demo
  }

  /// Leaves no page that tells of a table: most of the schema does not stand on page 1.
  private static func forgetSchema(of demo: DamagedDemo) throws {
    try demo.damage { file in
      for page in file.leaves(root: 1) + [1] { file.zero(page: page) }
    }
  }

  @Test(
    "all of a store comes along, whatever its pages' size",
    arguments: TestScale.some(1, of: [512, 1024, 4096, 65_536]))
  func whole(pageSize: Int) throws {
    let demo = try Self.demo(pageSize: pageSize)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.unreadable == 0 && copy.unplaced == 0)
    let connection = try Store(path: demo.path).connection
    for table in copy.tables {
      let rows = try connection.value("SELECT count(*) FROM \(quoted(table.name))")?.integer
      #expect(Int64(table.rows) == rows, "\(table.name)")
    }
    let output = demo.folder.path("Saved.sqlite")
    #expect(try !StoreSalvage.run(path: demo.path, output: output).isLossy)
    #expect(try StoreDump.lines(at: output) == demo.lines)
    // An app goes on writing to it.
    let writer = try Connection(path: output, mode: .create)
    try StoreFunctions.define(on: writer)
    try writer.execute(
      "CREATE TABLE more (a, b); INSERT INTO more SELECT Z_PK, ZTEXT FROM ZSTEP; DROP TABLE more; PRAGMA incremental_vacuum"
    )
    #expect(try writer.value("PRAGMA integrity_check") == .text("ok"))
  }

  @Test("of a table that lost pages the rest is copied, and its indexes are made anew")
  func pruned() throws {
    let demo = try Self.demo(pageSize: 512)
    let root = try #require(
      try Connection(path: demo.path, mode: .readOnly).value(
        "SELECT rootpage FROM sqlite_master WHERE name = 'ZSTEP'")?.integer)
    let steps = try Store(path: demo.path).connection.value("SELECT count(*) FROM ZSTEP")?.integer
    var lost: [Int] = []
    try demo.damage { file in
      let leaves = file.leaves(root: Int(root))
      lost = [0, leaves.count / 2, leaves.count / 2 + 1, leaves.count - 1].map { leaves[$0] }
      for page in lost { file.zero(page: page) }
    }
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    let table = try #require(copy.tables.first { $0.name == "ZSTEP" })
    #expect(table.holes.count == 3)
    #expect(table.rows > 0 && Int64(table.rows) < steps ?? 0)
    let counted = try copy.connection.value("SELECT count(*) FROM ZSTEP")?.integer
    #expect(Int64(table.rows) == counted)
    let known = Set(demo.lines)
    let output = demo.folder.path("Saved.sqlite")
    #expect(try StoreSalvage.run(path: demo.path, output: output).isLossy)
    let lines = try StoreDump.lines(at: output)
    let own = lines.filter { $0.hasPrefix("Step/") }
    #expect(own.count == table.rows)
    #expect(own.allSatisfy(known.contains), "\(own.first { !known.contains($0) } ?? "")")
  }

  @Test("an index that does not fit its table is made anew with all else")
  func wrongIndex() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create, isDefensive: false)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON; \
      UPDATE sqlite_master SET sql = replace(sql, 'ZRECIPE)', 'ZMINUTES)') \
      WHERE type = 'index' AND tbl_name = 'ZSTEP'
      """)
    #expect(connection.changes > 0)
    connection.close()
    let (copy, problems) = try Self.copy(demo)
    #expect(!problems.isEmpty && copy.hasCopiedTrees)
    let output = demo.folder.path("Saved.sqlite")
    // Which of the two is right nothing tells.
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy && report.doubtful > 0)
    let saved = try Connection(path: output, mode: .readOnly)
    #expect(try saved.value("PRAGMA integrity_check") == .text("ok"))
    #expect(try StoreDump.lines(at: output) == demo.lines)
  }

  @Test(
    "without page 1 tables and indexes are told by what is in them, and copied, too",
    arguments: TestScale.some(1, of: [1024, 4096]))
  func nameless(pageSize: Int) throws {
    let demo = try Self.demo(pageSize: pageSize)
    try Self.forgetSchema(of: demo)
    let source = try SalvageSource(path: demo.path)
    #expect(!source.isSchemaWhole && !source.hasTables)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    for name in ["ZRECIPE", "ZSTEP", "ZAMOUNT", "ZPERSON"] {
      let rows = try copy.connection.value("SELECT count(*) FROM \(name)")?.integer ?? 0
      let copied = try #require(copy.trees.tables[name])
      #expect(copied.isWhole && copied.rows == Int(rows) && rows > 0, "\(name)")
    }
    #expect(!copy.trees.emptyIndexes.contains("ZSTEP_ZRECIPE_INDEX"), "\(copy.trees.emptyIndexes)")
    let output = demo.folder.path("Saved.sqlite")
    var report = try StoreSalvage.run(path: demo.path, output: output)
    // That the columns stand as in a new store nothing proves, and nothing else is in doubt.
    #expect(report.isLossy && !report.lostTables.isEmpty)
    report.lostTables = [:]
    #expect(!report.isLossy)
    #expect(try StoreDump.lines(at: output) == demo.lines)
  }

  @Test("a tree whose rows are not all of one table is copied for none")
  func mixed() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    // Steps with the number of another entity, early and late in their tree.
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \
      UPDATE ZSTEP SET Z_ENT = (SELECT Z_ENT FROM ZRECIPE LIMIT 1) WHERE Z_PK % 7 = 3
      """)
    connection.close()
    try Self.forgetSchema(of: demo)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.trees.tables["ZSTEP"] == nil && copy.trees.tables["ZRECIPE"] != nil)
    #expect(copy.tables.first { $0.name == "ZSTEP" }?.rows ?? 0 > 0)
  }

  @Test("two indexes of equal values are told for none, and made anew")
  func alike() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZAMOUNT SET ZINGREDIENT = NULL, ZRECIPE = NULL")
    connection.close()
    try Self.forgetSchema(of: demo)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(
      copy.trees.emptyIndexes.contains("ZAMOUNT_ZRECIPE_INDEX")
        && copy.trees.emptyIndexes.contains("ZAMOUNT_ZINGREDIENT_INDEX"),
      "\(copy.trees.emptyIndexes)")
  }
}
